#!/usr/bin/env python3
"""Asynchronous reads on storage of a known slowness, against what they cost the program: waited for at
once, and behind work.

test_async.py [NAME...]     all, or those whose name starts so
"""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
import harness
import slow_mount
from harness import Tap
from test_own_cases import TRIES, built, compare, explained

ITEMS, FILE_BYTES, SLOW_US = 24, 16384, 12000

# When: the milliseconds of work beside a read of 12, and what is lost of each read but the first.
CASES = {
    "waited": (3, 12),
    "ahead": (5, 7),
    "ahead, hidden": (20, 0),
    "pairs": (3, 6),
}
LANES = {"aio": "POSIX aio request", "libaio": "libaio request", "uring": "io_uring request"}


def run_once(how, when, place):
    work_ms, lost_ms = CASES[when]
    env = {"TRUTH": str(place / "truth.json"), "IOTRACE_DIR": str(place / "trace"),
           "LD_PRELOAD": harness.named("LIBIOTRACE")}
    done = harness.run([built("case_async"), how, when.split(",")[0], place / "slow", ITEMS, work_ms],
                       harness.plain(env), place)
    if done.status:
        return [f"status {done.status}: {done.tail()}"]
    made = harness.report(place / "trace")
    truth = json.loads((place / "truth.json").read_text())
    bad = compare(made, truth) + explained(made)
    first = 12 if when.startswith("ahead") else 0
    expected = (first + lost_ms * (ITEMS - bool(first))) * 1e6
    if truth["exposed_ns"] < 0.97 * expected: # a busy machine makes it longer
        bad.append(f"the storage is fast: {truth['exposed_ns'] / 1e6:.1f} ms, not {expected / 1e6:.1f}")
    row = next(o for o in made["objects"] if o["object"] == "input")
    if row["bytes"] != ITEMS * FILE_BYTES:
        bad.append(f"{row['bytes']} bytes, not {ITEMS * FILE_BYTES}")
    said = json.loads(harness.ask("explain", place / "trace", place / "slow" / "part000.bin",
                                  "--format", "json"))
    lanes = said["files"][0]["lanes"]
    if not any(lane["tid"] == 0 and lane["bytes"] == FILE_BYTES for lane in lanes):
        bad.append(f"the lanes of a file are {lanes}")
    text = harness.ask("explain", place / "trace", place / "slow" / "part000.bin").decode()
    if LANES[how] not in text:
        bad.append(f"no {LANES[how]}: {text.splitlines()[-12:]}")
    return bad


def retried(how, when):
    for _ in range(TRIES):
        with harness.workplace() as place:
            (place / "data").mkdir()
            for k in range(ITEMS):
                (place / "data" / f"part{k:03}.bin").write_bytes(bytes(FILE_BYTES))
            with slow_mount.mounted(place / "data", place / "slow", SLOW_US, cached=False):
                bad = run_once(how, when, place)
        if not bad:
            break
    return bad


def main():
    out, reason = Tap(), slow_mount.why_not()
    no_ring = subprocess.run([harness.victim("victim_async"), "probe"], check=False).returncode
    for how in LANES:
        for when in CASES:
            name = f"{how} {when}"
            if sys.argv[1:] and not any(name.startswith(a) for a in sys.argv[1:]):
                continue
            if reason or (how == "uring" and no_ring):
                out.skip(name, reason or "no io_uring to be had")
            else:
                out.run(name, lambda: retried(how, when))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
