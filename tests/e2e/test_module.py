#!/usr/bin/env python3
"""The Python module `iotrace`, traced and not, and `python3 -m iotrace`.

--installed takes the module that this Python has instead of the one of the tree.
"""
import os
import sys
from pathlib import Path

import harness
import test_marks
from harness import Tap

INSTALLED = "--installed" in sys.argv[1:]
MODULE = {} if INSTALLED else {"PYTHONPATH": str(harness.TOP / "python")}
PYTHON = [sys.executable, "-B"]
BESIDE = {"PATH": f"{Path(harness.command()).parent}:{os.environ['PATH']}"}
# Of a call in a program that is not traced; it takes some 25 ns, a range some 170.
NOOP_LIMIT_NS = 2000


def module(*arguments, env=None, path=True, program=None):
    """Runs `python3 -m iotrace` (or a program) beside the command."""
    return harness.run([*PYTHON, *(program or ["-m", "iotrace"]), *arguments],
                       harness.plain({**MODULE, **(BESIDE if path else {}), **(env or {})}))


def check_marks(place):
    here = test_marks.prepare(place, "module")
    report = test_marks.traced([*PYTHON, test_marks.MARKS / "module.py"], here, MODULE)
    bad = test_marks.check(report, "epoch")
    names = {r["name"]: r["ranges"] for r in report["ranges"]}
    if names.get("throws") != 1:
        bad.append(f"the range left by an exception: {names}")
    # What load() read while the run was paused is missing.
    read = [f["read_bytes"] for f in report["files"] if f["path"].endswith("data.raw")]
    if read != [test_marks.STEPS * test_marks.BYTES]:
        bad.append(f"of data.raw {read} bytes were seen")
    return bad


def check_untraced():
    program = """
import inspect, timeit, iotrace
assert not iotrace.traced()
for call in (iotrace.step, iotrace.pause, iotrace.resume): assert call() is None
assert iotrace.mark("x") is None
def f(a, *, b): return a, b
assert iotrace.range("r")(f) is f
with iotrace.range("r") as r: assert r is None
for name in iotrace.__all__: assert inspect.getdoc(getattr(iotrace, name)), name
here = {"iotrace": iotrace}
for code in ("iotrace.step()", "iotrace.mark('x')", "with iotrace.range('x'): pass"):
    print(min(timeit.repeat(code, globals=here, number=20000, repeat=5)) / 20000 * 1e9)
"""
    done = module(program=["-c", program])
    if done.status:
        return [done.tail()]
    times = [float(line) for line in done.stdout.split()]
    return [f"a call that does nothing takes {ns:.0f} ns" for ns in times if ns > NOOP_LIMIT_NS]


def check_wrapped(place):
    """A function in a range keeps its name, arguments, result and exceptions; names are any text."""
    program = r"""
import iotrace
assert iotrace.traced()
@iotrace.range("r")
def f(a, *, b):
    "doc"
    return a / b
assert (f.__name__, f.__doc__, f(6, b=3)) == ("f", "doc", 2.0)
try: f(1, b=0)
except ZeroDivisionError: pass
else: raise SystemExit("no exception")
with iotrace.range("dos\u0301 \udcff\0cut"): pass
"""
    done = harness.trace([*PYTHON, "-c", program], place / "wrapped", MODULE)
    if done.status:
        return [done.tail()]
    got = {r["name"]: r["ranges"] for r in harness.report(place / "wrapped")["ranges"]}
    want = {"r": 2, "dos\u0301 \udcff": 1}
    return [] if got == want else [f"{got}, expected {want}"]


def check_command():
    bad = []
    plain = harness.run([harness.command(), "--version"])
    for arguments in (["--version"], ["--library"], ["report", "/nonexistent"], ["--nothing"], []):
        ours, theirs = module(*arguments), harness.run([harness.command(), *arguments])
        if (ours.status, ours.stdout, ours.stderr) != (theirs.status, theirs.stdout, theirs.stderr):
            bad.append(f"{arguments}: status {ours.status}, {ours.stdout}, {ours.stderr}")
    if plain.status or not plain.stdout.startswith(b"iotrace "):
        bad.append(f"--version: {plain.stdout}")
    return bad


def check_closed():
    """Without a standard output Python has no sys.stdout; the command says what is wrong."""
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *PYTHON, "-m", "iotrace", "--version"]
    done = harness.run(closed, harness.plain({**MODULE, **BESIDE}))
    good = done.status == 2 and done.stderr.startswith(b"iotrace: standard output: ")
    return [] if good else [f"status {done.status}, {done.stderr!r}"]


def check_inheritance(place):
    """The traced program is as from a shell: signals, environment, arguments, status."""
    show = ("grep SigIgn /proc/$$/status; echo \"${LC_CTYPE-unset}\"; "
            "printf '%s|' \"$@\"; exit 7")
    command = ["run", "-o", str(place / "inherit"), "--", "/bin/sh", "-c", show, "sh", "a b", "", "é"]
    env = {"LC_ALL": "", "LANG": "C", "IOTRACE_DIR": ""}
    ours = module(*command, env=env)
    command[2] += "-plain"
    theirs = harness.run([harness.command(), *command], harness.plain(env))
    if ours.status != 7 or ours.stdout != theirs.stdout:
        return [f"status {ours.status}, {ours.stdout!r}, without the module {theirs.stdout!r}"]
    return []


def check_missing():
    """Without a command anywhere: one line."""
    done = module("--version", env={"PATH": "/nonexistent"}, path=False)
    good = done.status == 2 and done.stderr.startswith(b"iotrace: ") and done.stderr.count(b"\n") == 1
    return [] if good else [f"status {done.status}, {done.stderr!r}"]


def main():
    out = Tap()
    with harness.workplace() as place:
        out.run("marks through the module", lambda: check_marks(place))
        out.run("a traced function in a range", lambda: check_wrapped(place))
        out.run("what is not traced does nothing", check_untraced)
        out.run("python3 -m iotrace is the command", check_command)
        out.run("python3 -m iotrace without a standard output", check_closed)
        out.run("what a program run by it inherits", lambda: check_inheritance(place))
        if INSTALLED:
            out.skip("python3 -m iotrace without the command", "it is installed")
        else:
            out.run("python3 -m iotrace without the command", check_missing)
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
