#!/usr/bin/env python3
"""Programs that log when their steps began, against the steps that the report found.

On a busy machine a program can be held up anywhere, also between a step's begin and its note of it:
a program is run again, twice at most, where too few are right. A boundary is right if a found one lies within 5 % of a step of it; found ones beside it count as wrong,
too. 95 % must be right in each program, and a program without steps must get none.
"""
import bisect
import os
import sys
from pathlib import Path

import harness
from harness import Tap

STEPS = harness.HERE.parent / "steps"
PYTHON = "/usr/bin/python3"  # Debian's python3-torch serves this one
PROGRAMS = ["input_loop.py", "prefetch.py", "workers.py", "checkpoint.py", "jitter.py",
            "variable.py", "warmup.py", "tokens", "kv_swap", "loader.py", "marks", "none.py",
            "semaphores reader", "semaphores trainer", "semaphores reader joined",
            "semaphores trainer joined", "conditions", "requests", "varied", "pool.py",
            "accumulate.py", "evaluate.py", "epochs.py", "async_checkpoint.py"]
WITHOUT, MARKED = {"none.py"}, {"marks"}
NEEDED, NEAR, TRIES = 0.95, 0.05, 3


def argv_of(name):
    if name.endswith(".py"):
        return [PYTHON, "-B", STEPS / name]
    program, *rest = name.split()
    return [Path(os.environ["VICTIMS"]).parent / "steps" / f"steps_{program}", *rest]


def run(name, place):
    """The report and the true starts, in the trace's time."""
    here = place / name
    here.mkdir()
    env = {"STEPS_TRUTH": str(here / "truth"), "PYTHONPATH": str(harness.HERE)}
    if name.endswith(".py"):
        maker = [harness.HERE / "train_torch.py", here] if name == "loader.py" else [STEPS / name]
        made = harness.run([PYTHON, "-B", *maker, "make"], harness.plain(env), here, 300)
        if made.status:
            raise harness.Broken(f"{name} make: {made.tail()}")
    done = harness.trace(argv_of(name), here / "trace", env, here, 300)
    if done.status:
        raise harness.Broken(f"status {done.status} ({done.tail()})")
    clock = harness.dump(here / "trace", lambda line: b'"/clock/' in line)[0]
    offset = int(clock["path"].rsplit("/", 1)[1]) - clock["t0_ns"]
    starts = [int(line) - offset for line in (here / "truth").read_text().split()]
    return harness.report(here / "trace"), starts


def share_right(true, found):
    """Of the true boundaries, or of the found ones where those are more."""
    spans = sorted(b - a for a, b in zip(true, true[1:]))
    near = NEAR * spans[len(spans) // 2]
    right = 0
    for t in true:
        k = bisect.bisect_left(found, t - near)
        right += k < len(found) and found[k] <= t + near
    return right / max(len(true), len(found))


def check(name, place):
    report, true = run(name, place)
    steps, phases = report["steps"], report["phases"]
    found = steps["starts"]
    if name in WITHOUT:
        print(f"# {name}: {len(found)} steps found, none is there")
        return [f"{len(found)} steps by {steps['op']} {steps['path']}"] if found else []
    share = share_right(true, found)
    print(f"# {name}: {share:.1%} of {len(true)} boundaries right, {len(found)} found by "
          f"{steps['source']}, {steps['op']} {steps['path']}")
    bad = [] if share >= NEEDED else [f"{share:.1%} are right, {NEEDED:.0%} are needed: "
                                      f"{[(b - a) / 1e6 for a, b in zip(true, found)][:40]} ms off"]
    want = "marks" if name in MARKED else "period"
    if steps["source"] != want:
        bad.append(f"found by {steps['source']}, expected {want}")
    names = [p["name"] for p in phases]
    if [n for n in names if n != "shutdown"] != ["cold_start", "steady"]:
        bad.append(f"phases {names}")
    return bad


def check_again(name, place):
    for attempt in range(TRIES):
        (place / str(attempt)).mkdir(exist_ok=True)
        bad = check(name, place / str(attempt))
        if not bad:
            break
    return bad


def main():
    out = Tap()
    torch = not harness.run([PYTHON, "-c", "import torch"], timeout=300).status
    only = [a for a in sys.argv[1:] if not a.startswith("-")]
    with harness.workplace() as place:
        for name in [p for p in PROGRAMS if not only or p.split()[0] in only]:
            if name == "loader.py" and not torch:
                out.skip(name, f"no PyTorch for {PYTHON}")
                continue
            out.run(f"steps of {name}", lambda: check_again(name, place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
