#!/usr/bin/env python3
"""Ranks of a job: what their traces say of themselves, partial results, and one report of all."""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import harness
import schema_ranks
from harness import Tap
sys.path.insert(0, str(harness.TOP / "tests" / "reader"))
import xxh64

# What a launcher sets, and what the trace is to say: rank, local rank, world size, job, source.
LAUNCHERS = {
    "iotrace before others": (
        {"IOTRACE_RANK": "5", "IOTRACE_LOCAL_RANK": "1", "IOTRACE_WORLD_SIZE": "8", "IOTRACE_JOB": "a b",
         "RANK": "9", "WORLD_SIZE": "99", "OMPI_COMM_WORLD_RANK": "3"}, (5, 1, 8, "a b", "iotrace")),
    "torchrun": ({"RANK": "3", "LOCAL_RANK": "3", "WORLD_SIZE": "16", "TORCHELASTIC_RUN_ID": "x"},
                 (3, 3, 16, "x", "torchrun")),
    "Open MPI in Slurm": (
        {"OMPI_COMM_WORLD_RANK": "7", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_SIZE": "8",
         "SLURM_PROCID": "0", "SLURM_STEP_ID": "0", "SLURM_JOB_ID": "77"}, (7, 0, 8, "77", "openmpi")),
    "PALS": ({"PALS_RANKID": "2", "PALS_LOCAL_RANKID": "1", "PALS_APID": "u-1", "PMI_SIZE": "4"},
             (2, 1, 4, "u-1", "pals")),
    "PMIx": ({"PMIX_RANK": "11"}, (11, None, None, "", "pmix")),
    "MPICH": ({"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1"}, (1, 1, 2, "", "pmi")),
    "Slurm": ({"SLURM_PROCID": "4", "SLURM_LOCALID": "0", "SLURM_STEP_NUM_TASKS": "6",
               "SLURM_JOB_ID": "9", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "12"}, (4, 0, 6, "9", "slurm")),
    "a batch script of Slurm": ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "9"},
                                (None, None, None, "9", "")),
    "no numbers": ({"RANK": "-1", "WORLD_SIZE": "many", "LOCAL_RANK": "0x1", "PMI_RANK": "1234567890"}, None),
    "RANK of something else": ({"RANK": "general"}, None),
    "a name of several lines": ({"IOTRACE_RANK": "0", "IOTRACE_JOB": "tr\nain\t\x1b[31m"},
                                (0, None, None, r"tr\x0aain\x09\x1b[31m", "iotrace")),
    "a name that is long": ({"IOTRACE_RANK": "0", "IOTRACE_JOB": "n" * 126 + "\nlost"},
                            (0, None, None, "n" * 126, "iotrace")),
    "none": ({}, None),
}
NAMES = {name for env, _ in LAUNCHERS.values() for name in env}
# What a process asks of the folder that all share by name: its own folder, the marker, its window, its file,
# and that cut at the end. Nothing that grows with the number of ranks.
CALLS_MOST = 5


def plain(env):
    return {k: v for k, v in harness.plain(env).items() if k not in NAMES or k in env}


def check_launcher(place, name, env, want):
    folder = place / re.sub(r"\W", "-", name)
    done = subprocess.run(["sh", "-c", "cat /dev/null; true"], capture_output=True,
                          env=plain(env | harness.preload_env(folder)))
    rank = want and want[0]
    if rank is not None:
        folder /= f"rank-{rank}"
    ranks = harness.report(folder)["run"]["ranks"]
    if want is None:
        return [] if ranks == [] else [f"says {ranks}"]
    got = [(r["rank"], r["local_rank"], r["world_size"], r["job"], r["source"]) for r in ranks]
    bad = [] if got == [want] else [f"expected {want}, got {got} ({done.stderr})"]
    if ranks and ranks[0]["processes"] != 2:
        bad.append(f"{ranks[0]['processes']} processes of the rank; the child inherits it")
    return bad


def start_rank(job, rank, world, line, **more):
    env = {"IOTRACE_RANK": str(rank), "IOTRACE_WORLD_SIZE": str(world), "IOTRACE_JOB": "train", **more}
    subprocess.run(["sh", "-c", line], cwd=job.parent, capture_output=True, check=True,
                   env=plain(env | harness.preload_env(job)))
    return job / f"rank-{rank}"


def check_calls(place):
    """The same for a thousandth rank as for the first."""
    if not shutil.which("strace"):
        return None
    job, bad = place / "thousand", []
    job.mkdir()
    for rank in (0, 999):
        log = place / f"strace-{rank}"
        traced = harness.preload_env(job) | {"IOTRACE_RANK": str(rank)}
        subprocess.run(["strace", "-f", "-o", log, *(f"-E{k}={v}" for k, v in traced.items()), "cat",
                        "/dev/null"], capture_output=True, env=plain({}))
        text = log.read_text(errors="replace")
        calls = [line for line in text.splitlines() if str(job) in line and "execve(" not in line]
        # By descriptor: the files are cut to their size when they are made.
        if not 4 <= len(calls) <= CALLS_MOST:
            bad.append(f"rank {rank}: {len(calls)} calls on the shared folder: {calls}")
        if any(word in text for word in ("flock(", "F_SETLK")) or \
                any("getdents" in line for line in text.splitlines() if str(job) in line):
            bad.append(f"rank {rank}: locks, or reads a folder")
    return bad


def iotrace(*argv):
    return harness.ask(*argv).decode()


def job_of(*paths):
    job = json.loads(iotrace("report", *paths, "--format", "json"))
    complaints = schema_ranks.check_job(harness.schema.Complaints(), job)
    if complaints:
        raise harness.Broken("the job's report breaks its rules: " + "\n".join(complaints[:10]))
    return job


def make_job(place):
    """Ranks 0, 1, 2 and 4 of five; the last one is slower and writes most."""
    job = place / "job"
    (place / "shared.bin").write_bytes(os.urandom(3 << 20))
    lines = {0: "cat shared.bin > out.0", 1: "cat shared.bin > out.1", 2: "cat shared.bin > /dev/null; ls > out.2",
             4: "for i in 1 2 3 4; do cat shared.bin; done > out.4; sleep 0.3"}
    return job, [start_rank(job, rank, 5, line) for rank, line in lines.items()]


def check_longest(folders):
    """What the time of the longest went to, in words, is its time."""
    job = job_of(*folders)
    line = next(text for text in job["ranks"] if text.startswith("Of the longest, "))
    unit = {"µs": 1e-6, "ms": 1e-3, "s": 1}
    parts = re.findall(r"([\d.]+) (µs|ms|s) (?:is exposed I/O|computing|GPU work|waking up|waiting for others|sleep)",
                       line)
    said, wall = sum(float(n) * unit[u] for n, u in parts), max(job["spread_wall_ns"]["max"], 1) / 1e9
    return [] if abs(said - wall) <= wall / 50 else [f"{said} s of {wall} s: {line}"]


def check_partials(place, folders):
    """Any order and tree of merges: the same bytes, and what the folders give."""
    parts = []
    for k, folder in enumerate(folders):
        parts.append(place / f"part{k}")
        iotrace("report", folder, "--partial", "--top", "2", "-o", parts[-1])
    chance, seen = random.Random(7), set()
    for round_ in range(6):
        left = parts[:]
        while len(left) > 1:
            chance.shuffle(left)
            n = chance.randint(2, min(3, len(left)))
            to = place / f"merged{round_}-{len(left)}"
            iotrace("merge", *left[:n], "-o", to)
            left = left[n:] + [to]
        seen.add(left[0].read_bytes())
    return [] if len(seen) == 1 else [f"{len(seen)} different results"]


def check_folders(place, job, folders):
    """The report of folders is that of their partials, and its sums are those of each one's report."""
    parts = []
    for k, folder in enumerate(folders):
        parts.append(place / f"whole{k}")
        iotrace("report", folder, "--partial", "-o", parts[-1])
    made, bad = job_of(*folders), []
    for paths in (parts, [job], parts[:2] + folders[2:], folders[::-1]):
        if job_of(*paths) != made:
            bad.append(f"another report from {[p.name for p in paths]}")
    reports = [harness.report(folder) for folder in folders]
    for o, row in enumerate(made["objects"]):
        for key in harness.schema.FILE_SUMS + ["recoverable_ns", "files"]:
            want = sum(r["objects"][o][key] or 0 for r in reports)
            if (row[key] or 0) != want:
                bad.append(f"{key} of {row['object']}: {row[key]}, the runs have {want}")
    for key, value in made["total"].items():
        if value != sum(r["total"][key] for r in reports):
            bad.append(f"total {key} is {value}")
    if made["wall_ns"] != max(r["wall_ns"] for r in reports):
        bad.append("the wall time is not the slowest unit's")
    for key in made["path"]:
        if made["path"][key] != sum(r["path"][key] for r in reports):
            bad.append(f"path {key}")
    return bad


def check_says(job, *sentences):
    text = re.sub(r"\s+", " ", iotrace("report", *job))
    long = [line for line in iotrace("report", *job).splitlines() if len(line) > 80]
    return [f"does not say {s!r}:\n{text}" for s in sentences if not re.search(s, text)] + long


def check_together(place):
    """As under a launcher that is traced itself."""
    folder, part = place / "together", place / "together.part"
    line = "IOTRACE_RANK=0 cat shared.bin >/dev/null; IOTRACE_RANK=1 cat shared.bin >/dev/null"
    subprocess.run(["sh", "-c", line], cwd=place, check=True,
                   env=plain({"IOTRACE_WORLD_SIZE": "3"} | harness.preload_env(folder)))
    iotrace("report", folder, "--partial", "-o", part)
    (unit,) = job_of(part)["units"]
    bad = [] if (unit["rank"], unit["ranks"]) == (None, [0, 1]) else [f"ranks of the unit: {unit}"]
    return bad + check_says([part], r"Of the 3 ranks of the job, 1 is missing here: 2\.")


def marked_job(place):
    """Three ranks that mark their steps; two of them hand on through a pipe."""
    program = Path(os.environ["VICTIMS"]).parent / "marks" / "marks_c"
    (place / "data.raw").write_bytes(bytes(65536))
    line = "for k in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $k; done | while read k; do echo $k; done"
    return [start_rank(place / "marked", rank, 3, f"{program}; {line if rank else 'true'} > lines.{rank}")
            for rank in range(3)]


def uncalled_of(uncalled):
    """By program."""
    programs = {}
    for row in uncalled["processes"] if "processes" in uncalled else uncalled["programs"]:
        exe = re.sub(r"\d+(\.\d+)*", "#", row["exe"])
        sums = programs.get(exe, (0, 0))
        programs[exe] = (sums[0] + row["read_bytes"], sums[1] + row["write_bytes"])
    return uncalled["read_bytes"], uncalled["write_bytes"], programs


def figures_of(report):
    """What a rank's report and that of a job of it alone say alike, by section."""
    single = report["schema"] == "iotrace-report/1"
    phases, ranges, advice = {}, {}, set()
    for p in report["phases"]:
        phases[p["name"]] = (p["steps"], p["end_ns"] - p["start_ns"], p["step_ns"]) if single else \
            (p["steps"], p["total_ns"], p["times_ns"])
        for row in (p["per_step"] or []) if single else []:
            phases[p["name"], row["object"]] = {"p50": row["exposed_p50_ns"], "p95": row["exposed_p95_ns"]}
    for row in [] if single else report["phase_objects"]:
        if row["object"] and row["times_ns"]:
            phases[row["phase"], row["object"]] = row["times_ns"]
    for row in report["ranges"]:
        ranges[row["name"]] = (row["ranges"], row["total_ns"], row["bytes"], row["exposed_ns"],
                               row["range_ns" if single else "times_ns"])
    for row in report["advice"]:
        advice.add((row["object"], row["action"], row["finding"], row["gain_ns"]))
    return {"phases": phases, "ranges": ranges, "advice": advice,
            "marks": {row["name"]: (row["marks"], row["first_ns"], row["last_ns"]) for row in report["marks"]},
            "queues": sorted((re.sub(r"\d+", "#", row["name"]), row["object"], row["messages"])
                             for row in report["queues"]),
            "waits": sorted((row["waiter"], row["doing"], row["path"], row["waited_ns"]) for row in report["waits"])[:5],
            "ready": {f["path"]: f["ready_ns"] for f in report["files"]},
            "recoverable": {(f["path"], f["object"]): f["recoverable_ns"] for f in report["files"]},
            "steps": [report["steps"]["starts"][k] for k in range(min(8, len(report["steps"]["starts"])))] if single
            else [row["spread_start_ns"]["max"] for row in report["step_starts"][:8]],
            "uncalled": uncalled_of(report["run"]["uncalled"] if single else report["uncalled"]),
            "not seen": sorted(report["run"]["not_seen"] if single else [s["sentence"] for s in report["not_seen"]]),
            "sentences": sorted(row if single else row["sentence"] for row in report["evidence"]),
            "percentiles": {(f["path"], f["object"]): f["latency_ns"] for f in report["files"]}}


def check_named(place, folders):
    """A job of one rank says what its report says; that of all, the sums."""
    bad, singles = [], []
    for k, folder in enumerate(folders):
        part = place / f"named{k}"
        iotrace("report", folder, "--partial", "-o", part)
        singles.append(harness.report(folder))
        want, got = figures_of(singles[-1]), figures_of(job_of(part))
        bad += [f"rank {k}, {key}: {want[key]} in its report, {got[key]} in the job's" for key in want
                if want[key] != got[key]]
    job = job_of(*folders)
    steady = next(p for p in job["phases"] if p["name"] == "steady")
    if not all(singles[2][key] for key in ("ranges", "queues", "marks", "advice")):
        bad.append("the runs have no ranges or queues")
    if steady["steps"] != sum(p["steps"] for r in singles for p in r["phases"]) or steady["units"] < 2:
        bad.append(f"steps: {steady}")
    if sum(r["total_ns"] for r in job["ranges"]) != sum(r["total_ns"] for s in singles for r in s["ranges"]):
        bad.append("times of ranges do not add up")
    if sum(q["messages"] for q in job["queues"]) != sum(q["messages"] for s in singles for q in s["queues"]):
        bad.append("messages of queues do not add up")
    return bad


def check_markdown(job):
    text = iotrace("report", job, "--format", "markdown")
    return [] if "# I/O of a job" in text and "## Ranks" in text else [text]


def check_families(place, folders):
    """What stands for numbers that differ is explained where it is read."""
    merged = place / "families.part"
    iotrace("merge", *folders[:2], "-o", merged)
    head, other = '"evidence":[["sentence","units"],', place / "families-other.part"
    text = merged.read_text()
    for path, rows in ((merged, '["A 9.50 ms of gpu0",2,"A 9.50 ms of gpu0"],["B 7 ms",1,"B 7 ms"],'),
                       (other, '["A 12.1 ms of gpu1",2,"A 80.0 ms of gpu1"],')):
        path.write_text(text.replace(head, head + rows))
    said = " ".join(iotrace("report", merged, other).split())
    want = ("- A 9.50 to 80.0 ms of gpu#.", "- B 7 ms (in 1 of 4 units).")
    return [] if head in text and all(w in said for w in want) else [said[-900:]]


def shift_clock(folder, ns):
    """Every file of a trace as if the host's clock had been so much later."""
    for path in folder.glob("*.iot"):
        data = bytearray(path.read_bytes())
        (start,) = struct.unpack_from("<Q", data, 64)
        struct.pack_into("<Q", data, 64, start + ns)
        data[96:112] = bytes(16)[:-1] + b"\1"  # another machine's boot
        struct.pack_into("<Q", data, 112, xxh64.xxh64(bytes(data[:112])))
        path.write_bytes(data)


def check_clocks(place, folders):
    other = place / "elsewhere"
    shutil.copytree(folders[0], other)
    shift_clock(other, 3600 * 10**9)
    return check_says([other, folders[1]], r"started up to 3600 s apart", "clocks differ")


def tear(folder):
    files = sorted(folder.glob("*.iot"), key=lambda f: f.stat().st_size)
    with open(files[0], "r+b") as f:
        f.seek(131072)
        f.write(b"\xff" * 64)


def check_damaged(place, folders):
    torn = place / "torn"
    shutil.copytree(folders[0], torn)
    tear(torn)
    return check_says([torn, folders[1]], r"traces of 1 of 2 units are damaged")


def left_out(place, folders):
    """One of each kind of what cannot be read, in the folder of a job and beside it."""
    job = place / "ragged"
    for k in (0, 1):
        shutil.copytree(folders[k], job / f"rank-{k}")
    (job / "rank-2").mkdir()
    (job / "rank-3").mkdir()
    (job / "rank-3" / "1-1.iot").write_bytes(b"no trace" * 1000)
    (job / "rank-4").symlink_to("rank-4")
    newer, cut = place / "ragged-newer", place / "ragged-cut"
    whole = (place / "part0").read_bytes()
    newer.write_bytes(whole.replace(b"partial/2", b"partial/3", 1))
    cut.write_bytes(whole[:-200])
    return [job, newer, cut, place / "nowhere"]


def check_left_out(inputs):
    """They are named, the others are reported as without them; a merge keeps the names."""
    job, merged = inputs[0], inputs[0].parent / "ragged-merged"
    done = harness.run([harness.command(), "report", *inputs, "--format", "json"])
    made, lines = json.loads(done.stdout), done.stderr.decode().splitlines()
    named = [n for n in made["notes"] if n.startswith("Left out: ")]
    bad = [] if (done.status, len(lines)) == (0, 1) and "left out 6 inputs" in lines[0] else [f"{done.status}: {lines}"]
    for part in ("rank-2: no trace", "rank-3", "rank-4", "ragged-newer: this partial result is of another version",
                 "ragged-cut: byte", "nowhere: cannot"):
        if not any(part in n for n in named):
            bad.append(f"{part} is not named: {named}")
    whole = job_of(job / "rank-0", job / "rank-1")
    bad += [f"{key} is not that of those that can be read" for key in ("objects", "files", "units", "phases")
            if made[key] != whole[key]]
    harness.run([harness.command(), "merge", *inputs, "-o", merged])
    return bad if job_of(merged) == made else bad + ["another report from what was merged"]


def check_refused(place, argv, *mentions):
    done = harness.run([harness.command(), *argv])
    lines = done.stderr.decode(errors="replace").splitlines()
    bad = [] if done.status == 2 and len(lines) == 1 else [f"status {done.status}: {lines}"]
    return bad + [f"no word of {m}: {lines}" for m in mentions if not any(m in line for line in lines)]


def check_run(place):
    """Of the ranks that `iotrace run` starts, the first says where the report is, the others nothing."""
    bad = []
    for rank in (1, 0):
        env = plain({"IOTRACE_RANK": str(rank), "IOTRACE_WORLD_SIZE": "2"})
        done = harness.run([harness.command(), "run", "-o", place / "a run", "--", "true"], env=env)
        want = f"iotrace: this is a rank of a job; for its report: iotrace report '{place / 'a run'}'\n"
        if (done.status, done.stdout, done.stderr.decode()) != (0, b"", "" if rank else want):
            bad.append(f"rank {rank}: status {done.status}, {done.stdout} {done.stderr}")
    return bad + check_says([place / "a run"], r"2 units")


def main():
    out = Tap()
    with harness.workplace() as place:
        for name, (env, want) in LAUNCHERS.items():
            out.run(f"identity: {name}", lambda: check_launcher(place, name, env, want))
        if shutil.which("strace"):
            out.run("calls on a shared folder", lambda: check_calls(place))
        else:
            out.skip("calls on a shared folder", "no strace here")
        job, folders = make_job(place)
        out.run("the time of the longest adds up", lambda: check_longest(folders))
        out.run("merged in any order and tree", lambda: check_partials(place, folders))
        out.run("folders and partials alike", lambda: check_folders(place, job, folders))
        out.run("what a job's report says", lambda: check_says(
            [job], r"Of the 5 ranks of job train, 1 is missing here: 3\.", r"longest took .* \(rank 4 on",
            r"shared\.bin: read by 4 units", r"Output is uneven: rank 4"))
        out.run("several ranks in one unit", lambda: check_together(place))
        out.run("compare of a job", lambda: check_refused(place, ["compare", job, "--to", job], "rank-0 of both"))
        out.run("ranks that run starts", lambda: check_run(place))
        out.run("as Markdown", lambda: check_markdown(job))
        out.run("numbers that differ", lambda: check_families(place, folders))
        out.run("the same run twice", lambda: check_says(
            [job, folders[1]], r"The same run is in here more than once, .*: rank 1 on"))
        again = start_rank(place / "again", 1, 5, "true")
        out.run("two runs of one rank", lambda: check_says([job, again], r"Different runs say .*: rank 1 on"))
        other = start_rank(place / "other", 1, 2, "true", IOTRACE_JOB="another")
        out.run("two jobs", lambda: check_says([job, other], "units are of 2 jobs", "ranks of job another"))
        out.run("clocks an hour apart", lambda: check_clocks(place, folders))
        out.run("a damaged trace", lambda: check_damaged(place, folders))
        out.run("steps, ranges, queues, waits, advice", lambda: check_named(place, marked_job(place)))
        inputs = left_out(place, folders)
        out.run("what cannot be read is left out", lambda: check_left_out(inputs))
        (place / "cut").write_bytes((place / "part0").read_bytes()[:2000])
        for name, was, is_ in (("older", b"partial/2", b"partial/1"), ("newer", b"partial/2", b"partial/3")):
            (place / name).write_bytes((place / "part0").read_bytes().replace(was, is_, 1))
        (place / "text").write_text("no JSON\n")
        (place / "json").write_text("{}\n")
        (place / "nothing").write_text("")
        another = "this partial result is of another version of iotrace"
        for name, why in {"cut": "byte 20", "older": another, "newer": another, "text": "this is no partial result",
                          "json": "this is no partial result", "nothing": "this is no partial result",
                          "absent": "cannot be read"}.items():
            out.run(f"refused: {name}", lambda: check_refused(place, ["merge", place / name], f"{name}: {why}"))
        out.run("refused: rules that are not there", lambda: check_refused(
            place, ["report", job, folders[0], "--rules", place / "absent"], "absent"))
        out.run("refused: a page of several", lambda: check_refused(
            place, ["report", job, "--format", "html"], "several runs"))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
