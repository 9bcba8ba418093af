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


def main():
    out, bad = Tap(), []
    for _ in range(TIMES):
        done = subprocess.run([sys.argv[1], "1"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "TSAN_OPTIONS": "exitcode=66"})
        if "unexpected memory mapping" in done.stderr:
            out.skip(NAME, "the sanitizer of this compiler does not run on this kernel")
            return out.done()
        if done.returncode:
            bad += [f"status {done.returncode}", *done.stderr.splitlines()[:24]]
            break
    out.point(not bad, NAME, bad)
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
