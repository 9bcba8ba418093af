#!/usr/bin/env python3
"""From where calls are made: stacks by site and at each call, with the names of their functions."""
import os
import shutil
import sys
from pathlib import Path

import harness
from harness import Tap

# Bytes of the read, and the functions that it must come from, the innermost first.
PLACES = {1: ["reads_innermost", "reads_between", "main"],
          2: ["reads_innermost", "reads_between", "in_thread"],
          3: ["reads_innermost", "reads_between", "in_handler"],
          4: ["reads_innermost", "reads_between"],
          5: ["reads_innermost", "reads_between"],
          6: ["reads_innermost", "reads_between", "from_nowhere", "made_at_run_time"]}


def names(site):
    return [frame.split("+")[0] for frame in site["frames"]]


def traced(place, name, which, argv):
    folder = place / name
    done = harness.trace(argv, folder, {"IOTRACE_STACKS": which}, place)
    if done.status:
        raise harness.Broken(f"status {done.status} ({done.tail()})")
    report = harness.report(folder)
    for file in folder.glob("*.iot"):  # what programs left for whoever asks for their names
        Path(f"/tmp/perf-{file.name.split('-')[0]}.map").unlink(missing_ok=True)
    return report, done, folder


def at_each_call(place):
    report, _, _ = traced(place, "all", "all", [harness.victim("victim_stacks"), place / "data"])
    bad, found = [], {}
    for site in report["sites"]:
        if names(site)[:1] == ["reads_innermost"]:
            found.setdefault(site["bytes"] // site["calls"], []).append(names(site))
    for size, want in PLACES.items():
        if size == 6 and os.uname().machine != "x86_64":
            continue
        if size == 2 and 2 not in found:  # there may be too little stack for it
            continue
        if not any(got[:len(want)] == want for got in found.get(size, [])):
            bad.append(f"reads of {size} from {found.get(size)}, not {want}")
    return bad


def by_site(place):
    """One look for all calls from one place."""
    report, _, folder = traced(place, "sites", "sites", [harness.victim("victim_stacks"), place / "data"])
    here = [s for s in report["sites"] if names(s)[:1] == ["reads_innermost"]]
    # A forked child looks for itself.
    bad = [] if 1 <= len(here) <= 2 and here[0]["calls"] >= 20 else [f"sites {here}"]
    text = harness.ask("report", folder).decode()
    told = harness.ask("explain", folder, place / "data").decode()
    for what, where in (("the report", text), ("explain", told)):
        if "reads_innermost" not in where:
            bad.append(f"{what} names no function: {where[-400:]}")
    return bad


def off(place):
    """Nothing of it in a trace that did not ask for it, and no unwinder in the program."""
    folder = place / "off"
    script = "grep -c libgcc_s /proc/$$/maps; :"
    done = harness.trace(["/bin/sh", "-c", script], folder)
    return [f"{done.stdout}"] if done.stdout.strip() != b"0" or harness.report(folder)["sites"] else []


def another_build(place):
    """Names are of the file that was run, or there are none."""
    program = place / "moved"
    shutil.copy(harness.victim("victim_stacks"), program)
    report, _, folder = traced(place, "build", "all", [program, place / "data"])
    good = [s for s in report["sites"] if names(s)[:1] == ["reads_innermost"]]
    shutil.copy(harness.victim("victim_window"), program)
    after = harness.report(folder)
    wrong = [s for s in after["sites"] if any("(moved)" in f for f in s["frames"])]
    return [] if good and not wrong else [f"{good[:1]} before, {wrong[:1]} after"]


def exceptions(place):
    report, done, _ = traced(place, "cxx", "sites", [harness.victim("victim_stacks_cxx"), place / "data"])
    inner = [s for s in report["sites"] if "throws_from" in names(s)[0]]
    bad = [] if done.stdout == b"100\n" else [f"caught {done.stdout}"]
    return bad if inner and inner[0]["calls"] == 100 else bad + [f"sites {report['sites'][:2]}"]


def of_node(place):
    """Functions that node compiled at run time, by its own map."""
    program = place / "program.js"
    program.write_text("const fs = require('fs');\nconst fd = fs.openSync(process.argv[2]);\n"
                       "function readsOften(n) { const b = Buffer.alloc(1); let sum = 0;\n"
                       "  for (let i = 0; i < n; i++) sum += fs.readSync(fd, b, 0, 1, 0); return sum; }\n"
                       "let s = 0; for (let k = 0; k < 300; k++) s += readsOften(100);\n")
    report, _, _ = traced(place, "node", "all", ["node", "--perf-basic-prof", program, place / "data"])
    mine = [s for s in report["sites"] if any("readsOften" in f for f in s["frames"])]
    return [] if mine else [f"sites {[s['frames'][:6] for s in report['sites'][:3]]}"]


def a_python():
    """One that can name its functions to others: from 3.12 on. None if there is none."""
    for name in ("python3", "python3.12", "python3.13", "python3.14"):
        path = shutil.which(name)
        ask = "import sys; print(sys.executable if sys.version_info >= (3, 12) else '')"
        found = path and harness.run([path, "-c", ask]).stdout.decode().strip()
        if found:
            return found
    return None


def of_python(place, python):
    program = place / "program.py"
    program.write_text("import os, sys\ndef reads_often(fd):\n    for i in range(50): os.pread(fd, 7, 0)\n"
                       "reads_often(os.open(sys.argv[1], os.O_RDONLY))\n")
    report, _, _ = traced(place, "python", "all",
                          [python, "-S", "-E", "-X", "perf", program, place / "data"])
    want = f"py::reads_often:{program}"
    mine = [s for s in report["sites"] if want in s["frames"]]
    return [] if mine else [f"sites {[s['frames'][:6] for s in report['sites'][:3]]}"]


def options(place):
    run = [harness.command(), "run", "-o", place / "run", "--stacks"]
    done = harness.run([*run, "some", "--", "true"])
    bad = [] if done.status == 2 and done.stderr.count(b"\n") == 1 else [f"{done.stderr}"]
    done = harness.run([*run, "sites", "--", harness.victim("victim_stacks"), place / "data"])
    return bad + ([] if harness.report(place / "run")["sites"] else ["no sites"])


def main():
    out = Tap()
    with harness.workplace() as place:
        (place / "data").write_bytes(b"x" * 4096)
        out.run("at each call", lambda: at_each_call(place))
        out.run("by site", lambda: by_site(place))
        out.run("not asked for", lambda: off(place))
        out.run("another build of the program", lambda: another_build(place))
        out.run("the option", lambda: options(place))
        if Path(os.environ["VICTIMS"], "victim_stacks_cxx").exists():
            out.run("exceptions", lambda: exceptions(place))
        else:
            out.skip("exceptions", "no C++ compiler")
        if shutil.which("node"):
            out.run("node", lambda: of_node(place))
        else:
            out.skip("node", "node is not installed")
        python = a_python()
        if python:
            out.run("python", lambda: of_python(place, python))
        else:
            out.skip("python", "no Python from 3.12 on")
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
