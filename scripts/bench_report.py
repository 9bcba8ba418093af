#!/usr/bin/env python3
"""Measures what `iotrace report` takes for large runs: time and peak memory, as a Markdown table.

    bench_report.py --build BUILD [--only ROW] [--cpus N] [--write doc/benchmarks.md]

tests/bench/make_trace writes the traces, in the real format. Peak memory is the kernel's figure
for the process (ru_maxrss); time is what the process took, by the wall and in the CPUs."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from bench import machine_line, write

MILLION = 1_000_000
# What a row is of: how make_trace is asked, and the limits: seconds and GiB.
ROWS = {
    "10 M calls, one process": ({"events": 10 * MILLION}, 10, 1.5),
    "10 M calls, 64 processes with locks, pipes and I/O":
        ({"events": 10 * MILLION, "processes": 64, "lanes": 2, "queues": 1}, 20, 2),
    "3 M calls, 1000 processes of two threads, the same":
        ({"events": 3 * MILLION, "processes": 1000, "lanes": 2, "queues": 1}, None, None),
    "5 M calls on a million files": ({"events": 5 * MILLION, "files": MILLION}, None, None),
}
for millions in (1, 3, 10, 30):
    ROWS[f"{millions} M of such calls, 16 processes"] = (
        {"events": millions * MILLION, "processes": 16, "lanes": 2, "queues": 1}, None, None)


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=pathlib.Path, help="build folder")
    parser.add_argument("--only", action="append", metavar="TEXT", help="rows with this in them")
    parser.add_argument("--cpus", type=int, default=1, help="how many the report may use (1)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the fastest counts (3)")
    parser.add_argument("--format", default="text", help="of the report (text)")
    parser.add_argument("--folder", help="where traces are written (the temporary folder)")
    parser.add_argument("--write", metavar="FILE", type=pathlib.Path,
                        help="also put the table into FILE, between its marker comments")
    return parser.parse_args()


def report(chosen, folder):
    """Seconds by the wall and in the CPUs, and the peak in bytes, of one report."""
    cpus = sorted(os.sched_getaffinity(0))[:chosen.cpus]
    argv = [str(chosen.build / "analyzer" / "iotrace"), "report", str(folder), "--format",
            chosen.format]
    start = time.monotonic()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    error = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    if status:
        raise RuntimeError(f"{' '.join(argv)}: {error.decode(errors='replace').strip()}")
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def measure(chosen, plan, place):
    folder = place / "trace"
    maker = str(chosen.build / "tests" / "bench" / "make_trace")
    subprocess.run([maker, str(folder), *(f"{k}={v}" for k, v in plan.items())], check=True)
    rounds = [report(chosen, folder) for _ in range(chosen.rounds)]
    done = subprocess.run([str(chosen.build / "analyzer" / "iotrace"), "report", str(folder),
                           "--format", "json", "--top", "1"], capture_output=True, check=True)
    made = json.loads(done.stdout)
    shutil.rmtree(folder)
    return (made["run"]["events"], min(r[0] for r in rounds), min(r[1] for r in rounds),
            max(r[2] for r in rounds), made["model"]["exposed_error_ns"])


def main():
    chosen = options()
    lines = ["| trace | events | s | s of CPU | ns an event | peak GiB | exposed, ms in doubt | limit |",
             "|---|---|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory(prefix="iotrace-bench-", dir=chosen.folder) as place:
        for name, (plan, seconds, gib) in ROWS.items():
            if chosen.only and not any(text in name for text in chosen.only):
                continue
            events, wall, cpu, peak, doubt_ns = measure(chosen, plan, pathlib.Path(place))
            limit = f"{seconds} s, {gib} GiB" if seconds else ""
            lines.append(f"| {name} | {events} | {wall:.1f} | {cpu:.1f} | {cpu / events * 1e9:.0f} "
                         f"| {peak / 2**30:.2f} | {doubt_ns / 1e6:g} | {limit} |")
            print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + f"\n\nMeasured on {machine_line()}; `--format {chosen.format}`, " \
        f"{chosen.cpus} CPU{'s' * (chosen.cpus > 1)}, the fastest of {chosen.rounds} rounds."
    print(text)
    if chosen.write:
        write(chosen.write, "report", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
