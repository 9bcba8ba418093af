#!/usr/bin/env python3
"""Strong scaling of iotrace-mpi on this machine: the report of one job by 1, 2, .. ranks.

usage: scripts/bench_mpi.py IOTRACE IOTRACE_MPI MPIRUN FOLDER [RANKS]

FOLDER is the folder of a job. Up to RANKS ranks (as many as there are CPUs, if not given), each with one
thread, so that what is compared is ranks. The best of three; MPIRUN may have options: "mpirun --oversubscribe".
"""
import filecmp
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
ENV = os.environ | {"IOTRACE_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def measured(argv):
    """Seconds, and seconds of CPU, of the best of some runs."""
    best = None
    for _ in range(ROUNDS):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(argv, check=True, env=ENV)
        took, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best or (took, cpu), (took, cpu))
    return best


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    iotrace, program, mpirun, folder = sys.argv[1:5]
    most = int(sys.argv[5]) if len(sys.argv) > 5 else len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="iotrace-mpi-") as place:
        single, out = Path(place) / "single", Path(place) / "out"
        first, cpu = measured([iotrace, "report", folder, "--partial", "-o", single])
        print(f"{'':>16} {'s':>7} {'s of CPU':>9} {'times as fast':>14}")
        print(f"{'iotrace report':>16} {first:7.2f} {cpu:9.2f}")
        empty = measured([*mpirun.split(), "-n", "1", "true"])[0]
        print(f"{'mpirun true':>16} {empty:7.2f}")
        for ranks in (n for n in (1, 2, 4, 8, 16, 32, 64) if n <= most):
            took, cpu = measured([*mpirun.split(), "-n", str(ranks), program, folder, "--partial", "-o", out])
            if not filecmp.cmp(single, out, shallow=False):
                sys.exit(f"{ranks} ranks: another result than iotrace report")
            first = took if ranks == 1 else first
            print(f"{f'{ranks} ranks':>16} {took:7.2f} {cpu:9.2f} {first / took:14.2f}", flush=True)


if __name__ == "__main__":
    main()
