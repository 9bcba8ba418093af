#!/usr/bin/env python3
"""Holds the instructions that recording adds to a call to what they were when last looked at.

    check_instructions.py --build BUILD --compiler gcc --buildtype release [--sanitize none] --tap

A tenth more is a failure; a tenth less too, so that the numbers here stay those of the code."""

import argparse
import os
import shutil
import sys

from bench_instructions import more
from bench_run import Machine
from tap import Tap

MARGIN = 0.10
# Beyond driver and stub, the two readings of libtick.so's clock included (about 90). A free lock
# and its release are held to the limit itself.
KEPT = {"pread": 199, "write": 180}
LOCK_LIMIT = 30


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--buildtype", required=True)
    parser.add_argument("--sanitize", default="none")
    parser.add_argument("--tap", action="store_true", help="the only way it says what it found")
    return parser.parse_args()


def why_not(chosen):
    """Why the numbers do not hold here, or nothing."""
    if not shutil.which("valgrind"):
        return "valgrind is not installed"
    if chosen.compiler != "gcc" or chosen.buildtype not in ("release", "debugoptimized"):
        return "the numbers are of an optimized build by gcc"
    if chosen.sanitize != "none":
        return "a sanitizer's instructions are in the way"
    return ""


def main():
    chosen, tap = options(), Tap()
    reason = why_not(chosen)
    if reason:
        tap.skip("instructions a call", reason)
        return tap.done()
    machine = Machine(chosen.build, os.path.join(chosen.build, "preload", "libiotrace.so"),
                      os.path.join(chosen.build, "analyzer", "iotrace"), None)
    try:
        for kind, kept in KEPT.items():
            count = more(machine, machine.traced("monotonic"), kind)
            tap.point(abs(count - kept) <= MARGIN * kept, f"instructions a {kind}",
                      f"{count:.1f} of them, where {kept} were counted before")
        count = more(machine, machine.traced("monotonic"), "lock")
        tap.point(count < LOCK_LIMIT + 0.5, "instructions of a free lock and its release",
                  f"{count:.1f} of them, where {LOCK_LIMIT} are allowed")
    finally:
        machine.close()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
