"""The rows of the cost table: each measures one property and returns a Markdown table."""

import json
import os
import shlex
import shutil

from bench_instructions import instructions
from bench_run import figures, interleave, run, spread, table

# What a call may cost, in ns, by kind of call and clock. A lock reads no clock.
CALL_LIMITS = {
    "pread": {"tsc": "40, 70 with compression", "monotonic": "80, 110 with compression"},
    "write": {"tsc": "40, 70 with compression", "monotonic": "80, 110 with compression"},
    "lock": {"tsc": "10"},
}
OPENS = 20_000          # in each of the driver's own rounds, of files of these sizes
OPENED = {"4 kB": 4096, "4 MB": 4 << 20, "64 GB, of which 4 MB are in the page cache": 64 << 30}
IN_CACHE = 4 << 20
EXECS = 200             # a round of `startup`; the slow ones make fewer, but
LEAST_EXECS = 20
EXIT_EVENTS = 2_000_000
LONGEST_CALLS = 1_000_000
SIZE_CALLS = 1_000_000


def less_first(results, place, key):
    """In every round, the figure of one contender minus that of the first, the base."""
    return spread([mine[key] - base[key] for mine, base in zip(results[place], results[0])])


def milliseconds(one, results, place, key, limit):
    """One contender's table row of a figure in microseconds: itself, and beyond the base."""
    total = spread([it[key] / 1000 for it in results[place]])
    more = spread([(it[key] - base[key]) / 1000 for it, base in zip(results[place], results[0])])
    return [one.label, total.text(2), more.text(2) if place else "–",
            limit if one.label == "iotrace" else ""]


def call(machine, options):
    """What a call costs in front of the stub, without the stub itself."""
    rows = []
    for kind, limits in CALL_LIMITS.items():
        for threads in (1, 4):
            for clock, limit in limits.items():
                group = [machine.bare(), machine.two_clocks(clock), machine.traced(clock)]
                if clock == "monotonic":
                    group.append(machine.lttng())
                results = interleave(options.rounds, group, lambda one: machine.driver(
                    one, kind, options.calls, threads, behind=(machine.stub,)))
                cells = [less_first(results, place, "ns_median").text(1)
                         if not one.missing else one.missing
                         for place, one in enumerate(group) if place > 0]
                cells += ["–"] * (3 - len(cells))
                stub = spread([one["ns_median"] for one in results[0]]).text(1)
                rows.append([kind, str(threads), clock, stub, *cells, limit])
    empty = spread([machine.driver(machine.bare(), "empty", options.calls)["ns_median"]
                    for _ in range(options.rounds)])
    return (table(["call", "threads", "clock", "driver and stub", "two clock readings", "iotrace",
                   "LTTng-UST", "limit"], rows)
            + f"\n\nThe driver's loop round an empty function: {empty.text(1)} ns.")


def cached(machine, options):
    """Throughput of 4 KiB preads from the page cache."""
    rows = []
    for threads in (1, 4):
        group = [machine.bare(), machine.two_clocks("tsc"), machine.traced("tsc"),
                 machine.two_clocks("monotonic"), machine.traced("monotonic"), machine.lttng(),
                 machine.darshan(), machine.dftracer(), *machine.straces()]
        results = interleave(options.rounds, group, lambda one: machine.driver(
            one, "pread", options.calls, threads, options=("-o",)))
        for place, one in enumerate(group):
            name = f"{one.label}, {one.clock}" if one.clock else one.label
            if one.missing:
                rows.append([str(threads), name, one.missing, "", "", ""])
                continue
            reference = results[3 if one.clock == "monotonic" else 1]
            share = spread([100 * mine["kops_median"] / base["kops_median"]
                            for mine, base in zip(results[place], reference)])
            rows.append([str(threads), name,
                         spread([it["kops_median"] for it in results[place]]).text(0),
                         less_first(results, place, "ns_median").text(0) if place else "–",
                         share.text(1),
                         "≥ 95" if one.label == "iotrace" and threads == 4 else ""])
    return table(["threads", "with", "kops/s", "ns a call more than with nothing",
                  "% of two clock readings", "limit"], rows)


def opening(machine, options):
    """What an open and its close cost, with what is asked about the page cache at each open."""
    rows = []
    for label, size in OPENED.items():
        path = machine.folder / "opened"
        with open(path, "wb") as file:
            file.write(bytes(min(size, IN_CACHE)))
            file.truncate(size)
        group = [machine.bare(), machine.two_clocks("tsc"), machine.traced("tsc")]
        results = interleave(options.rounds, group, lambda one: machine.driver(
            one, "open", OPENS, options=("-o",), file=path))
        path.unlink()
        for place, one in enumerate(group):
            if one.missing:
                rows.append([label, one.label, one.missing, "", ""])
                continue
            rows.append([label, one.label,
                         spread([it["ns_median"] / 1000 for it in results[place]]).text(2),
                         spread([(it["ns_median"] - base["ns_median"]) / 1000
                                 for it, base in zip(results[place], results[0])]).text(2)
                         if place else "–", "10" if one.label == "iotrace" else ""])
    return table(["file", "with", "µs an open and close", "µs more than with nothing", "limit"], rows)


def startup(machine, options):
    """What a preload adds to one exec."""
    group = [machine.bare(), machine.two_clocks("tsc"), machine.traced("tsc"), machine.lttng(),
             *machine.straces()]
    program = shutil.which("true", path="/usr/bin:/bin")
    results = interleave(options.rounds, group, lambda one: machine.program(
        one, "spawn", max(LEAST_EXECS, int(EXECS * one.share)), program))
    rows = []
    for place, one in enumerate(group):
        if one.missing:
            rows.append([one.label, one.missing, "", ""])
            continue
        rows.append(milliseconds(one, results, place, "us_median", "1.5"))
    return table(["with", "ms from spawn to end", "ms more than with nothing", "limit"], rows)


def ending(machine, options):
    """From the last of two million events to the end of the process."""
    group = [machine.bare(), machine.two_clocks("tsc"), machine.traced("tsc")]

    def measure(one):
        with machine.trace_folder(one) as trace:
            env = machine.environment(one, (machine.stub,), trace)
            # The program that waits is not traced: it sets the preload for its child only.
            preload = env.pop("LD_PRELOAD")
            return figures(run([str(machine.programs / "exit"), str(EXIT_EVENTS),
                                str(machine.file), preload], env).stdout)

    results = interleave(options.rounds, group, measure)
    rows = []
    for place, one in enumerate(group):
        if one.missing:
            rows.append([one.label, one.missing, "", ""])
            continue
        rows.append(milliseconds(one, results, place, "exit_us", "5"))
    return table(["with", "ms from the last event to the end", "ms more than with nothing",
                  "limit"], rows)


def longest(machine, options):
    """The slowest of a million calls in front of the stub."""
    group = [machine.bare(), machine.two_clocks("tsc"), machine.traced("tsc")]
    results = interleave(options.rounds, group, lambda one: machine.program(
        one, "longest", LONGEST_CALLS, machine.file, behind=(machine.stub,)))
    rows = []
    for place, one in enumerate(group):
        if one.missing:
            rows.append([one.label, one.missing, "", "", ""])
            continue
        rows.append([one.label,
                     *(spread([it[key] for it in results[place]]).text(0)
                       for key in ("wall_us", "cpu_us", "over_500_us")),
                     "none" if one.label == "iotrace" else ""])
    return table(["with", "longest call, µs by the wall", "µs of CPU", "calls above 500 µs of CPU",
                  "limit"], rows)


def folder_bytes(folder):
    """Apparent and allocated bytes of the files of a folder."""
    apparent = allocated = 0
    for where, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(os.path.join(where, name))
            apparent += status.st_size
            allocated += status.st_blocks * 512
    return apparent, allocated


def traced_size(machine, argv):
    """Runs argv with iotrace; returns (apparent, allocated, the report's `run`)."""
    one = machine.traced("tsc")
    with machine.trace_folder(one) as trace:
        run(argv, machine.environment(one, (), trace))
        report = run([str(machine.iotrace), "report", "--format", "json", str(trace)])
        facts = json.loads(report.stdout)["run"]
        if facts["events"] == 0:
            raise RuntimeError(f"{argv[0]}: its trace has no event; was the preload ignored?")
        return (*folder_bytes(trace), facts)


def size_row(name, sizes, fixed, limit):
    apparent, allocated, facts = sizes
    events, processes = facts["events"], facts["processes"]
    net = (apparent - fixed[0] * processes) / events
    note = f"{facts['dropped_events']} dropped" if facts["dropped_events"] else "–"
    return [name, str(processes), str(events), note, f"{apparent / events:.2f}",
            f"{allocated / events:.2f}", f"{net:.2f}", limit]


def size(machine, options):
    """Bytes a recorded event takes on disk."""
    if machine.tracer_missing:
        return machine.tracer_missing + "."
    if not machine.iotrace.exists():
        return "The command iotrace, which counts the events, is not built."
    fixed = traced_size(machine, ["/bin/true"])
    driver = [str(machine.programs / "driver"), "-n", str(SIZE_CALLS), "-r", "1"]
    rows = [size_row("pread loop, 1 thread",
                     traced_size(machine, [*driver, "pread", str(machine.file)]), fixed, "4")]
    rows.append(size_row("pread loop, 4 threads",
                         traced_size(machine, [*driver, "-t", "4", "pread", str(machine.file)]),
                         fixed, "4"))
    if options.torch:
        rows.append(size_row("PyTorch", traced_size(machine, shlex.split(options.torch)), fixed,
                             "8"))
    text = table(["run", "processes", "events", "lost", "bytes an event", "allocated an event",
                  "without the fixed part", "limit"], rows)
    text += (f"\n\nFixed part of a process (the trace of `true`): {fixed[0]} bytes, "
             f"{fixed[1]} allocated.")
    return text + lttng_size(machine)


def lttng_size(machine):
    """A sentence on what LTTng-UST writes for the same loop."""
    peer = machine.lttng()
    if peer.missing:
        return f" LTTng-UST: {peer.missing}."
    folder = machine.folder / "lttng-size"
    argv = [str(machine.programs / "driver"), "-n", "200000", "-r", "1", "pread",
            str(machine.file)]
    with machine.session(folder):
        made = figures(run(argv, machine.environment(peer)).stdout)["total_calls"]
    return f" LTTng-UST: {folder_bytes(folder)[0] / made:.1f} bytes an event of the loop."


ROWS = {"call": call, "cached": cached, "open": opening, "startup": startup, "instructions": instructions,
        "exit": ending, "longest": longest, "size": size}
