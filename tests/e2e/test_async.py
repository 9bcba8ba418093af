#!/usr/bin/env python3
"""Asynchronous requests: what each way of handing them over moved, against the dump; fio's engines
against what fio says; and what cannot be seen is counted."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import harness
from harness import Tap

MOVED = re.compile(r"^moved (\w+) (\w+) (\d+)$", re.MULTILINE)
OPEN = re.compile(r"^open (\d+)$", re.MULTILINE)
BYPASSED = re.compile(r"^bypassed 1$", re.MULTILINE)
EITHER = re.compile(r"^either (\w+) (\w+) (\d+)$", re.MULTILINE)
UNSEEN = re.compile(r"^unseen (\d+)$", re.MULTILINE)
RINGS = {"ring", "direct", "unmapped", "polled", "forked", "crowded", "execs", "hidden"}
WAYS = ["aio", "aio64", "list", "libaio", "foreign", "handle", "past", *sorted(RINGS)]
LIBURING = ["plain", "polled", "many"]
# fio's engine, its further options, whether it calls the kernel by libc
FIO = [("libaio", ["--direct=0"], True), ("libaio", ["--direct=1"], True), ("posixaio", [], True),
       ("io_uring", [], False), ("io_uring", ["--fixedbufs", "--registerfiles"], False)]


def program(name):
    path = Path(os.environ["VICTIMS"]) / name
    return str(path) if path.exists() else None


def can_ring():
    return subprocess.run([program("victim_async"), "probe"], check=False).returncode == 0


def requests_of(events):
    return [e for e in events if e["op"].startswith("async_") and e["op"] != "async_unseen"]


def moves_of(events):
    """All that moves bytes of the files, by whatever call: nothing may count twice."""
    return requests_of(events) + [e for e in events if e["op"] in (
        "cufile_read", "cufile_write", "pread", "pwrite", "read", "write") and (e["fd"] or 0) > 2]


def of_rest(made, text):
    return any(text in line for line in made["run"]["not_seen"])


def check_way(victim, way, place):
    (place / "work").mkdir()
    plain = harness.run([victim, way, place / "work"])
    done = harness.trace([victim, way, place / "work"], place / "trace")
    bad = [] if plain.stdout == done.stdout else ["its output is another when traced"]
    if plain.status or done.status:
        return [f"status {plain.status}, traced {done.status}: {done.tail()}"]
    said, seen = collections.Counter(), collections.Counter()
    text = done.stdout.decode()
    for op, name, moved in MOVED.findall(text):
        said[op, str(place / "work" / name)] += int(moved)
    events = harness.dump(place / "trace")
    for e in moves_of(events):
        if e["op"] not in ("async_wait", "async_other") and not e["errno"] and e["path"] != "/dev/null":
            seen[e["op"], e["path"]] += e["bytes"]
    either = {(op, str(place / "work" / name)): int(n) for op, name, n in EITHER.findall(text)}
    if said != seen and dict(seen) != either:
        bad.append(f"said {dict(said)}, seen {dict(seen)}")
    hidden = sum(int(n) for n in UNSEEN.findall(text))
    counted = sum(e["result"] for e in events if e["op"] == "async_unseen")
    made = harness.report(place / "trace")
    if hidden != counted:
        bad.append(f"{hidden} requests out of sight, {counted} counted")
    if bool(hidden) != of_rest(made, f"{hidden} requests of io_uring"):
        bad.append(f"not seen: {made['run']['not_seen']}")
    if bool(OPEN.search(text)) != of_rest(made, "The end of 1 "):
        bad.append(f"without an end: {made['run']['not_seen']}")
    if bool(BYPASSED.search(text) or (either and not seen)) != of_rest(made, "1 file opened for direct I/O"):
        bad.append(f"what went past the recorder: {made['run']['not_seen']}")
    # Nothing waited without a reason. A timeout of a ring is one.
    if made["model"]["unmatched_waits"] > {"unmapped": 5, "crowded": 8}.get(way, 0):
        bad.append(f"{made['model']['unmatched_waits']} waits without a waker")
    return bad


def check_failure(place):
    """A request that fails is there with its errno, and moved nothing."""
    (place / "work").mkdir()
    harness.trace([program("victim_async"), "list", place / "work"], place / "trace")
    failed = [e for e in harness.dump(place / "trace") if e["op"] == "async_read" and e["errno"]]
    return [] if [(e["errno"], e["bytes"], e["result"]) for e in failed] == [(9, 0, -1)] else [failed]


def check_killed(place):
    """What was handed over and not waited for is there, without an end, and the report says so."""
    code = ("import ctypes, os, sys; libc = ctypes.CDLL(None, use_errno=True)\n"
            "fds = os.pipe()\n"  # nothing comes: the request never ends
            "block = ctypes.create_string_buffer(168)\n"
            "data = ctypes.create_string_buffer(100)\n"
            "view = (ctypes.c_int64 * 21).from_buffer(block)\n"
            "view[0] = fds[0]; view[2] = ctypes.addressof(data); view[3] = 100\n"
            "assert libc.aio_read64(block) == 0\n"
            "os.kill(os.getpid(), 9)\n")
    harness.trace([sys.executable, "-c", code], place / "trace")
    pending = requests_of(harness.dump(place / "trace"))
    made, bad = harness.report(place / "trace"), []
    if [(e["op"], e["bytes"], e["t0_ns"] == e["t1_ns"]) for e in pending] != [("async_read", 0, True)]:
        bad.append(f"requests: {pending}")
    if not of_rest(made, "The end of 1 asynchronous request:"):
        bad.append(f"not seen: {made['run']['not_seen']}")
    return bad


def fio(engine, more, by_libc, place):
    """fio's own count of bytes, and of requests where they go past libc."""
    (place / "data").mkdir()
    done = harness.trace(["fio", "--name=job", f"--directory={place / 'data'}", "--size=1m", "--bs=4k",
                          "--rw=randrw", f"--ioengine={engine}", "--iodepth=8", "--thread", *more,
                          "--output-format=json"], place / "trace")
    text = done.stdout.decode()
    if done.status or "{" not in text:
        return None, done.tail() or text[-300:]
    job = json.loads(text[text.index("{"):])["jobs"][0]
    path, events = str(place / "data" / "job.0.0"), harness.dump(place / "trace")
    seen, bad = collections.Counter(), []
    for e in requests_of(events):
        if e["path"] == path:
            seen[e["op"]] += e["bytes"]
    if by_libc:
        said = {"async_read": job["read"]["io_bytes"], "async_write": job["write"]["io_bytes"]}
        if dict(seen) != said:
            bad.append(f"fio says {said}, seen {dict(seen)}")
    else:
        total = job["read"]["total_ios"] + job["write"]["total_ios"]
        counted = sum(e["result"] for e in events if e["op"] == "async_unseen")
        if total != counted + len(requests_of(events)):
            bad.append(f"fio says {total} requests, {counted} are counted as not seen")
        if not of_rest(harness.report(place / "trace"), f"{counted} requests of io_uring"):
            bad.append("the report does not say so")
    return bad, ""


def check_fio(out, engine, more, by_libc, rings):
    name = " ".join(["fio", engine, *more])
    if not shutil.which("fio"):
        out.skip(name, "fio is not installed")
        return
    if engine == "io_uring" and not rings:
        out.skip(name, "no io_uring to be had")
        return
    with harness.workplace() as place:
        bad, why = fio(engine, more, by_libc, place)
    if bad is None and more == ["--direct=1"]:
        out.skip(name, f"no O_DIRECT here: {why}")
    else:
        out.point(not bad and bad is not None, name, bad or why)


def main():
    out, rings = Tap(), can_ring()
    ways = [("victim_async", way) for way in WAYS] + [
        ("victim_async_uring", way) for way in LIBURING] + [("victim_cufile", "all")]
    for victim, way in ways:
        name = f"{victim.removeprefix('victim_')} {way}"
        reason = ""
        if not program(victim):
            reason = "built without liburing"
        elif not rings and (way in RINGS or victim == "victim_async_uring"):
            reason = "no io_uring to be had"
        elif way in ("foreign", "handle") and subprocess.run(
                [sys.executable, "-c", "import ctypes; ctypes.CDLL('libaio.so.1')"], check=False,
                capture_output=True).returncode:
            reason = "libaio is not installed"
        if reason:
            out.skip(name, reason)
            continue
        with harness.workplace() as place:
            out.run(name, lambda: check_way(program(victim), way, place))
    for name, check in (("a request that fails", check_failure), ("a killed process", check_killed)):
        with harness.workplace() as place:
            out.run(name, lambda: check(place))
    for engine, more, by_libc in FIO:
        check_fio(out, engine, more, by_libc, rings)
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
