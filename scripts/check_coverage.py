#!/usr/bin/env python3
"""Holds the recorder's tables against what libc exports: every function is a row or on the list of
those left out, with its reason.

check_coverage.py [--tap] [--libc FILE] [TOP]   complaints as lines, or as TAP with a test of itself

The tables are preload/wrappers.def and preload/stdio.def, the list is preload/not_wrapped.txt. Versions
of one name count once; what libc exports for its own parts (GLIBC_PRIVATE) does not count.
"""
import argparse
import fnmatch
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import tap

ROW = re.compile(r"^(?:(?:IO[2V]?|FD|PATH2?|NONE|HANDV?|PLAIN|READS|WRITES)\([^,]+, |PRINTS\()(\w+),",
                 re.MULTILINE)
EXPORT = re.compile(r"^[0-9a-f]+ ([TWViuDBRV]) ([\w.]+)(?:@@?(\S+))?$", re.MULTILINE)
FUNCTION = {"T", "W", "i"}


def libc_at_hand():
    """The file of the libc that this interpreter runs with."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.split(maxsplit=5)[5:]
        if path and re.search(r"/libc(-[\d.]+)?\.so", path[0]):
            return path[0]
    raise SystemExit("check_coverage: no libc.so in this process; name one with --libc")


def exports(libc):
    """Names of its functions for programs."""
    listed = subprocess.run(["nm", "-D", "--defined-only", libc], capture_output=True, text=True,
                            check=True).stdout
    return {name for kind, name, version in EXPORT.findall(listed)
            if kind in FUNCTION and version != "GLIBC_PRIVATE"}


def rows(top):
    """Names of the functions that have a row."""
    return {name for table in ("wrappers.def", "stdio.def")
            for name in ROW.findall((top / "preload" / table).read_text())}


def left_out(top):
    """Pairs of a pattern and its reason."""
    reason, pairs = None, []
    for line in (top / "preload" / "not_wrapped.txt").read_text().splitlines():
        if line.startswith("["):
            reason = line.strip("[]")
        elif line and not line.startswith("#"):
            pairs += [(pattern, reason) for pattern in line.split()]
    return pairs


def check(exported, wrapped, pairs):
    """Complaints about exports that nobody has decided on, and names decided twice."""
    plain = {pattern for pattern, _ in pairs if not re.search(r"[*?\[]", pattern)}
    wild = [re.compile(fnmatch.translate(p)) for p, _ in pairs if p not in plain]
    bad = [f"{pattern}: stands without a reason" for pattern, reason in pairs if not reason]
    bad += [f"{name}: has a row, and is on the list of those without" for name in sorted(wrapped & plain)]
    for name in sorted(exported - wrapped - plain):
        if not any(pattern.match(name) for pattern in wild):
            bad.append(f"{name}: exported by libc, without a row and not on the list: wrap it "
                       "(doc/adding-a-wrapper.md), or give the reason in preload/not_wrapped.txt")
    return bad


def twins(name):
    """Names that libc gives to another form of the same call."""
    return {f"{name}64", f"__{name}", f"__{name}_chk", f"__{name}64_chk", f"__{name}_2",
            f"__{name}64_2", f"{name}_unlocked", f"__{name}_unlocked_chk", f"__isoc99_{name}",
            f"__isoc23_{name}"}


def check_twins(exported, wrapped):
    """A twin of what has a row has one: a pattern of the list does not excuse it."""
    return [f"{twin}: a twin of {name}, which has a row" for name in sorted(wrapped)
            for twin in sorted(twins(name) & exported - wrapped)]


def complaints(top, libc):
    exported, wrapped, pairs = exports(libc), rows(top), left_out(top)
    return check(exported, wrapped, pairs) + check_twins(exported, wrapped)


# Tables that must be refused: exports beside the ones of GOOD, rows and list entries that break a rule.
GOOD = ({"read", "__read_chk", "strlen"}, {"read", "__read_chk"}, [("str*", "text")])
VIOLATIONS = [
    ("a new call that moves bytes", {"read_faster"}, set(), []),
    ("a twin without a row", {"read64"}, set(), [("read64", "nobody calls it")]),
    ("a twin behind a pattern", {"__read_2"}, set(), [("__*", "internal")]),
    ("a name decided twice", set(), set(), [("read", "no need")]),
    ("a name without a reason", {"x"}, set(), [("x", None)]),
]


def as_tap(top, libc):
    out = tap.Tap()
    found = complaints(top, libc)
    out.point(not found, "every function of libc has a row, or a reason not to", found)
    out.point(len(rows(top)) > 300 and len(exports(libc)) > 1000, "tables and exports were read",
              f"{len(rows(top))} rows, {len(exports(libc))} exports")
    exported, wrapped, pairs = GOOD
    out.point(not check(*GOOD) + check_twins(exported, wrapped), "a good table is accepted")
    for name, more, more_rows, more_pairs in VIOLATIONS:
        one = (exported | more, wrapped | more_rows, pairs + more_pairs)
        found = check(*one) + check_twins(one[0], one[1])
        out.point(len(found) == 1, f"refused: {name}", found or "no complaint came")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "preload").mkdir()
        text = (top / "preload" / "wrappers.def").read_text().replace("IO(ssize_t, read,", "//", 1)
        (Path(folder) / "preload" / "wrappers.def").write_text(text)
        for name in ("stdio.def", "not_wrapped.txt"):
            (Path(folder) / "preload" / name).write_text((top / "preload" / name).read_text())
        found = complaints(Path(folder), libc)
        out.point(any(line.startswith("read:") for line in found), "refused: a row that was removed",
                  found or "no complaint came")
    return out.done()


def main():
    parser = argparse.ArgumentParser(description="Tables and list against the exports of libc.")
    parser.add_argument("--tap", action="store_true", help="as TAP, with a test of this script")
    parser.add_argument("--libc", help="another libc than the one at hand")
    parser.add_argument("top", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    args = parser.parse_args()
    libc = args.libc or libc_at_hand()
    if args.tap:
        return as_tap(args.top, libc)
    found = complaints(args.top, libc)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
