#!/usr/bin/env python3
"""Programs that measure what their I/O cost them, against the report: queues and hand-overs of many
kinds, and what looks alike and is not.

test_own_cases.py [NAME...]     all, or those whose name starts so
"""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import harness
import slow_mount
from harness import Tap, Undecided

PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
PROGRAMS = HERE / "programs"
ITEMS, FILE_BYTES, SLOW_US, TRIES = 24, 20000, 12000, 3
MAPPED, MAPPED_BYTES = "model.gguf", 1 << 20


def built(name):
    return str(Path(os.environ["VICTIMS"]).parent / "cases" / name)


def python(name, *arguments):
    return lambda data: [PYTHON, "-B", PROGRAMS / (name + ".py"), arguments[0], data, ITEMS,
                         *arguments[1:]]


def binary(name, *arguments):
    return lambda data: [built(name), *[data if a is None else a for a in arguments]]


def friend(which, items=ITEMS):
    return binary("case_friends", which, None, items)


def mapped(which, ms):
    """On a file system that is slow itself: no call is made that libslow.so could hold up."""
    return lambda data: [built("case_mapped"), which, data / MAPPED, ITEMS, ms]


def explained(made):
    lost = made["path"]["unexplained_ns"]
    allowed = max(20e6, 0.02 * made["wall_ns"])
    return [f"{lost / 1e6:.1f} ms of the path are unexplained"] if lost > allowed else []


def is_main(name):
    """Of the root process, which is named where it is not alone."""
    return re.fullmatch(r"main thread( of [\w.]+)?", name or "") is not None


def words(waited_for, queue):
    """The reader is named in the waits, and leads the queue into the main thread."""
    def also(made):
        bad = explained(made)
        most = made["waits"][0] if made["waits"] else {}
        got = tuple(most.get(key) for key in ("waiter", "waited_for", "doing", "object"))
        if got[1:] != (waited_for, "reading", "input") or not is_main(got[0]):
            bad.append(f"waits begin with {most}")
        if not most.get("path", "").endswith("/part*.bin"):
            bad.append(f"the files waited for are {most.get('path')}")
        queues = [q for q in made["queues"] if q["name"].startswith(queue)
                  and is_main(q["consumer"]) and q["object"] == "input"]
        if not any(q["messages"] == ITEMS and q["length"]["max"] <= 3 for q in queues):
            bad.append(f"queues are {made['queues']}")
        return bad
    return also


def loads(made):
    """A DataLoader's workers are named, and hand their batches to the main thread."""
    bad = explained(made)
    if not made["waits"] or not made["waits"][0]["waited_for"].startswith("DataLoader worker "):
        bad.append(f"waits begin with {made['waits'][:1]}")
    if not any(q["producer"] == "2 DataLoader workers" and is_main(q["consumer"])
               and q["messages"] == ITEMS and q["object"] == "input" for q in made["queues"]):
        bad.append(f"queues are {made['queues']}")
    return bad


def whatif(folder, *arguments):
    """What `iotrace whatif` says, as a dict."""
    return json.loads(harness.ask("whatif", folder, "--format", "json", *arguments))


def check_whatif(made, folder, name):
    """Without that object the run takes what the report says is recoverable less; at half the time, no less
    than the curve says; the parts of both paths add up."""
    without, half = whatif(folder, "--object", name), whatif(folder, "--scale", "0.5")
    recoverable = next(o for o in made["objects"] if o["object"] == name)["recoverable_ns"]
    bad = []
    if without["gained_ns"] != recoverable:
        bad.append(f"whatif gains {without['gained_ns']}, recoverable is {recoverable}")
    curve = next(t for lam, t in made["model"]["curve"] if lam == 0.5)
    if abs(half["new_wall_ns"] - curve) > len(made["files"]) * 100:
        bad.append(f"at half the time {half['new_wall_ns']}, the curve says {curve}")
    for path, wall in (("path", "wall_ns"), ("new_path", "new_wall_ns")):
        parts = dict(without[path])
        total = sum(parts.pop("io_ns").values()) + sum(parts.values())
        if total != without[wall]:
            bad.append(f"{path} adds up to {total}, not {without[wall]}")
    if whatif(folder, "--file", f"{folder.parent}/*", "--overlap")["gained_ns"] < 0:
        bad.append("asynchronous it is slower")
    return bad


def sleeps(made):
    """The path is in the loop's sleep."""
    slept, wall = made["path"]["sleep_ns"], made["wall_ns"]
    return [] if slept > 0.8 * wall else [f"{slept / 1e6:.1f} ms of sleep in {wall / 1e6:.1f} ms"]


def computes(made):
    """The path is in the loop's spinning."""
    busy, wall = made["path"]["compute_ns"], made["wall_ns"]
    return [] if busy > 0.9 * wall else [f"{busy / 1e6:.1f} ms of computing in {wall / 1e6:.1f} ms"]


# Name: how it is run, and what else must hold. Consumers that work 5 ms starve beside reads of
# 12 ms; those that work 20 ms lose the first read alone.
CASES = {
    "cxx_queue starved": (binary("case_cxx_queue", None, ITEMS, 5), words("reader", "condition")),
    "cxx_queue fed": (binary("case_cxx_queue", None, ITEMS, 20), explained),
    "cxx_future starved": (binary("case_cxx_future", None, ITEMS, 5), explained),
    "cxx_future fed": (binary("case_cxx_future", None, ITEMS, 20), explained),
    "rust mpsc starved": (binary("queue_rs", "mpsc", None, ITEMS, 5), explained),
    "rust mutex": (binary("queue_rs", "mutex", None, ITEMS, 7), explained),
    "thread starved": (python("loaders", "thread", 5), words("thread 1", "queue at")),
    "thread fed": (python("loaders", "thread", 20), explained),
    "process starved": (python("loaders", "process", 5), words("worker 1", "pipe:")),
    "process fed": (python("loaders", "process", 20), explained),
    "pool starved": (python("loaders", "pool", 3), explained),
    "semaphore starved": (python("loaders", "semaphore", 5), words("worker 1", "sem:")),
    "semaphore fed": (python("loaders", "semaphore", 20), explained),
    "futures starved": (python("loaders", "futures", 5), explained),
    "asyncio starved": (python("loaders", "asyncio", 5), explained),
    "dataloader 0": (python("dataloader", 0, 5), explained),
    "dataloader 2": (python("dataloader", 2, 15), loads),
    "pipeline starved": (python("stages", "pipeline", 5), explained),
    "unix socket": (python("stages", "unix", 5), explained),
    "tcp socket": (python("stages", "tcp", 5), explained),
    "nested": (python("stages", "nested", 0), explained),
    "mapped starved": (mapped("loader", 5), explained),
    "mapped fed": (mapped("loader", 20), explained),
    "mapped alone": (mapped("alone", 5), explained),
    "friend nobody": (friend("nobody", 8), explained),
    "friend twins": (friend("twins", 8), explained),
    "friend lock": (friend("lock"), explained),
    "friend filelock": (friend("filelock"), explained),
    "friend decode": (friend("decode"), explained),
    "friend output": (friend("output"), explained),
    "friend sysv": (friend("sysv"), words("thread 1", "semid:")),
    "friend msg": (friend("msg"), words("thread 1", "msqid:")),
    "friend mq": (friend("mq"), words("thread 1", "mq:")),
    "friend poll": (friend("poll", 8), sleeps),
    "friend spin": (friend("spin", 8), computes),
}


def rust_program():
    """Builds the Rust one where there is a compiler; gives why not otherwise."""
    if not shutil.which("rustc"):
        return "no rustc"
    done = subprocess.run(["rustc", "-O", "-o", built("queue_rs"), PROGRAMS / "queue.rs"],
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.splitlines()[0]


def no_torch():
    done = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True)
    return "" if done.returncode == 0 else "no PyTorch"


def compare(made, truth):
    """`slack_ns`: how far off may be what the program says of itself. `queued_ns`: how long its threads waited for
    a CPU; what is no further off than that is no fault of ours, and nothing that holds, either."""
    row = next(o for o in made["objects"] if o["object"] == truth["object"])
    bad, most, queued_ns = [], 0, truth.get("queued_ns", 0)
    for field in ("service_ns", "exposed_ns", "waited_ns"):
        want, got = truth[field], row[field]
        if want is None:
            continue
        over = abs(want - got) - max(0.05 * want, 5e6, truth.get("slack_ns", 0))
        if over > queued_ns:
            bad.append(f"{field}: expected {want / 1e6:.2f} ms, got {got / 1e6:.2f}")
        most = max(most, over)
    if not bad and most > 0:
        raise Undecided(f"others took its CPUs for {queued_ns / 1e6:.0f} ms")
    if made["model"]["replay_error_ns"]:
        bad.append(f"T(1) is {made['model']['replay_error_ns']} ns beside the wall time")
    return bad


def run_case(name, place):
    command, also = CASES[name]
    data = place / "data"
    if name.startswith("mapped"):
        (place / MAPPED).write_bytes(bytes(MAPPED_BYTES))
        with slow_mount.mounted(place / MAPPED, data, SLOW_US):
            return run_program(command(data), also, place)
    data.mkdir()
    for k in range(ITEMS):
        (data / f"part{k:03}.bin").write_bytes(bytes(FILE_BYTES))
    return run_program(command(data), also, place)


def run_program(argv, also, place):
    env = {"SLOW_DIR": str(place / "data"), "SLOW_US": str(SLOW_US), "TRUTH": str(place / "truth.json"),
           "IOTRACE_DIR": str(place / "trace"),
           "LD_PRELOAD": harness.named("LIBIOTRACE") + ":" + built("libslow.so")}
    done = harness.run(argv, harness.plain(env), place)
    if done.status:
        return [f"status {done.status}: {done.tail()}"]
    made = harness.report(place / "trace")
    truth = json.loads((place / "truth.json").read_text())
    bad = also(made) + check_whatif(made, place / "trace", truth["object"])
    return bad or compare(made, truth)


def retried(name):
    """Another run where a figure is off: what a program measures of itself is no truth where others
    took its CPU in between. Gives complaints."""
    for k in range(TRIES):
        with harness.workplace() as place:
            try:
                bad = run_case(name, place)
            except Undecided:
                if k + 1 == TRIES:
                    raise
                continue
        if not bad:
            break
    return bad


def main():
    out, without = Tap(), {}
    wanted = [n for n in CASES if not sys.argv[1:] or any(n.startswith(a) for a in sys.argv[1:])]
    if any(n.startswith("rust") for n in wanted):
        without["rust"] = rust_program()
    if any(n.startswith("dataloader") for n in wanted):
        without["dataloader"] = no_torch()
    if any(n.startswith("mapped") for n in wanted):
        without["mapped"] = slow_mount.why_not()
    for name in wanted:
        reason = without.get(name.split()[0])
        if reason:
            out.skip(name, reason)
            continue
        out.run(name, lambda: retried(name))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
