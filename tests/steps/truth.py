"""What the programs here share: they log when each of their steps began, and compute in between.

`program.py make` only makes its files. The truth goes to the file that STEPS_TRUTH names, a line of CLOCK_MONOTONIC in ns each. So that it can be
compared with a trace, each program once asks for a file whose name is the time.
"""
import os
import sys
import time

MS = 1_000_000


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def compute(ms):
    end = now() + int(ms * MS)
    while now() < end:
        pass


def compute_without_gil(ms):
    """Other threads of the process go on meanwhile, as they do beside numeric code."""
    time.sleep(ms / 1000)


class Truth:
    def __init__(self):
        if sys.argv[1:] == ["make"]:
            sys.exit()
        self.starts = []
        os.path.exists(f"/clock/{now()}")

    def step(self):
        self.starts.append(now())

    def write(self):
        with open(os.environ["STEPS_TRUTH"], "w") as f:
            f.writelines(f"{t}\n" for t in self.starts)


def make_files(folder, count, size, name="sample-{:04}.raw"):
    if sys.argv[1:] != ["make"]:
        return
    os.makedirs(folder, exist_ok=True)
    for i in range(count):
        with open(os.path.join(folder, name.format(i)), "wb") as f:
            f.write(os.urandom(size))
