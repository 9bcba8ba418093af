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
EVENTS, NEVER = 120, [126, 127]  # events that are recorded, and that never are
# By how many threads there are, the streams of each: those it gives work, and those that only hand on what they
# wait for. Default streams, and those that wait for them, are one thread's: else which comes first is chance.
ALONE = [([0, 1, 2, 4, 8, 10, 9], [3, 5, 6, 12, 13])]
TOGETHER = [([0, 1, 2], [4, 5, 14]), ([3, 8, 10, 11], [12, 13]), ([6, 9], [15])]


class Program:
    """The steps of each thread. They are laid down in one order that has no deadlock: what one
    thread waits for, another has done before."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.threads = [[] for _ in range(self.pick.choice([1, 1, 2, 3]))]
        self.streams = ALONE if len(self.threads) == 1 else TOGETHER
        self.recorded = [[] for _ in self.threads]  # events that a thread may wait for
        self.own = [[] for _ in self.threads]  # and those that no other knows
        self.events = 0
        self.threads[0].append(("k", 1, 20))  # one that its launch alone holds back
        for _ in range(STEPS * len(self.threads)):
            self.step(self.pick.randrange(len(self.threads)))

    def record(self, t, stream):
        """An event, now and then one that was recorded before. None where there are no more."""
        pick, event = self.pick, self.events
        if self.own[t] and (event == EVENTS or pick.random() < 0.2):
            event = pick.choice(self.own[t])
            self.threads[t].append(("r", stream, event))
            return event
        if event == EVENTS:
            return None
        self.events += 1
        self.threads[t].append(("r", stream, event))
        self.recorded[t].append(event)
        other = pick.randrange(len(self.threads))
        if other != t and pick.random() < 0.7:
            self.threads[t].append(("g", event, 0))
            self.threads[other].append(("t", event, 0))
            self.recorded[other].append(event)
        else:
            self.own[t].append(event)
        return event

    def chain(self, t):
        """A stream waits and its event is recorded at once, for another one to wait for, and so on."""
        pick, (own, idle) = self.pick, self.streams[t]
        event = pick.choice(self.recorded[t] + NEVER)
        for _ in range(pick.randint(1, 4)):
            stream = pick.choice(idle if pick.random() < 0.7 else own)
            self.threads[t].append(("w", stream, event))
            if pick.random() < 0.3:
                self.threads[t].append(("w", stream, pick.choice(self.recorded[t] + NEVER)))
            event = self.record(t, stream)
            if event is None:
                return
        end = pick.choice("wwwsy")
        self.threads[t].append(("y", event, 0) if end == "y" else ("s", stream, 0) if end == "s" else
                               ("w", pick.choice(own), event))

    def step(self, t):
        pick, steps = self.pick, self.threads[t]
        stream = pick.choice(self.streams[t][0])
        kind = pick.choice("kkkppphhboddcccsrrwwyamm")
        if kind in "kpod" and len(self.threads) > 1 and pick.random() < 0.1:
            stream = SHARED
        if kind == "k":
            steps.append((kind, stream, pick.randint(5, 150)))
        elif kind in "po":
            steps.append((kind, stream, pick.randint(1000, 2000000)))
        elif kind == "h":
            steps.append((kind, stream, pick.randint(1000, 500000)))
        elif kind == "b" and t < 2:
            device = pick.randrange(2) if len(self.threads) == 1 else t
            steps.append((kind, pick.randint(1000, 500000), device))
        elif kind == "d":
            steps.append((kind, stream, pick.randint(100000, 4000000)))
        elif kind == "c":
            steps.append((kind, pick.randint(2, 100), 0))
        elif kind == "s":
            steps.append((kind, stream, 0))
        elif kind == "r":
            self.record(t, stream)
        elif kind == "w":
            steps.append((kind, stream, pick.choice(self.recorded[t] + NEVER)))
        elif kind == "m":
            self.chain(t)
        elif kind == "y" and self.recorded[t]:
            steps.append((kind, pick.choice(self.recorded[t]), 0))
        elif kind == "a" and len(self.threads) == 1:
            steps.append((kind, pick.randrange(2), 0))


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
    """Whether it would be noticed if what works wait for by events (waits), by events that wait for others
    (chained), by being in or beside a default stream (by_itself) were left out."""
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
    forgotten = {"waits": 0, "chained": 0, "by_itself": 0}
    with tempfile.TemporaryDirectory(prefix="iotrace-schedule-") as folder:
        player = Player(build, folder)
        for seed in range(first, first + n):
            if not full and seed - first >= LEAST and all(forgotten.values()) and time.monotonic() > end:
                n = seed - first
                break
            for again in ("", "-again"):  # a jump of the machine's clock does not come twice
                said, (replay, report) = [], player.play(Program(seed).threads, f"{seed}{again}")
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
    out.point(forgotten["chained"], "and without what those events' streams were waiting for",
              "no program depends on it")
    out.point(forgotten["by_itself"], "and without what default streams wait for by themselves",
              "no program depends on it")
    out.point(0.02 * services < hidden < 0.98 * services,
              f"some copies are hidden, some exposed: {hidden} of {services} ns are hidden")
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
