"""The subscriber between many threads, as a thread sanitizer sees it.

    test_races.py PROGRAM
"""
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from tap import Tap

TIMES = 8  # what two threads do at once is chance
NAME = "nothing is used by two threads at once that should not be"
FOUND = 66


def run(*more):
    return subprocess.run([sys.argv[1], "1", *more], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, env={**os.environ, "TSAN_OPTIONS": f"exitcode={FOUND}"})


def main():
    out, bad = Tap(), []
    for _ in range(TIMES):
        done = run()
        if "unexpected memory mapping" in done.stderr:
            out.skip(NAME, "the sanitizer of this compiler does not run on this kernel")
            return out.done()
        if done.returncode:
            bad += [f"status {done.returncode}", *done.stderr.splitlines()[:24]]
            break
    out.point(not bad, NAME, bad)
    done = run("race")
    out.point(done.returncode == FOUND and "data race" in done.stderr, "refused: a counter that two threads add to",
              [f"status {done.returncode}", *done.stderr.splitlines()[:24]])
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
