#!/usr/bin/env python3
"""Measures what recording costs and prints it as Markdown tables. See doc/benchmarks.md.

scripts/bench.sh builds what this needs and passes its options on."""

import argparse
import os
import pathlib
import platform
import re
import sys

from bench_rows import ROWS
from bench_run import Machine


def options():
    parser = argparse.ArgumentParser(prog="bench.sh", description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="build folder (bench.sh sets it)")
    parser.add_argument("--only", action="append", choices=ROWS, metavar="ROW",
                        help=f"only this row, may be repeated: {', '.join(ROWS)}")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of every comparison (5)")
    parser.add_argument("--calls", type=int, default=500_000,
                        help="calls a thread in each of the driver's own rounds (500000)")
    parser.add_argument("--tracer", help="libiotrace.so (the one in the build folder)")
    parser.add_argument("--iotrace", help="command that counts events (that of the build folder)")
    parser.add_argument("--folder", help="where traces are written (the temporary folder)")
    parser.add_argument("--torch", metavar="CMD", help="PyTorch program for the row `size`")
    parser.add_argument("--write", metavar="FILE", type=pathlib.Path,
                        help="also put each table into FILE, between its row's marker comments")
    chosen = parser.parse_args()
    if chosen.rounds < 1 or chosen.calls < 1000:
        parser.error("--rounds must be at least 1, --calls at least 1000")
    chosen.tracer = chosen.tracer or os.path.join(chosen.build, "preload", "libiotrace.so")
    chosen.iotrace = chosen.iotrace or os.path.join(chosen.build, "analyzer", "iotrace")
    return chosen


def machine_line():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = re.search(r"^model name\s*: (.*)$", info.read(), re.M)
    return (f"{model[1] if model else platform.machine()}, {len(os.sched_getaffinity(0))} CPUs, "
            f"Linux {platform.release()}, {platform.libc_ver()[0]} {platform.libc_ver()[1]}")


def write(path, row, text):
    """Replaces what stands between the row's two markers."""
    start, end = f"<!-- bench {row} -->\n", f"<!-- end {row} -->"
    before, found, rest = path.read_text(encoding="utf-8").partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise RuntimeError(f"{path}: no markers for the row {row}")
    path.write_text(f"{before}{start}{text}\n{end}{after}", encoding="utf-8")


def main():
    chosen = options()
    try:
        machine = Machine(chosen.build, chosen.tracer, chosen.iotrace, chosen.folder)
        try:
            for row in chosen.only or ROWS:
                text = f"{ROWS[row](machine, chosen)}\n\nMeasured on {machine_line()}; " \
                       f"{chosen.rounds} rounds."
                print(f"### {row}\n\n{text}\n", flush=True)
                if chosen.write:
                    write(chosen.write, row, text)
        finally:
            machine.close()
    except (RuntimeError, OSError) as error:
        print(f"bench.sh: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
