#!/usr/bin/env python3
"""A case for every row of the recorder's tables: a victim calls the function, and the trace must have it.

Each victim says what it did, how often, and how many bytes moved; the counts and the bytes of the trace
must be just those. A row whose function no victim calls is a failure.
"""
import re
import sys
from pathlib import Path

import harness
from harness import Tap
import check_coverage

VICTIMS = ["files", "exec", "messages", "waits", "syscall"]
DID = re.compile(r"^did(_at_least)? (\w+) \* (\d+)$", re.MULTILINE)
MOVED = re.compile(r"^moved (\w+) (\d+)$", re.MULTILINE)
NAMED = re.compile(r'^named (\w+) "?([^"\n]+)"? (\d+)$', re.MULTILINE)
# How a victim's source shows that it calls a function which is not among its undefined symbols.
BY_NAME = [re.compile(r'(?:find|dlsym\(RTLD_DEFAULT,) ?\(?"(\w+)"\)'),
           re.compile(r'(?:CALL|NAMED)\([^,]+, (\w+),')]


def compare(said, events):
    """Complaints where the trace does not show what the victim says."""
    good = [e for e in events if not e["errno"]]
    bad = []
    for or_more, op, count in DID.findall(said):
        seen = sum(e["op"] == op for e in good)
        if seen < int(count) or (seen > int(count) and not or_more):
            bad.append(f"{op}: {count} calls, the trace has {seen}")
    for op, count in MOVED.findall(said):
        seen = sum(e["bytes"] for e in good if e["op"] == op)
        if seen != int(count):
            bad.append(f"{op}: {count} bytes, the trace has {seen}")
    for op, name, count in NAMED.findall(said):
        seen = sum(e["bytes"] for e in good if e["op"] == op and (e["path"] or "").endswith(name))
        if seen != int(count):
            bad.append(f"{op} of {name}: {count} bytes, the trace has {seen}")
    return bad if DID.search(said) else ["it said nothing"]


def check(name):
    with harness.workplace() as place:
        program = harness.victim(f"victim_calls_{name}")
        for folder in ("alone", "traced"):
            (place / folder).mkdir()
        without = harness.run([program, place / "alone"])
        done = harness.trace([program, place / "traced"], place / "iot")
        if without.status or done.status:
            return [f"status {without.status} without ({without.tail()}), {done.status} with "
                    f"({done.tail()})"]
        harness.report(place / "iot")
        return compare(done.stdout.decode(), harness.dump(place / "iot"))


def called(programs, sources):
    names = set()
    for program in programs:
        listed = harness.run(["nm", "-D", "--undefined-only", program]).stdout.decode()
        names |= {line.split()[-1].split("@")[0] for line in listed.splitlines()}
    for source in sources:
        for pattern in BY_NAME:
            names |= set(pattern.findall(source.read_text()))
    return names


def check_rows():
    """Rows of functions that this libc has and that no victim calls."""
    folder = Path(harness.victim("victim_calls_files")).parent
    programs = [p for p in folder.iterdir() if p.is_file() and (p.name.startswith("victim_") or
                                                               p.suffix == ".so")]
    sources = (harness.TOP / "tests" / "victims").glob("*.[ch]")
    here = check_coverage.exports(check_coverage.libc_at_hand())
    without = check_coverage.rows(harness.TOP) & here - called(programs, sources)
    return [f"a row without a case: {name}" for name in sorted(without)]


def main():
    out = Tap()
    for name in VICTIMS:
        out.run(f"calls: {name}", lambda: check(name))
    out.run("every row of the tables has a case", check_rows)
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
