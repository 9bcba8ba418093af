"""Random programs whose threads give streams work, copies of all kinds among it, played under the real
preload library and subscriber on a GPU of the tests' own: what the report says of their copies is
what replayed.py works out.

    test_schedule.py BUILD [--full] [--seed N]
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]
from replayed import GAP_NS, ROUNDED_NS, Replay
from tap import Tap

PROGRAMS, FULL, STEPS, CURVE = 200, 5000, 36, 40
# An ordinary run on a busy machine ends earlier, but not before so many.
SECONDS, LEAST = 60, 40
OBJECTS = {"HtoD": "artifact", "DtoH": "output", "DtoD": "state"}
SHARED = 7  # a stream that all threads give work; none waits for it before the end


def generate(seed):
    """The steps of each thread. They are laid down in one order that has no deadlock: what one
    thread waits for, another has done before."""
    pick = random.Random(seed)
    threads = [[] for _ in range(pick.choice([1, 1, 2, 3]))]
    # Default streams, and those that wait for them, are one thread's: else which comes first is chance.
    own = [[0, 1, 2, 4, 8, 10, 9]] if len(threads) == 1 else [[0, 1, 2], [3, 8, 10, 11], [6, 9]]
    recorded = [[] for _ in threads]  # events that a thread may wait for
    events = 0
    threads[0].append(("k", 1, 20))  # one that its launch alone holds back
    for _ in range(STEPS * len(threads)):
        t = pick.randrange(len(threads))
        steps, stream = threads[t], pick.choice(own[t])
        kind = pick.choice("kkkppphhboddcccsrrwwya")
        if kind in "kpod" and len(threads) > 1 and pick.random() < 0.1:
            stream = SHARED
        if kind == "k":
            steps.append((kind, stream, pick.randint(5, 150)))
        elif kind in "po":
            steps.append((kind, stream, pick.randint(1000, 2000000)))
        elif kind == "h":
            steps.append((kind, stream, pick.randint(1000, 500000)))
        elif kind == "b" and t < 2:
            device = pick.randrange(2) if len(threads) == 1 else t
            steps.append((kind, pick.randint(1000, 500000), device))
        elif kind == "d":
            steps.append((kind, stream, pick.randint(100000, 4000000)))
        elif kind == "c":
            steps.append((kind, pick.randint(2, 100), 0))
        elif kind == "s":
            steps.append((kind, stream, 0))
        elif kind == "r" and events < 60:
            steps.append((kind, stream, events))
            recorded[t].append(events)
            other = pick.randrange(len(threads))
            if other != t and pick.random() < 0.7:
                steps.append(("g", events, 0))
                threads[other].append(("t", events, 0))
                recorded[other].append(events)
            events += 1
        elif kind == "w" and recorded[t]:
            steps.append((kind, stream, pick.choice(recorded[t])))
        elif kind == "y" and recorded[t]:
            steps.append((kind, pick.choice(recorded[t]), 0))
        elif kind == "a" and len(threads) == 1:
            steps.append((kind, pick.randrange(2), 0))
    return threads


def words(steps):
    return ":".join(letter + (f"{a},{b}" if letter in "kphodrwb" else str(a))
                    for letter, a, b in steps)


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=120, check=False, **more)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.returncode}: {done.stderr.decode()[-300:]}")
    return done.stdout.decode()


class Player:
    def __init__(self, build, folder):
        self.build, self.folder = build, Path(folder)
        self.iotrace = build / "analyzer" / "iotrace"

    def play(self, threads, number):
        trace = self.folder / str(number)
        out = run(self.build / "tests" / "cuda" / "gpu_schedule", *map(words, threads),
                  env={**os.environ, "LD_PRELOAD": str(self.build / "preload" / "libiotrace.so"),
                       "LD_LIBRARY_PATH": str(self.build / "tests" / "cuda"),
                       "IOTRACE_DIR": str(trace), "IOTRACE_CUDA": "kernels"})
        times = {}
        for line in out.splitlines():
            thread, step, *at = map(int, line.split())
            if at[0]:
                times[thread, step] = tuple(at)
        events = [json.loads(line) for line in
                  run(self.iotrace, "dump", trace, "--format", "jsonl").splitlines()]
        return Replay(events, threads, times), json.loads(
            run(self.iotrace, "report", trace, "--format", "json"))


def doubt_ns(replay):
    """By how much a replay may be off that does not know how long each launch would have taken, as it
    does not where something else held the work back: it takes the usual time."""
    held, usual = [], []
    for work in replay.works:
        took = work.ready - replay.event(work.call)["t0_ns"]
        (usual if abs(work.start - work.ready) < 3 else held).append(took)
    usual = statistics.median(usual)
    return sum(abs(took - usual) for took in held) + (GAP_NS + 4) * len(replay.works)


def compare(replay, report, said):
    # The run ends when the recorder has let go, a little after its last event.
    doubt, wall = doubt_ns(replay), replay.lanes[replay.root][-1]["t1_ns"]
    after = report["wall_ns"] - wall
    none = dict.fromkeys([*OBJECTS, "other"], 0)

    def near(what, got, wanted, more=0):
        if abs(got - wanted) > doubt + more:
            said.append(f"{what} is {got}, by hand {wanted:.0f} (+- {doubt + more:.0f})")

    if report["model"]["cut_edges"] or report["model"]["replay_error_ns"]:
        said.append(f"the model is off: {report['model']}")
    if abs(replay.wall({}) - wall) > ROUNDED_NS or not 0 <= after < 1000000:
        said.append(f"by hand it takes {replay.wall({})}, recorded are {wall} and {after}")
    near("exposed", report["total"]["exposed_ns"], wall - replay.wall(none))
    for share, ns in report["model"]["curve"]:
        near(f"T({share})", ns - after, replay.wall(dict.fromkeys(none, share)))
    for kind, name in OBJECTS.items():
        row = next(r for r in report["objects"] if r["object"] == name)
        near(f"{name} recoverable", row["recoverable_ns"], wall - replay.wall({kind: 0}))
        service = sum(w.end - w.start for w in replay.works if w.copy == kind)
        near(f"{name} service", row["service_ns"], service)
        near(f"{name} exposed", row["exposed_ns"], exposed(replay, kind),
             report["model"]["exposed_error_ns"] + 0.02 * service + 2000)


def forgets(replay, report, what):
    """Whether it would be noticed if what events (waits), what default streams (by_itself) wait for were left
    out."""
    said, kept = [], [getattr(work, what) for work in replay.works]
    for work in replay.works:
        setattr(work, what, [])
    compare(replay, report, said)
    for work, waits in zip(replay.works, kept):
        setattr(work, what, waits)
    return bool(said)


def exposed(replay, kind):
    """Of the copies of one kind: their slope of T, added up from 0 to 1 in small steps."""
    total, step = 0, 1e-3
    for k in range(CURVE):
        share = (k + 0.5) / CURVE
        at = dict.fromkeys([*OBJECTS, "other"], share)
        more = {**at, kind: share + step}
        less = {**at, kind: share - step}
        total += (replay.wall(more) - replay.wall(less)) / (2 * step) / CURVE
    return total


def main():
    build = Path(sys.argv[1]).resolve()
    full = "--full" in sys.argv
    first = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else 0
    out, n = Tap(), 1 if "--seed" in sys.argv else FULL if full else PROGRAMS
    end = time.monotonic() + SECONDS
    bad, hidden, services = [], 0, 0
    forgotten = {"waits": 0, "by_itself": 0}
    with tempfile.TemporaryDirectory(prefix="iotrace-schedule-") as folder:
        player = Player(build, folder)
        for seed in range(first, first + n):
            if not full and seed - first >= LEAST and all(forgotten.values()) and time.monotonic() > end:
                n = seed - first
                break
            for again in ("", "-again"):  # a jump of the machine's clock does not come twice
                said, (replay, report) = [], player.play(generate(seed), f"{seed}{again}")
                compare(replay, report, said)
                if not said:
                    break
            for what, n_noticed in forgotten.items():
                forgotten[what] += (not n_noticed or seed < first + 40) and forgets(replay, report, what)
            hidden += report["total"]["hidden_ns"]
            services += report["total"]["service_ns"]
            bad += [f"seed {seed}: {line}" for line in said]
    out.point(not bad, f"{n} random programs: exposed and recoverable as worked out by hand", bad)
    out.point(forgotten["waits"], "working it out without what events wait for is noticed",
              "no program depends on it")
    out.point(forgotten["by_itself"], "and without what default streams wait for by themselves",
              "no program depends on it")
    out.point(0.02 * services < hidden < 0.98 * services,
              f"some copies are hidden, some exposed: {hidden} of {services} ns are hidden")
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
