#!/usr/bin/env python3
"""The command that a report names last: a shell takes it as it stands, and it explains the file that costs most of the
object that the verdict speaks of."""
import json
import os
import shutil
import sys
from pathlib import Path

import harness
from harness import Tap

# Most of what it does is to write the file that is named first; of each other one it writes a byte.
PROGRAM = """
import os, sys
for k, name in enumerate(sys.argv[1:]):
    f = os.open(name, os.O_WRONLY | os.O_CREAT)
    for _ in range(1 if k else 48):
        os.write(f, bytes(1 if k else 1 << 20))
    os.close(f)
"""
# What is written, and what the command names it.
NAMES = {
    "a name of its own": (["plain.bin"], "plain.bin"),
    "a name that another folder has": (["one/same.bin", "two/same.bin"], "one/same.bin"),
    "a name that ends another": (["same.bin", "one/same.bin"], None),
    "what a shell gives a meaning": (["it's $HOME `id` \"x\" \\ ;&|<>!~#.bin"], None),
    "what zsh takes for a command": (["=ls"], "'=ls'"),
    "what looks like an option": (["-dash.bin"], "./-dash.bin"),
    "what looks like a glob": (["a*[b]?.bin"], None),
    "another alphabet": (["шаг é.bin"], None),
}
SHELLS = [shell for shell in ("sh", "bash", "zsh") if shutil.which(shell)]


def written(place, names):
    """(trace, the path written most, standard error) of a run in the folder."""
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
    folder = place / "the trace's folder"
    done = harness.run([harness.command(), "run", "-o", folder, "--", sys.executable, "-S", "-c", PROGRAM, *names],
                       cwd=place)
    if done.status:
        raise harness.Broken(f"status {done.status} ({done.tail()})")
    return folder, f"{place}/{names[0]}", done.stderr.decode()


def next_of(folder, *more):
    """The words behind `iotrace` in the last line."""
    done = harness.run([harness.command(), "report", folder, *more])
    line = done.stdout.decode().splitlines()[-1]
    if done.status or not line.startswith("Next: iotrace "):
        raise harness.Broken(f"status {done.status}, and the last line is {line!r}")
    return line.removeprefix("Next: iotrace ")


def by_shell(shell, words, *more):
    return harness.run([shell, "-c", f'"$0" {words} {" ".join(more)}', harness.command()])


def check_name(place, names, wanted):
    folder, path, _ = written(place, names)
    words, bad = next_of(folder), []
    if wanted and words.split(" ")[-1] != wanted:
        bad.append(f"expected {wanted} at the end of {words}")
    for shell in SHELLS:
        done = by_shell(shell, words, "--format", "json")
        got = [file["path"] for file in json.loads(done.stdout)["files"]] if not done.status else done.tail()
        if got != [path]:
            bad.append(f"{shell}: expected {path}, got {got} of {words}")
    return bad


def check_unnamed(place, name):
    """A file that no line can name: the run without that object."""
    folder, _, _ = written(place, [name])
    words = next_of(folder)
    done = by_shell("sh", words)
    good = words.startswith("whatif ") and words.endswith(" --object output") and not done.status
    return [] if good else [f"status {done.status} of {words}"]


def check_object(place):
    """The file that costs most is not of the object that does: one of 24 MB, and 40 of 1 MB. A busy machine may hold up
    one of these, so that it takes a few runs."""
    program = place / "many.py"
    program.write_text("import os\n"
                       "for name, many in [(f'{k}.many', 1) for k in range(40)] + [('one.single', 24)]:\n"
                       "    f = os.open(name, os.O_WRONLY | os.O_CREAT)\n"
                       "    for _ in range(many):\n"
                       "        os.write(f, bytes(1 << 20))\n"
                       "    os.close(f)\n")
    rules = place / "rules"
    rules.write_text("state *.single\n")
    for k in range(10):
        folder = place / f"trace{k}"
        done = harness.run([harness.command(), "run", "-o", folder, "--", sys.executable, "-S", program], cwd=place)
        got = harness.run([harness.command(), "report", folder, "--rules", rules, "--format", "json"])
        if done.status or got.status:
            return [f"status {done.status} and {got.status}"]
        report = json.loads(got.stdout)
        most = max(report["objects"], key=lambda row: row["exposed_ns"])["object"]
        if (most, report["files"][0]["object"]) == ("output", "state"):
            words = next_of(folder, "--rules", rules)
            return [] if words.startswith("explain ") and ".many " in words else [f"next is {words}"]
    return ["in no run the file that costs most was of another object"]


def check_rules(place):
    folder, path, _ = written(place, ["plain.bin"])
    rules = place / "my rules"
    rules.write_text("state *.bin\n")
    words = next_of(folder, "--rules", rules)
    done = by_shell("sh", words, "--format", "json")
    [file] = json.loads(done.stdout)["files"]
    got = (file["path"], file["written"]["object"])
    return [] if got == (path, "state") else [f"got {got} of {words}"]


def check_run(place):
    """The short report names the whole one."""
    folder, _, stderr = written(place, ["plain.bin"])
    trace, line = stderr.splitlines()[-2:]
    done = by_shell("sh", line.removeprefix("next:  iotrace "))
    bad = [] if trace == f"trace: {folder}" else [f"not the trace: {trace}"]
    return bad + ([] if not done.status and b"\nNext: iotrace explain " in done.stdout else [f"{line}: {done.tail()}"])


def check_program(place):
    """A program whose name would colour the terminal: it is written out, and no command is named."""
    program = place / "e\x1b[31mvil"
    shutil.copy("/bin/true", program)
    done = harness.run([harness.command(), "run", "--", program], cwd=place)
    lines = done.stderr.decode().splitlines()
    good = done.status == 0 and lines[-1].startswith(f"trace: {place}/iotrace-e\\x1b[31mvil-")
    return [] if good and b"\x1b" not in done.stderr else [f"status {done.status}: {lines[-2:]}"]


def check_formats(place):
    """It is for people at a shell alone."""
    folder, _, _ = written(place, ["plain.bin"])
    return [f"it is in {name}" for name in ("json", "markdown", "html", "ledger")
            if b"iotrace explain" in harness.run([harness.command(), "report", folder, "--format", name]).stdout]


def main():
    out = Tap()
    with harness.workplace() as place:
        def of(name):
            (place / name).mkdir()
            return Path(os.path.realpath(place / name))
        for k, (name, (files, wanted)) in enumerate(NAMES.items()):
            out.run(name, lambda: check_name(of(str(k)), files, wanted))
        out.run("a name of two lines", lambda: check_unnamed(of("lines"), "two\nlines.bin"))
        out.run("a name that is too long", lambda: check_unnamed(of("long"), 200 * "n"))
        out.run("the object of the verdict", lambda: check_object(of("object")))
        out.run("rules", lambda: check_rules(of("rules")))
        out.run("iotrace run", lambda: check_run(of("run")))
        out.run("iotrace run of a program with an odd name", lambda: check_program(of("program")))
        out.run("other formats", lambda: check_formats(of("formats")))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
