"""User-space instructions a call, counted by callgrind: the figure that a busy machine leaves alone."""

import re
import shutil

from bench_run import run, table

CALLS = 20_000
KINDS = ("pread", "write", "lock")


def collected(machine, contender, kind, calls):
    """Instructions and calls of one run of the driver. libtick.so keeps the clock, or what is
    compressed would differ from run to run."""
    with machine.trace_folder(contender) as trace:
        done = run(["valgrind", "--tool=callgrind", "--trace-children=no",
                    "--callgrind-out-file=/dev/null", str(machine.programs / "driver"),
                    "-n", str(calls), "-r", "1", kind, str(machine.file)],
                   machine.environment(contender, (machine.stub, machine.tick), trace))
    made = re.search(r"total_calls=(\d+)", done.stdout)
    count = re.search(r"Collected : (\d+)", done.stderr)
    if made is None or count is None:
        raise RuntimeError("callgrind: no count in its output")
    return int(count[1]), int(made[1])


def each(machine, contender, kind):
    """Of one call, from two runs of which one makes twice the calls."""
    few, few_calls = collected(machine, contender, kind, CALLS)
    many, many_calls = collected(machine, contender, kind, 2 * CALLS)
    return (many - few) / (many_calls - few_calls)


def more(machine, contender, kind):
    """What the contender adds to a call."""
    return each(machine, contender, kind) - each(machine, machine.bare(), kind)


def instructions(machine, options):
    """The table's row of them."""
    del options     # the count does not depend on the moment: one round tells it
    if not shutil.which("valgrind"):
        return "valgrind is not installed."
    rows = []
    group = [machine.bare(), machine.two_clocks("monotonic"), machine.traced("monotonic")]
    for kind in KINDS:
        base = None
        for one in group:
            if one.missing:
                rows.append([kind, one.label, one.missing, ""])
                continue
            count = each(machine, one, kind)
            base = count if base is None else base
            rows.append([kind, one.label, f"{count:.1f}", f"{count - base:.1f}"])
    return table(["call", "with", "instructions a call, driver and stub included",
                  "more than with nothing"], rows)
