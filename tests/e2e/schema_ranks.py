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
       "waits", "advice", "sites", "not_seen", "evidence", "ranks", "shared_reads", "slow_hosts", "notes",
       "step_starts", "uncalled", "gpu"]
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
PROGRAM = ["exe", "units", "processes", "read_bytes", "write_bytes"]
COPIES = ["direction", "decided_by", "memory", "object", "units", "copies", "bytes", "service_ns"]
DEVICE = ["device", "units", "unknown", "busy_ns", "idle_ns", "input_ns", "artifact_ns", "state_ns", "output_ns",
          "other_ns"]
COLLECTIVES = ["collectives", "matched", "waited_ns", "transfer_ns"]
GPU = ["copies", "devices", "collectives", "path", "ranges_forgotten", "units", "spread_idle_ns", "known_units"]
GPU_PATH = ["work_ns", "launch_ns", "gap_ns"]
START = ["step", "units", "spread_start_ns"]
SPREAD = ["min", "median", "max", "min_unit", "max_unit"]
READY = ["storage", "decode", "placement"]
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


def check_spread(bad, job, what, spread):
    bad.fields(what, SPREAD, spread)
    if not 0 <= spread["min"] <= spread["median"] <= spread["max"] or \
            not all(0 <= spread[key] < len(job["units"]) for key in ("min_unit", "max_unit")):
        bad.append(f"{what}: {spread}")


def check_file(bad, job, row):
    """What is computed in some units alone."""
    what = f"the job's file {row['path']}"
    if row["path"].startswith("("):
        return
    times, ready, n = row["latency_ns"], row["ready_ns"], row["ready_units"]
    if times and not 0 <= times["p50"] <= times["p95"] <= times["p99"] <= times["max"]:
        bad.append(f"percentiles of {row['path']}: {times}")
    if (row["recoverable_ns"] is None) != (row["recoverable_units"] == 0) or \
            not 0 <= (row["recoverable_ns"] or 0) <= row["service_ns"] or \
            not 0 <= row["recoverable_units"] <= row["units"]:
        bad.append(f"{what}: recoverable {row['recoverable_ns']} in {row['recoverable_units']} of {row['units']}")
    if not 0 <= n <= row["units"] or (ready is None) != (n == 0) or (row["spread_ready_ns"] is None) != (n == 0):
        bad.append(f"{what}: ready in {n} units: {ready}")
    elif n:
        check_spread(bad, job, f"{what}, ready", row["spread_ready_ns"])
        bad.fields(f"{what}, ready", READY, ready)
        bad.same(f"{what}, ready", row["spread_ready_ns"]["max"], sum(ready.values()))


def check_gpu(bad, job):
    gpu, units = job["gpu"], job["units"]
    bad.same("units with GPUs", sum(u["gpus"] > 0 for u in units), gpu["units"] if gpu else 0)
    if not gpu:
        return
    bad.fields("gpu", GPU, gpu)
    bad.fields("gpu.path", GPU_PATH, gpu["path"])
    bad.same("gpu.path", job["path"]["gpu_ns"], sum(gpu["path"].values()))
    for row in gpu["copies"]:
        bad.fields("copies", COPIES, row)
    for row in gpu["devices"]:
        bad.fields("a device", DEVICE, row)
        if sum(row[key] for key in DEVICE[5:]) > row["idle_ns"]:
            bad.append(f"idle because of I/O: {row}")
    for key in ("busy_ns", "idle_ns"):
        bad.same(f"gpu {key}", sum(u["gpu_" + key] for u in units), sum(row[key] for row in gpu["devices"]))
    for key in COLLECTIVES:
        member = "collectives" if key == "collectives" else f"collectives_{key}"
        bad.same(f"collectives {key}", sum(u[member] for u in units), gpu["collectives"][key])
    check_spread(bad, job, "collectives", gpu["collectives"]["spread_ns"])
    bad.same("units that know when GPUs idled", sum(u["gpus_known"] > 0 for u in units), gpu["known_units"])
    if gpu["known_units"]:
        check_spread(bad, job, "idle", gpu["spread_idle_ns"])
    else:
        bad.same("when GPUs idled", None, gpu["spread_idle_ns"])


def check_more(bad, job):
    """What is no sum of rows: steps, bytes without a call, GPUs."""
    units, uncalled = job["units"], job["uncalled"]
    for k, row in enumerate(job["step_starts"]):
        bad.fields("when a step began", START, row)
        check_spread(bad, job, f"step {row['step']}", row["spread_start_ns"])
        bad.same(f"units with step {row['step']}", sum(u["steps"] > row["step"] for u in units), row["units"])
        if k and row["step"] <= job["step_starts"][k - 1]["step"]:
            bad.append(f"step {row['step']} is not behind the one before")
    bad.same("units that know of bytes without a call", sum(u["part_of_ns"] == 0 for u in units),
             uncalled["units"] if uncalled else 0)
    for key in ("read_bytes", "write_bytes") if uncalled else ():
        bad.same(f"uncalled {key}", sum(u[f"uncalled_{key}"] for u in units), uncalled[key])
        if sum(row[key] for row in uncalled["programs"]) > uncalled[key]:
            bad.append(f"programs have more than all: {uncalled}")
    for row in uncalled["programs"] if uncalled else ():
        bad.fields("a program", PROGRAM, row)
    check_gpu(bad, job)


def check_job(bad, job):
    """`bad`: a schema.Complaints."""
    bad.fields("the job's report", JOB, job)
    if bad:
        return bad
    if job["schema"] != "iotrace-job/1" or job["wall_ns"] != max(u["wall_ns"] for u in job["units"]):
        bad.append(f"schema {job['schema']}, wall_ns {job['wall_ns']}")
    for row in job["files"]:
        check_file(bad, job, row)
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
    check_more(bad, job)
    return bad
