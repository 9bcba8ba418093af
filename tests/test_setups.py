#!/usr/bin/env python3
"""The ways this project is built: both compilers without a warning, sanitizers, an installation.

Each takes a build folder of its own, below a temporary one.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which

sys.dont_write_bytecode = True
TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))
from tap import Tap

# name, compiler, options of meson setup, arguments of meson test (None: no test is run)
SETUPS = [
    ("gcc, release, no warning", "gcc", ["--buildtype=release", "--werror"], None),
    ("clang, no warning", "clang", ["--werror"], None),
    ("address and undefined behaviour sanitizers", "gcc",
     ["-Db_sanitize=address,undefined", "-Db_lundef=false"],
     ["--no-suite", "full", "--no-suite", "house"]),
    ("thread sanitizer, what reads traces", "gcc", ["-Db_sanitize=thread", "-Db_lundef=false"],
     ["-t", "10", "cli_bad", "cli_threads"]), # Criterion does not run with it
]
# What an installation holds, below its prefix.
INSTALLED = ["bin/iotrace", "lib/iotrace/libiotrace.so", "lib/iotrace/libiotrace-cupti.so", "include/iotrace.h", "lib/pkgconfig/iotrace.pc",
             "share/man/man1/iotrace.1"]


def meson(*argv, env=None):
    """Complaints: the end of what meson printed, if it failed."""
    done = subprocess.run(["meson", *map(str, argv)], capture_output=True, text=True,
                          env=os.environ | (env or {}))
    return [] if done.returncode == 0 else (done.stdout + done.stderr).splitlines()[-25:]


def build(folder, compiler, options):
    return (meson("setup", folder, TOP, *options, env={"CC": compiler})
            or meson("compile", "-C", folder))


def check_setup(folder, compiler, options, tests):
    bad = build(folder, compiler, options)
    if not bad and tests is not None:
        bad = meson("test", "-C", folder, "--no-rebuild", "--print-errorlogs", *tests,
                    env={"IOTRACE_THREADS": "4"})
    return bad


def check_install(folder):
    prefix = folder / "prefix"
    bad = (build(folder / "build", "gcc", ["--buildtype=release", "-Dtests=false",
                                           f"--prefix={prefix}", "--libdir=lib"])
           or meson("install", "-C", folder / "build"))
    return (bad or [f"not installed: {name}" for name in INSTALLED if not (prefix / name).exists()]
            or check_installed(prefix))


def check_installed(prefix):
    """It finds itself, says one version, and does what the README shows first."""
    env = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}",
           "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    env.pop("LIBIOTRACE", None)

    def said(*argv):
        done = subprocess.run([str(a) for a in argv], env=env, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else f"status {done.returncode}: {done.stderr}"

    library = str((prefix / "lib/iotrace/libiotrace.so").resolve())
    version = said("pkg-config", "--modversion", "iotrace")
    wrong = {"--library": (said("iotrace", "--library"), library),
             "pkg-config": (said("pkg-config", "--variable=preload", "iotrace"), library),
             "--version": (said("iotrace", "--version"), f"iotrace {version}"),
             "doctor": (said("iotrace", "doctor").splitlines()[0], "What runs here can be traced."),
             "the first example": (said(TOP / "scripts" / "first_example.sh")[:11], "iotrace run")}
    return [f"{name}: {got}, expected {want}" for name, (got, want) in wrong.items() if got != want]


def main():
    out = Tap()
    with tempfile.TemporaryDirectory(prefix="iotrace-setups-") as place:
        for number, (name, compiler, options, tests) in enumerate(SETUPS):
            if not which(compiler):
                out.skip(name, f"{compiler} is not installed")
                continue
            out.run(name, lambda: check_setup(Path(place) / str(number), compiler, options, tests))
        out.run("an installation", lambda: check_install(Path(place) / "install"))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
