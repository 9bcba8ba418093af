#!/usr/bin/env python3
"""Bytes of standard streams: for every file and direction as many as strace saw in the same run.

strace stands outside and sets the preload through -E. What is compared are the files below the
run's folder, and pipes: elsewhere libc itself reads and writes. And with the preload a program
writes the same to its standard output, error and files, and ends the same, as without.
"""
import os
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from shutil import which

import harness
import ops
import strace_log
from harness import Tap

DIRECTIONS = ["read_bytes", "write_bytes"]
# Each a shell line in the folder that make_files() has filled.
TOOLS = {
    "awk": "awk '{ n += $1; print n > \"sums\" } END { print NR }' numbers",
    "sed": "sed -n 's/1/one/p' numbers > ones; sed -i 's/2/two/' ones",
    "grep": "grep -c 7 numbers; grep -n 99 < numbers > found",
    "sort": "sort -r numbers > sorted; sort sorted ones 2>/dev/null | uniq -c | tail -3",
    "cut, tr, wc, paste": "cut -c1-2 numbers | tr 1 x > cut; wc numbers; paste numbers cut > both",
    "perl": "perl -ne 'print if /5/; END { printf \"%d lines\\n\", $. }' numbers > fives",
    "bc": "echo '2^100' | bc",
    "date, echo": "date -u -d @0; /bin/echo text > echoed; printf '%s\\n' a b",
}


def make_files(place):
    place.mkdir()
    lines = [("line %d " % i) * (i * i % 97) for i in range(100)]
    lines[10] = "the long one" * 800
    (place / "long").write_text("\n".join(lines) + "\n")
    lines[20] = "with\0NUL\0bytes" * 40
    lines[90] = "\0" * 300
    (place / "text").write_bytes("\n".join(lines).encode() + b"\n" + b"x" * 3000)
    (place / "numbers").write_text("".join(f"{i}\n" for i in range(3000)))
    (place / "first").write_text("")


def run_in(place, argv, env=None):
    """Standard input is a file, output and error are pipes."""
    with open(place / "numbers", "rb") as stdin:
        return harness.run(argv, env=env, cwd=place, stdin=stdin)


def traced(argv, place, folder, log):
    """Runs argv under strace and with the preload; gives how it ended."""
    settings = [f"-E{k}={v}" for k, v in harness.preload_env(folder).items()]
    kinds = ",".join(f"?{name}" for name in strace_log.KINDS)
    done = run_in(place, ["strace", "-f", "-y", "-s", "0", "-o", log, "-e", f"trace={kinds}",
                          *settings, *argv])
    if not folder.is_dir():
        raise harness.Broken(f"{argv}: no trace came to be ({done.tail()})")
    return done


def compared(path, place):
    return path.startswith((f"{place}/", "pipe:[", "/tmp/#", "/dev/full"))


def moved(files, place):
    """path → bytes by direction, of the files that are compared."""
    return {path: {d: count[d] for d in DIRECTIONS} for path, count in files.items()
            if compared(path, place) and any(count[d] for d in DIRECTIONS)}


def by_file(events):
    files = defaultdict(Counter)
    for e in events:
        kind = ops.kind(e["op"]) if e["path"] else None
        if kind in ("read", "write"):
            path = e["path"].removesuffix(strace_log.DELETED)
            files[path][kind + "_bytes"] += e["bytes"]
    return files


def compare_bytes(events, log, place):
    with open(log, encoding="latin-1") as f:
        seen = moved(strace_log.by_file(f), place)
    told = moved(by_file(events), place)
    nothing = dict.fromkeys(DIRECTIONS, 0)
    return [f"{path}: strace saw {seen.get(path, nothing)}, the dump has {told.get(path, nothing)}"
            for path in sorted(set(seen) | set(told)) if seen.get(path) != told.get(path)]


def files_of(place):
    return {p.name: p.read_bytes() for p in sorted(place.iterdir()) if p.is_file()}


def compare_runs(plain, with_preload, plain_place, place, any_order):
    """Threads may come in any order: then only what does not depend on it."""
    bad = []
    for what in ("status", "stdout", "stderr"):
        a, b = getattr(plain, what), getattr(with_preload, what)
        if isinstance(b, bytes):
            b = b.replace(bytes(place), bytes(plain_place))
        if a != b:
            bad.append(f"{what}: without {a!r:.300}, with {b!r:.300}")
    if not any_order and files_of(plain_place) != files_of(place):
        a, b = files_of(plain_place), files_of(place)
        bad.append(f"files differ: {[n for n in set(a) | set(b) if a.get(n) != b.get(n)]}")
    return bad


def check(argv, work, name, any_order=False):
    """argv is a function of the folder. Complaints about its run."""
    slug = re.sub(r"\W+", "-", name)
    alone, place = work / f"{slug}.alone", work / f"{slug}.traced"
    make_files(alone)
    make_files(place)
    without = run_in(alone, argv(alone))
    folder, log = work / f"{slug}.iot", work / f"{slug}.strace"
    done = traced(argv(place), place, folder, log)
    bad = compare_runs(without, done, alone, place, any_order)
    return bad + compare_bytes(harness.dump(folder), log, place)


def check_rows(work):
    """A program that is served from the buffer leaves few rows, and their times are in order."""
    place = work / "rows"
    make_files(place)
    folder = work / "rows.iot"
    done = run_in(place, [harness.victim("victim_streams"), "chars", place],
                  env=harness.plain(harness.preload_env(folder)))
    if done.status != 7:
        return [f"status {done.status} ({done.tail()})"]
    rows = [e for e in harness.dump(folder) if e["path"] == f"{place}/full"]
    names = Counter(e["op"] for e in rows)
    size = os.stat(place / "full").st_size
    want = -(-size // 4096)
    bad = []
    if names["fopen"] != 2 or names["fclose"] != 2:
        bad.append(f"two opens and two closes, got {names}")
    reads = [e for e in rows if ops.kind(e["op"]) == "read"]
    writes = [e for e in rows if ops.kind(e["op"]) == "write"]
    if not want <= len(writes) <= want + 1:
        bad.append(f"{size} bytes in {len(writes)} writes")
    if sum(e["bytes"] > 0 for e in reads) > -(-size // 256) + 1:
        bad.append(f"{size} bytes in {len(reads)} reads")
    for a, b in zip(rows, rows[1:]):
        if b["t0_ns"] < a["t1_ns"]:
            bad.append(f"two rows of one thread overlap: {a} {b}")
    return bad


def check_exit(work):
    """What is pending at the end is rows of its own, without length."""
    place = work / "exit"
    make_files(place)
    folder = work / "exit.iot"
    run_in(place, [harness.victim("victim_streams"), "pending", place],
           env=harness.plain(harness.preload_env(folder)))
    rows = harness.dump(folder, lambda line: b'"exit_flush"' in line)
    bad = [f"it took time: {e}" for e in rows if e["t0_ns"] != e["t1_ns"]]
    if len(rows) != 68:
        bad.append(f"67 files and standard output were pending, {len(rows)} rows")
    return bad


def check_names(programs):
    """Every function of the table is called by a program of this test."""
    table = (harness.TOP / "preload" / "stdio.def").read_text()
    names = set(re.findall(r"^(?:(?:READS|WRITES|HAND)\([^,]+, |PRINTS\()(\w+),", table, re.M))
    called = set()
    for program in programs:
        listed = harness.run(["nm", "-D", "--undefined-only", program]).stdout.decode()
        called |= {line.split()[-1].split("@")[0] for line in listed.splitlines()}
    for name in ("streams_names.c", "streams_wide.c", "calls_files.c"):
        source = (harness.TOP / "tests" / "victims" / name).read_text()
        called |= set(re.findall(r'dlsym\(RTLD_DEFAULT, "(\w+)"\)|NAMED\([^,]+, (\w+),|(tmpfile\w*)\(',
                                 source))
    called = {name for found in called for name in ([found] if isinstance(found, str) else found)}
    # Names of a newer libc are not called from here.
    return [f"not called: {name}" for name in sorted(names - called) if "_isoc23_" not in name]


def main():
    if not which("strace"):
        harness.skip_all("strace is not installed")
    if harness.run(["strace", "-f", "true"]).status:
        harness.skip_all("strace may not trace here")
    out = Tap()
    with harness.workplace() as work:
        programs = [harness.victim(f"victim_{name}") for name in ("streams", "streams_fortified")]
        out.run("every function of the table is called", lambda: check_names(programs))
        for program in programs:
            build = Path(program).name
            cases = harness.run([program]).stdout.decode().split()
            out.point(len(cases) >= 15, f"{build} lists its cases", f"{cases}")
            for case in cases:
                out.run(f"{build} {case}",
                        lambda: check(lambda place: [program, case, place], work,
                                      f"{build}-{case}", case in ("threads", "forks")))
        cxx = Path(os.environ["VICTIMS"]) / "victim_streams_cxx"
        if cxx.is_file():
            out.run("C++ streams", lambda: check(lambda place: [cxx, place], work, "cxx"))
        else:
            out.skip("C++ streams", "no C++ compiler")
        for name, line in TOOLS.items():
            if not which(line.split()[0]):
                out.skip(name, "not installed")
                continue
            out.run(name, lambda: check(lambda place: ["sh", "-c", line], work, name))
        out.run("few rows for many calls, one after the other", lambda: check_rows(work))
        out.run("what is pending at exit", lambda: check_exit(work))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
