#!/usr/bin/env python3
"""How often `iotrace compare` cries wolf, and how often it finds what is there.

compare_rates.py [--pairs N] [--size N] [--noise PERCENT]        made-up runs around one recorded run
compare_rates.py --runs N [--pairs N] [--size N] [--changed LINE] [--case NAME | -- CMD...]
                                   2 N recorded runs, of the demo, of CMD, or of a case of test_cases.py

Both sides are runs of the same program, drawn without putting back from one pool: any regression is
a false alarm. For the power, made-up runs have the I/O of one side scaled; of recorded ones, the other
side is N runs of LINE, a command line of a shell, or without CMD more arguments of the demo's trainer.
compare_trials.py has more changes. IOTRACE and LIBIOTRACE name what is measured. Prints a table; status 1
if more than 1 % are false alarms, 77 if there is no such case here.
"""
import argparse
import contextlib
import copy
import importlib.util
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
GOLDEN = TOP / "tests" / "golden" / "reports" / "base" / "run.json"
ALARMS_MAX = 0.01
TRIALS = 20
FILES = 200
TIMES = ("service_ns", "exposed_ns", "blocking_ns", "waited_ns", "recoverable_ns")
SHIFTS = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0)


def iotrace(*argv):
    command = os.environ.get("IOTRACE", str(TOP / "build" / "analyzer" / "iotrace"))
    return subprocess.run([command, *map(str, argv)], capture_output=True, check=False)


def compare(base, candidate):
    """Its status, and the names of what regressed; gated only."""
    done = iotrace("compare", "--format", "json", *base, "--to", *candidate)
    if done.returncode not in (0, 1):
        sys.exit(f"compare_rates.py: {done.stderr.decode().strip()}")
    made = json.loads(done.stdout)
    return done.returncode, Counter(
        (m["metric"], m["state"] if m["level"] != "off" else "not gated: " + m["state"])
        for m in made["metrics"])


# --- runs ---

def library():
    return os.environ.get("LIBIOTRACE", str(TOP / "build" / "preload" / "libiotrace.so"))


def report(trace, path):
    """Of a trace, which goes; without its least files."""
    if iotrace("report", trace, "--format", "json", "--top", FILES, "-o", path).returncode:
        sys.exit(f"compare_rates.py: no report of {trace}")
    shutil.rmtree(trace)
    return path


def run_once(argv, trace, env=None):
    """A traced run; what is preloaded already stays, behind the tracer."""
    behind = (env or {}).get("LD_PRELOAD", "")
    env = os.environ | (env or {}) | {"LD_PRELOAD": f"{library()}:{behind}".rstrip(":"),
                                      "IOTRACE_DIR": str(trace)}
    done = subprocess.run(argv, env=env, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"compare_rates.py: {argv[0]} ended with {done.returncode}: "
                 f"{done.stderr.decode(errors='replace')[-200:]}")
    return trace


def record(folder, runs, make):
    """Reports of that many traced runs, without those that are there; `make` makes a trace in the folder
    that it is given, and returns it."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"run-{i:03}.json" for i in range(runs)]
    return [path if path.exists() else report(make(folder / "trace"), path) for path in paths]


@contextlib.contextmanager
def place(kept):
    """Where reports go: a folder that stays, or one that does not."""
    if kept:
        Path(kept).mkdir(exist_ok=True)
        yield Path(kept).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="iotrace-rates-") as folder:
        yield Path(folder).resolve()


def case(name, work):
    """Runs of a case whose programs are not part of this tree: where test_cases.py looks for them."""
    folder = Path(os.environ.get("IOTRACE_CASES") or TOP.parent / "shared" / "cases")
    if not (folder / "run.py").is_file():
        print(f"skipped: no {name}, since {folder} has no run.py (IOTRACE_CASES names the folder)")
        sys.exit(77)
    spec = importlib.util.spec_from_file_location("cases", folder / "run.py")
    cases = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cases)
    runner = cases.Runner(folder, work, preload=library())
    row = next((row for row in cases.load_cases(folder) if row["name"] == name), None)
    if not row:
        sys.exit(f"compare_rates.py: {folder} has no case {name}")

    def make(trace):
        made = runner.run(row)[2].rename(trace)
        for place in work.glob(f"{name}-*"):
            shutil.rmtree(place)
        return made
    return make


def demo(folder):
    data = folder / "data"
    shutil.rmtree(data, ignore_errors=True)
    subprocess.run([sys.executable, TOP / "scripts" / "demo" / "make_data.py", data], check=True,
                   capture_output=True)
    return [sys.executable, str(TOP / "scripts" / "demo" / "train.py"), str(data), "--steps", "40"]


class Pool:
    """Made-up runs: half a second of computing, 300 and 200 ms of I/O, and noise that is sometimes
    much (a run in twelve meets a busy machine)."""

    def __init__(self, folder, noise):
        self.folder, self.noise, self.n = folder, noise, 0
        self.report = json.loads(GOLDEN.read_text())

    def factor(self):
        busy = random.random() < 1 / 12
        return math.exp(random.gauss(0, self.noise)) * (random.uniform(1.1, 1.6) if busy else 1)

    def run(self, scale):
        self.n += 1
        made = copy.deepcopy(self.report)
        made["run"]["start_realtime_ns"] += self.n
        machine, io = self.factor(), {"artifact": 3e8, "output": 2e8}
        io = {name: ns * machine * self.factor() * scale for name, ns in io.items()}
        for row in [*made["objects"], *made["files"]]:
            row.update({key: int(io.get(row["object"], 0)) for key in TIMES if key != "waited_ns"})
        made["total"]["exposed_ns"] = sum(int(ns) for ns in io.values())
        made["wall_ns"] = int(5e8 * machine + sum(io.values()))
        path = self.folder / f"made-{self.n}.json"
        path.write_text(json.dumps(made))
        return path

    def sides(self, size, scale):
        return [self.run(1) for _ in range(size)], [self.run(scale) for _ in range(size)]


# --- rates ---

def rate(pairs, draw):
    """How many pairs regressed, and which metrics did."""
    failed, states = 0, Counter()
    for _ in range(pairs):
        status, seen = compare(*draw())
        failed += status == 1
        states += seen
    return failed / max(1, pairs), states


def print_states(states, pairs):
    for state in ("regressed", "inconclusive", "not comparable", "missing", "not gated: regressed"):
        for (metric, _), n in sorted(((k, n) for k, n in states.items() if k[1] == state),
                                     key=lambda row: -row[1])[:6]:
            print(f"    {state:20} {metric:24} {100 * n / pairs:6.1f} %")


def rate_of_pool(pool, pairs, size):
    """The same of runs of one program."""
    def draw():
        drawn = random.sample(pool, 2 * size)
        return drawn[:size], drawn[size:]

    return rate(pairs, draw)


def false_alarms(pool, pairs, size, name):
    alarms, states = rate_of_pool(pool, pairs, size)
    print(f"{len(pool)} runs of {name}, {pairs} pairs of {size} against {size}: "
          f"{100 * alarms:.2f} % false alarms", flush=True)
    print_states(states, pairs)
    return alarms


def recorded(args, folder):
    argv = args.command or (None if args.case else demo(folder))
    (folder / "work").mkdir(exist_ok=True)
    make = case(args.case, folder / "work") if args.case else lambda trace: run_once(argv, trace)
    pool = record(folder / "runs", 2 * args.runs, make)
    name = args.case or (Path(argv[0]).name if args.command else "the demo")
    alarms = false_alarms(pool, args.pairs, args.size, name)
    if args.changed:
        line = ["sh", "-c", args.changed] if args.command else argv + args.changed.split()
        changed = record(folder / "changed", args.runs, lambda trace: run_once(line, trace))
        found, states = rate(TRIALS, lambda: (random.sample(pool, args.size),
                                              random.sample(changed, args.size)))
        print(f"changed: found in {100 * found:.0f} % of {TRIALS}")
        print_states(states, TRIALS)
    return alarms


def made_up(args, folder):
    pool = Pool(folder, args.noise / 100)
    alarms, states = rate(args.pairs, lambda: pool.sides(args.size, 1))
    print(f"made-up runs, noise {args.noise:g} %, {args.pairs} pairs of {args.size} against "
          f"{args.size}: {100 * alarms:.2f} % false alarms")
    print_states(states, args.pairs)
    for scale in SHIFTS:
        pairs = max(20, args.pairs // 10)
        found, _ = rate(pairs, lambda: pool.sides(args.size, scale))
        print(f"    I/O times {scale:<5} found in {100 * found:5.1f} % of {pairs}")
    return alarms


def main():
    parser = argparse.ArgumentParser(description="False alarms and power of iotrace compare.")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--size", type=int, default=6, help="runs a side")
    parser.add_argument("--noise", type=float, default=3, metavar="PERCENT")
    parser.add_argument("--runs", type=int, default=0, help="record so many a side")
    parser.add_argument("--changed", metavar="LINE", help="with --runs: what is to be found")
    parser.add_argument("--case", metavar="NAME", help="with --runs: what is run")
    parser.add_argument("--keep", metavar="DIR", help="where reports are left, and taken from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("command", nargs="*")
    args = parser.parse_args()
    if args.case and (args.command or args.changed):
        parser.error("a case is run as it is: no CMD, no --changed")
    random.seed(args.seed)
    with place(args.keep) as folder:
        alarms = (recorded if args.runs else made_up)(args, folder)
    return 1 if alarms > ALARMS_MAX else 0


if __name__ == "__main__":
    sys.exit(main())
