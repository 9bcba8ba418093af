#!/usr/bin/env python3
"""Programs whose exposed time is known, because they measure themselves, against the report.

The programs are not part of this tree: IOTRACE_CASES names their folder (run.py, cases.toml);
without it, shared/cases beside the checkout is taken if it is there. With --full they are run ten times
in a row, while as many loops as there are CPUs keep the machine busy. What a program measures of itself
is then at times not what its formula says; the runner tells so before it looks at the report.
"""
import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import harness
from harness import Tap

RESULT = re.compile(r"^(ok|FAIL) (\w+)(.*)$")
# The rest has two lanes busy at a time, which a machine whose CPUs others use does not give them: in an
# ordinary run these alone.
CASES = ["artifact_blocking", "artifact_gzip", "input_sync", "checkpoint_sync", "tokens_flush",
         "kv_swap_blocking"]
TIMES = 10


@contextlib.contextmanager
def load():
    """Something else to do for every CPU."""
    loops = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"])
             for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run_cases(cases, only):
    """What came of each, by name, and how the runner ended."""
    which = ["--only", ",".join(only)] if only else []
    done = harness.run([sys.executable, "-B", cases / "run.py", "--iotrace", harness.command(),
                        *which], timeout=600)
    lines = done.stdout.decode(errors="replace").splitlines()
    return {m[2]: m for m in map(RESULT.match, lines) if m}, f"status {done.status} ({done.tail()})"


def main():
    cases = Path(os.environ.get("IOTRACE_CASES") or harness.TOP.parent / "shared" / "cases")
    if not (cases / "run.py").is_file():
        harness.skip_all(f"no cases: {cases} has no run.py (IOTRACE_CASES names the folder)")
    out = Tap()
    if harness.full():
        listed = harness.run([sys.executable, "-B", cases / "run.py", "--list"])
        wanted = listed.stdout.decode().split()
    else:
        wanted = CASES
    held = set()
    with load() if harness.full() else contextlib.nullcontext():
        for time in range(TIMES if harness.full() else 1):
            results, ended = run_cases(cases, wanted)
            for name in wanted:
                title = f"{name}, time {time + 1}" if harness.full() else name
                wrong = results[name][3].lstrip(": ").split("; ") if name in results else []
                if harness.full() and any(w.startswith("truth of") for w in wrong):
                    out.skip(title, f"its own truth does not hold: {wrong[0]}")
                elif name in results:
                    held.add(name)
                    out.point(results[name][1] == "ok", title, wrong)
                else:
                    out.point(False, title, f"no result; {ended}")
    if harness.full():
        for name in wanted:
            out.point(name in held, f"{name} was looked at", "its own truth did not hold even once")
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
