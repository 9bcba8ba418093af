#!/usr/bin/env python3
"""Whether `iotrace compare` finds five ways to make a program's I/O worse, and says which file and why.

compare_trials.py [--runs N] [--trials N] [--size N] [--pairs N] [CHANGE...]

The program is tests/cases/programs/changes.py, on storage that is slow and steady (libslow.so of the
build, which SLOW names). For each change N runs are recorded, beside twice as many of the program as it is;
a trial draws `--size` of either. It has found the change if the gated figure that must show it has
regressed, and its first line of why names the file and the cause. `--pairs` of the program as it is are
compared with each other. Prints TAP; status 1 if a trial found nothing, or more than 1 % of the pairs are
false alarms.
"""
import argparse
import json
import os
import random
import shutil
import sys
from pathlib import Path

from compare_rates import ALARMS_MAX, TOP, TRIALS, iotrace, place, rate_of_pool, record, run_once
from tap import Tap

sys.path.insert(0, str(TOP / "tests" / "cases" / "programs"))
sys.dont_write_bytecode = True
import changes

PROGRAM = Path(changes.__file__)
STEPS, SLOW_US = 24, 12000

# What is changed: arguments, how slow storage is, the figure that must show it; and the file and the
# cause that its first line of why must name.
CHANGES = {
    "storage that takes 1.5 times as long":
        ([], 1.5, "artifact.exposed", "model.safetensors", "a call takes"),
    "reads of 4 KiB":
        (["--chunk", "4096"], 1, "artifact.exposed", "model.safetensors", "kB each"),
    "an fsync for each step":
        (["--sync-log"], 1, "output.sync_ops", "train.log", "syncs"),
    "no prefetch":
        (["--depth", "0"], 1, "input.exposed", "part*.tfrecord", "of its service exposed"),
    "checkpoints in the loop":
        (["--save-in-line"], 1, "output.exposed", "checkpoint-*.pt", "of its service exposed"),
}


def maker(data, arguments, slower):
    slow = os.environ.get("SLOW", str(TOP / "build" / "tests" / "cases" / "libslow.so"))
    env = {"LD_PRELOAD": slow, "SLOW_DIR": str(data), "SLOW_US": str(int(SLOW_US * slower))}
    argv = [sys.executable, "-B", str(PROGRAM), str(data), str(STEPS), *arguments]
    return lambda trace: run_once(argv, trace, env)


def shows(base, changed, metric, file, cause):
    """None, or what a comparison does not say."""
    done = iotrace("compare", "--format", "json", *base, "--to", *changed)
    found = next((m for m in json.loads(done.stdout)["metrics"] if m["metric"] == metric), {})
    if done.returncode != 1 or found.get("state") != "regressed":
        return f"status {done.returncode}, {metric} is {found.get('state')}: {found.get('reason')}"
    first = (found["why"] or [""])[0]
    return None if file in first and cause in first else f"why is {found['why']}"


def trial(out, args, folder, data, pool, name):
    arguments, slower, metric, file, cause = CHANGES[name]
    changed = record(folder / name.replace(" ", "-"), args.runs, maker(data, arguments, slower))
    missed = [said for said in (shows(random.sample(pool, args.size), random.sample(changed, args.size),
                                      metric, file, cause) for _ in range(args.trials)) if said]
    out.point(not missed, f"{name}: found and explained in {args.trials - len(missed)} of {args.trials}",
              missed)


def main():
    parser = argparse.ArgumentParser(description="Changes that iotrace compare must find.")
    parser.add_argument("--runs", type=int, default=20, help="of each change")
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--size", type=int, default=6, help="runs a side")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--keep", metavar="DIR", help="where reports are left, and taken from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("changes", nargs="*", metavar="CHANGE", help="a part of its name")
    args = parser.parse_args()
    random.seed(args.seed)
    out = Tap()
    wanted = [c for c in CHANGES if not args.changes or any(word in c for word in args.changes)]
    with place(args.keep) as folder:
        data = folder / "data"
        shutil.rmtree(data, ignore_errors=True)
        changes.make(data, STEPS)
        pool = record(folder / "as-it-is", 2 * args.runs, maker(data, [], 1))
        for name in wanted:
            trial(out, args, folder, data, pool, name)
        alarms, states = rate_of_pool(pool, args.pairs, args.size)
        out.point(alarms <= ALARMS_MAX, f"the program as it is: {100 * alarms:.2f} % false alarms of "
                  f"{args.pairs} pairs", [str(states)])
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
