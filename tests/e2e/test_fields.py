#!/usr/bin/env python3
"""Fields of the ledger on real runs: page cache, latency and bandwidth, decoding, the ways out."""
import html
import json
import os
import re
import sys
from functools import partial

import harness
from harness import Tap

MEGABYTE = 1 << 20

READ = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
while os.read(fd, 1 << 20):
    pass
os.close(fd)
"""

# Computes between its reads, and says for how long.
DECODE = """
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
spent = 0
while True:
    if not os.read(fd, 1 << 20):
        break
    start = time.monotonic_ns()
    while time.monotonic_ns() < start + 5_000_000:
        pass
    spent += time.monotonic_ns() - start
os.close(fd)
print(spent)
"""

# From here on cachestat (451) is deadly.
SHUT_IN = """
import ctypes, struct
filters = (struct.pack("=HBBI", 0x20, 0, 0, 0) + struct.pack("=HBBI", 0x15, 0, 1, 451)
           + struct.pack("=HBBI", 0x06, 0, 0, 0x80000000)
           + struct.pack("=HBBI", 0x06, 0, 0, 0x7fff0000))
held = ctypes.create_string_buffer(filters)
program = ctypes.create_string_buffer(struct.pack("@HP", 4, ctypes.addressof(held)))
prctl = ctypes.CDLL(None).prctl
prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
assert prctl(38, 1, 0, 0, 0) == 0
assert prctl(22, 2, ctypes.addressof(program), 0, 0) == 0
"""

# Parts of the file again and again, by all ways to come to a place.
AGAIN = """
import os, sys
part = 1 << 19
fd = os.open(sys.argv[1], os.O_RDONLY)
def whole(fd):
    for _ in range(2):
        os.read(fd, part)
whole(fd)                                 # [0, 2)
for k in range(2):
    os.pread(fd, part, k * part)          # [0, 2)
os.lseek(fd, -part, os.SEEK_CUR)
other = os.dup(fd)
os.read(fd, part)                         # [1, 2)
os.read(other, part)                      # [2, 3)
os.lseek(fd, 0, os.SEEK_SET)
if not os.fork():
    os.read(fd, part)                     # [0, 1)
    os._exit(0)
os.wait()
os.read(fd, part)                         # [1, 2)
second = os.open(sys.argv[1], os.O_RDONLY)
whole(second)                             # [0, 2)
os.preadv(second, [bytearray(part)], part // 2)
os.read(second, 0)
print(os.lseek(fd, 0, os.SEEK_CUR))
"""

# The file system may keep what it likes: whether it is gone is asked of the kernel.
CHECK_GONE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(fd).st_size
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
at = libc.mmap(None, size, 1, 1, fd, 0)
pages = (ctypes.c_ubyte * ((size + 4095) // 4096))()
libc.mincore(ctypes.c_void_p(at), ctypes.c_size_t(size), pages)
print(sum(page & 1 for page in pages), len(pages))
"""


def make(path, size):
    path.write_bytes(os.urandom(size))
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    return fd


def drop(path):
    """Drops it from the page cache; gives whether it is gone."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    done = harness.run([sys.executable, "-c", CHECK_GONE, path])
    resident, pages = map(int, done.stdout.split())
    return resident < pages / 50


def traced(place, name, script, path, env=None):
    done = harness.trace([sys.executable, "-B", "-c", script, path], place / name, env)
    if done.status:
        raise harness.Broken(f"{name}: status {done.status} ({done.tail()})")
    return done


def row(report, path):
    return next(f for f in report["files"] if f["path"] == str(path))


def check_scope(place, name, size, cold, env, want):
    path = place / f"{name}.safetensors"
    os.close(make(path, size))
    if cold and not drop(path):
        return []  # the file system does not let go of it
    report = harness.report(traced(place, f"trace-{name}", READ, path, env).folder)
    got = row(report, path)["cache_scope"], report["objects"][1]["cache_scope"]
    bad = [] if got == (want, want) else [f"expected {want} for file and object, got {got}"]
    if want != "unknown" and not any("artifact" in line for line in report["evidence"]):
        bad.append(f"no line on it in evidence: {report['evidence']}")
    return bad


def check_shut_in(place):
    """A program whose filter kills it for a call it does not know lives on."""
    path = place / "shut.safetensors"
    os.close(make(path, 16 * MEGABYTE))
    again = f"import os, sys; os.execv(sys.executable, [sys.executable, '-Bc', {READ!r}, sys.argv[1]])"
    mild = SHUT_IN.replace("0x80000000", "0x00050001")  # EPERM
    bad = []
    for name, script, want in [("itself", SHUT_IN + READ, "unknown"),
                               ("inherited", SHUT_IN + again, "unknown"),
                               ("inherited, mild", mild + again, "warm")]:
        report = harness.report(traced(place, f"trace-shut-{name}", script, path).folder)
        scope = row(report, path)["cache_scope"]
        if scope != want:
            bad.append(f"{name}: expected {want}, got {scope}")
    return bad


def check_again(place):
    """What is read again is told from what is read, whoever reads it."""
    path, part = place / "again.safetensors", MEGABYTE // 2
    os.close(make(path, 4 * MEGABYTE))
    report = harness.report(traced(place, "trace-again", AGAIN, path).folder)
    f, artifact = row(report, path), report["objects"][1]
    want = (11 * part, 11 * part, 3 * part, 11 / 3)
    bad = []
    for what in (f, artifact):
        got = tuple(what[key] for key in ("read_bytes", "placed_bytes", "distinct_bytes",
                                          "read_amplification"))
        if got[:3] != want[:3] or abs(got[3] - want[3]) > 1e-9:
            bad.append(f"expected {want}, got {got}")
    pipes = [f for f in report["files"] if f["path"].startswith("pipe:") and f["distinct_bytes"]]
    return bad + [f"a pipe has places: {pipe}" for pipe in pipes]


def check_decoding(place):
    path = place / "slow.safetensors"
    os.close(make(path, 8 * MEGABYTE))
    done = traced(place, "trace-decode", DECODE, path)
    spent, f = int(done.stdout), row(harness.report(done.folder), path)
    bad = []
    if not 0.9 * spent <= f["serialization_ns"] <= 1.5 * spent + 50e6:  # a busy machine
        bad.append(f"expected {spent} ns of decoding, got {f['serialization_ns']}")
    if f["ready_ns"] is None or f["ready_ns"]["decode"] < 0.8 * spent * 7 / 8:
        bad.append(f"expected most of {spent} ns in ready_ns, got {f['ready_ns']}")
    gains = [a["gain_ns"] for a in harness.report(done.folder)["advice"]
             if a["finding"].startswith("decoding artifact takes ")]
    if len(gains) != 1 or not 0.6 * spent <= gains[0] <= 0.9 * f["serialization_ns"]:
        bad.append(f"decoding in a quarter of {spent} ns wins {gains}")
    if b"Encoding and decoding, beside this: artifact" not in harness.ask("report", done.folder):
        bad.append("no word on it in the text")
    if f["service_ns"] > spent + 50e6:
        bad.append(f"decoding counted as storage: service is {f['service_ns']}")
    return bad


def check_ledger(place, folder):
    """`report --format ledger` through `ledger` gives the measured totals."""
    report = harness.report(folder)
    events = place / "events.json"
    events.write_bytes(harness.ask("report", folder, "--format", "ledger"))
    ledger = json.loads(harness.ask("ledger", events, "--format", "json"))
    want = [o["object"] for p in report["phases"] for o in p["objects"][:4]
            if any(o[k] for k in ("data_ops", "metadata_ops", "sync_ops", "service_ns", "bytes"))]
    got = [e["object"] for e in json.loads(events.read_text())]
    bad = [] if got == want else [f"events of phase after phase: expected {want}, got {got}"]
    for o in report["objects"][:4]:
        got = next((r for r in ledger["objects"] if r["object"] == o["object"]), None)
        if got is None:
            bad.append(f"no row of {o['object']}")
            continue
        if got["bytes"] != o["bytes"]:
            bad.append(f"bytes of {o['object']}: expected {o['bytes']}, got {got['bytes']}")
        for key in ("service", "exposed", "hidden"):
            want = o[f"{key}_ns"] / 1e6
            if abs(got[f"{key}_ms"] - want) > 1e-9 * max(1, want):
                bad.append(f"{key} of {o['object']}: expected {want}, got {got[f'{key}_ms']}")
    return bad


def check_markdown(place):
    """Names in a table of Markdown: one row each, whatever they hold."""
    path = place / "a|b`c`\n# <img src=x>*.safetensors"
    os.close(make(path, 8192))
    folder = traced(place, "trace-markdown", READ, path).folder
    text = harness.ask("report", folder, "--format", "markdown").decode()
    bad = []
    for lines in re.findall(r"(?:^\|.*\n)+", text, re.M):
        columns = {line.count("|") for line in lines.splitlines()}
        if len(columns) != 1:
            bad.append(f"rows of {columns} columns")
    if re.search(r"<(?=[a-zA-Z!?/])(?!/?code>)", text):
        bad.append("HTML from a name")
    report, words = harness.report(folder), html.unescape(text)
    for line in report["evidence"] + [a["finding"] for a in report["advice"]] + \
            [f"## {heading}" for heading in ("Files", "What to do", "Not seen", "Not proved")]:
        if line not in words:
            bad.append(f"not in it: {line}")
    if not re.search(rf"^\| total \| {sum(o['files'] for o in report['objects'])} \|", text, re.M):
        bad.append("no row for the total")
    return bad


def check_vfork(place):
    """A child of a child of vfork: each call begins before its child, who knows its parent."""
    (place / "children").mkdir()
    folder = place / "trace-vfork"
    done = harness.trace([harness.victim("victim_hazard_children"), place / "children",
                          "vfork_twice"], folder)
    events = harness.dump(folder)
    calls = {e["result"]: e for e in events if e["op"] == "vfork"}
    starts = {}
    for e in events:
        if e["op"] == "start" and e["pid"] in calls:
            starts.setdefault(e["pid"], e)
    bad = [] if done.status == 0 else [f"status {done.status}: {done.tail()}"]
    if len(calls) != 10 or len(starts) != 10:
        bad.append(f"{len(calls)} calls of vfork and {len(starts)} children")
    for pid, start in starts.items():
        if calls[pid]["t0_ns"] > start["t0_ns"] or calls[pid]["pid"] != start["result"]:
            bad.append(f"{calls[pid]} began {start}")
    return bad


def main():
    out = Tap()
    with harness.workplace() as place:
        for name, size, cold, env, want in [
                ("warm", 16 * MEGABYTE, False, None, "warm"),
                ("warm-small", 5000, False, None, "warm"),
                ("cold", 16 * MEGABYTE, True, None, "cold"),
                ("cold-small", 100000, True, None, "cold"),
                ("off", 16 * MEGABYTE, False, {"IOTRACE_CACHE": "off"}, "unknown")]:
            out.run(f"page cache: {name}",
                    partial(check_scope, place, name, size, cold, env, want))
        out.run("page cache: behind a filter", partial(check_shut_in, place))
        out.run("bytes that are read again", partial(check_again, place))
        out.run("decoding between reads", partial(check_decoding, place))
        out.run("the ledger of a run", partial(check_ledger, place, place / "trace-warm"))
        out.run("the ledger of another", partial(check_ledger, place, place / "trace-decode"))
        out.run("Markdown", partial(check_markdown, place))
        out.run("vfork within vfork", partial(check_vfork, place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
