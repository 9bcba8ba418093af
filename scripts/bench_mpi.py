#!/usr/bin/env python3
"""Strong scaling of iotrace-mpi on this machine: the report of one job by 1, 2, .. ranks.

usage: scripts/bench_mpi.py IOTRACE IOTRACE_MPI MPIRUN FOLDER [RANKS]

FOLDER is the folder of a job. Up to RANKS ranks (as many as there are CPUs, if not given), each with one
thread, so that what is compared is ranks. The best of three; MPIRUN may have options: "mpirun --oversubscribe".
Where other work keeps the machine busy, seconds say little; the CPU time of the rank that takes most of it is
what the job cannot be faster than.
"""
import filecmp
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
ENV = os.environ | {"IOTRACE_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def of_rank(text):
    """Seconds of CPU, from what the shell's `times` prints of its children."""
    return sum(60 * int(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", text.splitlines()[1]))


def measured(launcher, argv, place):
    """Seconds, seconds of CPU of all ranks, and of the one with most: the best of some runs, each for itself."""
    rounds = []
    for _ in range(ROUNDS):
        for old in place.glob("times-*"):
            old.unlink()
        start = time.monotonic()
        line = f'"$@" || exit; times > {place}/times-$$'
        subprocess.run([*launcher, "sh", "-c", line, "sh", *argv], check=True, env=ENV)
        ranks = [of_rank(f.read_text()) for f in place.glob("times-*")]
        rounds.append((time.monotonic() - start, sum(ranks), max(ranks)))
    return [min(column) for column in zip(*rounds)]


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    iotrace, program, mpirun, folder = sys.argv[1:5]
    most = int(sys.argv[5]) if len(sys.argv) > 5 else len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="iotrace-mpi-") as name:
        place = Path(name)
        single, out = place / "single", place / "out"
        print(f"{'':>16} {'s':>7} {'CPU s':>7} {'of one rank':>12} {'times as fast':>14} {'by CPU':>7}")
        took, cpu, _ = measured([], [iotrace, "report", folder, "--partial", "-o", single], place)
        print(f"{'iotrace report':>16} {took:7.2f} {cpu:7.2f}")
        print(f"{'mpirun true':>16} {measured([*mpirun.split(), '-n', '1'], ['true'], place)[0]:7.2f}")
        for ranks in (n for n in (1, 2, 4, 8, 16, 32, 64) if n <= most):
            launcher = [*mpirun.split(), "-n", str(ranks)]
            took, cpu, slowest = measured(launcher, [program, folder, "--partial", "-o", out], place)
            if not filecmp.cmp(single, out, shallow=False):
                sys.exit(f"{ranks} ranks: another result than iotrace report")
            if ranks == 1:
                first = took, slowest
            print(f"{f'{ranks} ranks':>16} {took:7.2f} {cpu:7.2f} {slowest:12.2f} {first[0] / took:14.2f} "
                  f"{first[1] / slowest:7.2f}", flush=True)


if __name__ == "__main__":
    main()
