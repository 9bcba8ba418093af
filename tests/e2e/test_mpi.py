#!/usr/bin/env python3
"""iotrace-mpi: whatever the number of ranks, the report is that of `iotrace report`, byte for byte; and what
is wrong with an input, or with a rank, is said and never waited for.

MPI_PROGRAMS lists it as built: "openmpi=PATH mpich=PATH".
"""
import json
import os
import shutil
import sys
from pathlib import Path

import harness
import test_ranks
from harness import Tap

LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe"], "mpich": ["mpirun.mpich"], "other": ["mpirun"]}
# Tests may run as root, and on fewer cores than ranks.
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_ALLOW_RUN_AS_ROOT": "1",
           "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
FORMATS = [["--format", "text"], ["--format", "json", "--top", "2"], ["--format", "markdown"], ["--partial"],
           ["--partial", "--top", "1"]]
PARTIAL = [["--partial"]]  # which has all that the others are made of
# Every rank is a node of its own; nodes are two, of every other rank each.
NOLOCAL, CLIQUES = {"MPIR_CVAR_NOLOCAL": "1"}, {"MPIR_CVAR_ODD_EVEN_CLIQUES": "1"}


class Mpi:
    def __init__(self, name, program, place):
        self.name, self.program, self.place = name, program, place
        self.rank = {"openmpi": "OMPI_COMM_WORLD_RANK"}.get(name, "PMI_RANK")

    def run(self, ranks, *argv, env=None, before=None):
        """`before`: a line of shell that each rank runs first, with its number in $RANK."""
        program = [self.program] if before is None else \
            ["sh", "-c", f"RANK=${self.rank}; {before}; exec \"$@\"", "sh", self.program]
        return harness.run([*LAUNCHERS[self.name], "-n", ranks, *program, *argv],
                           test_ranks.plain(ALLOWED | (env or {})), self.place, timeout=60)

    def written(self, ranks, *argv, **how):
        """What it writes, and its own lines on standard error."""
        out = self.place / "written"
        out.unlink(missing_ok=True)
        done = self.run(ranks, *argv, "-o", out, **how)
        if done.status:
            raise harness.Broken(f"{ranks} ranks, {argv}: status {done.status}: {done.tail()}")
        return out.read_bytes(), said(done)


def said(done):
    return [line for line in done.stderr.decode(errors="replace").splitlines() if line.startswith("iotrace: ")]


def single(place, *argv):
    out = place / "single"
    done = harness.run([harness.command(), "report", *argv, "-o", out])
    if done.status:
        raise harness.Broken(f"iotrace report {argv}: {done.tail()}")
    return out.read_bytes(), said(done)


def check_same(mpi, inputs, formats=PARTIAL, ranks=(1, 2, 3, 5, 8), **how):
    bad = []
    for argv in formats:
        want = single(mpi.place, *inputs, *argv)
        bad += [f"{n} ranks, {argv}: another report" for n in ranks if mpi.written(n, *inputs, *argv, **how) != want]
    return bad


def check_nodes(mpi, folders):
    """Two nodes with a folder of one name each, one that only one has, and one that both see."""
    for node, names in enumerate((["local", "only"], ["local"])):
        for k, name in enumerate(names):
            shutil.copytree(folders[2 * k + node], mpi.place / f"node{node}" / name)
    want, lines = single(mpi.place, *(mpi.place / name for name in ("node0/local", "node1/local", "node0/only")),
                         folders[3], "absent", "--format", "json")
    bad = []
    for env in (NOLOCAL, CLIQUES):
        for ranks in (2, 3, 4, 5):
            got = mpi.written(ranks, "local", "only", folders[3], "absent", "--format", "json", env=env,
                              before="cd node$((RANK % 2))")
            if got != (want, lines):
                bad.append(f"{env}, {ranks} ranks: another report, {got[1]}")
    return bad


def check_status(mpi, argv, *mentions, ranks=(1, 3), **how):
    """One line, status 2, no report."""
    bad = []
    for n in ranks:
        done = mpi.run(n, *argv, **how)
        lines = said(done)
        if done.status != 2 or len(lines) != 1 or done.stdout or not all(m in lines[0] for m in mentions):
            bad.append(f"{n} ranks: status {done.status}: {lines}, {done.stdout[:200]}")
    return bad


def check_rank_fails(mpi, job):
    """One that cannot have its rules, while the others can."""
    here = mpi.place / "rules"
    here.mkdir()
    (here / "rules").write_text("input *.none\n")
    return check_status(mpi, [job, "--rules", "rules"], "rules: cannot be read", ranks=(2, 4, 5),
                        before='[ "$RANK" = 1 ] || cd rules')


def check_rank_dies(mpi, job):
    """It is not waited for."""
    done = mpi.run(3, job, before='[ "$RANK" != 1 ] || kill -9 $$')
    return [] if done.status and b" units on " not in done.stdout else [f"status {done.status}: {done.stdout[:200]}"]


def check_other_launcher(mpi, job):
    """By that of another MPI each process is alone: one line, no reports beside each other."""
    other = "mpich" if mpi.name == "openmpi" else "openmpi"
    bad, programs = [], [[*LAUNCHERS[other], "-n", "2"]] if shutil.which(LAUNCHERS[other][0]) else []
    for launcher in programs + [["env", "SLURM_STEP_NUM_TASKS=3", "SLURM_PROCID=0"]]:
        done = harness.run([*launcher, mpi.program, job], test_ranks.plain(ALLOWED), mpi.place, timeout=60)
        if done.stdout or not done.status or len(said(done)) != 1 or "its MPI sees one" not in said(done)[0]:
            bad.append(f"{launcher}: status {done.status}, {done.stdout[:100]}, {done.stderr[-300:]}")
    alone = harness.run(["env", "SLURM_STEP_NUM_TASKS=1", "SLURM_PROCID=0", mpi.program, job],
                        test_ranks.plain(ALLOWED), mpi.place, timeout=60)
    return bad if alone.status == 0 else bad + [f"a step of one: {alone.tail()}"]


def check_arguments(mpi, job):
    bad = []
    help_ = mpi.run(3, "--help")
    if help_.status or help_.stdout.count(b"Usage: iotrace-mpi DIR...") != 1:
        bad.append(f"--help: {help_.status}, {help_.stdout}")
    if any(len(line) > 80 for line in help_.stdout.decode().splitlines()):
        bad.append("--help: lines above 80 columns")
    bad += check_status(mpi, [], "needs folders", "iotrace-mpi --help")
    bad += check_status(mpi, [job, "--bad"], "'--bad'", "iotrace-mpi --help")
    bad += check_status(mpi, [job, "--format", "html"], "several runs are")
    bad += check_status(mpi, ["nowhere"], "nowhere: cannot be read")
    return bad + check_status(mpi, [job, "-o", "no/such/folder"], "no/such/folder")


def wrong_jobs(place, job, folders):
    """Inputs with something wrong with them, and what the report says of it."""
    ragged = test_ranks.left_out(place, folders)
    other, torn = place / "mpi-elsewhere", place / "mpi-torn"
    shutil.copytree(folders[0], other)
    test_ranks.shift_clock(other, 3600 * 10**9)
    shutil.copytree(folders[0], torn)
    test_ranks.tear(torn)
    again = test_ranks.start_rank(place / "mpi-again", 1, 5, "true")
    return {
        "a missing rank": ([job], "1 is missing here: 3"),
        "the same run twice": ([job, folders[1]], "in here more than once"),
        "two runs of one rank": ([job, again], "they are the same rank"),
        "clocks an hour apart": ([other, folders[1]], "started up to 3600 s apart"),
        "a damaged rank": ([torn, folders[1]], "1 of 2 units are damaged"),
        "an empty rank": (ragged[:1], "rank-2: no trace in this folder"),
        "a partial result of another version": ([job, ragged[1]], "ragged-newer: this partial result is of another version"),
        "all that cannot be read": (ragged, "nowhere: cannot be read"),
    }


def check_wrong(mpi, inputs, says):
    notes = json.loads(single(mpi.place, *inputs, "--format", "json")[0])["notes"]
    bad = [] if any(says in note for note in notes) else [f"does not say {says!r}: {notes}"]
    return bad + check_same(mpi, inputs, [["--format", "json"]], (3,))


def check_all(out, mpi, job, folders, wrong):
    def check(name, function, *argv, **how):
        out.run(f"{mpi.name}: {name}", lambda: function(mpi, *argv, **how))

    check("the folder of a job", check_same, [job])
    check("in all formats", check_same, [job], FORMATS, (3,))
    check("folders and partial results", check_same, [folders[0], mpi.place / "part0", mpi.place / "part1", *folders[2:]])
    if mpi.name == "mpich":
        check("several nodes", check_nodes, folders)
        check("each rank a node of its own", check_same, [job, mpi.place / "part0"], env=NOLOCAL)
    for name, (inputs, says) in wrong.items():
        check(name, check_wrong, inputs, says)
    check("arguments", check_arguments, job)
    check("started by another MPI's launcher", check_other_launcher, job)
    check("one rank fails", check_rank_fails, job)
    check("one rank dies", check_rank_dies, job)


def main():
    out = Tap()
    programs = dict(entry.split("=", 1) for entry in os.environ.get("MPI_PROGRAMS", "").split())
    if not programs:
        harness.skip_all("built without MPI")
    with harness.workplace() as place:
        job, folders = test_ranks.make_job(place)
        for k, folder in enumerate(folders[:2]):
            test_ranks.iotrace("report", folder, "--partial", "-o", place / f"part{k}")
        wrong = wrong_jobs(place, job, folders)
        for name in sorted(set(programs) | {"openmpi", "mpich"}):
            if name not in programs:
                out.skip(name, "not found when this was built")
            elif not shutil.which(LAUNCHERS[name][0]):
                out.skip(name, f"no {LAUNCHERS[name][0]} here")
            else:
                here = place / name
                here.mkdir()
                for part in place.glob("part*"):
                    shutil.copy(part, here)
                check_all(out, Mpi(name, Path(programs[name]).resolve(), here), job, folders, wrong)
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
