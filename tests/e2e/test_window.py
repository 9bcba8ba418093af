#!/usr/bin/env python3
"""A part of a run: by steps, by time, by the program, and the newest of it.

--full also writes what would be 4 GiB of rows into 16 MiB.
"""
import os
import resource
import sys

import harness
from harness import Tap

VICTIM = harness.victim("victim_window")
MIB = 1 << 20


def window(report):
    got = report["run"]["window"]
    if got is None:
        raise harness.Broken("the report says that the run was seen whole")
    return got


def sizes(folder):
    """The bytes of the reads of the program's files in a trace, in order."""
    return [e["bytes"] for e in harness.dump(folder, lambda line: b'"op":"pread"' in line)]


def run(place, name, options, *arguments, env=None):
    """Runs the victim through `iotrace run`; gives the trace."""
    here = place / name
    here.mkdir()
    argv = [harness.command(), "run", "-o", here / "trace", *options, "--", VICTIM, *arguments]
    done = harness.run(argv, harness.plain(env), here, 600)
    if done.status:
        raise harness.Broken(f"status {done.status} ({done.tail()})")
    return here / "trace"


def by_steps(place, name, options, env, want):
    folder = run(place, name, options, "steps", 9, env=env)
    report = harness.report(folder)
    got = window(report)
    bad = [f"reads of {sizes(folder)} bytes, not {want}"] if sizes(folder) != want else []
    if len(got["parts"]) != 1 or got["older_events"]:
        bad.append(f"the window is {got}")
    if len(report["steps"]["starts"]) != len(want):
        bad.append(f"{len(report['steps']['starts'])} steps, not {len(want)}")
    if not any("were recorded" in line for line in report["evidence"]):
        bad.append(f"the evidence does not say it: {report['evidence']}")
    if report["total"]["bytes"] < sum(want):
        bad.append(f"{report['total']['bytes']} bytes")
    return bad


def by_time(place):
    """On a busy machine a part may be longer, not shorter."""
    folder = run(place, "time", ["--after", "30ms", "--duration", "40ms"], "steps", 60)
    report = harness.report(folder)
    parts = window(report)["parts"]
    if len(parts) != 1:
        return [f"parts {parts}"]
    begin, length = parts[0]["start_ns"] / 1e6, (parts[0]["end_ns"] - parts[0]["start_ns"]) / 1e6
    seen = sizes(folder)
    bad = [] if 20 < begin and 30 < length else [f"from {begin} ms on for {length} ms"]
    if not seen or seen[0] == 1 or seen != list(range(seen[0], seen[-1] + 1)) or seen[-1] == 60:
        bad.append(f"reads of {seen} bytes")
    return bad


def by_program(place):
    folder = run(place, "pause", [], "pause")
    report = harness.report(folder)
    named = {e["bytes"]: os.path.basename(e["path"] or "") for e in
             harness.dump(folder, lambda line: b'"op":"pread"' in line)}
    want = {1: "stays", 2: "goes", 5: "stays", 6: "comes", 7: "comes"}
    bad = [f"bytes and names are {named}, not {want}"] if named != want else []
    if report["run"]["processes"] != 3 or report["run"]["untraced"]:
        bad.append(f"processes: {report['run']['processes']}, untraced {report['run']['untraced']}")
    if len(window(report)["parts"]) != 2:
        bad.append(f"parts {window(report)['parts']}")
    return bad


def of_all(place):
    folder = run(place, "child", [], "child")
    return [] if sizes(folder) == [12] else [f"reads of {sizes(folder)} bytes, not [12]"]


def partners(place):
    """What went through the pipe unseen moves no message to another wait."""
    folder = run(place, "pipe", [], "pipe")
    report = harness.report(folder)
    bad = []
    if report["model"]["unmatched_waits"] or report["model"]["cut_edges"]:
        bad.append(f"the model: {report['model']}")
    # 20 ms before the pause, and three times 30 ms behind it, are the producer's sleep.
    if report["path"]["sleep_ns"] < 0.8 * 110e6:
        bad.append(f"the path: {report['path']}")
    return bad


def traced_edges(place, way):
    work = place / "work"
    work.mkdir()
    done = harness.trace([harness.victim("victim_edges"), work, way], place / "trace")
    if done.status:
        raise harness.Broken(f"status {done.status} ({done.tail()})")
    return done, harness.dump(place / "trace"), harness.report(place / "trace")


def requests(place, way):
    """Of a request that was handed over in a pause nothing is known. Of one that was under way when it began the
    end is not: another may have been handed over meanwhile, and found done behind it."""
    done, events, report = traced_edges(place, way)
    if done.stdout == b"none\n":
        return []
    said = [line.split()[1::2] for line in done.stdout.decode().splitlines()]
    seen = [[e["op"], str(e["bytes"])] for e in events
            if e["op"] in ("async_read", "write") and (e["path"] or "").endswith("/fifo")]
    open_ = [move for move in seen if move not in said]
    bad = []
    if [move for move in said if move not in seen] or len(said) + len(open_) != len(seen):
        bad.append(f"said {said}, seen {seen}")
    if open_ != 2 * [["async_read", "0"]]:
        bad.append(f"of the requests that met a pause there is {open_}")
    if not any("The end of 2 asynchronous requests" in line for line in report["run"]["not_seen"]):
        bad.append(f"not seen: {report['run']['not_seen']}")
    # Who waits for one of these, and for the one that was handed over unseen, waits for nothing that is known.
    return bad + whole(report, 3)


def whole(report, unmatched=0):
    model = report["model"]
    return [f"the model: {model}"] if model["unmatched_waits"] > unmatched or model["cut_edges"] else []


def waits(place, way):
    """A wake that was not seen is no other's: all that is seen of the run is the sleep of who wakes."""
    _, _, report = traced_edges(place, way)
    path, wall = report["path"], report["wall_ns"]
    bad = whole(report)
    if path["sleep_ns"] < 0.8 * wall or not 0.1e9 < wall:
        bad.append(f"of {wall} ns: {path}")
    return bad


def untraced(place):
    done = harness.run([VICTIM, "pause"], cwd=place)
    return [f"status {done.status}"] if done.status else []


def newest(place, name, mib, calls, threads, each, memory_mib):
    folder = run(place, name, ["--max-size", f"{mib}M"], "load", calls, threads, each)
    files = list(folder.glob("*.iot"))
    bad = [f"{len(files)} files"] if len(files) != 1 else []
    size = files[0].stat().st_size
    if size > mib * MIB:
        bad.append(f"the file has {size} bytes")
    report = harness.report(folder)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    run_ = report["run"]
    got = window(report)
    new = (calls + each - 1) // each if each else 0
    made = threads * (calls - new + 4 * new)
    seen = len(harness.dump(folder, lambda line: True))
    beside = seen + got["older_events"] - made
    print(f"# {name}: {made} calls, {seen} of them there, {used:.0f} MiB to report them")
    if not 0 <= beside < 40:  # the life of the threads, and the start
        bad.append(f"{seen} events and {got['older_events']} older ones of {made}")
    if run_["dropped_events"] or run_["salvaged_processes"] or seen < mib * MIB / 20:
        bad.append(f"the run: {run_}")
    if len(got["parts"]) != 1 or got["parts"][0]["end_ns"] != got["run_ns"]:
        bad.append(f"the window: {got}")
    if not any("older events" in line for line in report["evidence"]):
        bad.append(f"the evidence does not say it: {report['evidence']}")
    unnamed = harness.dump(folder, lambda line: b'"op":"pread"' in line and b'"path":null' in line)
    if unnamed:
        bad.append(f"{len(unnamed)} reads without a name")
    if used > memory_mib:
        bad.append(f"{used:.0f} MiB of memory to report it, {memory_mib} are allowed")
    return bad


def refused(place):
    wrong = [["--steps", "0"], ["--steps", "3-2"], ["--after", "5q"], ["--duration", ""],
             ["--max-size", "1K"], ["--max-size", "257G"], ["--steps", "1-2", "--after", "1"]]
    bad = []
    for options in wrong:
        done = harness.run([harness.command(), "run", *options, "--", "true"], cwd=place)
        if done.status != 2 or done.stderr.count(b"\n") != 1:
            bad.append(f"{options}: status {done.status}, {done.stderr}")
    return bad


def main():
    out = Tap()
    with harness.workplace() as place:
        if harness.full():
            out.run("4 GiB of rows into 16 MiB",
                    lambda: newest(place, "full", 16, 16 * MIB, 4, 0, 1500))
            return out.done()
        for name, options, env, want in (
                ("steps 3 to 5", ["--steps", "3-5"], {}, [3, 4, 5]),
                ("steps from 7 on", ["--steps", "7-"], {}, [7, 8, 9]),
                ("step 1", ["--steps", "1"], {}, [1]),
                ("steps by the environment", [], {"IOTRACE_STEPS": "8-20"}, [8, 9])):
            out.run(name, lambda: by_steps(place, name, options, env, want))
        out.run("a time", lambda: by_time(place))
        out.run("pause and resume", lambda: by_program(place))
        out.run("a pause by a child", lambda: of_all(place))
        out.run("partners in the dark", lambda: partners(place))
        for way in ("aio", "ring"):
            with harness.workplace() as own:
                out.run(f"requests beyond a pause: {way}", lambda: requests(own, way))
        for way in ("counter", "sigwait", "signalfd"):
            with harness.workplace() as own:
                out.run(f"waits beyond a pause: {way}", lambda: waits(own, way))
        out.run("without a tracer", lambda: untraced(place))
        out.run("the newest", lambda: newest(place, "newest", 4, 600000, 2, 0, 400))
        out.run("the newest, of many files", lambda: newest(place, "files", 4, 100000, 3, 5, 1500))
        out.run("what is no window", lambda: refused(place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
