#!/usr/bin/env python3
"""A real PyTorch training, traced by iotrace and by strace in one run: they must agree.

strace stands outside and sets the preload through -E, so that it watches the program and the
recorder alike. Only files below the run's folder are compared: there the program's calls and the
kernel's are the same ones, since CPython and libstdc++ call read, write, lseek, fstat, … of libc,
each of which is one system call. Elsewhere they differ, and must: libc itself reads locale files
and its caches, the loader reads libraries before any preload is there, stdio and readdir fetch a
buffer once for many calls. And the recorder's own look at a new descriptor (one fstat, to know
what it is) is among strace's calls but not among the program's.
"""
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatch
from shutil import which

import harness
import ops
import strace_log
from harness import Tap

PYTHON = "/usr/bin/python3"  # Debian's python3-torch serves this one
SCRIPT = harness.HERE / "train_torch.py"
EXACT = ["open", "close", "read", "write", "seek", "sync", "read_bytes", "write_bytes"]
OBJECTS = {"model.pt": "artifact", "samples/*.raw": "input", "train.log": "output",
           "checkpoint-*.pt": "output"}


def run_both(place):
    """Runs the training under both; gives strace's log and the trace folder."""
    data, log, folder = place / "run", place / "strace.log", place / "trace"
    data.mkdir()
    made = harness.run([PYTHON, SCRIPT, data, "make"], timeout=300)
    if made.status:
        raise harness.Broken(f"{SCRIPT.name} make: status {made.status} ({made.tail()})")
    settings = [f"-E{k}={v}" for k, v in harness.preload_env(folder).items()]
    kinds = ",".join(f"?{name}" for name in strace_log.KINDS)
    argv = ["strace", "-f", "-y", "-s", "0", "--seccomp-bpf", "-o", log, "-e", f"trace={kinds}",
            *settings, PYTHON, "-B", SCRIPT, data]
    done = harness.run(argv, timeout=300)
    if done.status or not folder.is_dir():
        raise harness.Broken(f"status {done.status}, trace {folder.is_dir()} ({done.tail()})")
    return data, log, folder


def dump_by_file(events):
    files = defaultdict(Counter)
    for e in events:
        kind = ops.kind(e["op"]) if e["path"] else None
        if kind:
            files[e["path"]][kind] += 1
            if kind in ("read", "write"):
                files[e["path"]][kind + "_bytes"] += e["bytes"]
    return files


def regular(files, data):
    """Those below the run's folder; folders themselves are read inside libc."""
    return {path: count for path, count in files.items()
            if path.startswith(f"{data}/") and path != f"{data}/samples"}


def compare(strace, dump):
    bad = []
    if set(strace) != set(dump):
        bad.append(f"files of strace alone: {sorted(set(strace) - set(dump))}, "
                   f"of the dump alone: {sorted(set(dump) - set(strace))}")
    for path in sorted(set(strace) & set(dump)):
        seen, told = strace[path], dump[path]
        bad += [f"{path}: {kind}: strace saw {seen[kind]}, the dump has {told[kind]}"
                for kind in EXACT if seen[kind] != told[kind]]
        # The recorder's own fstat, at most one for each time the file was opened.
        if not told["stat"] <= seen["stat"] <= told["stat"] + told["open"]:
            bad.append(f"{path}: stat: strace saw {seen['stat']}, the dump has {told['stat']}")
    return bad


def compare_report(report, strace):
    """Bytes and calls of the report's rows; a path with two objects has two rows."""
    rows = defaultdict(Counter)
    for row in report["files"]:
        for key in ("bytes", "data_ops", "read_bytes", "write_bytes", "opens", "sync_ops"):
            rows[row["path"]][key] += row[key] or 0
    measured = {"bytes", "data_ops", "sync_ops"} | {
        key for key in ("read_bytes", "write_bytes", "opens")
        if all(row[key] is not None for row in report["files"])}
    bad = []
    for path, seen in strace.items():
        want = {"bytes": seen["read_bytes"] + seen["write_bytes"],
                "data_ops": seen["read"] + seen["write"], "sync_ops": seen["sync"],
                "read_bytes": seen["read_bytes"], "write_bytes": seen["write_bytes"],
                "opens": seen["open"]}
        bad += [f"{path}: {key}: strace saw {want[key]}, the report has {rows[path][key]}"
                for key in sorted(measured) if want[key] != rows[path][key]]
    return bad


def check_objects(report, data, pattern, want):
    rows = {row["path"]: row["object"] for row in report["files"]
            if fnmatch(row["path"], f"{data}/{pattern}")}
    bad = [f"{path}: expected {want}, got {got}" for path, got in rows.items() if got != want]
    return bad or ([] if rows else [f"no row for {pattern}"])


def check_workers(events, data, log):
    """Samples were read by two processes that are not the root, the ones that strace saw."""
    samples = f"{data}/samples/"
    told = {e["pid"] for e in events if (e["path"] or "").startswith(samples)
            and ops.kind(e["op"]) == "read"}
    with open(log, encoding="latin-1") as f:
        seen = {int(pid) for pid, kind, path, _ in strace_log.calls(f)
                if kind == "read" and path.startswith(samples)}
    root = next(e["pid"] for e in events if e["op"] == "start")
    bad = [] if told == seen else [f"processes: strace saw {seen}, the dump has {told}"]
    if len(told) != 2 or root in told:
        bad.append(f"expected two workers beside the root {root}, got {told}")
    return bad


def main():
    if not which("strace"):
        harness.skip_all("strace is not installed")
    if harness.run([PYTHON, "-c", "import torch"], timeout=300).status:
        harness.skip_all(f"no PyTorch for {PYTHON} (Debian's python3-torch)")
    if harness.run(["strace", "-f", "true"]).status:
        harness.skip_all("strace may not trace here")
    out = Tap()
    made = {}

    def prepare():
        made["data"], made["log"], folder = run_both(place)
        made["events"] = harness.dump(folder)
        made["report"] = harness.report(folder)
        with open(made["log"], encoding="latin-1") as f:
            made["strace"] = regular(strace_log.by_file(f), made["data"])
        made["dump"] = regular(dump_by_file(made["events"]), made["data"])
        # Were strace's log not understood, empty would agree with empty.
        return [] if len(made["strace"]) >= 50 else [f"strace saw {len(made['strace'])} files"]

    with harness.workplace() as place:
        if out.run("the training runs under both, and report and dump keep the rules", prepare):
            out.run("bytes and calls of every file, dump against strace",
                    lambda: compare(made["strace"], made["dump"]))
            out.run("bytes and calls of every file, report against strace",
                    lambda: compare_report(made["report"], made["strace"]))
            out.run("samples are read by two workers",
                    lambda: check_workers(made["events"], made["data"], made["log"]))
            for pattern, want in OBJECTS.items():
                out.run(f"{pattern} is {want}",
                        lambda: check_objects(made["report"], made["data"], pattern, want))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
