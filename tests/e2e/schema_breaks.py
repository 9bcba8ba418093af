"""How the checks of schema.py can fail: a report in which all sums hold, and what spoils it."""

import schema_ranks
from schema import (EVENT, FILE_SUMS, GPU_COPIES, GPU_DEVICE, GPU_PATH, GPU_RANK, MARK, MODEL, OBJECTS, PATH,
                    PER_STEP, RANGE, READS, READY, RUN, TOTAL, UNCALLED, WAITED, WHOLE_TRACE, check_event,
                    check_report)


def example():
    """A report in which all sums hold."""
    def figures(service, exposed, size):
        return {"data_ops": 2, "metadata_ops": 2, "sync_ops": 1, "bytes": size,
                "service_ns": service, "exposed_ns": exposed, "blocking_ns": exposed,
                "waited_ns": 0, "hidden_ns": service - exposed, "recoverable_ns": exposed,
                "serialization_ns": None, "bandwidth_gbps": None, "fixed_latency_ns": None,
                "latency_ns": None, "cache_scope": "unknown", "throughput_gbps": None,
                "read_bytes": size, "write_bytes": 0, "mapped_bytes": 0, "fault_ns": 0,
                "small_ops": 0, "opens": 1} | reads(size, size // 2)

    def reads(placed, distinct):
        ratio = placed / distinct if distinct else None
        return dict(zip(READS, (placed or None, distinct or None, ratio)))

    def add(rows):
        total = figures(0, 0, 0)
        total |= {key: sum(r[key] or 0 for r in rows)
                  for key in FILE_SUMS + ["recoverable_ns"]}
        return total | reads(total["placed_bytes"], total["distinct_bytes"])

    files = [{"path": "gpu0:HtoD", "object": "input", "why": "rule"} | figures(90, 60, 10),
             {"path": "/d/b", "object": "input", "why": "rule"} | figures(80, 40, 20),
             {"path": "/d/c", "object": "output", "why": "rule"} | figures(50, 0, 30)]
    files[1] |= {"blocking_ns": 0, "waited_ns": 40}
    for f in files:
        again = {key: f.pop(key) for key in READS}
        f |= {"ready_ns": None} | again
    objects = []
    for name in OBJECTS:
        mine = [f for f in files if f["object"] == name]
        objects.append({"object": name, "files": len(mine)} | add(mine))
    total = {key: sum(o[key] for o in objects) for key in TOTAL}
    run = dict.fromkeys(RUN, 0) | {"window": {
        "run_ns": 5000, "older_events": 0,
        "parts": [{"start_ns": 10, "end_ns": 610}, {"start_ns": 700, "end_ns": 1100}],
        "trace": dict.fromkeys(WHOLE_TRACE, 1 << 20)}}
    run["ranks"] = [dict(row) for row in schema_ranks.EXAMPLE]
    run["uncalled"] = {"read_bytes": 7, "write_bytes": 2, "processes": [
        dict(zip(UNCALLED, (1, "/bin/a", 5, 2))), dict(zip(UNCALLED, (2, "/bin/b", 2, 0)))]}
    phases = []
    for name, start, end, steps in (("cold_start", 0, 100, 0), ("steady", 100, 1000, 2)):
        mine = [dict(o) for o in objects] if steps else \
            [{"object": o, "files": 0} | figures(0, 0, 0) |
             dict.fromkeys(["data_ops", "metadata_ops", "sync_ops", "opens"], 0) for o in OBJECTS]
        phases.append({"name": name, "start_ns": start, "end_ns": end, "steps": steps,
                       "step_ns": {"p50": 450, "p95": 450} if steps else None, "objects": mine,
                       "per_step": [dict.fromkeys(PER_STEP, 0)] if steps else None,
                       "step_exposed": {"p50": 5, "p95": 9} if steps else None})
    return {"schema": "iotrace-report/1", "run": run, "wall_ns": 1000,
            "path": dict.fromkeys(PATH, 0) | {"compute_ns": 860, "gpu_ns": 40, "io_ns": 100},
            "model": dict.fromkeys(MODEL, 0) | {"curve": [[1, 1000], [0.5, 950], [0, 900]]},
            "objects": objects, "total": total, "files": files, "phases": phases,
            "queues": [{"name": "pipe:[1]", "object": "input", "producer": "reader",
                        "consumer": "main thread", "length": {"mean": 1.5, "max": 3},
                        "growing": False, "messages": 12}],
            "advice": [{"object": "input", "finding": "f", "action": "a", "gain_ns": 60},
                       {"object": None, "finding": "f", "action": "a", "gain_ns": 10}],
            "evidence": ["what is recoverable is an estimate"], "waits": [dict(zip(WAITED, ("main thread", "reader", "reading", "/d/b", "input", ns)))
                      for ns in (25, 10)],
            "steps": {"source": "marks", "op": "mark", "path": None, "starts": [100, 550]},
            "ranges": [dict(zip(RANGE, ("load", 2, 90, {"p50": 40, "p95": 50}, 3, 10, 20, ns)))
                       for ns in (9, 5)],
            "marks": [dict(zip(MARK, ("loaded", 1, 40, 40)))],
            "sites": [{"exposed_ns": 60, "service_ns": 90, "calls": 2, "bytes": 10,
                       "frames": ["load+0x10 (app)", "train.py:42 main"],
                       "places": [{"function": "load", "file": None, "line": None},
                                  {"function": "main", "file": "/a/train.py", "line": 42}],
                       "object": "input", "path": "gpu0:HtoD"}],
            "gpu": {"copies": [dict(zip(GPU_COPIES, ("HtoD", "file", "input", "pinned", 1, 10, 90)))],
                    "devices": [dict(zip(GPU_DEVICE, (0, 700, 200, dict.fromkeys(OBJECTS, 0) | {"input": 60})))],
                    "ranks": [dict(zip(GPU_RANK, (1, 0, 3, 2, 40, 50, 1)))],
                    "path": dict(zip(GPU_PATH, (30, 5, 5))), "ranges_forgotten": 0}}


def change(*keys, by=1):
    def apply(report):
        node = report
        for key in keys[:-1]:
            node = node[key]
        node[keys[-1]] += by
    return apply


def both(*changes):
    def apply(report):
        for one in changes:
            one(report)
    return apply


BREAKS = {
    "another schema": lambda r: r.update(schema="iotrace-report/2"),
    "objects in another order": lambda r: r["objects"].reverse(),
    "a field missing": lambda r: r["objects"][0].pop("opens"),
    "fields in another order": lambda r: r["run"].update(host=r["run"].pop("host")),
    "dropped events": change("run", "dropped_events"),
    "a site dearer than the run": lambda r: r["sites"][0].update(exposed_ns=101),
    "a copy of nobody's bytes": change("gpu", "copies", 0, "bytes"),
    "a copy by no rule": lambda r: r["gpu"]["copies"][0].update(decided_by="chance"),
    "a GPU that idles for longer than it does": change("gpu", "devices", 0, "idle_of_ns", "other", by=150),
    "more collectives matched than there are": change("gpu", "ranks", 0, "matched", by=5),
    "a path of GPUs in other parts": change("gpu", "path", "gap_ns"),
    "a site of no file": lambda r: r["sites"][0].update(object="output"),
    "a site without frames": lambda r: r["sites"][0].update(frames=[]),
    "a site with a frame too many": lambda r: r["sites"][0]["frames"].append("x"),
    "a line of no file": lambda r: r["sites"][0]["places"][0].update(line=3),
    "a window longer than its run": lambda r: r["run"]["window"].update(run_ns=1000),
    "a trace smaller than a part of it": lambda r: r["run"]["window"]["trace"].update(data_ops=0),
    "a window of another length": lambda r: r["run"]["window"]["parts"][0].update(end_ns=611),
    "parts that overlap": lambda r: r["run"]["window"]["parts"][1].update(start_ns=600, end_ns=1000),
    "a path that does not sum to the wall time": change("path", "wake_ns"),
    "a negative part of the path": both(change("path", "wake_ns", by=-5),
                                        change("path", "compute_ns", by=5)),
    "I/O on the path that is not exposed": both(change("path", "io_ns"),
                                                change("path", "compute_ns", by=-1)),
    "recoverable of all that is not exposed": change("total", "recoverable_ns"),
    "blocking and waited beside exposed": change("files", 0, "blocking_ns"),
    "hidden beside service": change("objects", 0, "hidden_ns"),
    "exposed beyond service": both(change("files", 2, "exposed_ns", by=60),
                                   change("files", 2, "blocking_ns", by=60),
                                   change("files", 2, "hidden_ns", by=-60)),
    "recoverable beyond service": change("files", 2, "recoverable_ns", by=51),
    "a total beside its objects": change("total", "metadata_ops"),
    **schema_ranks.WRONG,
    "unseen bytes of nobody": change("run", "uncalled", "read_bytes"),
    "unseen bytes out of order": lambda r: r["run"]["uncalled"]["processes"].reverse(),
    "a file row lost": lambda r: r["files"].pop(),
    "a file row twice": lambda r: r["files"].append(r["files"][2]),
    "file rows in another order": lambda r: r["files"].reverse(),
    "a file beside its object": change("files", 1, "small_ops"),
    "more placed than read": change("files", 1, "placed_bytes"),
    "an amplification of other bytes": lambda r: r["files"][0].update(read_amplification=1.5),
    "an amplification of nothing": lambda r: r["files"][0].update(distinct_bytes=None),
    "a fraction of a nanosecond": lambda r: r["files"][0].update(waited_ns=0.0),
    "no word on evidence": lambda r: r["evidence"].clear(),
    "a bandwidth without a latency": lambda r: r["files"][0].update(bandwidth_gbps=1.5),
    "input that gets ready": lambda r: r["files"][0].update(ready_ns=dict.fromkeys(READY, 1)),
    "a curve that ends elsewhere": lambda r: r["model"]["curve"].pop(),
    "a gap between phases": change("phases", 1, "start_ns"),
    "a phase without a name": lambda r: r["phases"][0].update(name="warm"),
    "a phase beside the run": change("phases", 1, "objects", 0, "service_ns"),
    "steps beside the phases": lambda r: r["steps"]["starts"].pop(),
    "steps out of order": lambda r: r["steps"]["starts"].reverse(),
    "a range that exposes more than it does": lambda r: r["ranges"][0].update(exposed_ns=21),
    "ranges out of order": lambda r: r["ranges"].reverse(),
    "a mark that ends before it begins": lambda r: r["marks"][0].update(first_ns=41),
    "advice that wins nothing": lambda r: r["advice"][1].update(gain_ns=9),
    "waits out of order": lambda r: r["waits"].reverse(),
    "more waits than was waited for": lambda r: r["waits"][0].update(waited_ns=1 << 40),
    "a queue longer than its messages": lambda r: r["queues"][0]["length"].update(max=99),
    "advice out of order": lambda r: r["advice"].reverse(),
}


def self_test(out):
    """Points that prove the checks of schema.py can fail."""
    out.run("a good report is accepted", lambda: check_report(example()))
    for name, spoil in BREAKS.items():
        report = example()
        spoil(report)
        out.point(bool(check_report(report)), f"refused: {name}")
    event = dict.fromkeys(EVENT, 0) | {"op": "read", "path": "/d/a", "path2": None}
    later = event | {"t0_ns": 5, "t1_ns": 6}
    out.run("a good event is accepted", lambda: check_event(later, event))
    for name, wrong in {"a time that is no integer": event | {"t0_ns": 0.5},
                        "an end before the start": event | {"t0_ns": 7},
                        "an event out of order": event, "a relative path": later | {"path": "a"},
                        "an event without lane": {k: v for k, v in event.items() if k != "lane"},
                        }.items():
        out.point(bool(check_event(wrong, later)), f"refused: {name}")
