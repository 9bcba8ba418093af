"""scripts/gpu_check.sh without a GPU: that it says so, and a dry run of its checks on the stand-in, in
which none may fail; and that it finds a recorder that loses something.

    test_gpu_check.py BUILD
"""
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]
import gpu_box
from gpu_checks import CHECKS
from tap import Tap

SCRIPT = HERE.parents[1] / "scripts" / "gpu_check.sh"
NAMES = [what.__name__ for what, *_ in CHECKS]
# What the recorder is made to do wrong: a check that must find it.
FAULTS = {"cuptiActivityEnable@1": "copies", "cuptiActivityEnable@4": "graphs",
          "cuptiSubscribe_v2": "train", "taken": "forks"}


def run(build, out, *checks, **environment):
    done = subprocess.run([SCRIPT, "--standin", os.path.relpath(build / "tests" / "cuda"),
                           os.path.relpath(build), *checks],
                          env={**os.environ, "OUT": str(out), "PYTHON": sys.executable,
                               **environment},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def without_standin(build):
    """The environment in which a driver is the machine's own: meson puts the stand-in's folder first."""
    paths = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    own = [path for path in paths if path and build not in Path(path).resolve().parents]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(own)}


def has_gpu(build):
    asks = 'import ctypes, sys; sys.exit(ctypes.CDLL("libcuda.so.1").cuInit(0))'
    return not subprocess.run([sys.executable, "-c", asks], env=without_standin(build), timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True).returncode


def no_gpu(build):
    done = subprocess.run([SCRIPT, "/nonexistent"], env=without_standin(build), text=True, timeout=120,
                          stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 77 or not done.stderr.startswith("gpu_check.sh: no GPU: "):
        return [f"status {done.returncode}: {done.stderr}"]
    return []


def wrong_use():
    done = subprocess.run([SCRIPT, "--sideways"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120)
    return [] if (done.returncode, done.stderr.count("\n")) == (2, 1) else [done.stderr]


def all_checks(build, out):
    status, said, error = run(build, out)
    bad = [line for line in said.splitlines() if not line.startswith("pass ")][:-1]
    if status or not said.endswith(f"\n{len(NAMES)} passed, 0 failed\n"):
        bad.append(f"status {status}: {said[-300:]} {error[-300:]}")
    return bad


def files_left(out):
    names = sorted(path.name for path in out.iterdir())
    wanted = sorted(["results.txt", *{f"{group}.tar.gz" for *_, group in CHECKS}])
    bad = [] if names == wanted and len(names) <= 7 else [f"left are {names}, not {wanted}"]
    inside = []
    for path in out.glob("*.tar.gz"):
        with tarfile.open(path) as tar:
            inside += tar.getnames()
    for name in NAMES:
        if not any(member.startswith(f"{name}/") for member in inside):
            bad.append(f"nothing is left of {name}")
    return bad


def finds(build, out, fault, check):
    status, said, _ = run(build, out, check, STANDIN_CUPTI=fault)
    return [] if status == 1 and re.search(rf"^FAIL {check}: .*; see {check}/log.txt in .*\n0 passed, 1 failed$", said,
                                           re.M) else [f"status {status}: {said}"]


def no_such_check(build, out):
    status, said, error = run(build, out, "nosuch")
    return [] if (status, said, error.count("\n")) == (2, "", 1) and "nosuch" in error else [
        f"status {status}: {said} {error}"]


def hole_of_killed(folder):
    """Of the trace of a program that was killed, what it wrote and a little more."""
    folder.mkdir()
    with open(folder / "a.iot", "wb") as file:
        file.write(b"x" * 10000)
        file.truncate(1 << 32)
    gpu_box.archive(folder / "x.tar.gz", [folder])
    with tarfile.open(folder / "x.tar.gz") as tar:
        size = tar.getmember(f"{folder.name}/a.iot").size
    return [] if 10000 < size < 1 << 22 else [f"it is {size}"]


def taken_back(build, out):
    """What is stopped leaves what it has, and ends what it started."""
    process = subprocess.Popen([SCRIPT, "--standin", build / "tests" / "cuda", build, "path"],
                               env={**os.environ, "OUT": str(out), "PYTHON": sys.executable},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    while not (out / "results.txt").exists():
        time.sleep(0.05)
    time.sleep(1)
    process.terminate()
    said = process.communicate(timeout=60)[0]
    left = sorted(path.name for path in out.iterdir())
    good = process.returncode == 1 and said.startswith("stopped: ") and said.endswith(" failed\n")
    return [] if good and left == ["path.tar.gz", "results.txt"] else [
        f"status {process.returncode}: {said} {left}"]


def limit_of_archives(folder):
    """The largest are left out first, and are named."""
    for name, size in (("a/large", 300000), ("a/small", 1000), ("b/middle", 100000)):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(os.urandom(size))
    was, gpu_box.ARCHIVE_MOST = gpu_box.ARCHIVE_MOST, 150000
    left = gpu_box.archive(folder / "x.tar.gz", [folder / "a", folder / "b"])
    gpu_box.ARCHIVE_MOST = was
    with tarfile.open(folder / "x.tar.gz") as tar:
        names = tar.getnames()
    return [] if ([p.name for p in left], names) == (["large"], ["a/small", "b/middle"]) else [
        f"{left} {names}"]


def main():
    build = Path(sys.argv[1]).resolve()
    out = Tap()
    if has_gpu(build):
        out.skip("a machine without a GPU", "there is one here")
    else:
        out.run("a machine without a GPU: one line and status 77", lambda: no_gpu(build))
    out.run("wrong use: one line and status 2", wrong_use)
    with tempfile.TemporaryDirectory(prefix="iotrace-gpu-test-", dir=build) as folder:
        folder = Path(folder)
        out.run("every check passes on the stand-in", lambda: all_checks(build, folder / "all"))
        out.run("what they left", lambda: files_left(folder / "all"))
        for fault, check in FAULTS.items():
            out.run(f"{check} finds {fault}", lambda fault=fault, check=check: finds(
                build, folder / f"{check}", fault, check))
        out.run("a check that there is not: one line and status 2",
                lambda: no_such_check(build, folder / "none"))
        out.run("the end of a trace that there is not", lambda: hole_of_killed(folder / "hole"))
        out.run("one that is stopped", lambda: taken_back(build, folder / "stopped"))
        out.run("archives keep within their limit", lambda: limit_of_archives(folder))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
