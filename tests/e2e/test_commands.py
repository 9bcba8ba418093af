#!/usr/bin/env python3
"""The command line: `run` and its statuses, folders, the text report, and what is refused."""
import json
import os
import re
import sys
from pathlib import Path

import harness
from harness import Tap

LINE = 80
LIBRARY = "libm.so.6"  # a library that a preload of does no harm


def iotrace(*argv, env=None, cwd=None):
    return harness.run([harness.command(), *argv], harness.plain(env), cwd)


def check_run(place, name, line, status, stdout):
    done = iotrace("run", "-o", place / name, "--", "sh", "-c", line)
    bad = []
    if (done.status, done.stdout) != (status, stdout):
        bad.append(f"expected status {status} and {stdout}, got {done.status} and {done.stdout} "
                   f"({done.tail()})")
    if not done.stderr.strip():
        bad.append("no short report on standard error")
    harness.report(place / name)
    return bad


def check_keeps_preload(place):
    done = iotrace("run", "-o", place / "kept", "--", "sh", "-c", "echo $LD_PRELOAD",
                   env={"LD_PRELOAD": LIBRARY})
    names = re.split("[: ]", done.stdout.decode().strip())
    if len(names) == 2 and names[0].endswith("/libiotrace.so") and names[1] == LIBRARY:
        return []
    return [f"expected libiotrace.so, then {LIBRARY}; got {names} ({done.tail()})"]


def check_static(place, name, held):
    """A static program leaves no trace: one line says so at the end, and no folder stays that was not there
    before; `held`: the files of one that was, None if it was not."""
    source, program, folder = place / "main.c", place / "static", place / name
    source.write_text("int main(void) { return 3; }\n")
    if harness.run(["cc", "-static", "-o", program, source]).status:
        return ["cc -static failed"]
    if held is not None:
        folder.mkdir()
        for file in held:
            (folder / file).write_text("mine")
    done = iotrace("run", "-o", folder, "--", program)
    last = done.stderr.decode().splitlines()[-1]
    bad = [] if done.status == 3 else [f"status {done.status} ({done.tail()})"]
    if "nothing was recorded" not in last or str(folder) not in last:
        bad.append(f"the last line is {last!r}")
    stays = [f.name for f in folder.iterdir()] if folder.exists() else None
    if stays != held:
        bad.append(f"{folder} holds {stays}")
    return bad


NO_PROC = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]


def check_no_proc():
    """As in a chroot where nobody mounted it: the library is found beside the command all the same."""
    env = {key: value for key, value in harness.plain().items() if key != "LIBIOTRACE"}
    want, got = (harness.run([*before, harness.command(), "--library"], env) for before in ([], NO_PROC))
    return [] if not want.status and got.stdout == want.stdout else [f"{got.tail()}, expected {want.stdout}"]


def check_siblings(place):
    """A second run with the same folder takes another one, and leaves the first as it was."""
    (place / "twice").mkdir()
    folder = place / "twice" / "trace"
    env = harness.plain(harness.preload_env(folder))
    for _ in range(2):
        if harness.run(["sh", "-c", "cat /dev/null; true"], env).status:
            return ["the command failed"]
    folders = sorted((place / "twice").iterdir())
    if len(folders) != 2 or folders[0] != folder:
        return [f"expected {folder} and a numbered sibling, got {[str(f) for f in folders]}"]
    for one in folders:
        if harness.report(one)["run"]["processes"] != 2:
            return [f"{one}: expected the two processes of one run"]
    return []


def check_default_folder(place):
    """Without IOTRACE_DIR the folder is iotrace-<exe>-<pid>, where the root started."""
    (place / "here").mkdir()
    env = harness.preload_env("")
    del env["IOTRACE_DIR"]
    done = harness.run(["/bin/sh", "-c", "cd /; echo $$"], harness.plain(env), place / "here")
    made = [f.name for f in (place / "here").iterdir()]
    exe = Path("/bin/sh").resolve().name
    wanted = [f"iotrace-{name}-{done.stdout.decode().strip()}" for name in ("sh", exe)]
    return [] if len(made) == 1 and made[0] in wanted else [f"expected {wanted}, got {made}"]


def check_text(place):
    folder = place / "text"
    harness.trace(["sh", "-c", "ls -l / > list; cat list"], folder, cwd=place)
    done = iotrace("report", folder)
    text = done.stdout.decode()
    bad = [] if done.status == 0 else [f"status {done.status} ({done.tail()})"]
    bad += [f"over {LINE} columns: {line}" for line in text.splitlines() if len(line) > LINE]
    if "\x1b" in text:
        bad.append("colour, though this is no terminal")
    first = text.split("\n", 1)[0]
    if "I/O" not in first:
        bad.append(f"the first line is no verdict: {first!r}")
    bad += [f"no row for {name}" for name in ("input", "artifact", "state", "output", "other")
            if not re.search(rf"^\W*{name}\b", text, re.MULTILINE)]
    out_file = place / "report.json"
    iotrace("report", folder, "--format", "json", "-o", out_file)
    if json.loads(out_file.read_text())["schema"] != "iotrace-report/1":
        bad.append("-o wrote no report")
    if not iotrace("dump", folder, "--format", "text").stdout:
        bad.append("the dump as text is empty")
    return bad


def check_ledger(place):
    """The ledger's own example: an artifact read once, a state moved four times beside work."""
    events = [{"object": "artifact", "bytes": 10**9, "bandwidth_gbps": 1.0},
              {"object": "state", "bytes": 10**8, "bandwidth_gbps": 10.0, "frequency": 4,
               "overlap_window_ms": 6.0, "blocking_dependency": False}]
    path = place / "events.json"
    path.write_text(json.dumps(events))
    done = iotrace("ledger", path)
    text = done.stdout.decode()
    bad = [] if done.status == 0 else [f"status {done.status} ({done.tail()})"]
    bad += [f"{name} does not say {number}" for name, number in (("artifact", 1000), ("state", 16))
            if not re.search(rf"{name}\b.*\b{number}(\.0+)?\b", text)]
    json.loads(iotrace("ledger", path, "--format", "json").stdout)
    return bad


def check_refused(argv, mentions):
    """Status 2 and one line that says what and where."""
    done = iotrace(*argv)
    lines = done.stderr.decode(errors="replace").splitlines()
    if done.status == 2 and len(lines) == 1 and mentions in lines[0]:
        return []
    return [f"expected status 2 and one line with {mentions!r}, got {done.status} and {lines}"]


def refused(place):
    (place / "empty").mkdir()
    (place / "garbage").mkdir()
    (place / "garbage" / "trace.bin").write_bytes(os.urandom(4096))
    (place / "bad.json").write_text('[{"object": "input"')
    return [(["frobnicate"], "frobnicate"), (["report"], "report"),
            (["report", place / "absent"], "absent"), (["report", place / "empty"], "empty"),
            (["report", place / "garbage"], "garbage"), (["dump", place / "garbage"], "garbage"),
            (["report", place / "empty", "--format", "nonsense"], "nonsense"),
            (["ledger", place / "bad.json"], "bad.json"), (["run"], "run")]


def main():
    out = Tap()
    with harness.workplace() as place:
        for name, line, status, stdout in [
                ("ends", "echo out", 0, b"out\n"), ("fails", "echo out; exit 7", 7, b"out\n"),
                ("killed", "kill -KILL $$", 137, b""), ("forks", "(exit 3) || cat /dev/null", 0, b"")]:
            out.run(f"run keeps output and status: {line}",
                    lambda: check_run(place, name, line, status, stdout))
        out.run("run keeps an LD_PRELOAD that is set", lambda: check_keeps_preload(place))
        for name, held in (("gone", None), ("kept-note", ["note"]), ("kept-empty", [])):
            out.run(f"run of a static program: {name}", lambda: check_static(place, name, held))
        if harness.run([*NO_PROC, "true"]).status:
            out.skip("the library without /proc", "no mount namespaces here")
        else:
            out.run("the library without /proc", check_no_proc)
        out.run("one folder is one run", lambda: check_siblings(place))
        out.run("the folder's name without IOTRACE_DIR", lambda: check_default_folder(place))
        out.run("the report as text", lambda: check_text(place))
        out.run("the ledger of its own example", lambda: check_ledger(place))
        for argv, mentions in refused(place):
            out.run(f"refused: {' '.join(Path(a).name for a in argv)}",
                    lambda: check_refused(argv, mentions))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
