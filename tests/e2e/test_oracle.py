#!/usr/bin/env python3
"""Real programs under strace and iotrace at once: bytes agree, or the report says what it did not see.

Names as arguments choose among the programs; --full has the slow ones, too.
"""
import random
import re
import subprocess
import sys
from shutil import which

import harness
import oracle
import strace_moves
from harness import Broken, Tap
from oracle_programs import PROGRAMS

# What a process may move inside libc after the kernel was asked for the last time, or before
# the recorder starts.
ASIDE = 4 << 10


def make_data(place):
    seeded = random.Random(4)
    words = [seeded.randbytes(3).hex() for _ in range(300)]
    (place / "text").write_text("".join(" ".join(seeded.choices(words, k=9)) + "\n"
                                        for _ in range(4000)))
    (place / "blob").write_bytes(seeded.randbytes(3_000_000))
    (place / "tree").mkdir()
    for i in range(30):
        (place / "tree" / f"f{i}").write_bytes(seeded.randbytes(700 * i))


def check(program):
    with harness.workplace() as place:
        work, home = place / "work", place / "home"
        work.mkdir()
        home.mkdir()
        make_data(work)
        # A shim that chooses a version needs the folder it looks in.
        env = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C.UTF-8"}
        if program.make:
            subprocess.run(["sh", "-e", "-c", program.make], cwd=work, check=True, timeout=120,
                           env=harness.plain(env), capture_output=True)
        with open(work / "text", "rb") as stdin:
            done, log, folder = oracle.run_both(["sh", "-c", program.line], place, work, env, stdin)
        if done.status:
            raise Broken(f"status {done.status} ({done.tail()})")
        return look(program, log, folder)


def look(program, log, folder):
    strace, iotrace = oracle.strace_saw(log), oracle.iotrace_saw(folder)
    apart = re.compile(program.apart) if program.apart else None
    bad, unseen = oracle.compare(strace, iotrace,
                                 excused=lambda name, _: apart and apart.match(name))
    if sum(row["bytes"] for row in strace.files.values()) < 100_000:
        bad.append("strace saw hardly anything: its log was not understood")
    run = harness.report(folder)["run"]
    return bad + said(program, unseen, run)


def said(program, unseen, run):
    """The report knows how much it did not see: as much as strace saw more than iotrace."""
    bad = []
    for direction in ("read", "write"):
        told = run["uncalled"][f"{direction}_bytes"]
        most = unseen[direction] + unseen["libraries"]
        slack = ASIDE * run["processes"]
        if not unseen[direction] - slack <= told <= most + slack:
            bad.append(f"{direction}: strace alone saw {unseen[direction]} bytes, the report says "
                       f"that {told} were not seen")
    if max(unseen.values(), default=0) > 1_000_000 and not any(
            "no recorded call moved" in line for line in run["not_seen"]):
        bad.append(f"nothing is said of {unseen}: {run['not_seen']}")
    if program.unseen == "process" and not run["untraced"]:
        bad.append("a process left no trace, and run.untraced is empty")
    return bad


def main():
    reason = oracle.usable()
    if reason:
        harness.skip_all(reason)
    out = Tap()
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")]
    if not wanted:
        strace_moves.self_test(out)
        oracle.self_test(out)
    for program in PROGRAMS:
        if wanted and not any(w in program.name for w in wanted):
            continue
        if program.slow and not harness.full() and not wanted:
            continue
        missing = program.missing or (None if which(program.tool) else
                                      f"{program.tool} is not installed")
        if missing:
            out.skip(program.name, missing)
            continue
        name = f"{program.name} ({program.because})" if program.because else program.name
        out.run(name, lambda: check(program))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
