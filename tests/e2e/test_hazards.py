#!/usr/bin/env python3
"""What breaks tracers that are preloaded: a victim program for each hazard.

A row of HAZARDS is run IOT_TEST_REPEAT times (10; 100 under --full, pass by pass), a slow one without --full
once. As many rows as there are CPUs run at a time. Each victim checks itself: its exit status must be what
it should be without the preload (tried once in each process of the pool) and with it. It says what it did
("did OP NAME COUNT"), and the trace must show just that. --way names circumstances under which all this
happens (WAYS).
"""
import argparse
import collections
import contextlib
import ctypes
import errno
import functools
import json
import multiprocessing
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import harness
import sanitized
from harness import Broken, Tap
from tally import ERRNO, FD, LANE, OP, PATH_, T0, T1, Tally

PR_SET_CHILD_SUBREAPER = 36  # of linux/prctl.h
DROPPED_AT = 144  # of dropped_events in the header page (FORMAT.md)
DID = re.compile(r"^did (?:(at_least|at_most):)?(\w+) (\S+) (\d+)$", re.MULTILINE)

# name: of the check; victim: its program; way: its arguments behind the folder
# status: how it ends      same: whether standard output must be the same with and without
# env: more environment (a function of the folder), preload: other libraries round ours
# slow: seconds it takes make it run once only in an ordinary run
# check: a function of (its run, the events, the folder of the trace) that gives complaints
Hazard = collections.namedtuple("Hazard", "name victim way status same env preload slow check",
                                defaults=((), 0, True, None, "{ours}", False, None))


# A command in front of the victim; preload libraries round those of the row; a load beside it
# `alone`: victims that do not work in these circumstances themselves are left out
# `mask`: what the command itself shows of itself on standard output
# `without`: rows that make no sense there, by a part of their name, with the reason
Way = collections.namedtuple("Way", "command env preload load alone mask without",
                             defaults=((), {}, "{rest}", False, False, None, {}))


def valgrind():
    """Its tool without the launcher, which is a program of its own and would be in the trace."""
    tools = [path for folder in ("libexec", "lib", "lib64")
             for path in Path("/usr", folder, "valgrind").glob("none-*-linux")
             if os.uname().machine.replace("x86_64", "amd64") in path.name]
    return (str(tools[0]), "--tool=none", "-q") if tools else None


WAYS = {
    "plain": Way(),
    "between": Way(preload="{before} {rest} {behind}", alone=True,
                   without={"run-time first": "it is not, between others"}),
    "busy": Way(load=True),
    "valgrind": Way(command=valgrind(), env={"VALGRIND_LAUNCHER": "/usr/bin/valgrind"}, alone=True,
                    without={"SIGPROF storm on a small alternate stack":
                             "valgrind's frames are larger than the stack that the system asks for",
                             "errno, also of requests": "valgrind follows a bad pointer itself",
                             "sanitize": "a sanitizer and valgrind do not go together"},
                    mask=rb"^.*(valgrind|vgdb).*\n"),
}


class NotAlone(Exception):
    """The victim does not do what it should even without the preload."""


def adopt_orphans():
    """What outlives its parent becomes a child of this process, which can wait for its end."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def wait_for_rest(argv):
    """For what outlives the run: until nothing is left of it."""
    deadline = time.monotonic() + harness.HANGS
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.005)
        raise Broken(f"{argv[0]}: a child of it had no end {harness.HANGS} s after its own")


def library(name):
    return harness.victim(f"lib{name}.so")


def dropped(folder):
    """Events that the recorder counted as not recorded."""
    count = 0
    for path in Path(folder).glob("*.iot"):
        with open(path, "rb") as f:
            f.seek(DROPPED_AT)
            count += struct.unpack("<Q", f.read(8))[0]
    return count


def counts_of(events):
    """How many calls of an operation on a file worked: by its path, by its last name, and all ("*")."""
    count = collections.Counter()
    for (op, path, failed), n in events.counts.items():
        if not failed:
            for name in {path or "", os.path.basename(path or ""), "*"}:
                count[op, name] += n
    return count


def check_counts(stdout, events):
    """Complaints where the trace does not show what the victim says that it did."""
    count, bad = counts_of(events), []
    for bound, op, name, said in DID.findall(stdout.decode(errors="replace")):
        seen, said = count[op, name], int(said)
        wrong = {"at_least": seen < said, "at_most": seen > said}.get(bound, seen != said)
        if wrong:
            bad.append(f"{op} of {name}: did {bound or ''} {said}, the trace has {seen}")
    return bad


def check_once(events):
    """No event twice."""
    seen = collections.Counter((row[LANE], row[T0], row[T1], row[PATH_], row[FD])
                               for row in events.rows if row[OP] == b'"write"')
    twice = [key for key, n in seen.items() if n > 1 and key[1] != key[2]]
    return [f"twice in the trace: {key}" for key in twice[:3]]


# --- checks of single hazards ---


def checked_entry_points(run, events, folder):
    """The fortified victim really calls what it is there for. Built by clang it cannot."""
    program = harness.victim("victim_hazard_fortify")
    if b"clang version" in Path(program).read_bytes():
        raise NotAlone("clang calls most of these functions by their plain names")
    listed = subprocess.run(["nm", "-D", "--undefined-only", program], capture_output=True, text=True)
    wanted = {"__read_chk", "__pread_chk", "__pread64_chk", "__open_2", "__openat_2", "__recv_chk",
              "__recvfrom_chk", "__poll_chk", "__ppoll_chk", "__readlink_chk", "__readlinkat_chk"}
    return [f"not called: {name}" for name in wanted if f" {name}" not in listed.stdout]


def cancelled_waits(run, events, folder):
    """Each has its row."""
    n = sum(e["op"] == "cond_wait" and e["errno"] == errno.ECANCELED for e in events)
    return [] if n >= 50 else [f"{n} waits that were cancelled"]


def bounded(run, events, folder):
    """However many threads come and go, the file is bounded by how many there are at once."""
    at_once = 500 if "crowd" in run.argv else 10
    files = list(Path(folder).glob("*.iot"))
    apparent = sum(f.stat().st_size for f in files)
    real = sum(f.stat().st_blocks * 512 for f in files)
    return [f"the trace takes {what}: {n} bytes for {len(events)} events"
            for what, n, most in (("on disk", real, (at_once + 100) * 64 << 10),
                                  ("in all", apparent, (at_once + 100) * 256 << 10))
            if n > most or len(files) > 1]


def whole(run, events, folder):
    """Nothing in the trace is taken for damage."""
    said = harness.run([harness.command(), "dump", folder]).stderr
    return [f"the dump says: {said!r}"] if said else []


def whole_and_bounded(run, events, folder):
    return whole(run, events, folder) + bounded(run, events, folder)


def monotone_clock(run, events, folder):
    """Times never go back in a lane, and agree with the program's own clock to 1 %."""
    took_ns = 1000 * int(re.search(rb"^took (\d+)$", run.stdout, re.MULTILINE)[1])
    data = [e for e in events if e["op"] == "write" and e["path"].endswith("/data")]
    after = next(e for e in events if e["op"] == "open" and e["path"].endswith("/took"))
    bad, before = [], {}
    for e in events:
        if e["t1_ns"] < e["t0_ns"] or e["t0_ns"] < before.get(e["lane"], 0):
            bad.append(f"time goes back: {e}")
        before[e["lane"]] = e["t0_ns"]
    # The program looked at its clock after the first call and before the second, and likewise at the end.
    least, most = data[-1]["t1_ns"] - data[1]["t0_ns"], after["t0_ns"] - data[0]["t1_ns"]
    if not least / 1.01 <= took_ns <= most * 1.01:
        bad.append(f"the program counted {took_ns} ns, the trace {least} to {most}")
    return bad


def one_pid(run, events, folder):
    """A hundred images of one process."""
    pids = {e["pid"] for e in events}
    execs = sum(e["op"] == "exec" for e in events)
    bad = [] if len(pids) == 1 else [f"one process, and the trace has {pids}"]
    return bad if execs == 99 else bad + [f"99 execs, and the trace has {execs}"]


def own_rows(run, events, folder):
    """A child in its parent's memory is not its parent: what either did, and how either ended."""
    root = next(e["pid"] for e in events if e["op"] == "start")
    bad = [f"the root did what its child did: {e}" for e in events
           if e["pid"] == root and (e["op"] == "exec" or (e["path"] or "").endswith("/child"))]
    with_exec = {e["pid"] for e in events if e["op"] == "exec"}
    ended = {e["pid"] for e in events if e["op"] == "exit"}
    return bad + [f"no end of process {pid}" for pid in with_exec - ended]


def lanes_end(run, events, folder):
    """The process ends with an exit row, whoever ends it."""
    exits = sum(e["op"] == "exit" for e in events)
    return [] if exits == 1 else [f"{exits} exit rows"]


def parent_ends(run, events, folder):
    """The parent that daemon() ends has an exit row, and the fork in it names the child."""
    root = next(e["pid"] for e in events if e["op"] == "start")
    child = [e["result"] for e in events if e["op"] == "fork" and e["pid"] == root]
    bad = [] if child else ["no fork row"]
    if not any(e["op"] == "exit" and e["pid"] == root for e in events):
        bad.append("the parent has no exit row")
    return bad + [f"child {pid} has no rows" for pid in child if pid not in {e["pid"] for e in events}]


def child_known(run, events, folder):
    """A child that could have no trace file of its own is named in the report."""
    forked = {e["result"] for e in events if e["op"] == "fork" and not e["errno"]}
    without = forked - {e["pid"] for e in events}
    named = {u["pid"] for u in harness.report(folder)["run"]["untraced"]}
    return [f"child {pid} left no trace, and the report does not say so" for pid in without - named] + \
        ([] if forked else ["no fork row"])


def plugin_seen(run, events, folder):
    """What another preload library does as it is loaded and unloaded."""
    return check_counts(b"did write begin 3\ndid write end 3\n", events)


def report_run(folder):
    """What the report says about the run, also of one that lost something."""
    return json.loads(harness.ask("report", folder, "--format", "json"))["run"]


def told(stdout, events, folder):
    """What the victim did and the trace does not show, the report says to be missing."""
    did = sum(int(n) for bound, op, name, n in DID.findall(stdout.decode(errors="replace"))
              if (op, name) == ("write", "data") and bound != "at_least")
    missing = did - counts_of(events)["write", "data"]
    run = report_run(folder)
    lost, text = run["dropped_events"], " ".join(run["not_seen"])
    bad = []
    if missing > lost and not run["untraced"]:
        bad.append(f"{missing} calls are missing, and the report says {lost} and no process")
    if lost and f"{lost} calls could not be recorded" not in text:
        bad.append(f"{lost} dropped, and the report says {text!r}")
    if run["untraced"] and "left no trace" not in text:
        bad.append(f"{run['untraced']}, and the report says {text!r}")
    return bad


def told_of(run, events, folder):
    return told(run.stdout, events, folder)


def child_told_of(run, events, folder):
    return told_of(run, events, folder) + child_known(run, events, folder)


def folder_env(place):
    return {"HAZARD_FOLDER": str(place)}


def clock_env(kind):
    return lambda place: {"IOTRACE_CLOCK": kind}


def sanitizer_env(compiler, kind):
    unordered = (compiler, kind) == ("gcc", "address")
    return lambda place: sanitized.UNORDERED if unordered else sanitized.OPTIONS


HAZARDS = [
    Hazard("an ordinary program", "writes", [3000]),
    # Start-up and symbols
    Hazard("a linked library's constructor and destructor", "linked", env=folder_env),
    Hazard("a preload before ours", "writes", [10], env=folder_env, preload="{plugin} {ours}",
           check=plugin_seen),
    Hazard("a preload behind ours", "writes", [10], env=folder_env, preload="{ours} {plugin}",
           check=plugin_seen),
    Hazard("a preload behind ours that wants to be first", "writes", [10], env=folder_env,
           preload="{ours} {first}"),
    Hazard("a preload before ours that wants to be first", "writes", [10], env=folder_env,
           preload="{first} {ours}"),
    Hazard("I/O in destructors, atexit and thread-local destructors", "late"),
    Hazard("fortified entry points", "fortify", check=checked_entry_points),
    Hazard("twins and old versions", "twins"),
    Hazard("mode of open", "mode"),
    Hazard("RTLD_DEEPBIND, dlopen, dlsym", "deepbind", ["{plugin}"]),
    Hazard("a program's own read", "own_read"),
    # Processes
    Hazard("forks while four threads record", "fork_threads", [300], same=False, slow=True),
    *(Hazard(f"children: {way}", "children", [way], same=way != "generations")
      for way in ("thread", "_Fork", "clone", "spawn", "double", "orphan", "generations",
                  "handler", "handler_limit", "timer")),
    Hazard("children: daemon", "children", ["daemon"], check=parent_ends),
    *(Hazard(f"children: {way}", "children", [way], check=own_rows)
      for way in ("clone_vfork", "vfork", "vfork_elsewhere", "vfork_twice")),
    Hazard("exec from a thread", "exec", ["thread"]),
    Hazard("exec while four threads record", "exec", ["race"]),
    Hazard("exec that fails", "exec", ["failing"]),
    Hazard("exec that fails under a file size limit", "exec", ["limit"]),
    Hazard("a hundred images of one process", "exec", ["loop", 99], check=one_pid),
    Hazard("pthread_exit from main", "exit", ["pthread_exit"], check=lanes_end),
    Hazard("detached threads at exit", "exit", ["detached"], 5),
    Hazard("detached threads at _exit", "exit", ["detached_quick"], 5),
    Hazard("quick_exit", "exit", ["quick_exit"], 6),
    # Threads
    Hazard("10,000 threads that come and go", "threads", ["churn", 10000], slow=True, check=bounded),
    Hazard("500 threads at once", "threads", ["crowd", 500], check=whole_and_bounded),
    # Signals, cancellation
    Hazard("a handler that writes, at 10 kHz", "signals", ["timer"], same=False),
    Hazard("a handler that jumps out of calls", "signals", ["jump"], same=False),
    Hazard("SIGPROF storm on a small alternate stack", "signals", ["storm"], same=False),
    Hazard("threads with the smallest stacks", "small_stacks"),
    Hazard("cancelled in a blocking call", "cancel", ["deferred"]),
    Hazard("cancelled in a wait for a condition", "cancel", ["condition"], check=cancelled_waits),
    Hazard("cancelled anywhere", "cancel", ["anywhere"], same=False),
    Hazard("errno", "errno"),
    Hazard("errno, also of requests", "errno", ["requests"]),
    # Resources
    *(Hazard(f"descriptors: {way}", "descriptors", [way])
      for way in ("close", "closefrom", "close_range", "thread", "dup", "received", "inherited",
                  "renamed")),
    Hazard("what a program sees of itself", "visible"),
    Hazard("no limits", "limits", ["none"]),
    *(Hazard(f"limits: {way}", "limits", [way], check=told_of)
      for way in ("as", "data", "mlockall", "fsize")),
    *(Hazard(f"limits: {way}", "limits", [way], check=child_told_of)
      for way in ("nofile", "setuid", "chroot")),
    Hazard("a seccomp filter by prctl", "seccomp", ["prctl"]),
    Hazard("a seccomp filter by syscall", "seccomp", ["syscall"]),
    Hazard("a seccomp filter that lets files be opened", "seccomp", ["open"]),
    Hazard("a seccomp filter that kills for a few calls", "seccomp", ["few"]),
    Hazard("memory that cannot be read", "unreadable"),
    Hazard("a library that is let go of", "unloaded"),
    Hazard("rings that another thread ends", "rings"),
    Hazard("children in a process number space of their own", "number_space"),
    Hazard("the TSC", "clock", same=False, env=clock_env("tsc"), check=monotone_clock),
    Hazard("the monotonic clock", "clock", same=False, env=clock_env("monotonic"), check=monotone_clock),
    # Programs that a sanitizer looks after: it finds what there is in them, and nothing of ours
    *(Hazard(f"{compiler} -fsanitize={kind}: {way}", f"{compiler}-{kind}", [way], status,
             env=sanitizer_env(compiler, kind)) for compiler, kind, way, status in sanitized.rows()),
    Hazard("gcc -fsanitize=address with its run-time first", "gcc-address", ["calm"],
           env=lambda place: sanitized.OPTIONS, preload="{asan} {ours}"),
]


def libraries(text):
    ours = harness.preload_env("")["LD_PRELOAD"]
    asan = sanitized.first("gcc", "asan") if "{asan}" in text else None
    return text.format(ours=ours, asan=asan, plugin=library("hazard_plugin"), first=library("hazard_first"),
                       before=library("neighbour_before"), behind=library("neighbour_behind"))


def argv_of(hazard, work, way):
    program = (sanitized.program(*hazard.victim.split("-")) if "-" in hazard.victim
               else harness.victim(f"victim_hazard_{hazard.victim}"))
    return [*way.command, program, work,
            *(libraries(str(a)) for a in hazard.way)]


# Twice as many processes as there are CPUs, that compute, allocate and write.
LOAD = """
import os, sys
f = open(sys.argv[1], "wb", buffering=0)
while True:
    sum(range(20000)); b = bytearray(1 << 20); f.seek(0); f.write(b)
"""


@contextlib.contextmanager
def load(wanted):
    with harness.workplace() as place:
        busy = [subprocess.Popen([sys.executable, "-c", LOAD, place / f"load{i}"], env=harness.plain())
                for i in range(2 * os.cpu_count() if wanted else 0)]
        try:
            yield
        finally:
            for process in busy:
                process.kill()
                process.wait()


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    folder.chmod(0o755)
    return folder


def shown(way, stdout, work):
    """Without its folder's name, and what the command in front of the victim shows of itself."""
    stdout = stdout.replace(os.fsencode(work), b"{work}")
    return re.sub(way.mask, b"", stdout, flags=re.MULTILINE) if way.mask else stdout


@functools.cache
def alone(row, way_name):
    """What it writes to standard output without the preload, but in the company of others."""
    hazard, way = HAZARDS[row], WAYS[way_name]
    with harness.workplace() as place:
        place.chmod(0o755)
        work = fresh(place / "work")
        env = (hazard.env(work) if hazard.env else {}) | way.env
        env |= {"LD_PRELOAD": libraries(way.preload.format(rest="", before="{before}", behind="{behind}"))}
        done = harness.run(argv_of(hazard, work, way), harness.plain(env), place)
        if done.status != hazard.status:
            kind = NotAlone if way.alone else Broken
            raise kind(f"without the preload: status {done.status} ({done.tail()})")
        wait_for_rest(done.argv)
        return shown(way, done.stdout, work)


def check(row, way_name):
    hazard, way, without = HAZARDS[row], WAYS[way_name], alone(row, way_name)
    with harness.workplace() as place:
        place.chmod(0o755)
        work, folder = fresh(place / "work"), place / "trace"
        env = (hazard.env(work) if hazard.env else {}) | way.env
        env |= {"LD_PRELOAD": libraries(way.preload.format(rest=hazard.preload, before="{before}",
                                                            behind="{behind}")), "IOTRACE_DIR": str(folder)}
        done = harness.run(argv_of(hazard, work, way), harness.plain(env), place)
        wait_for_rest(done.argv)
        bad = []
        if done.status != hazard.status:
            bad.append(f"status {done.status} instead of {hazard.status} ({done.tail()})")
        stdout = shown(way, done.stdout, work)
        if hazard.same and stdout != without:
            bad += ["standard output differs"] + [
                f"without {a!r}, with {b!r}" for a, b in zip(without.splitlines(), stdout.splitlines()) if a != b]
        events = Tally(folder)
        bad += check_counts(done.stdout, events)
        bad += check_once(events)
        if dropped(folder):
            bad.append(f"{dropped(folder)} events dropped")
        if hazard.check:
            bad += hazard.check(done, events, folder)
        return bad


def fell(row, way_name):
    """Complaints of one run; a text is the reason why there was none."""
    try:
        return check(row, way_name)
    except (NotAlone, sanitized.NotHere) as reason:
        return str(reason)
    except (Broken, OSError) as e:
        return [str(e)]


def runs_of(task):
    """Some runs of a row, in a process of the pool: (the row, what each gave)."""
    row, way, runs = task
    return row, [fell(row, way) for _ in range(runs)]


def begin():
    """Of a process of the pool."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    adopt_orphans()


def tasks(rows, way):
    """Pass by pass where the passes count; else all runs of a row together."""
    wanted = int(os.environ.get("IOT_TEST_REPEAT", "100" if harness.full() else "10"))
    if harness.full():
        return [(row, way, 1) for _ in range(wanted) for row in rows]
    return [(row, way, 1 if HAZARDS[row].slow else wanted) for row in rows]


def note_passes(rows, gave, began, told, row):
    """Says under --full what fell and how many passes have ended, so that an end before the last is no loss."""
    if harness.full() and isinstance(gave[row][-1], list) and gave[row][-1]:
        print(f"# {HAZARDS[row].name}, run {len(gave[row])}: {'; '.join(map(str, gave[row][-1]))}", flush=True)
    ended = min(len(gave[row]) for row in rows)
    if harness.full() and ended > told:
        failed = sum(isinstance(g, list) and g != [] for row in rows for g in gave[row])
        print(f"# {ended} passes after {time.monotonic() - began:.0f} s, {failed} runs fell", flush=True)
    return ended


def verdict(out, name, gave):
    """The point of one row from all that its runs gave."""
    reason = next((g for g in gave if isinstance(g, str)), None)
    if reason:
        return out.skip(name, reason)
    bad = [(i + 1, g) for i, g in enumerate(gave) if g]
    return out.point(not bad, name, [line for i, g in bad for line in (f"run {i} of {len(gave)}:", *g)])


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no load goes on behind a time limit
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--way", choices=WAYS, default="plain")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    way = WAYS[args.way]
    if way.command is None:
        harness.skip_all(f"{args.way} is not installed")
    asked = [i for i, hazard in enumerate(HAZARDS)
             if not args.names or any(name in hazard.name for name in args.names)]
    left_out = {i: reason for part, reason in way.without.items() for i in asked if part in HAZARDS[i].name}
    rows = [i for i in asked if i not in left_out]
    gave, began, told = collections.defaultdict(list), time.monotonic(), 0
    with load(way.load), sanitized.folder_for_all(), \
            multiprocessing.get_context("fork").Pool(os.cpu_count(), begin) as pool:
        for row, these in pool.imap_unordered(runs_of, tasks(rows, args.way)):
            gave[row] += these
            told = note_passes(rows, gave, began, told, row)
    out = Tap()
    for row in asked:
        if row in left_out:
            out.skip(HAZARDS[row].name, left_out[row])
        else:
            verdict(out, HAZARDS[row].name, gave[row])
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
