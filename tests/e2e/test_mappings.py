#!/usr/bin/env python3
"""Files that are mapped: what they bring in and the time that is lost to page faults on them, against
storage of a known slowness.

test_mappings.py [NAME...]     all, or those whose name starts so
"""
import json
import struct
import subprocess
import sys
from pathlib import Path

import harness
import slow_mount
from harness import Tap

PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
PAGE, DELAY_US, TRIES = 4096, 10000, 5
FILE_BYTES = 1024 * PAGE
PAGES = 64
LOST = PAGES * DELAY_US * 1000


def traced(place, argv, source=None, delay_us=DELAY_US, warm=False):
    """Runs a command with the path of a slow file where it has None; gives the report, the row of the
    file, and what it said."""
    if source is None:
        source = place / "weights.gguf"
        source.write_bytes(bytes(FILE_BYTES))
    with slow_mount.mounted(source, place / "slow", delay_us) as path:
        if warm:
            path.read_bytes()
        done = harness.trace([path if a is None else a for a in argv], place / "trace", cwd=place)
    if done.status:
        raise harness.Broken(f"status {done.status}: {done.tail()}")
    made = harness.report(place / "trace")
    rows = [f for f in made["files"] if f["path"] == str(path)]
    if len(rows) != 1:
        raise harness.Broken(f"{len(rows)} rows of {path}")
    return made, rows[0], done.stdout.decode()


def near(what, got, want, share, slack=0):
    """Complains of what is further off than a share of what is wanted, or than the slack in ns."""
    if abs(got - want) <= max(share * want, slack):
        return []
    return [f"{what}: expected {want / 1e6:.2f}, got {got / 1e6:.2f} million"]


def mapper(way, *checks, pages=PAGES, **how):
    def check(place):
        made, row, said = traced(place, [harness.victim("victim_mapper"), way, None, pages], **how)
        return [complaint for c in checks for complaint in c(made, row, int(said))]
    return check


def lost(ns=LOST, share=0.1, slack=0):
    return lambda made, row, said: near("fault_ns", row["fault_ns"], ns, share, slack)


def lost_as_it_says(made, row, said):
    return near("fault_ns beside its own figure", row["fault_ns"], said, 0.1)


def are_counted(made, row, said):
    """The faults of a thread that is never looked at."""
    told = [int(word) for line in made["run"]["not_seen"] if "major page fault" in line
            for word in line.split() if word.isdecimal()]
    return [] if told and told[0] >= PAGES else [f"not seen: {made['run']['not_seen']}"]


def are_looked_at(made, row, said):
    many = [line for line in made["run"]["not_seen"] if "major page fault" in line]
    return [f"not seen: {many}"] if many else []


def at_least(ns):
    return lambda made, row, said: [] if row["fault_ns"] >= ns else [
        f"fault_ns is {row['fault_ns']}, less than {ns}"]


def brought(size):
    return lambda made, row, said: near("mapped_bytes", row["mapped_bytes"], size, 0)


def exposed(share):
    """So much of what was lost lengthens the run."""
    def check(made, row, said):
        bad = near("exposed", row["exposed_ns"], share * row["fault_ns"], 0.05, 0.03 * LOST)
        return bad + near("on the path", made["path"]["io_ns"], row["exposed_ns"], 0.02, 5e6)
    return check


def scope(want):
    return lambda made, row, said: [] if row["cache_scope"] == want else [
        f"cache scope is {row['cache_scope']}, not {want}"]


def is_told(made, row, said):
    """That it is an estimate, in the report's own words."""
    told = [e for e in made["evidence"] if "page faults" in e and "estimated" in e]
    return [] if len(told) == 1 else [f"evidence: {made['evidence']}"]


def explains(place):
    """explain has the same figures, and calls them estimates."""
    _, row, _ = traced(place, [harness.victim("victim_mapper"), "once", None, 8])
    [file] = json.loads(harness.ask("explain", place / "trace", row["path"], "--format",
                                    "json"))["files"]
    text = harness.ask("explain", place / "trace", row["path"]).decode()
    page = harness.ask("report", place / "trace").decode()
    bad = [f"{key} is {file[key]}, the report has {row[key]}"
           for key in ("mapped_bytes", "fault_ns") if file[key] != row[key]]
    if "Estimates: ~" not in text:
        bad.append(f"explain says {text}")
    if "page faults on mapped files: artifact ~" not in page or "(estimates)" not in page:
        bad.append(f"report says {page}")
    return bad


def dump_shows(place):
    """A stretch that was lost is an event of the file, and the calls on a mapping are the file's."""
    traced(place, [harness.victim("victim_mapper"), "unmap", None, 8])
    path = str(place / "slow" / "weights.gguf")
    events = harness.dump(place / "trace")
    seen = [e["op"] for e in events if e["path"] == path]
    want = ["open", "mmap", "madvise", "faults", "resident", "munmap"]
    return [] if [op for op in seen if op not in ("fstat", "close")] == want else [f"{seen}"]


def large(place):
    """A few pages of a file that is looked at by places only."""
    source = place / "index.gguf"
    with open(source, "wb") as f:
        f.truncate(1 << 32)
    made, row, _ = traced(place, [harness.victim("victim_mapper"), "once", None, PAGES], source)
    bad = near("fault_ns", row["fault_ns"], LOST, 0.1) + exposed(1)(made, row, 0)
    if not 0 < row["mapped_bytes"] < 1 << 28:
        bad.append(f"mapped_bytes is {row['mapped_bytes']}")
    return bad


# --- programs that load as many do ---

SAFETENSORS = """
import json, mmap, struct, sys, time
with open(sys.argv[1], 'rb') as f:
    m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
size, = struct.unpack('<Q', m[:8])
header = json.loads(m[8:8 + size])
start, cpu = time.monotonic_ns(), time.thread_time_ns()
tensors = {k: m[8 + size + v['data_offsets'][0]:8 + size + v['data_offsets'][1]]
           for k, v in header.items()}
print(time.monotonic_ns() - start - (time.thread_time_ns() - cpu))
"""

GGUF = """
import mmap, os, sys, time
f = os.open(sys.argv[1], os.O_RDONLY)
m = mmap.mmap(f, 0, mmap.MAP_SHARED, mmap.PROT_READ)
os.close(f)
m.madvise(mmap.MADV_WILLNEED)
start, cpu = time.monotonic_ns(), time.thread_time_ns()
total = sum(m[i] for i in range(0, len(m), 4096))
print(time.monotonic_ns() - start - (time.thread_time_ns() - cpu))
"""

LMDB = """
import lmdb, sys, time
env = lmdb.open(sys.argv[1], subdir=False, readonly=True, lock=False, readahead=False)
start, cpu = time.monotonic_ns(), time.thread_time_ns()
with env.begin() as txn:
    for k in range(0, 400, 10):
        assert len(txn.get(b'%06d' % k)) == 12000
print(time.monotonic_ns() - start - (time.thread_time_ns() - cpu))
"""

TORCH = """
import os, sys, time, torch
torch.set_num_threads(1)
t = torch.from_file(sys.argv[1], size=os.path.getsize(sys.argv[1]), dtype=torch.uint8)
start, cpu = time.monotonic_ns(), time.thread_time_ns()
total = t.sum()
print(time.monotonic_ns() - start - (time.thread_time_ns() - cpu))
"""


def a_safetensors(place):
    path, size = place / "model.safetensors", 1 << 20
    header = json.dumps({f"layer{k}": {"dtype": "F32", "shape": [size // 4],
                                       "data_offsets": [k * size, (k + 1) * size]}
                         for k in range(4)}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(4 * size))
    return path


def a_gguf(place):
    path = place / "model.gguf"
    path.write_bytes(b"GGUF" + bytes(FILE_BYTES - 4))
    return path


def an_lmdb(place):
    path = place / "train.lmdb"
    code = ("import lmdb, sys\nenv = lmdb.open(sys.argv[1], subdir=False, map_size=1 << 26)\n"
            "with env.begin(write=True) as txn:\n"
            "    for k in range(400):\n        txn.put(b'%06d' % k, bytes(12000))\nenv.close()")
    subprocess.run([PYTHON, "-c", code, path], check=True, env=harness.plain())
    return path


def program(code, make, object_, whole):
    def check(place):
        source = make(place)
        made, row, said = traced(place, [PYTHON, "-c", code, None], source)
        bad = near("fault_ns beside its own figure", row["fault_ns"], int(said), 0.15, 10e6)
        if row["object"] != object_:
            bad.append(f"object is {row['object']} ({row['why']})")
        size = source.stat().st_size
        if not (0.95 * size if whole else PAGE) <= row["mapped_bytes"] <= size + PAGE:
            bad.append(f"mapped_bytes is {row['mapped_bytes']} of {size}")
        if row["exposed_ns"] < 0.95 * row["fault_ns"]:
            bad.append(f"exposed is {row['exposed_ns']} of {row['fault_ns']}")
        return bad
    return check


def lacks(module):
    done = subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True)
    return f"no {module}" if done.returncode else ""


SOME = PAGES * PAGE
CHECKS = {
    "pages at random": mapper("once", lost(), brought(SOME), exposed(1), scope("cold"), is_told),
    "unmapped": mapper("unmap", lost(), brought(SOME), exposed(1)),
    "a call behind each page": mapper("calls", lost(), brought(SOME), exposed(1)),
    "forward with read-ahead": mapper("forward", lost_as_it_says, brought(FILE_BYTES), exposed(1)),
    # Beside each other: what one loses hides what the other does.
    "two threads": mapper("threads", lost(), brought(SOME), exposed(0.5), are_looked_at),
    "a thread of a pool": mapper("pool", lost(), brought(SOME), exposed(1)),
    "a thread without a call": mapper("silent", lost(0, slack=20e6), brought(SOME), are_counted),
    "a forked child": mapper("child", lost(), exposed(1)),
    "hidden behind computing": mapper("hidden", lost_as_it_says, at_least(0.45 * LOST), exposed(0)),
    # The other half is computing, and what that waits for a CPU no fault.
    "computing behind each page": mapper("busy", lost_as_it_says, at_least(0.9 * LOST), brought(SOME), exposed(1)),
    "all is there": mapper("once", lost(0, slack=2e6), brought(0), scope("warm"), warm=True),
    "unseen waits beside a cold file": mapper("raw", lost(0, slack=2e6), brought(0)),
    "a few pages of 4 GiB": large,
    "explain and the text": explains,
    "dump": dump_shows,
    "safetensors by mmap": program(SAFETENSORS, a_safetensors, "artifact", True),
    "gguf with WILLNEED": program(GGUF, a_gguf, "artifact", True),
    "lmdb": program(LMDB, an_lmdb, "input", False),
    "torch from_file": program(TORCH, a_gguf, "artifact", True),
}
NEEDS = {"lmdb": "lmdb", "torch from_file": "torch"}


def retried(check):
    """Another run where a figure is off: others may have had the CPU."""
    for _ in range(TRIES):
        with harness.workplace() as place:
            bad = check(place)
        if not bad:
            break
    return bad


def main():
    reason = slow_mount.why_not()
    if reason:
        harness.skip_all(reason)
    out = Tap()
    for name, check in CHECKS.items():
        if sys.argv[1:] and not any(name.startswith(a) for a in sys.argv[1:]):
            continue
        reason = name in NEEDS and lacks(NEEDS[name])
        if reason:
            out.skip(name, reason)
        else:
            out.run(name, lambda: retried(check))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
