#!/usr/bin/env python3
"""Runs a program once under strace and iotrace, and compares what each saw it move.

    IOTRACE=… LIBIOTRACE=… tests/e2e/oracle.py CMD…

strace stands outside and sets the preload through -E, so that both see the same run. Bytes are
compared per file and direction, and so are calls where no standard stream had a part in them. The
recorder's own reads are left out, as are those that libc and the loader make inside themselves
(INSIDE): what remains different is a fault, unless the report says that it did not see it.
"""
import json
import os
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import harness
import ops
import strace_moves
from strace_log import DELETED
from strace_moves import MOVES

# Operations that are one system call each. Those of standard streams stand for several, or none.
CALLS = {name.removesuffix("64") for name in MOVES} | {"send", "recv"}

# What the recorder reads for itself, with raw system calls.
OWN = re.compile(r"/proc/(\d+/((task/\d+/)?schedstat|io|mountinfo)|sys/kernel/random/boot_id)$|"
                 r"/sys/devices/system/clocksource/")
# What the loader reads of a library, before the recorder starts or inside dlopen.
LIBRARY = re.compile(r".*\.so(\.|$)")
# What libc reads inside itself; there the trace may have less.
INSIDE = re.compile(r"/etc/|/usr/share/(locale|zoneinfo|i18n)/|/usr/lib/(locale|.*/gconv)/|"
                    r"/proc/(\d+/(maps|stat|status|mounts|task/\d+/comm)|meminfo|stat|cpuinfo|"
                    r"filesystems|sys/|mounts)|/sys/devices/system/(cpu|node)/|/sys/kernel/mm/")


class Seen:
    """Bytes and calls: by what was moved, (name, direction) → Counter."""

    def __init__(self):
        self.files = defaultdict(Counter)

    def add(self, name, direction, moved, stream=False):
        row = self.files[name, direction]
        row["bytes"] += moved
        row["calls"] += 1
        row["stream"] += stream

    def total(self, direction):
        return sum(row["bytes"] for (_, d), row in self.files.items() if d == direction)


def common_name(path, pid, folders):
    """One name for what strace and iotrace name each in its way."""
    if path.startswith(("/proc/self/", "/proc/thread-self/")):
        return f"/proc/{pid}/" + path.split("/", 3)[3]
    if path.startswith(("/proc/net/", "/proc/mounts")):
        return f"/proc/{pid}/" + path.split("/", 2)[2]
    if path.startswith("/"):
        path = path.removesuffix(DELETED)
        folder, name = os.path.split(path)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        whole = os.path.join(folders[folder], name)
        return os.path.realpath(whole) if os.path.islink(whole) else whole
    if path.startswith(("pipe:", "/")):
        return path
    if path.startswith("anon"):
        return "anon"  # eventfd, timerfd, …
    return "sockets"  # by number there, by host and port here


def strace_saw(log):
    seen, folders = Seen(), {}
    with open(log, encoding="latin-1") as f:
        for move in strace_moves.moves(f):
            name = common_name(move.path, move.pid, folders)
            if not OWN.match(name):
                seen.add(name, move.direction, move.bytes)
    return seen


def iotrace_saw(folder):
    seen, folders = Seen(), {}
    data = [f'"op":"{op}"'.encode() for op, row in ops.OPS.items() if row[0] == "DATA"]
    finds = re.compile(b"|".join(data)).search
    for e in harness.dump(folder, finds):
        moves = ops.OPS[e["op"]][1]
        stream = e["op"] not in CALLS
        for direction, path, wanted in (("read", e["path"], ("IN", "BOTH")),
                                        ("write", e["path2" if moves == "BOTH" else "path"],
                                         ("OUT", "BOTH"))):
            if moves not in wanted or not path:
                continue
            name = common_name(path, e["pid"], folders)
            if not OWN.match(name):
                seen.add(name, direction, e["bytes"], stream)
    return seen


def compare(strace, iotrace, inside=INSIDE, excused=None):
    """Complaints; and the bytes that only strace saw, by direction: of `libraries`, of all else."""
    bad, unseen = [], Counter()
    for key in sorted(strace.files.keys() | iotrace.files.keys()):
        name, direction = key
        there, here = strace.files.get(key, Counter()), iotrace.files.get(key, Counter())
        short = there["bytes"] - here["bytes"]
        if short > 0 and LIBRARY.match(name) and direction == "read":
            unseen["libraries"] += short
        elif short > 0 and (inside.match(name) or excused and excused(name, direction)):
            unseen[direction] += short
        elif short:
            bad.append(f"{name}: {direction}: strace saw {there['bytes']} bytes in {there['calls']} "
                       f"calls, the dump has {here['bytes']} in {here['calls']}")
        elif there["calls"] != here["calls"] and not here["stream"] and not (
                inside.match(name) or LIBRARY.match(name)):
            bad.append(f"{name}: {direction}: strace saw {there['calls']} calls, the dump has "
                       f"{here['calls']}")
    return bad, unseen


def run_both(argv, place, cwd=None, env=None, stdin=None, timeout=300):
    """Runs a command under both. Its Run, strace's log, the folder of the trace."""
    log, folder = Path(place) / "strace.log", Path(place) / "trace"
    settings = [f"-E{k}={v}" for k, v in harness.preload_env(folder).items()]
    kinds = ",".join(f"?{name}" for name in MOVES)
    whole = ["strace", "-f", "-y", "-s", "0", "--seccomp-bpf", "-o", log, "-e", f"trace={kinds}",
             *settings, *argv]
    options = {} if stdin is None else {"stdin": stdin}
    done = harness.run(whole, harness.plain(env), cwd, timeout, **options)
    if not folder.is_dir():
        raise harness.Broken(f"{argv[0]}: no trace came to be ({done.tail()})")
    return done, log, folder


def usable():
    """Why not, or None."""
    from shutil import which
    if not which("strace"):
        return "strace is not installed"
    return "strace may not trace here" if harness.run(["strace", "-f", "true"]).status else None


# --- how the comparison is known to refuse ---


def example(*rows):
    seen = Seen()
    for name, direction, moved, stream in rows:
        seen.add(name, direction, moved, stream)
    return seen


def self_test(out):
    there = example(("/d/a", "read", 10, 0), ("/d/a", "read", 5, 0), ("/d/b", "write", 7, 0),
                    ("/etc/passwd", "read", 99, 0), ("/usr/lib/libc.so.6", "read", 832, 0))
    same = [("/d/a", "read", 10, 0), ("/d/a", "read", 5, 0), ("/d/b", "write", 7, 0)]
    bad, unseen = compare(there, example(*same))
    out.point(not bad and unseen == {"read": 99, "libraries": 832}, "what libc reads is told apart",
              f"{bad} {unseen}")
    out.point(not compare(there, example(("/d/a", "read", 15, 1), same[2]))[0],
              "a stream's calls may be fewer")
    for name, rows in {"bytes lost": [same[0], ("/d/a", "read", 4, 0), same[2]],
                       "bytes too many": [*same, ("/d/b", "write", 1, 0)],
                       "a call lost": [("/d/a", "read", 15, 0), same[2]],
                       "a call without bytes too many": [*same, ("/d/b", "write", 0, 0)],
                       "a file lost": same[:2], "another direction": [*same[:2], ("/d/b", "read", 7, 0)],
                       "more inside libc than there was": [*same, ("/etc/passwd", "read", 100, 0)],
                       }.items():
        out.point(len(compare(there, example(*rows))[0]) > 0, f"noticed: {name}")


def main():
    if len(sys.argv) < 2:
        print("oracle.py: give a command to run", file=sys.stderr)
        return 2
    reason = usable()
    if reason:
        print(f"oracle.py: {reason}", file=sys.stderr)
        return 2
    with harness.workplace() as place:
        done, log, folder = run_both(sys.argv[1:], place)
        strace, iotrace = strace_saw(log), iotrace_saw(folder)
        bad, unseen = compare(strace, iotrace)
        run = harness.report(folder)["run"]
    print("\n".join(bad + [f"not seen: {line}" for line in run["not_seen"]]))
    print(json.dumps({"status": done.status, "files": len(strace.files), "different": len(bad),
                      "inside_libc": unseen, "untraced": run["untraced"],
                      "read": [strace.total("read"), iotrace.total("read")],
                      "written": [strace.total("write"), iotrace.total("write")]}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
