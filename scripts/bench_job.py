#!/usr/bin/env python3
"""Measures what a large job takes: its traces, its report, its tables, and the ledger in SQL over them.

    bench_job.py --build BUILD [--ranks N] [--events N] [--side-by-side N] [--folder DIR] [--write doc/benchmarks.md]

tests/bench/make_job writes the traces, in the real format: N events of each rank, about. DuckDB is
that of BUILD/readers (scripts/readers.sh); without it, and without iotrace-mpi and mpirun, their rows are
left out, and it says so. What the engines give is compared with the report, to the last integer; status 1
where something differs. Peak memory is that of the largest process (ru_maxrss)."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from bench import machine_line, write

FIGURES = ["bytes", "read_bytes", "write_bytes", "data_ops", "metadata_ops", "sync_ops", "service_ns",
           "exposed_ns", "waited_ns", "hidden_ns", "blocking_ns", "small_ops"]
SQL = pathlib.Path(__file__).resolve().parent.parent / "doc" / "sql"
GIB, MIB = 2**30, 2**20


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, help="build folder")
    parser.add_argument("--ranks", type=int, default=64, help="of the job (64)")
    parser.add_argument("--events", type=int, default=100_000, help="of a rank (100000)")
    parser.add_argument("--side-by-side", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="processes that make traces, export and take part in MPI (one a CPU)")
    parser.add_argument("--folder", help="where all is written (the temporary folder)")
    parser.add_argument("--write", metavar="FILE", type=pathlib.Path,
                        help="also put the table into FILE, between its marker comments")
    parser.add_argument("--ledger", nargs=2, metavar=("TABLES", "REPORT"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if not chosen.build and not chosen.ledger:
        parser.error("which --build?")
    return chosen


def run(argv):
    """Seconds of CPU, and the peak in bytes."""
    process = subprocess.Popen([str(a) for a in argv], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{argv[0]} {argv[1]}: {error.decode(errors='replace').strip()}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def run_all(commands, side_by_side):
    """Seconds, seconds of CPU, and the largest peak."""
    start = time.monotonic()
    with ThreadPoolExecutor(side_by_side) as pool:
        done = list(pool.map(run, commands))
    return time.monotonic() - start, sum(cpu for cpu, _ in done), max(peak for _, peak in done)


def size(folder):
    return sum(path.stat().st_blocks * 512 for path in pathlib.Path(folder).rglob("*"))


def ledger(tables, report):
    """Runs in the interpreter that has DuckDB: prints what the queries took, and what differs."""
    import duckdb
    os.chdir(tables)
    database, job = duckdb.connect(), json.loads(pathlib.Path(report).read_text())
    for name in "duckdb.sql", "views.sql":
        database.execute((SQL / name).read_text())
    took, rows = {}, {}
    for view in "ledger", "ledger_units", "slow_files", "stragglers", "host_rates":
        start = time.monotonic()
        cursor = database.execute(f"FROM {view}")
        names = [column[0] for column in cursor.description]
        rows[view] = [dict(zip(names, row)) for row in cursor.fetchall()]
        took[view] = time.monotonic() - start
    differs, got = [], {row["object"]: row for row in rows["ledger"]}
    for row in job["objects"]:
        one = got.get(row["object"], dict.fromkeys(FIGURES, 0))
        differs += [f"{row['object']}.{key}: {one[key]} and {row[key]}" for key in FIGURES
                    if one[key] != row[key]]
    of_rank = {}
    for row in rows["ledger_units"]:
        of_rank[row["rank"]] = of_rank.get(row["rank"], 0) + row["exposed_ns"]
    differs += [f"rank {unit['rank']}: exposed {of_rank.get(unit['rank'])}" for unit in job["units"]
                if of_rank.get(unit["rank"]) != unit["io_ns"]]
    json.dump({"version": duckdb.__version__, "took": took, "differs": differs,
               "events": database.execute("SELECT sum(events) FROM units").fetchone()[0]}, sys.stdout)


def line(lines, what, took, events, extra):
    wall, cpu, peak = took
    lines.append(f"| {what} | {wall:.1f} | {cpu:.1f} | {cpu / events * 1e9:.0f} | {events / wall / 1e6:.2f} "
                 f"| {peak / MIB:.0f} | {extra} |")
    print(lines[-1], file=sys.stderr, flush=True)


def generate(chosen, job):
    maker, n = chosen.build / "tests" / "bench" / "make_job", chosen.side_by_side
    cuts = [chosen.ranks * k // n for k in range(n + 1)]
    return run_all([[maker, job, f"ranks={chosen.ranks}", f"events={chosen.events}", f"from={a}", f"to={b}"]
                    for a, b in zip(cuts, cuts[1:]) if a < b], n)


def launcher(mpi):
    """The mpirun of the library that the program was built with; None: it is not there."""
    linked = subprocess.run(["ldd", mpi], capture_output=True, text=True, check=False).stdout
    names = ["mpirun.mpich"] if "mpich" in linked else ["mpirun.openmpi"]
    found = next(filter(None, map(shutil.which, names + ["mpirun"])), None)
    as_root = os.geteuid() == 0 and "mpich" not in linked
    return found and [found, *["--allow-run-as-root"] * as_root]


def measure_mpi(chosen, lines, events, job, report):
    mpi = chosen.build / "mpi" / "iotrace-mpi"
    start = mpi.exists() and launcher(mpi)
    if not start:
        print("bench_job.py: no iotrace-mpi in the build, or no mpirun: their row is left out", file=sys.stderr)
        return []
    other = report.with_name("report-mpi.json")
    took = run_all([[*start, "-n", chosen.side_by_side, mpi, job, "--format", "json", "-o", other]], 1)
    same = other.read_bytes() == report.read_bytes()
    line(lines, f"`mpirun -n {chosen.side_by_side} iotrace-mpi`", took, events,
         "the same bytes" if same else "DIFFERS")
    return [] if same else ["iotrace-mpi"]


def measure_ledger(chosen, lines, events, tables, report):
    python = chosen.build / "readers" / "bin" / "python"
    if not python.exists():
        print("bench_job.py: no DuckDB (scripts/readers.sh): its rows are left out", file=sys.stderr)
        return []
    start = time.monotonic()
    process = subprocess.Popen([python, __file__, "--ledger", tables, report], stdout=subprocess.PIPE)
    got = json.loads(process.stdout.read() or b'{"differs": ["no answer"], "took": {}}')
    _, _, used = os.wait4(process.pid, 0)
    lines_of = ", ".join(f"`{view}` {took:.1f} s" for view, took in got["took"].items())
    line(lines, f"DuckDB {got.get('version')}: five views",
         (time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024), events,
         f"{lines_of}; {'DIFFERS' if got['differs'] else 'equal to the report'}")
    return got["differs"]


def main():
    chosen = options()
    if chosen.ledger:
        ledger(*chosen.ledger)
        return 0
    iotrace = chosen.build / "analyzer" / "iotrace"
    lines = ["| what | s | s of CPU | ns an event | M events a s | peak MiB | |", "|---|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory(prefix="iotrace-job-", dir=chosen.folder) as place:
        place = pathlib.Path(place)
        job, tables, report = place / "job", place / "tables", place / "report.json"
        made = generate(chosen, job)
        told = run_all([[iotrace, "report", job, "--format", "json", "-o", report]], 1)
        events = sum(unit["events"] for unit in json.loads(report.read_text())["units"])
        line(lines, "`make_job`", made, events, f"{size(job) / GIB:.2f} GiB, {size(job) / events:.1f} bytes an event")
        line(lines, "`iotrace report`, one rank after another", told, events, "")
        differs = measure_mpi(chosen, lines, events, job, report)
        took = run_all([[iotrace, "export", job / f"rank-{rank}", "--format", "parquet", "--partition", "-o", tables]
                        for rank in range(chosen.ranks)], chosen.side_by_side)
        line(lines, f"`export --partition`, {chosen.side_by_side} ranks side by side", took, events,
             f"{size(tables) / GIB:.2f} GiB, {size(tables) / events:.1f} bytes an event")
        differs += measure_ledger(chosen, lines, events, tables, report)
    text = "\n".join(lines) + f"\n\n{chosen.ranks} ranks, {events} events; measured on {machine_line()}."
    print(text)
    for what in differs:
        print(f"bench_job.py: differs from the report: {what}", file=sys.stderr)
    if chosen.write:
        write(chosen.write, "job", text)
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
