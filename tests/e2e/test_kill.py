#!/usr/bin/env python3
"""A process that is killed, or ends in any other way, loses no event whose call had returned.

The victim `ends` does exactly n calls on a file and then ends; the dump must show just these, in
order. Under --full also the many calls in all shapes.
"""
import signal
import struct
import subprocess
import sys
import time

import harness
from harness import Broken, Tap

HOWS = {"kill": -signal.SIGKILL, "_exit": 3, "abort": -signal.SIGABRT, "exec": 0, "exit": 3}
THREADS = 4
SIZES = 61
CALLS = ("write", "pread")


def make_files(place):
    """What the victim writes to and reads from; gives the stem of their names."""
    for i in range(THREADS):
        (place / f"data.{i}").write_bytes(b"." * (2 * SIZES + 1))
    (place / "data.counts").write_bytes(bytes(8 * THREADS))
    return place / "data"


def calls_of(events, path):
    return [e for e in events if e["path"] == str(path) and e["op"] in CALLS]


def check_calls(events, path, n):
    """Complaints if the calls on this file are not the first n of the victim's, in order."""
    mine = calls_of(events, path)
    if len({(e["pid"], e["lane"]) for e in mine}) > 1:
        return [f"{path}: calls of more than one thread"]
    bad = [f"{path}: expected {n} calls, got {len(mine)}"] if len(mine) != n else []
    for i, e in enumerate(mine):
        want = (CALLS[i % 2], 1 + i % SIZES)
        got = (e["op"], e["bytes"])
        if got != want or e["result"] != want[1]:
            return bad + [f"{path}: call {i}: expected {want[0]} of {want[1]}, got {e}"]
        if i % 2 and e["offset"] != i % SIZES:
            return bad + [f"{path}: call {i}: expected offset {i % SIZES}, got {e}"]
    return bad


def only_data(line):
    return b"/data." in line


def check_end(how, n, shape):
    with harness.workplace() as place:
        stem = make_files(place)
        done = harness.trace([harness.victim("victim_ends"), how, n, shape, stem],
                             place / "trace")
        bad = []
        if done.status != HOWS[how]:
            bad.append(f"status: expected {HOWS[how]}, got {done.status} ({done.tail()})")
        events = harness.dump(done.folder, only_data)
        for i in range(1 if shape == "single" else THREADS):
            bad += check_calls(events, f"{stem}.{i}", n)
        harness.report(done.folder)
        return bad


def check_killed_from_outside(after_s):
    """Every call that was counted as returned is there; at most one a thread was not counted."""
    with harness.workplace() as place:
        stem = make_files(place)
        env = harness.plain(harness.preload_env(place / "trace"))
        process = subprocess.Popen([harness.victim("victim_ends"), "exit", "0", "endless",
                                    str(stem)], env=env)
        try:
            # Not before all threads are at it.
            deadline = time.monotonic() + 30
            while 0 in read_counts(stem) and time.monotonic() < deadline:
                time.sleep(0.002)
            time.sleep(after_s)
        finally:
            process.kill()
            process.wait()
        counts = read_counts(stem)
        if 0 in counts:
            raise Broken(f"the victim did not get going: {counts}")
        events = harness.dump(place / "trace", only_data)
        bad = []
        for i, counted in enumerate(counts):
            n = len(calls_of(events, f"{stem}.{i}"))
            if n not in (counted, counted + 1):
                bad.append(f"thread {i}: {counted} calls had returned, the dump has {n}")
            bad += check_calls(events, f"{stem}.{i}", n)
        harness.report(place / "trace")
        return bad


def read_counts(stem):
    return struct.unpack(f"{THREADS}q", stem.with_name("data.counts").read_bytes())


def self_test(out):
    """check_calls notices one call lost, doubled, changed or out of order."""
    def event(i):
        size = 1 + i % SIZES
        return {"path": "/d", "op": CALLS[i % 2], "bytes": size, "result": size, "pid": 1,
                "lane": 0, "offset": i % SIZES}

    good = [event(i) for i in range(100)]
    out.run("100 calls are seen as 100", lambda: check_calls(good, "/d", 100))
    for name, wrong in {"one lost at the end": good[:-1], "one lost before": good[:40] + good[41:],
                        "one twice": good[:40] + good[39:], "one too many": good + [event(100)],
                        "two in the wrong order": good[:40] + [good[41], good[40]] + good[42:],
                        }.items():
        out.point(bool(check_calls(wrong, "/d", 100)), f"noticed: {name}")


def main():
    out = Tap()
    self_test(out)
    table = [(how, n, "single") for how in HOWS for n in (0, 1, 7, 1000)]
    table += [(how, n, shape) for how in HOWS for n in (1, 1000) for shape in ("threads", "forks")]
    table += [("kill", 100000, "single"), ("exec", 100000, "single")]
    if harness.full():
        table = [(how, 100000, shape) for how in HOWS for shape in ("single", "threads", "forks")]
    for how, n, shape in table:
        out.run(f"{n} calls, then {how}, {shape}", lambda: check_end(how, n, shape))
    for after_s in (0.3, 0.6) if harness.full() else (0.0, 0.01, 0.1):
        out.run(f"killed from outside {after_s} s after four threads began",
                lambda: check_killed_from_outside(after_s))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
