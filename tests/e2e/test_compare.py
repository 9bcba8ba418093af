#!/usr/bin/env python3
"""`iotrace compare`: what it finds in programs that really differ, when it says that it cannot tell,
what a policy changes, and what it refuses."""
import os
import subprocess
import sys
from functools import partial

import comparing
import harness
from comparing import row
from harness import Tap

# What a terminal has: a group of processes of its own, in which signals do what they do.
IN_A_GROUP = """
import os, signal, sys
os.setpgid(0, 0)
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""
MEGABYTE = 1 << 20
MILLISECOND = comparing.MILLISECOND


def trace(place, name, chunk, syncs, cold=False, env=None):
    data = place / "model.bin"
    if not data.exists():
        data.write_bytes(os.urandom(16 * MEGABYTE))
    if cold:
        fd = os.open(data, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
    done = harness.trace([harness.victim("victim_compare"), data, place / "out", chunk, syncs],
                         place / name, env)
    if done.status:
        raise harness.Broken(f"the victim ended with {done.status}")
    return done.folder


def state(made, metric):
    return made["by"][metric]["state"] if metric in made["by"] else None


def expect(made, **states):
    """Complaints about states; in names of metrics "_of_" is a dot."""
    wanted = {name.replace("_of_", "."): want for name, want in states.items()}
    return [f"{name} is {state(made, name)}, expected {want}: {made['by'].get(name)}"
            for name, want in wanted.items() if state(made, name) != want]


# --- programs that differ ---

def check_reads(place):
    """10 KiB instead of 1 MiB: told by one run a side, and why."""
    made, status = comparing.ask([trace(place, "large", MEGABYTE, 0)],
                                 [trace(place, "small", 10240, 0)])
    bad = expect(made, artifact_of_data_ops="regressed", artifact_of_bytes="unchanged",
                 wall="inconclusive")
    why = " ".join(made["by"]["artifact.data_ops"]["why"])
    bad += [f"why does not say {word}: {why}" for word in ("model.bin", "reads", "10.2 kB each")
            if word not in why]
    return bad + ([] if status == 1 else [f"status {status}"])


def check_sites(place):
    """Of runs with stacks, also from where the calls come."""
    stacks = {"IOTRACE_STACKS": "sites"}
    made, _ = comparing.ask([trace(place, "large-sites", MEGABYTE, 0, env=stacks)],
                            [trace(place, "small-sites", 10240, 0, env=stacks)])
    why = made["by"]["artifact.data_ops"]["why"]
    sites = [line for line in why if line.startswith("called from ")]
    if len(sites) != 1 or not sites[0].startswith("called from main: 19 → 1642 calls"):
        return [f"why is {why}"]
    made, _ = comparing.ask([place / "large"], [place / "small-sites"])
    lines = made["by"]["artifact.data_ops"]["why"]
    if any("called" in line for line in lines):
        return [f"a base without stacks: {lines}"]
    return [] if "model.bin" in why[0] else [f"no file first: {why}"]


def check_syncs(place):
    made, status = comparing.ask([trace(place, "no-sync", MEGABYTE, 0)],
                                 [trace(place, "sync", MEGABYTE, 40)])
    bad = expect(made, output_of_sync_ops="regressed", output_of_bytes="unchanged",
                 artifact_of_data_ops="unchanged")
    why = " ".join(made["by"]["output.sync_ops"]["why"])
    if "out (output)" not in why or "0 → 40 syncs" not in why:
        bad.append(f"why is {why!r}")
    return bad + ([] if status == 1 else [f"status {status}"])


def check_same(place):
    """One run a side of the same: counts are told, times are not, and how many runs would."""
    sides = [[trace(place, f"same-{i}", MEGABYTE, 4)] for i in range(2)]
    made, status = comparing.ask(*sides)
    bad = expect(made, artifact_of_data_ops="unchanged", output_of_sync_ops="unchanged",
                 output_of_bytes="unchanged", wall="inconclusive", artifact_of_exposed="inconclusive")
    needed = made["by"]["wall"]["runs_needed"]
    if not needed or not 4 <= needed <= 7:
        bad.append(f"{needed} runs needed")
    if status:
        bad.append(f"status {status}")
    if comparing.ask(*sides, "--strict")[1] != 3:
        bad.append("--strict: not 3")
    return bad


def check_cold(place):
    warm, cold = trace(place, "warm", MEGABYTE, 0), trace(place, "cold", MEGABYTE, 0, True)
    if row(harness.report(cold), "artifact")["cache_scope"] != "cold":
        return []  # the file system does not let go of it; made-up runs show the same
    made, _ = comparing.ask([warm], [cold])
    return expect(made, wall="not comparable", artifact_of_exposed="not comparable",
                  output_of_exposed="inconclusive", artifact_of_bytes="unchanged")


def check_forms(place, made_up):
    """Traces, their reports, and folders of both are the same runs."""
    one, other = trace(place, "form-1", MEGABYTE, 0), trace(place, "form-2", MEGABYTE, 4)
    reports = place / "forms"
    reports.mkdir()
    for name, folder in (("a.json", one), ("b.json", other)):
        (reports / name).write_bytes(harness.ask("report", folder, "--format", "json"))
    traces = place / "traces"
    traces.mkdir()
    for name, folder in (("1", one), ("2", other)):
        os.symlink(folder, traces / name)
    candidate = [made_up.run()]
    seen = [comparing.ask(base, candidate)[0]["metrics"]
            for base in ([one, other], [reports / "a.json", reports / "b.json"], [reports], [traces])]
    return [f"form {i} gives other figures" for i in range(1, 4) if seen[i] != seen[0]]


# --- runs for it ---

def check_repeat(place):
    """Runs in turns, each with its trace; the warm-up's is gone, and a second command has its own."""
    folder, data = place / "repeat", place / "model.bin"
    victim = harness.victim("victim_compare")
    done = harness.run([harness.command(), "run", "-o", folder, "--repeat", 2, "--warmup", 1,
                        "--drop-caches", "--interleave-with",
                        f"exec {victim} {data} {place}/out 10240 0", "--", victim, data,
                        place / "out", MEGABYTE, 0],
                       harness.plain({"LIBIOTRACE": os.environ["LIBIOTRACE"]}))
    made = sorted(str(p.relative_to(folder)) for p in folder.glob("*/*"))
    if done.status or made != ["a/01", "a/02", "b/01", "b/02"]:
        return [f"status {done.status}, {made} ({done.tail()})"]
    starts = [harness.report(folder / name)["run"]["start_realtime_ns"] for name in
              ("a/01", "b/01", "a/02", "b/02")]
    if starts != sorted(starts):
        return ["they did not take turns"]
    scopes = {row(harness.report(folder / name), "artifact")["cache_scope"] for name in made}
    if scopes != {"cold"} and b"stay in the page cache" not in done.stderr:
        return [f"the page cache was {scopes}, and nothing said so"]
    return expect(comparing.ask([folder / "a"], [folder / "b"])[0], artifact_of_data_ops="regressed")


def check_repeat_ends(place):
    """Ctrl-C ends the series, also where the program takes it and ends well; what a run that failed left is
    put aside, where no comparison takes it for a run; and one that left no trace is no run."""
    env = harness.plain({"LIBIOTRACE": os.environ["LIBIOTRACE"]})
    bad = []
    for name, script, status, left in [
            ("third", 'echo >> "$0.n"; [ $(wc -l < "$0.n") -lt 3 ] || exit 5', 5, [".failed-03", "01", "02"]),
            ("taken", "trap 'exit 0' INT; kill -INT 0; sleep 9", 130, [".failed-01"]),
            ("ctrl c", "kill -INT 0; sleep 9", 130, [".failed-01"]),
            ("no trace", 'rm -rf "$0"', 2, [])]:
        folder = place / f"ends {name}"
        done = subprocess.run([sys.executable, "-c", IN_A_GROUP, harness.command(), "run", "-o", folder,
                               "--repeat", "4", "--", "sh", "-c", script, folder / "01" if "rm" in script
                               else place / name], env=env, capture_output=True, timeout=60, check=False)
        lines = [line for line in done.stderr.decode().splitlines() if "no more are made" in line]
        made = sorted(p.name for p in folder.iterdir())
        if (done.returncode, made, len(lines)) != (status, left, 1):
            bad.append(f"{name}: status {done.returncode}, {made} ({done.stderr.decode()})")
    done = harness.run([harness.command(), "compare", place / "ends third", "--to", place / "ends third"])
    return bad + ([] if b"same run" in done.stderr else [f"compare: {done.tail()}"])


def check_repeat_refused(place):
    """A folder that holds runs, no folder, a command that fails."""
    bad = []
    env = harness.plain({"LIBIOTRACE": os.environ["LIBIOTRACE"]})
    (place / "full").mkdir()
    (place / "full" / "note").write_text("mine")
    for options, status, says in [(["-o", place / "full", "--repeat", 2], 2, "full"),
                                  (["--repeat", 2], 2, "-o"), (["--repeat", 0], 2, "from 1"), (["--warmup", 2], 2, "--repeat"),
                                  (["-o", place / "fails", "--repeat", 3], 7, "run 1 of 3")]:
        done = harness.run([harness.command(), "run", *options, "--", "sh", "-c", "exit 7"], env)
        if done.status != status or says not in done.stderr.decode():
            bad.append(f"{options}: status {done.status} ({done.tail()})")
    if [p.name for p in (place / "fails").iterdir()] != [".failed-01"]:
        bad.append("it went on after a run that failed")
    return bad


# --- made-up runs ---

def slower(made):
    row(made, "artifact")["exposed_ns"] *= 2
    for f in made["files"]:
        if f["object"] == "artifact":
            f["exposed_ns"] *= 2
            f["service_ns"] *= 2


def check_times(made_up):
    base, same = made_up.side(), made_up.side()
    made, status = comparing.ask(base, same, "--strict")
    bad = expect(made, wall="unchanged", artifact_of_exposed="unchanged",
                 output_of_exposed="unchanged")
    if status:
        bad.append(f"the same: status {status}")
    made, status = comparing.ask(base, made_up.side(slower))
    bad += expect(made, artifact_of_exposed="regressed", wall="unchanged")
    why = " ".join(made["by"]["artifact.exposed"]["why"])
    if status != 1 or "model.bin" not in why or "a call takes" not in why:
        bad.append(f"slower: status {status}, why {why!r}")
    made, status = comparing.ask(made_up.side(slower), same)
    bad += expect(made, artifact_of_exposed="improved")
    made, _ = comparing.ask(made_up.side(n=3), made_up.side(slower, n=3))
    bad += expect(made, artifact_of_exposed="inconclusive")
    return bad + (["faster: status " + str(status)] if status else [])


def again(made):
    """Each byte is read three times."""
    for where in (row(made, "artifact"), *(f for f in made["files"] if f["object"] == "artifact")):
        where["placed_bytes"] *= 3
        where["read_bytes"] *= 3
        where["bytes"] *= 3
        where["read_amplification"] *= 3


def older(made):
    """As a version before read amplification made it."""
    for where in (*made["objects"], *made["files"]):
        for key in ("placed_bytes", "distinct_bytes", "read_amplification"):
            del where[key]


def check_again(place, made_up):
    """Read amplification is told by one run a side, by object and by file; of an older baseline it is said
    that it is not gated, and where the policy asks for it, that it is missing."""
    rule = policy(place, 'file:"model.*".read_amplification hard 2 fail\n')
    made, status = comparing.ask([made_up.run()], [made_up.run(again)], *rule)
    figure, why = "artifact.read_amplification", "each byte is read 1 → 3 times"
    named = 'file:"model.*".read_amplification'
    bad = expect(made, **{figure: "regressed", named: "regressed"})
    for name in (figure, named):
        if not any("model.bin" in line and why in line for line in made["by"][name]["why"]):
            bad.append(f"why is {made['by'][name]['why']}")
    if (made["by"][figure]["base"], made["by"][figure]["candidate"], status) != (1, 3, 1):
        bad.append(f"status {status}: {made['by'][figure]}")
    base = [made_up.run(older)]
    made, status = comparing.ask(base, [made_up.run()])
    if figure in made["by"] or not any(figure in note for note in made["notes"]) or status:
        bad.append(f"older base: status {status}, {made['notes']}, {made['by'].get(figure)}")
    made, _ = comparing.ask(base, [made_up.run()], *policy(place, f"{figure} fail\n"))
    return bad + expect(made, **{figure: "missing"})


def put_lines(site, line):
    """The site where its places are known by line: in a file of C, called from one of Python."""
    site["frames"] = ["read+0x1 (libc.so.6)", f"part.c:{line} load_part (app)", f"run.py:{line} load"]
    site["places"] = [{"function": "read", "file": None, "line": None},
                      {"function": "load_part", "file": "/s/part.c", "line": line},
                      {"function": "load", "file": "/s/run.py", "line": line}]


def explains(factor, lines=False):
    """One call site, one phase and one wait make most of what the artifact costs."""
    def change(made):
        def figures(ns, **more):
            return more | {"exposed_ns": int(ns * MILLISECOND * factor)}
        made["sites"] = [figures(150, service_ns=0, calls=30, bytes=0, object="artifact", path="/d/model.bin",
                                 frames=["read+0x1 (libc.so.6)", f"load_part+{factor:#x} (app)"]),
                         figures(20, service_ns=0, calls=900, bytes=0, object="artifact",
                                 path="/d/model.bin", frames=["read+0x1 (libc.so.6)", "peek+0x7 (app)"]),
                         figures(500, service_ns=0, calls=9, bytes=0, object="output", path="/d/out",
                                 frames=["write+0x1 (libc.so.6)"])]
        if lines:
            put_lines(made["sites"][0], 10 * factor)
        made["phases"] = [{"name": name, "start_ns": 0, "end_ns": 0, "steps": 0, "step_ns": None,
                           "objects": [figures(ns, object="artifact")]}
                          for name, ns in (("cold_start", 180), ("steady", 20))]
        made["waits"] = [{"waiter": "main thread", "waited_for": who, "doing": "reading",
                          "path": "/d/model.bin", "object": "artifact",
                          "waited_ns": int(ns * MILLISECOND * factor)}
                         for who, ns in (("loader", 160), ("logger", 10))]
        if factor > 1:
            slower(made)
    return change


def check_why(made_up):
    """Files, call sites, phases and waits, in this order, each the one that makes most of it."""
    made, _ = comparing.ask(made_up.side(explains(1)), made_up.side(explains(2)))
    why = made["by"]["artifact.exposed"]["why"]
    want = ["model.bin (artifact)", "called from load_part > read: 30 → 30 calls; exposed 150 ms → 300 ms",
            "in phase cold_start: exposed 180 ms → 360 ms",
            "main thread waits for loader (reading"]
    if len(why) != len(want) or not all(word in line for word, line in zip(want, why)):
        return [f"why is {why}"]
    made, _ = comparing.ask(made_up.side(explains(1, True)), made_up.side(explains(2, True)))
    why = made["by"]["artifact.exposed"]["why"]
    if "called from load > load_part > read: 30 → 30 calls; exposed 150 ms → 300 ms" not in why:
        return [f"the same functions at other lines: {why}"]
    return []


def check_straddling(made_up):
    """A shift of as much as is tolerated, in noise: never unchanged, never regressed."""
    made, _ = comparing.ask(made_up.side(n=8), made_up.side(scale=1.05, n=8))
    bad = expect(made, wall="inconclusive")
    if not made["by"]["wall"]["runs_needed"] and "not even" not in made["by"]["wall"]["reason"]:
        return bad  # more than are read
    return bad + ([] if made["by"]["wall"]["runs_needed"] > 8 else ["no more runs needed"])


def gone(made):
    for where in (row(made, "output"), *(f for f in made["files"] if f["object"] == "output")):
        for key in ("data_ops", "metadata_ops", "sync_ops", "bytes", "exposed_ns", "opens"):
            where[key] = 0


def check_missing(made_up):
    """Measured nothing is not no regression."""
    made, status = comparing.ask(made_up.side(), made_up.side(gone))
    bad = expect(made, output_of_exposed="missing", output_of_data_ops="missing",
                 output_of_bytes="missing", artifact_of_exposed="unchanged")
    if status:
        bad.append(f"status {status}")
    return bad


def change(section, key, value):
    def of(made):
        (made[section] if section else made)[key] = value
    return of


def cold(made):
    row(made, "artifact")["cache_scope"] = "cold"


def check_not_alike(made_up):
    base = made_up.side()
    print_of = lambda key, value: lambda made: made["run"]["fingerprint"].update({key: value})
    bad = []
    for part, other in (("cpu", print_of("cpu", "other")), ("kernel", print_of("kernel", "7.0")),
                        ("filesystems", print_of("filesystems", ["/data nfs4"])), ("cache", cold)):
        side = made_up.side(other)
        made, _ = comparing.ask(base, side)
        bad += expect(made, wall="not comparable", artifact_of_exposed="not comparable",
                      artifact_of_bytes="unchanged")
        made, _ = comparing.ask(base, side, "--allow", part)
        bad += [f"{part} allowed: {line}" for line in expect(made, wall="unchanged")]
        if not made["notes"]:
            bad.append(f"{part}: allowed and not said")
    made, _ = comparing.ask(base, made_up.side(change("run", "dropped_events", 3)))
    bad += expect(made, wall="not comparable", artifact_of_bytes="not comparable")
    made, _ = comparing.ask(base, made_up.side(change("run", "salvaged_processes", 1)))
    bad += expect(made, wall="not comparable", artifact_of_bytes="not comparable")
    if "damaged" not in made["not_comparable"]["counts"]:
        bad.append(f"damaged: {made['not_comparable']}")
    made, _ = comparing.ask(base, made_up.side(change("run", "version", "0.0.9")))
    if not any(note.startswith("Another version of iotrace: 0.0.9, not ") for note in made["notes"]):
        bad.append(f"another version: {made['notes']}")
    made, _ = comparing.ask(base, made_up.side(change("run", "untraced", [{"pid": 1, "why": "static"}])))
    if not any("without a trace" in note for note in made["notes"]):
        bad.append(f"one more untraced: {made['notes']}")
    made, _ = comparing.ask(base, made_up.side(change("run", "host", "elsewhere")))
    return bad + expect(made, wall="unchanged") + ([] if made["notes"] else ["another host: no note"])


# --- policies ---

def policy(place, text):
    path = place / "policy"
    path.write_text(text)
    return ["--policy", path]


def check_policy(place, made_up):
    base, worse = made_up.side(), made_up.side(slower)
    bad = []
    for text, want, states in [
            ("artifact.exposed soft 5% warn\n", 0, {"artifact.exposed": "regressed"}),
            ("artifact.exposed soft 150% fail\n", 0, {"artifact.exposed": "unchanged"}),
            ("artifact.exposed soft 1% floor 1s fail\n", 0, {"artifact.exposed": "unchanged"}),
            ("artifact.exposed off\n", 0, {}),
            ("@time soft 150% fail\n", 0, {"artifact.exposed": "unchanged"}),
            ("artifact.exposed hard 300ms fail\n", 1, {"artifact.exposed": "regressed"}),
            ("artifact.exposed hard 1s fail\n", 0, {"artifact.exposed": "unchanged"}),
            ("artifact.data_ops hard 3 fail\nartifact.exposed off\n", 1,
             {"artifact.data_ops": "regressed"}),
            ('file:"model.*".service soft 5% fail\nartifact.exposed off\n', 1,
             {'file:"model.*".service': "regressed"}),
            ('file:"*.gone".service fail\nartifact.exposed off\n', 0,
             {'file:"*.gone".service': "missing"})]:
        made, status = comparing.ask(base, worse, *policy(place, text))
        got = {name: state(made, name) for name in states}
        if (status, got) != (want, states):
            bad.append(f"{text!r}: status {status}, {got}")
    return bad


def check_refused(argv, *mentions):
    done = harness.run([harness.command(), "compare", *argv])
    lines = done.stderr.decode(errors="replace").splitlines()
    if done.status == 2 and len(lines) == 1 and all(m in lines[0] for m in mentions) and not done.stdout:
        return []
    return [f"expected status 2 and one line with {mentions}, got {done.status} and {lines}"]


def refused(place, made_up):
    one, two = made_up.run(), made_up.run()
    other = made_up.run(lambda made: made["run"].update({"command": ["/bin/other"]}))
    (place / "empty").mkdir()
    text = one.read_text()
    (place / "torn.json").write_text(text[:len(text) // 2])
    (place / "new.json").write_text(text.replace("iotrace-report/1", "iotrace-report/9"))
    (place / "poor.json").write_text('{"schema": "iotrace-report/1"}')
    many = [f"{name} fail" for name in (
        "*.service", "*.blocking", "*.recoverable", "total.service", 'file:"*".exposed',
        'file:"*".service', 'file:"*".blocking', 'file:"model.bin".exposed')]
    yield "no sides", [], "--to"
    yield "one side", [one], "--to"
    yield "an empty side", [one, "--to"], "--to"
    yield "no base", ["--to", one], "base"
    yield "an empty folder", [place / "empty", "--to", one], "empty"
    yield "nothing there", [one, "--to", place / "absent"], "absent"
    yield "torn JSON", [one, "--to", place / "torn.json"], "torn.json", "line"
    yield "another schema", [one, "--to", place / "new.json"], "new.json", "iotrace-report/1"
    yield "half a report", [one, "--to", place / "poor.json"], "poor.json"
    yield "the same run twice", [one, two, one, "--to", two], "once"
    yield "the same run on both sides", [one, "--to", one], "once"
    yield "mixed programs", [one, other, "--to", two], "mixes"
    yield "an unknown word", [one, "--to", two, *policy(place, "wall fail\nwall often\n")], "policy:2", "often"
    (place / "many").write_text("\n".join(many))
    yield "too many times", [one, "--to", two, "--policy", place / "many"], "12"
    yield "an unknown part", [one, "--to", two, "--allow", "weather"], "weather"


def main():
    out = Tap()
    with harness.workplace() as place:
        recorded = harness.report(trace(place, "recorded", MEGABYTE, 4))
        (place / "made").mkdir()
        made_up = comparing.Made(recorded, place / "made")
        out.run("reads made small", lambda: check_reads(place))
        out.run("reads made small, with call sites", lambda: check_sites(place))
        out.run("more syncs", lambda: check_syncs(place))
        out.run("one run a side of the same", lambda: check_same(place))
        out.run("cold against warm", lambda: check_cold(place))
        out.run("traces, reports and folders", lambda: check_forms(place, made_up))
        out.run("runs in turns", lambda: check_repeat(place))
        out.run("a series that ends before its end", lambda: check_repeat_ends(place))
        out.run("--repeat refused", lambda: check_repeat_refused(place))
        out.run("times of six runs a side", lambda: check_times(made_up))
        out.run("bytes that are read again", lambda: check_again(place, made_up))
        out.run("files, call sites, phases and waits", lambda: check_why(made_up))
        out.run("a shift of what is tolerated", lambda: check_straddling(made_up))
        out.run("an object that is gone", lambda: check_missing(made_up))
        out.run("sides that are not alike", lambda: check_not_alike(made_up))
        out.run("policies", lambda: check_policy(place, made_up))
        for name, argv, *mentions in refused(place, made_up):
            out.run(f"refused: {name}", partial(check_refused, argv, *mentions))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
