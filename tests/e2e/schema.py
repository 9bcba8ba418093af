"""What every report and every dump must look like, whatever was traced.

The fields are those of the report's schema in their order; the rules of conservation are checked
on every report that a test makes.
"""

import schema_ranks

OBJECTS = ["input", "artifact", "state", "output", "other"]
TOP = ["schema", "run", "wall_ns", "path", "model", "objects", "total", "files", "phases", "queues",
       "advice", "evidence", "waits", "steps", "ranges", "marks", "sites", "gpu"]
GPU = ["copies", "devices", "ranks", "path", "ranges_forgotten"]
GPU_COPIES = ["direction", "decided_by", "object", "memory", "copies", "bytes", "service_ns"]
GPU_RULES = {"file", "user", "before_steps", "in_steps", "from_gpu", "state"}
GPU_DEVICE = ["device", "busy_ns", "idle_ns", "idle_of_ns"]
GPU_RANK = ["pid", "device", "collectives", "matched", "waited_ns", "transfer_ns", "rank"]
GPU_PATH = ["work_ns", "launch_ns", "gap_ns"]
SITE = ["exposed_ns", "service_ns", "calls", "bytes", "frames", "places", "object", "path"]
PHASE = ["name", "start_ns", "end_ns", "steps", "step_ns", "objects", "per_step", "step_exposed"]
PHASE_NAMES = [["run"], ["cold_start", "steady", "shutdown"]]  # or some of them, in this order
PER_STEP = ["object", "ops", "bytes", "service_ns", "exposed_ns", "exposed_p50_ns", "exposed_p95_ns"]
ADVICE = ["object", "finding", "action", "gain_ns"]
STEPS = ["source", "op", "path", "starts"]
RANGE = ["name", "ranges", "total_ns", "range_ns", "ops", "bytes", "service_ns", "exposed_ns"]
MARK = ["name", "marks", "first_ns", "last_ns"]
RUN = ["command", "host", "start_realtime_ns", "processes", "lanes", "events", "dropped_events",
       "salvaged_processes", "clock", "untraced", "not_seen", "storage", "runqueue_ns",
        "fingerprint", "window", "uncalled", "version", "ranks"]
WINDOW = ["run_ns", "older_events", "parts", "trace"]
WHOLE_TRACE = ["events", "data_ops", "metadata_ops", "sync_ops", "read_bytes", "write_bytes", "call_ns"]
UNCALLED = ["pid", "exe", "read_bytes", "write_bytes"]
UNCALLED_SHOWN = 20
PATH = ["compute_ns", "io_ns", "gpu_ns", "sleep_ns", "wake_ns", "external_ns", "unexplained_ns"]
WAITED = ["waiter", "waited_for", "doing", "path", "object", "waited_ns"]
QUEUE = ["name", "object", "producer", "consumer", "length", "growing", "messages"]
MODEL = ["exposed_error_ns", "replay_error_ns", "unmatched_waits", "cut_edges", "curve"]
FIGURES = ["data_ops", "metadata_ops", "sync_ops", "bytes", "service_ns", "exposed_ns",
           "blocking_ns", "waited_ns", "hidden_ns", "recoverable_ns", "serialization_ns",
           "bandwidth_gbps", "fixed_latency_ns", "latency_ns", "cache_scope", "throughput_gbps",
           "read_bytes", "write_bytes", "mapped_bytes", "fault_ns", "small_ops", "opens"]
READS = ["placed_bytes", "distinct_bytes", "read_amplification"]
OBJECT = ["object", "files", *FIGURES, *READS]
FILE = ["path", "object", "why", *FIGURES, "ready_ns", *READS]
TOTAL = ["data_ops", "metadata_ops", "sync_ops", "bytes", "service_ns", "exposed_ns", "hidden_ns",
         "recoverable_ns"]

# Integers, never negative, never null.
COUNTED = ["data_ops", "metadata_ops", "sync_ops", "bytes", "service_ns", "exposed_ns",
           "blocking_ns", "waited_ns", "hidden_ns"]
# The same, or null where they are not measured.
MEASURED = ["serialization_ns", "read_bytes", "write_bytes", "mapped_bytes", "fault_ns",
            "small_ops", "opens", "placed_bytes", "distinct_bytes"]
# Of the files of an object, these add up to the object's; of the objects, those of TOTAL do.
FILE_SUMS = COUNTED + MEASURED
TOTAL_SUMS = [f for f in TOTAL if f != "recoverable_ns"]

READY = ["storage", "decode", "placement"]
CACHE_SCOPES = {"warm", "cold", "mixed", "unknown"}

EVENT = ["t0_ns", "t1_ns", "pid", "tid", "lane", "op", "fd", "path", "path2", "bytes", "offset",
         "result", "errno"]
EVENT_NULLS = {"fd", "path", "path2", "offset"}


def is_count(value):
    return type(value) is int and value >= 0


class Complaints(list):
    def same(self, what, want, got):
        if want != got:
            self.append(f"{what}: expected {want}, got {got}")

    def fields(self, what, want, row):
        """All fields, in order; new ones may follow."""
        self.same(f"fields of {what}", want, list(row)[:len(want)])


def check_row(bad, what, row):
    for key in COUNTED:
        if not is_count(row[key]):
            bad.append(f"{what}: {key} is {row[key]!r}, no count")
            return
    bad.same(f"{what}: blocking + waited", row["exposed_ns"], row["blocking_ns"] + row["waited_ns"])
    bad.same(f"{what}: exposed + hidden", row["service_ns"], row["exposed_ns"] + row["hidden_ns"])
    for key in MEASURED:
        if row[key] is not None and not is_count(row[key]):
            bad.append(f"{what}: {key} is {row[key]!r}, neither a count nor null")
            return
    # Of files beyond the twenty most exposed, what is recoverable is not computed.
    if row["recoverable_ns"] is None and "path" not in row:
        bad.append(f"{what}: recoverable_ns is null")
    for key in ("exposed_ns", "recoverable_ns"):
        value = row[key]
        if value is not None and not (is_count(value) and value <= row["service_ns"]):
            bad.append(f"{what}: {key} is {value!r}, not in 0 to service {row['service_ns']}")
    if (row["read_bytes"] or 0) + (row["write_bytes"] or 0) > row["bytes"]:
        bad.append(f"{what}: more read and written than the {row['bytes']} bytes moved")
    if row["cache_scope"] not in CACHE_SCOPES:
        bad.append(f"{what}: cache scope is {row['cache_scope']!r}")
    check_reads(bad, what, row)
    check_fit(bad, what, row)
    check_ready(bad, what, row)


def check_reads(bad, what, row):
    """No more than was read, no fewer than are other bytes; the ratio is of the two."""
    placed, distinct, ratio = (row[key] for key in READS)
    if placed is None and distinct is None and ratio is None:
        return
    if not (row["read_bytes"] or 0) >= (placed or 0) >= (distinct or 0) > 0:
        bad.append(f"{what}: {distinct} distinct of {placed} bytes, {row['read_bytes']} read")
    elif type(ratio) is not float or abs(ratio * distinct - placed) > 1e-9 * placed:
        bad.append(f"{what}: read amplification is {ratio!r}, of {placed} and {distinct}")


def check_fit(bad, what, row):
    """A bandwidth is above zero and has a latency beside it; there may be a latency alone."""
    latency, bandwidth = row["fixed_latency_ns"], row["bandwidth_gbps"]
    if latency is not None and not is_count(latency):
        bad.append(f"{what}: fixed latency is {latency!r}")
    if bandwidth is not None and (type(bandwidth) is not float or bandwidth <= 0
                                  or latency is None):
        bad.append(f"{what}: bandwidth is {bandwidth!r} beside a latency of {latency!r}")


def check_ready(bad, what, row):
    """Of artifacts that were read."""
    ready = row.get("ready_ns")
    if ready is None:
        return
    bad.same(f"parts of {what}'s ready_ns", READY, list(ready))
    # One that was mapped was read without a call.
    read = row["read_bytes"] or ready["placement"]
    if row["object"] != "artifact" or not read or not all(map(is_count, ready.values())):
        bad.append(f"{what}: ready_ns is {ready} of {row['object']}")


def check_files(bad, report):
    """The rows of files add up to their object, each path has one row, and the order is fixed."""
    seen, order = set(), []
    for row in report["files"]:
        cut = row["path"].startswith("(") and row["path"].endswith(" more)")
        check_row(bad, row["path"], row)
        if row["object"] not in OBJECTS:
            bad.append(f"{row['path']}: object is {row['object']!r}")
        if (row["path"], row["object"]) in seen:
            bad.append(f"{row['path']}: two rows as {row['object']}")
        seen.add((row["path"], row["object"]))
        if not cut:
            order.append((-row["exposed_ns"], -row["service_ns"], row["path"].encode(errors="surrogateescape")))
    if order != sorted(order):
        bad.append("files are not sorted by exposed, service, path")
    for o in report["objects"]:
        mine = [f for f in report["files"] if f["object"] == o["object"]]
        if not any(f["path"].endswith(" more)") for f in mine):
            bad.same(f"files of {o['object']}", o["files"], len(mine))
        for key in FILE_SUMS:
            bad.same(f"{key} over the files of {o['object']}", o[key] or 0,
                     sum(f[key] or 0 for f in mine))


def check_gpu(bad, report):
    """Copies add up to their rows, what a GPU idled because of I/O is part of its idling, and the parts of
    the path to the whole."""
    gpu = report["gpu"]
    if gpu is None:
        return
    bad.fields("gpu", GPU, gpu)
    bad.fields("gpu.path", GPU_PATH, gpu["path"])
    bad.same("parts of path.gpu_ns", report["path"]["gpu_ns"], sum(gpu["path"].values()))
    for row in gpu["copies"]:
        bad.fields("copies of gpu", GPU_COPIES, row)
        if row["decided_by"] not in GPU_RULES or row["object"] not in OBJECTS:
            bad.append(f"copies of gpu: {row}")
    for o in OBJECTS:
        mine = [f for f in report["files"] if f["object"] == o]
        if any(f["path"].endswith(" more)") for f in mine):
            continue
        rows = sum(f["bytes"] for f in mine
                   if f["path"].startswith("gpu") and not f["path"].endswith(":collective"))
        bad.same(f"bytes of GPU copies of {o}", rows,
                 sum(c["bytes"] for c in gpu["copies"] if c["object"] == o))
    for row in gpu["devices"]:
        bad.fields("a device of gpu", GPU_DEVICE, row)
        if row["idle_ns"] is not None and sum(row["idle_of_ns"].values()) > row["idle_ns"]:
            bad.append(f"a device of gpu idles less than because of I/O: {row}")
    for row in gpu["ranks"]:
        bad.fields("a rank of gpu", GPU_RANK, row)
        if row["matched"] > row["collectives"]:
            bad.append(f"a rank of gpu: {row}")


def check_uncalled(bad, uncalled):
    """What no recorded call moved: the processes with most of it, and the whole."""
    if uncalled is None:  # of a part of a run it is not known
        return
    rows = uncalled["processes"]
    for row in rows:
        bad.fields("a process of uncalled", UNCALLED, row)
    sums = [row["read_bytes"] + row["write_bytes"] for row in rows]
    if sums != sorted(sums, reverse=True) or 0 in sums:
        bad.append(f"processes of uncalled by what they moved: {sums}")
    for key in ("read_bytes", "write_bytes"):
        shown = sum(row[key] for row in rows)
        if not (shown <= uncalled[key] if len(rows) == UNCALLED_SHOWN else shown == uncalled[key]):
            bad.append(f"uncalled {key} is {uncalled[key]}, of its processes {shown}")


def check_curve(bad, report):
    """T(1) is the recorded time, T(0) what is left without I/O; empty until it is reported."""
    curve = report["model"]["curve"]
    if not curve:
        return
    wall, io = report["wall_ns"], report["path"]["io_ns"]
    bad.same("the curve's first point", [1, wall], list(curve[0]))
    bad.same("the curve's last point", [0, wall - io], list(curve[-1]))
    if curve != sorted(curve, key=lambda point: -point[0]):
        bad.append("the curve is not in the order of falling λ")
    # Rounded down to whole ns, three points may seem to bend the other way by 2 ns.
    for (l0, t0), (l1, t1), (l2, t2) in zip(curve, curve[1:], curve[2:]):
        if (t0 - t1) * (l1 - l2) < (t1 - t2) * (l0 - l1) - 2:
            bad.append(f"the curve is not convex at λ {l1}")


def check_phases(bad, report):
    """Phases follow each other without a gap, and add up to the run."""
    phases, end = report["phases"], 0
    names = [p["name"] for p in phases]
    if not names or not any([n for n in known if n in names] == names for known in PHASE_NAMES):
        bad.append(f"phases are {names}")
    for p in phases:
        bad.fields(f"phase {p['name']}", PHASE, p)
        bad.same(f"start of {p['name']}", end, p["start_ns"])
        end = p["end_ns"]
        bad.same(f"objects of {p['name']}", OBJECTS, [o["object"] for o in p["objects"]])
        for o in p["objects"]:
            bad.fields(f"{o['object']} in {p['name']}", OBJECT, o)
            check_row(bad, f"{o['object']} in {p['name']}", o)
        bad.same(f"per_step of {p['name']} is there", p["steps"] > 0, p["per_step"] is not None)
        for row in p["per_step"] or []:
            bad.fields(f"per_step of {p['name']}", PER_STEP, row)
        for key in ("step_ns", "step_exposed"):
            if p[key] and not 0 <= p[key]["p50"] <= p[key]["p95"]:
                bad.append(f"{key} of {p['name']} is {p[key]}")
    bad.same("end of the last phase", report["wall_ns"], end)
    for k, o in enumerate(report["objects"]):
        for key in set(FILE_SUMS) - set(READS):  # which have no phases
            bad.same(f"{key} of {o['object']} over the phases", o[key] or 0,
                     sum(p["objects"][k][key] or 0 for p in phases))


def check_steps(bad, report):
    steps = report["steps"]
    bad.fields("steps", STEPS, steps)
    starts = steps["starts"]
    bad.same("steps of the phases", len(starts or []), sum(p["steps"] for p in report["phases"]))
    if starts != sorted(starts or []):
        bad.append("steps are not in order")
    bad.same("steps have a source", bool(starts), steps["source"] in ("marks", "period"))


def check_ranges(bad, report):
    """What a program marks: no range has more I/O than the run, and marks lie within it."""
    for r in report["ranges"]:
        bad.fields("a range", RANGE, r)
        if not 0 <= r["exposed_ns"] <= r["service_ns"] or r["ranges"] < 1:
            bad.append(f"range {r['name']} has service {r['service_ns']}, exposed "
                       f"{r['exposed_ns']}, {r['ranges']} times")
    exposed = [-r["exposed_ns"] for r in report["ranges"]]
    if exposed != sorted(exposed):
        bad.append("ranges are not in the order of their exposed time")
    for m in report["marks"]:
        bad.fields("a mark", MARK, m)
        if not 0 <= m["first_ns"] <= m["last_ns"] or m["marks"] < 1:
            bad.append(f"mark {m['name']} from {m['first_ns']} to {m['last_ns']}")


def check_waits(bad, report):
    """Who waited for whom is part of what was waited for; queues have a length."""
    times = [w["waited_ns"] for w in report["waits"]]
    for w in report["waits"]:
        bad.fields("a wait", WAITED, w)
    if times != sorted(times, reverse=True) or not all(map(is_count, times)):
        bad.append(f"waits are not in the order of their times: {times}")
    waited = sum(o["waited_ns"] for o in report["objects"])
    if sum(times) > waited:
        bad.append(f"waits of {sum(times)}, where {waited} was waited for")
    for q in report["queues"]:
        bad.fields("a queue", QUEUE, q)
        if not 0 <= q["length"]["mean"] <= q["length"]["max"] <= q["messages"]:
            bad.append(f"queue {q['name']} has lengths {q['length']} of {q['messages']} messages")
        if q["producer"] == q["consumer"] and not q["producer"].endswith(" lanes"):
            bad.append(f"queue {q['name']} leads from {q['producer']} to itself")


def check_advice(bad, report):
    gains = [a["gain_ns"] for a in report["advice"]]
    for a in report["advice"]:
        bad.fields("an advice", ADVICE, a)
        if a["object"] is not None and a["object"] not in OBJECTS:
            bad.append(f"advice on {a['object']!r}")
        if not (is_count(a["gain_ns"]) and report["wall_ns"] // 100 <= a["gain_ns"]):
            bad.append(f"an advice wins {a['gain_ns']!r}, below 1 % of {report['wall_ns']}")
    if gains != sorted(gains, reverse=True):
        bad.append("advice is not in the order of its gains")


def check_sites(bad, report):
    """Calls with one stack each, the dearest first: no more than there are in all."""
    sites, total = report["sites"], report["total"]
    for site in sites:
        bad.same("fields of a site", SITE, list(site))
        if not site["frames"] or not all(type(f) is str and f for f in site["frames"]):
            bad.append(f"a site's frames are {site['frames']!r}")
        if (site["path"], site["object"]) not in {(f["path"], f["object"]) for f in report["files"]}:
            bad.append(f"a site's row is {site['path']!r} as {site['object']!r}")
        if len(site["places"]) != len(site["frames"]):
            bad.append("a site has not one place for each frame")
        for place in site["places"]:
            bad.same("fields of a place", ["function", "file", "line"], list(place))
            if (place["line"] is not None and place["file"] is None) or place["line"] == 0:
                bad.append(f"a line of no file, or no line: {place}")
    cost = [s["exposed_ns"] for s in sites]
    if cost != sorted(cost, reverse=True):
        bad.append("sites are not in the order of what they cost")
    for key in ("exposed_ns", "service_ns", "bytes"):
        if sum(s[key] for s in sites) > total[key]:
            bad.append(f"{key} over the sites is above {total[key]}")


def check_window(bad, report):
    """The parts that were recorded lie in the run, one behind the other; of them the wall time is."""
    window = report["run"]["window"]
    if window is None:
        return
    bad.same("fields of the window", WINDOW, list(window))
    end = 0
    for part in window["parts"]:
        if not (is_count(part["start_ns"]) and end <= part["start_ns"] < part["end_ns"]):
            bad.append(f"a part of the window is {part}, behind {end}")
            return
        end = part["end_ns"]
    if window["trace"] is not None:
        bad.same("fields of the whole trace", WHOLE_TRACE, list(window["trace"]))
        for key in ("data_ops", "metadata_ops", "sync_ops"):
            if window["trace"][key] < report["total"][key]:
                bad.append(f"{key} of the whole trace are {window['trace'][key]}, fewer than of a part")
    if end > window["run_ns"]:
        bad.append(f"the window ends at {end}, the run at {window['run_ns']}")
    bad.same("the parts of the window", report["wall_ns"],
             sum(p["end_ns"] - p["start_ns"] for p in window["parts"]))


def check_report(report, complete=True):
    """Complaints about a report, none if it is as it must be; `complete`: no event was dropped."""
    bad = Complaints()
    try:
        bad.same("schema", "iotrace-report/1", report["schema"])
        bad.fields("the report", TOP, report)
        for what, want in (("run", RUN), ("path", PATH), ("model", MODEL), ("total", TOTAL)):
            bad.fields(what, want, report[what])
        bad.same("parts of the path", PATH, list(report["path"]))
        bad.same("order of objects", OBJECTS, [o["object"] for o in report["objects"]])
        for o in report["objects"]:
            bad.fields(o["object"], OBJECT, o)
            check_row(bad, o["object"], o)
        for f in report["files"][:1]:
            bad.fields("a file", FILE, f)
        if bad:
            return bad

        if complete:
            bad.same("dropped events", 0, report["run"]["dropped_events"])
        for part in PATH:
            if not is_count(report["path"][part]):
                bad.append(f"path.{part} is {report['path'][part]!r}, no count")
        bad.same("sum of the path", report["wall_ns"], sum(report["path"].values()))
        bad.same("path.io_ns", report["total"]["exposed_ns"], report["path"]["io_ns"])
        bad.same("total.recoverable_ns", report["total"]["exposed_ns"],
                 report["total"]["recoverable_ns"])
        for key in TOTAL_SUMS:
            bad.same(f"total.{key}", sum(o[key] for o in report["objects"]), report["total"][key])
        if not report["evidence"] or not all(type(line) is str for line in report["evidence"]):
            bad.append(f"evidence is {report['evidence']!r}, not sentences")
        if report["run"]["uncalled"] is None and report["run"]["window"] is None:
            bad.append("uncalled is not known of a whole run")
        check_uncalled(bad, report["run"]["uncalled"])
        schema_ranks.check_ranks(bad, report["run"]["ranks"])
        check_files(bad, report)
        check_gpu(bad, report)
        check_curve(bad, report)
        check_waits(bad, report)
        check_phases(bad, report)
        check_steps(bad, report)
        check_ranges(bad, report)
        check_advice(bad, report)
        check_window(bad, report)
        check_sites(bad, report)
    except (KeyError, TypeError, IndexError) as e:
        bad.append(f"a field is missing or of another kind: {type(e).__name__} {e}")
    return bad


def check_event(event, before):
    """Complaints about one event of a dump; `before` is the one before it, or None."""
    bad = Complaints()
    bad.fields("an event", EVENT, event)
    if bad:
        return bad
    for key in ("t0_ns", "t1_ns", "pid", "tid", "lane", "bytes"):
        if not is_count(event[key]):
            bad.append(f"{key} is {event[key]!r}, no count")
            return bad
    for key in ("result", "errno"):
        if type(event[key]) is not int:
            bad.append(f"{key} is {event[key]!r}, no integer")
    if event["t1_ns"] < event["t0_ns"]:
        bad.append(f"ends at {event['t1_ns']}, before it starts at {event['t0_ns']}")
    if before and (before["t0_ns"], before["lane"]) > (event["t0_ns"], event["lane"]):
        bad.append(f"comes after t0 {before['t0_ns']}, lane {before['lane']}")
    path = event["path"]
    if path is not None and not path.startswith("/") and ":" not in path:
        bad.append(f"path {path!r} is neither absolute nor a named kind")
    return [f"event {event}: {line}" for line in bad]
