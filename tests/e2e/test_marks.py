#!/usr/bin/env python3
"""What programs mark, in C, C++, Rust, Python and through NVTX, against what the report says."""
import os
import shutil
import sys
from pathlib import Path

import harness
from harness import Tap

MARKS = harness.HERE.parent / "marks"
STEPS, BYTES = 5, 65536


def built(name):
    return Path(os.environ["VICTIMS"]).parent / "marks" / name


def prepare(place, name):
    here = place / name
    here.mkdir()
    (here / "data.raw").write_bytes(bytes(BYTES))
    return here


def traced(argv, here, env=None):
    """The report; the program must end well without the tracer, too, and leave nothing then."""
    plain = harness.run(argv[:1] if "stand_in" in str(argv[0]) else argv, harness.plain(env or {}),
                        here, 60)
    left = sorted(f.name for f in here.iterdir())
    if plain.status or left != ["data.raw"]:
        raise harness.Broken(f"untraced: status {plain.status} ({plain.tail()}), {left} is there")
    done = harness.trace(argv, here / "trace", env or {}, here, 60)
    if done.status:
        raise harness.Broken(f"status {done.status} ({done.tail()})")
    return harness.report(here / "trace")


def check(report, epoch, steps_named=None):
    ranges = {r["name"]: r for r in report["ranges"]}
    marks = {m["name"]: m for m in report["marks"]}
    steps = report["steps"]
    bad = []

    def same(what, want, got):
        if want != got:
            bad.append(f"{what}: {got}, expected {want}")

    same("marks", {"loaded": 1}, {n: m["marks"] for n, m in marks.items()})
    want = {epoch: 1, "load": STEPS, "compute #": STEPS}
    if steps_named:
        want[steps_named] = STEPS
    same("ranges", want, {n: r["ranges"] for n, r in ranges.items() if n != "throws"})
    same("steps", ("marks", STEPS), (steps["source"], len(steps["starts"])))
    if bad:
        return bad
    load, compute = ranges["load"], ranges["compute #"]
    same("bytes of load", STEPS * BYTES, load["bytes"])
    same("bytes of the epoch", STEPS * BYTES, ranges[epoch]["bytes"])
    same("bytes of compute", 0, compute["bytes"])
    if compute["total_ns"] < STEPS * 2e6 or compute["range_ns"]["p50"] < 1.9e6:
        bad.append(f"compute took {compute['total_ns']} ns, {compute['range_ns']}")
    if not load["service_ns"] or load["exposed_ns"] != load["service_ns"]:
        bad.append(f"load: {load['service_ns']} ns of service, {load['exposed_ns']} exposed")
    if ranges[epoch]["total_ns"] < compute["total_ns"] + load["total_ns"]:
        bad.append("the epoch is shorter than what is in it")
    return bad


def check_nvtx(argv, here, epoch, env=None):
    report = traced(argv, here, {"NVTX_INJECTION64_PATH": os.environ["LIBIOTRACE"], **(env or {})})
    return check(report, epoch, "train_step #")


def check_run_option(place):
    """`iotrace run --nvtx` names the library to NVTX, and leaves another tool's alone."""
    here = prepare(place, "option")
    env = harness.plain({"LIBIOTRACE": os.environ["LIBIOTRACE"]})
    show = ["/bin/sh", "-c", "echo $NVTX_INJECTION64_PATH"]
    command = [os.environ["IOTRACE"], "run", "--nvtx", "-o"]
    done = harness.run([*command, here / "a", "--", *show], env, here, 60)
    kept = harness.run([*command, here / "b", "--", *show],
                       {**env, "NVTX_INJECTION64_PATH": "/other.so"}, here, 60)
    got = [done.stdout.decode().strip(), kept.stdout.decode().strip()]
    want = [os.environ["LIBIOTRACE"], "/other.so"]
    return [] if got == want else [f"{got}, expected {want}"]


def rust(place):
    rustc = shutil.which("rustc")
    if not rustc:
        return None
    program = place / "marks_rs"
    made = harness.run([rustc, "-O", "-o", program, MARKS / "marks.rs"], timeout=120)
    return program if not made.status else None


def python_with_nvtx():
    """The interpreter that runs this, or that of scripts/readers.sh; None: neither has the package."""
    has = (python for python in (Path(sys.executable), Path(os.environ["READERS"], "bin", "python3"))
           if python.exists() and not harness.run([python, "-c", "import nvtx"], timeout=60).status)
    return next(has, None)


def main():
    out = Tap()
    with harness.workplace() as place:
        programs = {"C": [built("marks_c")], "C++": [built("marks_cxx")],
                    "Python": [sys.executable, "-B", MARKS / "marks.py"], "Rust": [rust(place)]}
        for language, argv in programs.items():
            if not argv[0] or not Path(argv[0]).exists():
                out.skip(f"marks in {language}", "no compiler for it")
                continue
            out.run(f"marks in {language}",
                    lambda: check(traced(argv, prepare(place, language)), "epoch"))
        out.run("NVTX, a stand-in", lambda: check_nvtx([built("nvtx_stand_in"), "expected"],
                                                       prepare(place, "stand-in"), "époque"))
        if built("nvtx_real").exists():
            out.run("NVTX, its headers", lambda: check_nvtx([built("nvtx_real")],
                                                            prepare(place, "real"), "époque"))
        else:
            out.skip("NVTX, its headers", "no nvtx3/nvToolsExt.h")
        python = python_with_nvtx()
        if python:
            out.run("NVTX, from Python", lambda: check_nvtx(
                [python, "-B", MARKS / "nvtx_python.py"], prepare(place, "py"), "epoch",
                {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}))
        else:
            out.skip("NVTX, from Python", "no Python package nvtx")
        out.run("iotrace run --nvtx", lambda: check_run_option(place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
