"""What schema.py says of a report's `run.ranks`, and the rules of a job's report (iotrace-job/1)."""

RANK = ["job", "rank", "local_rank", "world_size", "source", "processes"]
EXAMPLE = [dict(zip(RANK, ("", 3, None, 4, "slurm", 2)))]
# What breaks the rules, as changes of a report.
WRONG = {
    "a rank of nobody": lambda r: r["run"]["ranks"][0].update(processes=0),
    "a rank below none": lambda r: r["run"]["ranks"][0].update(rank=-1),
}


def check_ranks(bad, ranks):
    for row in ranks:
        bad.fields("a rank", RANK, row)
        numbers = [row[key] for key in ("rank", "local_rank", "world_size")]
        if not all(n is None or (type(n) is int and n >= 0) for n in numbers) or row["processes"] < 1:
            bad.append(f"ranks of the run: {row}")


JOB = ["schema", "version", "wall_ns", "unit_wall_ns", "path", "curve", "objects", "total", "files", "units",
       "spread_wall_ns", "straggler", "hosts", "clock", "phases", "phase_objects", "queues", "ranges", "marks",
       "waits", "advice", "sites", "not_seen", "evidence", "ranks", "shared_reads", "slow_hosts", "notes"]
NAMED = {
    "phases": ["name", "units", "steps", "total_ns", "times_ns"],
    "phase_objects": ["phase", "object", "units", "ops", "bytes", "service_ns", "exposed_ns", "waited_ns", "times_ns"],
    "queues": ["name", "producer", "consumer", "object", "units", "messages", "growing", "mean_thousandths",
               "max_length"],
    "ranges": ["name", "units", "ranges", "total_ns", "ops", "bytes", "service_ns", "exposed_ns", "times_ns"],
    "marks": ["name", "units", "marks", "first_ns", "last_ns"],
    "waits": ["waiter", "waited_for", "doing", "path", "object", "units", "waited_ns", "most_ns"],
    "advice": ["action", "object", "finding", "units", "gain_ns", "most_ns"],
    "sites": ["site", "units", "calls", "bytes", "service_ns", "exposed_ns"],
    "not_seen": ["sentence", "units"],
    "evidence": ["sentence", "units"],
}
HOST = ["host", "units", "slow_object", "excess_ns", "times"]
SUMS = ["bytes", "service_ns", "exposed_ns"]


def check_named(bad, job):
    for kind, fields in NAMED.items():
        keys = set()
        for row in job[kind]:
            bad.fields(f"a row of {kind}", fields, row)
            keys.add(tuple(value for value in row.values() if value is None or isinstance(value, str)))
            numbers = [value for value in row.values() if not isinstance(value, (str, dict, type(None)))]
            if not all(type(n) is int and n >= 0 for n in numbers) or not 1 <= row["units"] <= len(job["units"]):
                bad.append(f"{kind}: {row}")
            times = row.get("times_ns")
            if times and not 0 <= times["p50"] <= times["p95"]:
                bad.append(f"{kind}: {row}")
        if len(keys) != len(job[kind]):
            bad.append(f"{kind}: rows that are alike")


def check_job(bad, job):
    """`bad`: a schema.Complaints."""
    bad.fields("the job's report", JOB, job)
    if bad:
        return bad
    if job["schema"] != "iotrace-job/1" or job["wall_ns"] != max(u["wall_ns"] for u in job["units"]):
        bad.append(f"schema {job['schema']}, wall_ns {job['wall_ns']}")
    for row in job["files"]:
        times = row["latency_ns"]
        if times and not 0 <= times["p50"] <= times["p95"] <= times["p99"] <= times["max"]:
            bad.append(f"percentiles of {row['path']}: {times}")
    for k, row in enumerate(job["objects"]):
        for key in SUMS:
            units = sum(unit["objects"][k][key] for unit in job["units"])
            files = sum(f[key] for f in job["files"] if f["object"] == row["object"])
            phases = sum(p[key] for p in job["phase_objects"] if p["object"] == row["object"])
            if not row[key] == units == files == phases:
                bad.append(f"{key} of {row['object']}: {row[key]}; units {units}, files {files}, phases {phases}")
    for row in job["hosts"]:
        bad.fields("a host", HOST, row)
    if sum(row["units"] for row in job["hosts"]) != len(job["units"]):
        bad.append("hosts do not have the units")
    check_named(bad, job)
    return bad
