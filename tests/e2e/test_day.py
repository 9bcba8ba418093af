#!/usr/bin/env python3
"""A long job: its trace grows, loses nothing, and is reported in the memory that there is.

--full makes the calls of a day at 10,000 a second, 864 millions, as fast as they go, and says what they
took: of the program's memory, of the disk, and of the report.
"""
import os
import resource
import struct
import sys
import time

import harness
from harness import Broken, Tap

VICTIM = harness.victim("victim_window")
MIB, SEGMENT = 1 << 20, 128 << 10
NEXT_SEGMENT = 128  # where the header has it (FORMAT.md)
DAY = 24 * 3600 * 10000
EVENT_BYTES = 320  # of memory for each that a report analyses, at most


def used_mib(argv, env, place, timeout=120):
    """Runs a command; gives how it ended, its highest memory and its seconds. It has nothing before it."""
    begin = time.monotonic()
    child = os.fork()
    if not child:
        try:
            done = harness.run(argv, env, place, timeout)
            top = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
            (place / "used").write_text(f"{done.status} {top}\n{done.tail()}")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    status, top = (place / "used").read_text().splitlines()[0].split()
    if int(status):
        raise Broken(f"{argv[0]}: status {(place / 'used').read_text()}")
    return int(top), time.monotonic() - begin


def trace_of(place, *arguments, timeout=120):
    folder = place / "trace"
    top, seconds = used_mib([VICTIM, *arguments], harness.plain(harness.preload_env(folder)), place, timeout)
    return folder, top, seconds


def report_of(folder, place, *options, timeout=120):
    out = place / "report.json"
    argv = [harness.command(), "report", folder, "--format", "json", "-o", out, *options]
    top, seconds = used_mib(argv, harness.plain(), place, timeout)
    report = harness.json.loads(out.read_text())
    complaints = harness.schema.check_report(report)
    if complaints:
        raise Broken("the report breaks its rules: " + "\n".join(complaints[:10]))
    return report, top, seconds


def lost(report):
    run = report["run"]
    return [f"{key}: {run[key]}" for key in ("dropped_events", "salvaged_processes") if run[key]]


def a_part(place):
    """The sums over a part and the rest are those of the whole; what the part uses has its name."""
    folder = trace_of(place, "load", 100000, 3, 7)[0]
    whole, _, _ = report_of(folder, place)
    part, _, _ = report_of(folder, place, "--events", 20000)
    bad, total, trace = [], whole["total"], part["run"]["window"]["trace"]
    if trace["events"] != whole["run"]["events"]:
        bad.append(f"{trace['events']} events, not {whole['run']['events']}")
    for key in ("data_ops", "metadata_ops", "sync_ops"):
        if trace[key] != total[key]:
            bad.append(f"{key}: {trace[key]}, not {total[key]}")
    for key in ("read_bytes", "write_bytes"):
        if trace[key] != sum(o[key] for o in whole["objects"]):
            bad.append(f"{key}: {trace[key]}")
    if not 15000 <= part["run"]["events"] <= 20000:
        bad.append(f"{part['run']['events']} events were analysed")
    names = {f["path"] for f in part["files"]}
    if not any(name.endswith("/data") for name in names) or not all(names):
        bad.append(f"names {sorted(names)[:4]}")
    unnamed = [f for f in part["files"] if f["read_bytes"] and not f["path"].startswith("/")]
    if unnamed:
        bad.append(f"reads of what has no name: {unnamed[:2]}")
    if not any("newest" in line for line in part["evidence"]):
        bad.append(f"the evidence does not say it: {part['evidence']}")
    if whole["run"]["window"] is not None:
        bad.append("the whole is a part")
    return bad + lost(part)


def growing(place):
    """The file is made within a limit, and grows when that is lifted."""
    limit = ["sh", "-c", 'ulimit -S -f 8192; exec "$@"', "sh"]
    folder, bad = place / "trace", []
    argv = [*limit, VICTIM, "grow", 1500000, 2, 0]
    done = harness.trace(argv, folder, cwd=place)
    if done.status:
        return [f"status {done.status} ({done.tail()})"]
    sizes = [path.stat().st_size for path in folder.glob("*.iot")]
    if max(sizes) <= 8 * MIB:
        bad.append(f"files of {sizes} bytes: it did not grow")
    report = harness.report(folder)
    if report["total"]["data_ops"] != 3000002:
        bad.append(f"{report['total']['data_ops']} calls")
    return bad + lost(report)


def beyond_4_gib(place):
    """What lies behind 4 GiB is read: all blocks are put there, behind a hole."""
    folder = trace_of(place, "load", 30000, 2, 0)[0]
    before = harness.report(folder)
    path, = folder.glob("*.iot")
    data = path.read_bytes()
    count, = struct.unpack_from("<I", data, NEXT_SEGMENT)
    with open(path, "r+b") as f:
        f.truncate(SEGMENT)
        f.seek(40000 * SEGMENT)
        f.write(data[SEGMENT:count * SEGMENT])
        f.seek(NEXT_SEGMENT)
        f.write(struct.pack("<I", 40000 + count - 1))
    after = harness.report(folder)
    same = all(before[key] == after[key] for key in ("wall_ns", "total", "files"))
    return ([] if same else ["another report"]) + lost(after)


def day(place, calls, events):
    memory_mib = events * EVENT_BYTES / MIB + 128
    bare, seconds = used_mib([VICTIM, "load", calls // 20, 2, 0], harness.plain(), place, 3600)
    print(f"# {calls / 20e6:.1f} M calls untraced: {seconds:.1f} s, {bare} MiB", flush=True)
    folder, top, seconds = trace_of(place, "load", calls // 2, 2, 0, timeout=3600)
    files = list(folder.glob("*.iot"))
    size = sum(f.stat().st_size for f in files)
    print(f"# {calls / 1e6:.1f} M calls traced: {seconds:.1f} s, {top} MiB, {len(files)} files, "
          f"{size / MIB:.0f} MiB, {size / calls:.2f} bytes a call", flush=True)
    report, used, seconds = report_of(folder, place, "--events", events, timeout=3600)
    print(f"# a report on {report['run']['events']} of them: {seconds:.1f} s, {used} MiB", flush=True)
    bad = lost(report)
    if len(files) != 1:
        bad.append(f"{len(files)} files")
    if top > bare + 64:
        bad.append(f"{top} MiB of memory, without the preload {bare}")
    if report["run"]["window"]["trace"]["data_ops"] != calls + 2:
        bad.append(f"{report['run']['window']['trace']} of {calls} calls")
    if used > memory_mib:
        bad.append(f"{used} MiB of memory to report it, {memory_mib:.0f} are allowed")
    return bad


def main():
    out = Tap()
    if harness.full():
        with harness.workplace() as place:
            out.run("the calls of a day", lambda: day(place, DAY, 10000000))
        return out.done()
    for name, check in (("a part of a trace", a_part), ("a file that grows", growing),
                        ("behind 4 GiB", beyond_4_gib),
                        ("memory of a report", lambda place: day(place, 4000000, 400000))):
        with harness.workplace() as place:
            out.run(name, lambda: check(place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
