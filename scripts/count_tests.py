#!/usr/bin/env python3
"""Adds up the single results of a `meson test` run, and prints the failures.

count_tests.py TESTLOG.json      the log that meson writes, one JSON object a test program

A test program that speaks TAP counts its points, any other counts one. A program that ends badly
although none of its points failed (it crashed, ran out of time, or broke off before its plan was
done) counts one failure more. The last line is "N passed, N failed[, N skipped]".
"""
import json
import re
import sys

POINT = re.compile(r"(not )?ok\b(?:\s+(\d+))?\s*(?:-\s*)?([^#]*)(?:#\s*(\w+)\S*\s*(.*))?")
PLAN = re.compile(r"1\.\.(\d+)(?:\s*#\s*skip\w*\s*(.*))?", re.IGNORECASE)
GOOD = {"OK", "EXPECTEDFAIL", "SKIP"}
TAIL = 20


class Tally:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []

    def add_tap(self, name, text):
        """Counts the points of one program; gives how many failed, or None where it said nothing."""
        planned, seen, bad, notes = None, 0, 0, None
        for line in text.splitlines():
            plan, point = PLAN.match(line), POINT.match(line)
            if plan:
                planned = int(plan[1])
                if planned == 0:
                    self.skipped.append(f"{name}: {plan[2] or 'no reason given'}")
            elif point:
                seen += 1
                label = f"{name}: {point[3].strip() or point[2] or seen}"
                directive = (point[4] or "").lower()
                if directive.startswith("skip"):
                    self.skipped.append(f"{label}: {point[5] or 'no reason given'}")
                elif point[1]:
                    bad += 1
                    notes = []
                    self.failed.append((label, notes))
                else:
                    self.passed += 1
                if not point[1]:
                    notes = None
            elif notes is not None and line.strip():
                notes.append(line)
        if planned is None and seen == 0:
            return None
        if planned is not None and planned != seen:
            bad += 1
            self.failed.append((f"{name}: {planned} checks were planned, {seen} came", []))
        return bad

    def add(self, row):
        """Counts one test program."""
        name, result = row["name"], row["result"]
        stdout, stderr = row.get("stdout") or "", row.get("stderr") or ""
        bad = self.add_tap(name, stdout)
        if bad is None and result in GOOD:
            if result == "SKIP":
                self.skipped.append(f"{name}: the program said so")
            else:
                self.passed += 1
        elif not bad and result not in GOOD:
            tail = (stdout + stderr).splitlines()[-TAIL:]
            self.failed.append((f"{name}: {result}, status {row.get('returncode')}", tail))

    def closing(self):
        line = f"{self.passed} passed, {len(self.failed)} failed"
        return line + (f", {len(self.skipped)} skipped" if self.skipped else "")


def count(lines):
    tally = Tally()
    for line in lines:
        tally.add(json.loads(line))
    return tally


def self_test():
    """TAP points of the counter itself, so that it cannot quietly count wrong."""
    def row(result, stdout, code=0):
        return json.dumps({"name": "t", "result": result, "stdout": stdout, "returncode": code})

    cases = [
        ("points count one each", [row("OK", "1..2\nok 1 - a\nok 2 - b\n")], "2 passed, 0 failed"),
        ("a failed point", [row("FAIL", "1..2\nok 1\nnot ok 2 - b\n# why\n")], "1 passed, 1 failed"),
        ("a failed point and a bad status", [row("ERROR", "1..1\nnot ok 1\n", 1)],
         "0 passed, 1 failed"),
        ("a skipped point", [row("OK", "1..2\nok 1\nok 2 - b # SKIP no tool\n")],
         "1 passed, 0 failed, 1 skipped"),
        ("a skipped program", [row("SKIP", "1..0 # SKIP no tool\n")],
         "0 passed, 0 failed, 1 skipped"),
        ("points that never came", [row("ERROR", "1..3\nok 1\n")], "1 passed, 1 failed"),
        ("a crash after good points", [row("ERROR", "ok 1\n", -11)], "1 passed, 1 failed"),
        ("a program without TAP", [row("OK", ""), row("FAIL", "", 1)], "1 passed, 1 failed"),
        ("a program without TAP that ran out of time", [row("TIMEOUT", "")], "0 passed, 1 failed"),
    ]
    print(f"1..{len(cases)}")
    bad = 0
    for i, (name, lines, want) in enumerate(cases, 1):
        got = count(lines).closing()
        bad += got != want
        print(f"{'ok' if got == want else 'not ok'} {i} - {name}")
        if got != want:
            print(f"# expected {want}, got {got}")
    return 1 if bad else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        print("count_tests.py: give the path of meson's testlog.json", file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], encoding="utf-8") as f:
            tally = count(f)
    except (OSError, ValueError) as e:
        print(f"count_tests.py: {sys.argv[1]}: {e}; did meson test run?", file=sys.stderr)
        return 2
    if tally.skipped:
        print("\nSkipped:")
        for label in tally.skipped:
            print(f"  {label}")
    if tally.failed:
        print("\nFailed:")
        for label, notes in tally.failed:
            print(f"  {label}")
            for note in notes[:TAIL]:
                print(f"    {note}")
    print(f"\n{tally.closing()}")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
