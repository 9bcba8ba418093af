#!/usr/bin/env python3
"""From where calls are made: stacks by site and at each call, with the names of their functions."""
import csv
import html
import json
import os
import re
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


PYTHON = """import os, sys, threading
def reads_one(fd):
    return os.pread(fd, 11, 0)

class Loader:
    def load(self, fd):
        return [reads_one(fd)
                for _ in range(N)]

def generates(fd):
    for i in range(N):
        yield os.pread(fd, 12,
                       0)

def in_thread(fd):
    for i in range(N):
        (lambda: os.pread(fd, 13, 0))()

N = 100
fd = os.open(sys.argv[1], os.O_RDONLY)
Loader().load(fd)
list(generates(fd))
thread = threading.Thread(target=in_thread, args=(fd,))
thread.start()
thread.join()
for i in range(9):  # code that is gone when the next is there, at the same place
    exec(compile("\\n" * i + "for _ in range(N): os.pread(fd, 20 + i, 0)", "made-\u00e9.py", "exec"))
other = os.open(sys.argv[2], os.O_RDONLY)
for _ in range(N): os.pread(other, 50, 0)
"""
# Bytes of a read, and the places that it must come from, the innermost first: the last two parts of a function's
# dotted name may be all that is known of it.
PYTHON_PLACES = {11: [("program.py", 3, "reads_one"), ("program.py", 7, "load"), ("program.py", 21, "<module>")],
                 12: [("program.py", 12, "generates"), ("program.py", 22, "<module>")],
                 13: [("program.py", 17, "<lambda>"), ("program.py", 17, "in_thread"), ("threading.py", None, "run")],
                 50: [("program.py", 29, "<module>")],
                 **{20 + i: [("made-\u00e9.py", i + 1, "<module>"), ("program.py", 27, "<module>")] for i in range(9)}}

C = """#include <fcntl.h>
#include <unistd.h>
static char b[64];
static inline __attribute__((always_inline)) long put_in(int fd) {
    return pread(fd, b, 31, 0);
}
__attribute__((noinline)) static long reads(int fd) {
    long n = put_in(fd);
    return n + pread(fd, b, 32, 0) + 1;
}
int main(int argc, char **argv) {
    return reads(open(argv[argc - 1], O_RDONLY)) < 0;
}
"""
C_PLACES = {31: [("lines.c", 5, "put_in"), ("lines.c", 8, "reads"), ("lines.c", 12, "main")],
            32: [("lines.c", 9, "reads"), ("lines.c", 12, "main")]}

CXX = """#include <fcntl.h>
#include <unistd.h>
#include <thread>
namespace store {
template <typename T> struct Log {
    T fd;
    __attribute__((noinline)) long put(const char *s, int n) { return pwrite(fd, s, n, 0) + 1; }
    __attribute__((noinline)) bool operator()(int n) const { return pwrite(fd, "xx", n, 0) > 0; }
};
}
namespace { __attribute__((noinline)) long hidden(int fd) { return pwrite(fd, "abc", 3, 0) + 1; } }
template <class T> __attribute__((noinline)) T of_type(T fd) { return (T)pwrite(fd, "abcd", 4, 0) + 1; }
int main(int, char **argv) {
    store::Log<int> log{open(argv[1], O_WRONLY)};
    long sum = 0;
    for (int i = 0; i < 9; i++) sum += log.put("x", 1) + log(2) + hidden(log.fd) + of_type<int>(log.fd);
    std::thread thread([&] { for (int i = 0; i < 9; i++) sum += log.put("12345", 5); });
    thread.join();
    return sum < 0;
}
"""
# Bytes of a write, and the innermost function in words.
CXX_NAMES = {1: "store::Log<int>::put", 2: "store::Log<int>::operator()", 3: "(anonymous namespace)::hidden",
             4: "of_type<int>", 5: "store::Log<int>::put"}


def names(site):
    return [place["function"] or frame.split("+")[0] for frame, place in zip(site["frames"], site["places"])]


def places(site):
    """As (last part of the file, line, last part of the function)."""
    return [(os.path.basename(p["file"] or ""), p["line"], (p["function"] or "").rsplit(".", 1)[-1])
            for p in site["places"] if p["function"] is None or not p["function"].endswith("<listcomp>")]


def same_places(want, got):
    return len(got) >= len(want) and all(
        w[0] == g[0] and w[1] in (None, g[1]) and w[2] == g[2] for w, g in zip(want, got))


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
    bad = [] if 1 <= len(here) <= 2 and max(s["calls"] for s in here) >= 20 else [f"sites {here}"]
    text = harness.ask("report", folder).decode()
    told = harness.ask("explain", folder, place / "data").decode()
    marked = html.unescape(harness.ask("report", folder, "--format", "markdown").decode())
    for what, where in (("the report", text), ("explain", told), ("Markdown", marked)):
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
    said = [e for e in after["evidence"] if str(program) in e]
    return [] if good and not wrong and len(said) == 1 else [f"{good[:1]} before, {wrong[:1]} after, said {said}"]


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


def pythons():
    """Those of the versions that can be read: (version, path)."""
    ask = ("import sys; print(sys.implementation.name, *sys.version_info[:2], sys.executable, "
           "'free' if 't' in getattr(sys, 'abiflags', '') else '')")
    found = {}
    for name in ["python3", "/usr/bin/python3", *(f"python3.{n}" for n in range(9, 15))]:
        path = shutil.which(name)
        done = path and harness.run([path, "-c", ask])
        words = done.stdout.decode().split() if done and not done.status else []
        if words and words[0] == "cpython" and words[1] == "3" and 9 <= int(words[2]) <= 14:
            found.setdefault(int(words[2]), words[3])
    return sorted(found.items())


def recorded(folder):
    """{bytes: the places of each stack from which so much was read}, also of what is too cheap for a report."""
    def table(name):
        return csv.DictReader(harness.ask("export", folder, "--format", "csv", "--table", name).decode().splitlines())
    stacks, found = {}, {}
    for row in table("stacks"):
        frame = re.fullmatch(r"(?:.*/)?([^/]*):(\d+) (?:.*\.)?(.*)", row["frame"])
        if frame and frame[3] != "<listcomp>":
            stacks.setdefault(row["stack"], []).append((frame[1], int(frame[2]), frame[3]))
    for row in table("events"):
        if row["moves"] == "read" and row["stack"]:
            found.setdefault(int(row["bytes"]), {})[row["stack"]] = stacks.get(row["stack"], [])
    return {size: list(which.values()) for size, which in found.items()}


def of_python(place, python, version):
    bad = []
    program, other = place / "program.py", place / "other"
    program.write_text(PYTHON)
    other.write_bytes(b"y" * 100)
    for which in ("sites", "all"):
        name = f"python-{version}-{which}"
        report, _, folder = traced(place, name, which, [python, "-S", "-E", program, place / "data", other])
        reads = recorded(folder)
        for size, want in PYTHON_PLACES.items():
            told = json.loads(harness.ask("explain", folder, other if size == 50 else place / "data", "--format",
                                          "json"))["files"][0]["sites"]
            sites = [s for s in report["sites"] + told if s["bytes"] == size * s["calls"]]
            # Of the many a report leaves out cheap ones.
            if size < 20 and not any(same_places(want, got) for got in reads.get(size, [])):
                bad.append(f"{which}: reads of {size} from {reads.get(size)}, not {want}")
            wrong = [s for s in sites if not same_places(want, places(s))]
            if wrong:
                bad.append(f"{which}: reads of {size} from {places(wrong[0])}, not {want}")
        if not any(20 <= s["bytes"] / s["calls"] < 29 and "made-" in s["frames"][0] for s in report["sites"]):
            bad.append(f"{which}: no code of its own making: {[s['frames'] for s in report['sites']]}")
    text = harness.ask("explain", folder, other).decode()
    if "program.py:29 <module>" not in text:
        bad.append(f"explain says {text[-300:]}")
    rules = place / "rules"
    rules.write_text("state * site=generates\nartifact * site=no_such_function\ninput data site=program.py op=read\n"
                     "output * site=program.py\n")
    report = json.loads(harness.ask("report", folder, "--format", "json", "--rules", rules))
    objects = {Path(f["path"]).name: f["object"] for f in report["files"]}
    if (objects.get("data"), objects.get("other")) != ("state", "output"):
        bad.append(f"by rules the files are {objects.get('data')} and {objects.get('other')}")
    return bad


def no_python(place):
    """What only looks like an interpreter does no harm, whatever it leads to."""
    bad = []
    for version in ("0309", "030a", "030b", "030c", "030d", "030e", "0410"):
        for which in ("sites", "all"):
            report, done, _ = traced(place, f"fake-{version}-{which}", which,
                                     [harness.victim("victim_fake_python"), place / "data", version, "7"])
            reads = [f["data_ops"] for f in report["files"] if f["path"] == str(place / "data")]
            if reads != [2000]:
                bad.append(f"{version}: reads {reads}")
    return bad


def imports(place, python):
    """The frames of the import system are one."""
    (place / "imported.py").write_text("import os\nfor _ in range(200): os.stat('/etc/passwd')\n")
    program = place / "imports.py"
    program.write_text("import sys\nsys.path.insert(0, sys.argv[1])\nimport imported\n")
    report, _, _ = traced(place, "imports", "sites", [python, "-S", "-E", "-B", program, place])
    mine = [s["frames"] for s in report["sites"] if s["frames"][0] == "imported.py:2 <module>"]
    want = ["imported.py:2 <module>", "import", "imports.py:3 <module>"]
    return [] if want in mine else [f"frames {mine}, not {want}"]


def of_source(place, compiler):
    """Lines, where the compiler left them; functions, where the linker did; else the module."""
    (place / "lines.c").write_text(C)
    program, bare = place / "lines", place / "bare"
    done = harness.run([compiler, "-O2", "-g", place / "lines.c", "-o", program])
    if done.status:
        raise harness.Broken(f"{compiler}: {done.tail()}")
    shutil.copy(program, bare)
    bad = []
    report, _, _ = traced(place, "source", "all", [program, place / "data"])
    for size, want in C_PLACES.items():
        found = [places(s) for s in report["sites"] if s["bytes"] == size]
        if not any(same_places(want, f) for f in found):
            bad.append(f"reads of {size} from {found}, not {want}")
    harness.run(["strip", "--strip-all", bare])
    report, _, folder = traced(place, "stripped", "all", [bare, place / "data"])
    found = [s for s in report["sites"] if s["bytes"] == 32]
    if not found or not found[0]["frames"][0].startswith("bare+0x") or found[0]["places"][0]["line"]:
        bad.append(f"stripped: {found}")
    shutil.copy(program, bare)  # the same build: a debugger would take it, too
    found = [places(s) for s in harness.report(folder)["sites"] if s["bytes"] == 32]
    if not found or not same_places(C_PLACES[32], found[0]):
        bad.append(f"with its symbols again: {found}")
    return bad


def options(place):
    run = [harness.command(), "run", "-o", place / "run", "--stacks"]
    done = harness.run([*run, "some", "--", "true"])
    bad = [] if done.status == 2 and done.stderr.count(b"\n") == 1 else [f"{done.stderr}"]
    done = harness.run([*run, "sites", "--", harness.victim("victim_stacks"), place / "data"])
    return bad + ([] if harness.report(place / "run")["sites"] else ["no sites"])


def of_cxx(place, compiler):
    """As the source has them, without parameters; nothing in front of main() or of what a thread runs."""
    (place / "names.cc").write_text(CXX)
    program = place / "names"
    done = harness.run([compiler, "-O1", "-pthread", place / "names.cc", "-o", program])
    if done.status:
        raise harness.Broken(f"{compiler} does not build the program: {done.tail()}")
    report, _, folder = traced(place, "names-trace", "all", [program, place / "data"])
    sites = {s["bytes"] // s["calls"]: s for s in report["sites"] if s["bytes"]}
    bad = [f"writes of {size} from {sites.get(size)}, not {want}" for size, want in CXX_NAMES.items()
           if size not in sites or not sites[size]["frames"][0].startswith(want + "+0x") or
           sites[size]["places"][0]["function"] != want]
    for site in sites.values():
        outer = site["frames"][-1]
        if re.match(r"_start|__libc_start|start_thread|_*clone|libc\.so", outer.split(" ")[-2 if " (" in outer else 0]):
            bad.append(f"the program begins with {outer}")
    for size in range(1, 5):
        if size in sites and names(sites[size])[-1] != "main":
            bad.append(f"writes of {size} end with {sites[size]['frames'][-1]}")
    rules = place / "names.rules"
    for site in ("put", "store::Log<int>::put"):
        rules.write_text(f"state * site={site}\n")
        objects = {f["object"] for f in json.loads(
                harness.ask("report", folder, "--format", "json", "--rules", rules))["files"]
                   if f["path"] == str(place / "data")}
        if objects != {"state"}:
            bad.append(f"site={site}: the file is {objects}")
    return bad


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
        out.run("no python", lambda: no_python(place))
        found = pythons()
        for version, python in found:
            out.run(f"python 3.{version}", lambda python=python, version=version: of_python(place, python, version))
        if found:
            out.run("imports", lambda: imports(place, found[0][1]))
        else:
            out.skip("python", "no CPython from 3.9 to 3.14")
        compiler = shutil.which("gcc") or shutil.which("cc")
        if not compiler or not shutil.which("strip"):
            out.skip("lines of the source", "no compiler")
        elif b"libdw" not in harness.run(["ldd", harness.command()]).stdout:
            out.skip("lines of the source", "built without libdw")
        else:
            out.run("lines of the source", lambda: of_source(place, compiler))
        compiler = shutil.which("g++") or shutil.which("c++")
        if not compiler:
            out.skip("names of C++", "no compiler of C++")
        else:
            out.run("names of C++", lambda: of_cxx(place, compiler))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
