#!/usr/bin/env python3
"""Every form of a comparison, of runs whose names are made to do harm: it stays well-formed, one
line stays one line, and nothing moves a terminal's cursor."""
import csv
import io
import re
import sys
import xml.etree.ElementTree as ElementTree

import comparing
import harness
from comparing import interpreter, parsed, row
from harness import Tap

EVIL = 'a\n::error::x\r\x1b[31m<b>&"\'%0A|`\u202e\ufffe,\\\x7f,;]]>'
SHORT = 65536  # a comment on GitHub
LINE = 80


def evil(made):
    """Twice as slow, more syncs, and a file whose name is all of the above, and no UTF-8."""
    row(made, "artifact")["exposed_ns"] *= 3
    row(made, "output")["sync_ops"] += 500
    for f in made["files"]:
        f["path"] = f"/d/{EVIL}\udcff"
        if f["object"] == "output":
            f["sync_ops"] += 500
        else:
            f["exposed_ns"] *= 3


def write(place, made_up, fmt, *options):
    base = made_up.side()
    worse = [made_up.run(evil, 1 + i / 100, f"{i}=<&\"'\n::error::{i}\x1b.json") for i in range(6)]
    policy = place / "policy"
    policy.write_text('file:"*\x1b?31m<*&*%*".exposed fail\n')
    done = harness.run([harness.command(), "compare", "--format", fmt, "--policy", policy, *options,
                        *base, "--to", *worse])
    if done.status != 1:
        raise harness.Broken(f"status {done.status} ({done.tail()})")
    return done.stdout.decode()


def controls(text, allowed="\n"):
    return [f"a control character: {line!r}" for line in text.split("\n")
            if any((ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e") and c not in allowed
                   for c in line)]


def check_text(text):
    bad = controls(text)
    bad += [f"over {LINE} columns: {line}" for line in text.splitlines() if len(line) > LINE]
    bad += [] if text.startswith("Regressed: ") else ["no verdict first"]
    return bad + ([] if "0 → " in text or "→" in text else ["no reason"])


def check_markdown(text):
    bad = controls(text)
    if len(text) > SHORT:
        bad.append(f"{len(text)} characters")
    if re.search(r"<(?!/?(code|details|summary)>)", text):
        bad.append("HTML of a name")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    bad += [f"no six cells: {line}" for line in rows if line.count("|") != 7]
    return bad + [f"a line out of place: {line}" for line in text.splitlines()
                  if line.startswith("::")]


def check_junit(text):
    suite = ElementTree.fromstring(text.encode()).find("testsuite")
    cases = suite.findall("testcase")
    bad = controls(text)
    for what, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        n = sum(1 for c in cases if c.find(what) is not None)
        if n != int(suite.get(attribute)):
            bad.append(f"{attribute} are {suite.get(attribute)}, and {n} in cases")
    if len(cases) != int(suite.get("tests")):
        bad.append(f"{len(cases)} cases, {suite.get('tests')} said")
    failed = {c.get("name") for c in cases if c.find("failure") is not None}
    return bad + ([] if {"artifact.exposed", "output.sync_ops"} <= failed else [f"failed: {failed}"])


def check_github(text):
    lines = text.splitlines()
    bad = controls(text)
    bad += [f"no annotation: {line}" for line in lines
            if not re.fullmatch(r"::(error|warning|notice) title=[^:,]*::.*", line)]
    for line in lines:
        title, message = line.split(" title=", 1)[1].split("::", 1)
        # What the runner turns back; what is left of '%' must be one that was meant.
        for encoded, plain in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "")):
            title = title.replace(encoded, plain)
            if encoded not in ("%3A", "%2C"):
                message = message.replace(encoded, plain)
        if "%" in title + message:
            bad.append(f"a bare %: {line}")
    if not any('file%3A"*\\x1b?31m<*&*%25*".exposed' in line for line in lines):
        bad.append("no name with its % and its colon")
    return bad + ([] if any("output.sync_ops regressed::" in line and "%0A" in line for line in lines)
                  else ["no line for the syncs"])


def check_openmetrics(text):
    sample = re.compile(r'[a-z_]+(\{[a-z]+="([^"\\\n]|\\[\\"n])*"(,[a-z]+="([^"\\\n]|\\[\\"n])*")*\})? \S+')
    lines = text.splitlines()
    bad = controls(text) + [f"no sample: {line}" for line in lines
                            if not line.startswith("# ") and not sample.fullmatch(line)]
    bad += [] if lines[-1] == "# EOF" else ["no end"]
    states = [line for line in lines if line.startswith('iotrace_compare_state{metric="wall"')]
    return bad + ([] if sum(line.endswith(" 1") for line in states) == 1 else [f"states: {states}"])


# Printed by an interpreter that has the parser, since Debian's packages are its own Python's.
READ_OPENMETRICS = """
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
print(json.dumps([[s.name, s.labels, s.value] for family in
                  text_string_to_metric_families(sys.stdin.read()) for s in family.samples]))
"""
READ_JUNIT = """
import json, sys
from junitparser import JUnitXml
print(json.dumps([[s.tests, s.failures, s.errors, s.skipped,
                   [[c.name, type(c.result[0]).__name__ if c.result else None] for c in s]]
                  for s in JUnitXml.fromstring(sys.stdin.buffer.read())]))
"""


def check_openmetrics_parsed(python, text):
    samples = parsed(python, READ_OPENMETRICS, text)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    bad = [] if len(samples) == len(lines) else [f"{len(samples)} samples of {len(lines)} lines"]
    names = {labels.get("metric") for _, labels, _ in samples}
    if 'file:"*\\x1b?31m<*&*%*".exposed' not in names:
        bad.append(f"names are {names}")
    wanted = [v for name, labels, v in samples if name == "iotrace_compare_median"
              and labels == {"metric": "output.sync_ops", "unit": "", "side": "candidate"}]
    return bad + ([] if wanted == [504] else [f"syncs are {wanted}"])


def check_junit_parsed(python, text):
    (suite,) = parsed(python, READ_JUNIT, text)
    results = dict(suite[4])
    bad = [] if suite[0] == len(suite[4]) else [f"{suite[0]} tests, {len(suite[4])} cases"]
    if (results["output.sync_ops"], results["wall"]) != ("Failure", "Skipped"):
        bad.append(f"results are {results}")
    return bad + ([] if 'file:"*\\x1b?31m<*&*%*".exposed' in results else [f"names are {list(results)}"])


def check_csv(text):
    rows = list(csv.reader(io.StringIO(text)))
    bad = controls(text) + [f"no six fields: {r}" for r in rows if len(r) != 6]
    wall = [r for r in rows if r[0] == "wall"]
    if len(wall) != 12 or {r[2] for r in wall} != {"base", "candidate"}:
        bad.append(f"wall: {wall}")
    return bad


CHECKS = {"text": check_text, "markdown": check_markdown, "junit": check_junit,
          "github": check_github, "openmetrics": check_openmetrics, "csv": check_csv}


def check_strict(place, made_up):
    """What cannot be told is an error of JUnit and of GitHub under --strict, and else none."""
    bad = []
    base, candidate = made_up.run(), made_up.run()
    for strict in (False, True):
        options = ["--strict"] if strict else []
        done = harness.run([harness.command(), "compare", "--format", "junit", *options, base, "--to",
                            candidate])
        suite = ElementTree.fromstring(done.stdout).find("testsuite")
        errors, skipped = int(suite.get("errors")), int(suite.get("skipped"))
        if (errors > 0, skipped > 0, done.status) != (strict, not strict, 3 if strict else 0):
            bad.append(f"strict {strict}: {errors} errors, {skipped} skipped, status {done.status}")
    return bad


def check_output(place, made_up):
    target = place / "out.md"
    done = harness.run([harness.command(), "compare", made_up.run(), "-o", target, "--to",
                        made_up.run(), "--format", "markdown"])
    if done.status or done.stdout or not target.read_text().startswith("## "):
        return [f"status {done.status}, {done.stdout!r}"]
    return []


def check_comment(place, made_up):
    """A comment on a pull request has 65536 characters, also of 10,000 files whose names are nothing but
    what Markdown must escape, and of rules for many of them."""
    def name(i):
        return "`_~" * 30 + chr(97 + i)

    def many(factor):
        def change(made):
            like = next(f for f in made["files"] if f["object"] == "artifact")
            made["files"] = [like | {"path": f"/{'<&|*' * 15}{i % 2 * 'b'}/{name(i // 2 % 26)}",
                                     "data_ops": 100 * factor} for i in range(10000)]
        return change

    rules = place / "many"
    rules.write_text("".join(f'file:"{name(i)}*".{what} fail\n' for i in range(26)
                             for what in ("data_ops", "opens", "bytes")))
    options = ["compare", "--policy", rules, made_up.run(many(1)), "--to", made_up.run(many(10))]
    done = harness.run([harness.command(), *options, "--format", "markdown"])
    text = done.stdout.decode()
    if done.status != 1 or len(done.stdout) > SHORT or len(text) < SHORT // 2:
        return [f"status {done.status}, {len(text)} characters, {len(done.stdout)} bytes"]
    bad = [] if "more lines are in the text" in text[-100:] else [f"it does not say so: {text[-200:]}"]
    plain = harness.run([harness.command(), *options]).stdout.decode()
    return bad + [f"over {LINE} columns: {line}" for line in plain.splitlines() if len(line) > LINE][:3]


def check_old(place):
    """Reports of released versions stay readable."""
    kept = harness.TOP / "tests" / "golden" / "reports"
    made, status = comparing.ask([kept / "base"], [kept / "candidate"])
    wanted = {"artifact.data_ops": "regressed", "artifact.bytes": "unchanged", "wall": "inconclusive"}
    got = {name: made["by"][name]["state"] for name in wanted}
    return [] if (status, got) == (1, wanted) else [f"status {status}, {got}"]


def main():
    out = Tap()
    with harness.workplace() as place:
        data = place / "model.bin"
        data.write_bytes(bytes(1 << 20))
        done = harness.trace([harness.victim("victim_compare"), data, place / "out", 65536, 4],
                             place / "trace")
        (place / "made").mkdir()
        made_up = comparing.Made(harness.report(done.folder), place / "made")
        for fmt, check in CHECKS.items():
            out.run(f"names that do harm: {fmt}", lambda: check(write(place, made_up, fmt)))
        for fmt, module, check in (("openmetrics", "prometheus_client", check_openmetrics_parsed),
                                   ("junit", "junitparser", check_junit_parsed)):
            python = interpreter(module)
            if python:
                out.run(f"{fmt} by {module}", lambda: check(python, write(place, made_up, fmt)))
            else:
                out.skip(f"{fmt} by {module}", f"no Python here has {module}")
        out.run("a comment of 10,000 files", lambda: check_comment(place, made_up))
        out.run("--strict in JUnit", lambda: check_strict(place, made_up))
        out.run("-o, and options on both sides of --to", lambda: check_output(place, made_up))
        out.run("reports of version 1", lambda: check_old(place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
