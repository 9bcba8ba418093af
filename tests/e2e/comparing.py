"""Comparisons: ask for one, what every one must look like, and runs that are made up."""
import copy
import json
import sys
import tempfile
from pathlib import Path

import harness
from schema import Complaints

STATES = ["regressed", "missing", "not comparable", "inconclusive", "improved", "unchanged"]
TOP = ["schema", "verdict", "regressed", "alpha", "tests", "gated", "undecided", "base", "candidate",
       "not_comparable", "notes", "metrics", "next"]
METRIC = ["metric", "kind", "unit", "level", "policy_line", "state", "reason", "base", "candidate",
          "shift", "low", "high", "tolerated", "p", "p_adjusted", "runs_needed", "why"]
MILLISECOND = 10**6


def check(made, status, strict=False):
    """Complaints about a comparison as JSON, and about the status that came with it."""
    bad = Complaints()
    bad.same("schema", "iotrace-compare/1", made["schema"])
    bad.fields("the comparison", TOP, made)
    gated = [m for m in made["metrics"] if m["level"] != "off"]
    undecided = [m for m in gated if m["state"] in STATES[1:4]]
    failed = [m for m in gated if m["level"] == "fail" and m["state"] == "regressed"]
    if (made["next"] is None) != all(m["state"] in ("unchanged", "improved") for m in gated):
        bad.append(f"what to do is {made['next']!r}")
    bad.same("gated", made["gated"], len(gated))
    bad.same("undecided", made["undecided"], len(undecided))
    bad.same("regressed", made["regressed"], bool(failed))
    bad.same("the status", 1 if failed else 3 if strict and undecided else 0, status)
    if made["tests"] > 12:
        bad.append(f"{made['tests']} tests")
    for m in made["metrics"]:
        bad.fields(m["metric"], METRIC, m)
        if m["state"] not in STATES:
            bad.append(f"{m['metric']}: state {m['state']!r}")
        if (m["state"] == "inconclusive") != bool(m["runs_needed"]) and m["runs_needed"] is not None:
            bad.append(f"{m['metric']}: {m['state']}, {m['runs_needed']} runs needed")
        if m["p"] is not None and not 0 < m["p"] <= m["p_adjusted"] <= 1:
            bad.append(f"{m['metric']}: p {m['p']}, adjusted {m['p_adjusted']}")
        if m["low"] is not None and not m["low"] <= m["shift"] <= m["high"]:
            bad.append(f"{m['metric']}: {m['shift']} is not in {m['low']} to {m['high']}")
        if m["state"] == "regressed" and m["level"] != "off" and m["kind"] == "time" \
                and m["p"] is not None and not (m["p_adjusted"] <= made["alpha"] and m["low"] > m["tolerated"]):
            bad.append(f"{m['metric']}: regressed with p {m['p_adjusted']}, from {m['low']} on")
    return bad


def ask(base, candidate, *options):
    """The comparison as JSON, by metric, and its status; it keeps the rules."""
    done = harness.run([harness.command(), "compare", "--format", "json", *options, *base, "--to",
                        *candidate])
    try:
        made = json.loads(done.stdout)
    except ValueError:
        raise harness.Broken(f"compare: status {done.status}, no JSON ({done.tail()})")
    complaints = check(made, done.status, "--strict" in options)
    if complaints:
        raise harness.Broken("the comparison breaks its rules: " + "; ".join(complaints[:5]))
    made["by"] = {m["metric"]: m for m in made["metrics"]}
    return made, done.status


def interpreter(module):
    """A Python that has it, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        if Path(python).exists() and not harness.run([python, "-c", f"import {module}"]).status:
            return python
    return None


def parsed(python, script, text):
    """What a script prints as JSON about a text on its standard input."""
    with tempfile.TemporaryFile() as stdin:
        stdin.write(text.encode())
        stdin.seek(0)
        done = harness.run([python, "-c", script], stdin=stdin)
    if done.status:
        raise harness.Broken(f"it is refused: {done.tail()}")
    return json.loads(done.stdout)


class Made:
    """Reports like one that was recorded, with other figures."""

    def __init__(self, report, place):
        self.report, self.place, self.runs = report, place, 0

    def run(self, change=None, scale=1.0, name=None):
        """A run of 1 s in which an artifact takes 200 ms and an output 100 ms, times `scale`."""
        self.runs += 1
        made = copy.deepcopy(self.report)
        made["run"]["start_realtime_ns"] += self.runs
        made["wall_ns"] = int(1000 * MILLISECOND * scale)
        for row in [*made["objects"], *made["files"]]:
            ms = {"artifact": 200, "output": 100}.get(row["object"], 0)
            for key in ("service_ns", "exposed_ns", "blocking_ns", "recoverable_ns"):
                row[key] = int(ms * MILLISECOND * scale)
            row["cache_scope"] = "warm" if row["object"] == "artifact" else "unknown"
        made["total"]["exposed_ns"] = sum(o["exposed_ns"] for o in made["objects"])
        if change:
            change(made)
        path = self.place / (name or f"run-{self.runs:03}.json")
        path.write_text(json.dumps(made))
        return path

    def side(self, change=None, scale=1.0, n=6):
        """Runs that differ by up to 3 %."""
        noise = [0.985, 1.0, 1.012, 0.992, 1.006, 1.015, 0.99, 1.003]
        return [self.run(change, scale * noise[i % len(noise)]) for i in range(n)]


def row(report, name):
    """An object's row."""
    return next(o for o in report["objects"] if o["object"] == name)
