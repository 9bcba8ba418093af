#!/usr/bin/env python3
"""Partial results that are wrong, hostile or in odd places: refused in one line with status 2, or read right;
no number wraps, whatever they say."""
import json
import os
import re
import resource
import subprocess
import sys

import harness
import test_ranks
from harness import Tap

LARGEST = 2**61  # of the numbers that a partial result has
NUMBER = "no whole one, below 0 or too large"
OTHER = "is no iotrace-partial/2 as this version of iotrace makes it"
FOREIGN = "this is no partial result; make one with 'iotrace report --partial', or give the folder of a trace"
EXPOSED = "has I/O that is exposed for longer than it took"
UNITS = "has a row of no unit, or of more than there are"
FILES, MANY, DESCRIPTORS = 3, 5000, 16


def unit(key, value):
    return lambda partial: partial["units"][0].update({key: value})


def at(partial, columns, row, column, value, skip=0):
    row[skip + partial[columns].index(column)] = value


# A change of a partial result, and what is said of it.
CHANGED = {
    "a number below 0": (unit("wall_ns", -1), NUMBER),
    "a fraction": (unit("wall_ns", 1.5), NUMBER),
    "2^63": (unit("wall_ns", 2**63), NUMBER),
    "above the largest": (unit("wall_ns", LARGEST + 1), NUMBER),
    "a text for a number": (unit("wall_ns", "5"), OTHER),
    "null for a number": (unit("wall_ns", None), OTHER),
    "true for a number": (unit("gpus", True), OTHER),
    "more starts of steps than are kept": (unit("starts_ns", [1] * 117), OTHER),
    "more artifacts than are kept": (unit("ready", [["/x", 1, 1, 1]] * 17), OTHER),
    "ready before it began": (unit("ready", [["/x", 1, -1, 1]]), NUMBER),
    "an artifact with too little": (unit("ready", [["/x", 1, 1]]), OTHER),
    "two sentences in one": (lambda p: p["evidence"].append(["waited 3 ms", 1, "slept 3 ms"]), OTHER),
    "a member more": (lambda p: p.update(more=1), OTHER),
    "a member less": (lambda p: p.pop("gpu_devices"), OTHER),
    "an object that is exposed for longer than it took": (
        lambda p: at(p, "unit_columns", p["units"][0]["objects"][0], "exposed_ns", LARGEST), EXPOSED),
    "files that are": (lambda p: at(p, "file_columns", p["objects"][0]["rest"], "exposed_ns", LARGEST), EXPOSED),
    "a file that is": (lambda p: at(p, "file_columns", p["files"][0], "exposed_ns", LARGEST, skip=3), EXPOSED),
    "waits that are longer than what is exposed": (
        lambda p: at(p, "file_columns", p["objects"][0]["rest"], "waited_ns", LARGEST), EXPOSED),
    "a row of no unit": (lambda p: p["queues"].append(["q", "a", "b", "input", 0, 1, 0, 1, 1]), UNITS),
    "a row of more units than there are": (
        lambda p: p["queues"].append(["q", "a", "b", "input", len(p["units"]) + 1, 1, 0, 1, 1]), UNITS),
    "an object that there is not": (lambda p: p["gpu_copies"].append(["HtoD", "file", "", "it", 1, 1, 1, 1]), OTHER),
}
# Whole files.
FOREIGNERS = {
    "empty": "", "text": "no partial result\n", "a list": "[1]", "an object": "{}",
    "a report": '{"schema":"iotrace-report/1"}',
    "another key first": '{"units":[],"schema":"iotrace-partial/2"}', "a number for the schema": '{"schema":2}',
}


def written(path, partial):
    path.write_text(json.dumps(partial, separators=(",", ":")) + "\n")
    return path


def refused(argv, *mentions):
    done = harness.run([harness.command(), *argv])
    lines = done.stderr.decode(errors="replace").splitlines()
    bad = [] if (done.status, len(lines), done.stdout) == (2, 1, b"") else [f"{argv}: {done.status}, {lines}"]
    return bad + [f"no word of {m!r}: {lines}" for m in mentions if not any(m in line for line in lines)]


def check_changed(place, part):
    bad = []
    for name, (change, says) in CHANGED.items():
        partial = json.loads(part.read_text())
        change(partial)
        path = written(place / "changed", partial)
        bad += [f"{name}: {b}" for argv in (["merge", path], ["report", path])
                for b in refused(argv, "changed: byte ", says)]
    for name, text in FOREIGNERS.items():
        (place / "foreign").write_text(text)
        bad += [f"{name}: {b}" for b in refused(["merge", place / "foreign"], f"foreign: {FOREIGN}")]
    whole = part.read_bytes()
    for n in (1, 14, 40, 100, len(whole) // 2, len(whole) - 3):
        (place / "short").write_bytes(whole[:n])
        bad += [f"{n} bytes: {b}" for b in refused(["merge", place / "short"], "short: ")]
    (place / "long").write_bytes(whole + b"x\n")
    return bad + refused(["merge", place / "long"], "something follows the end")


KEPT = ("rank", "local_rank", "world_size", "part_of_ns")


def largest(partial):
    """Every sum is the largest that there is. A row is of one unit: there are no more."""
    for u in partial["units"]:
        u.update({k: LARGEST for k, v in u.items() if type(v) is int and k not in KEPT})
        u.update(objects=[[LARGEST] * len(row) for row in u["objects"]], curve=[LARGEST] * 9,
                 starts_ns=[LARGEST] * 116, ready=[["/x", LARGEST, LARGEST, LARGEST]])
    for row in partial["objects"]:
        row["rest"] = [LARGEST] * len(row["rest"])
    for kind, rows in partial.items():
        if kind in ("schema", "units", "objects", "unread", "unit_columns", "file_columns"):
            continue
        partial[kind] = rows[:kind != "files"] + [[LARGEST if type(x) is int else x for x in row]
                                                  for row in rows[kind != "files":]]
        for row in partial[kind][1:] if kind != "files" else []:
            row[row.index(LARGEST)] = 1
    partial["gpu_copies"].append(["HtoD", "file", "pinned", "input", 1, *[LARGEST] * 3])
    partial["gpu_devices"].append(["0", 1, *[LARGEST] * 8])
    partial["uncalled"].append(["/bin/a", 1, *[LARGEST] * 3])
    return partial


def check_largest(place, part):
    path, merged, bad = written(place / "largest", largest(json.loads(part.read_text()))), place / "twice", []
    harness.ask("merge", path, path, "-o", merged)
    for form in ("text", "json", "markdown"):
        said = harness.ask("report", merged, path, part, "--format", form).decode()
        bad += [f"{form}: {line}" for line in said.splitlines() if re.search(r"(?<!\d)-\d+ |: -\d|-\d{7}", line)]
    job = json.loads(harness.ask("report", merged, path, "--format", "json"))
    sums = [job["wall_ns"], job["total"]["bytes"], job["uncalled"]["read_bytes"], job["gpu"]["copies"][0]["bytes"],
            job["gpu"]["devices"][0]["idle_ns"], job["gpu"]["collectives"]["waited_ns"], job["objects"][0]["files"]]
    return bad if sums == [LARGEST] * len(sums) else bad + [f"sums: {sums}"]


def check_places(place, parts):
    """Where they lie, and where the result goes."""
    a, b = parts[:2]
    want, bad = harness.ask("merge", a, b), []

    def merge(name, *argv, out=None):
        done = harness.run([harness.command(), "merge", *argv, "-o", out or place / "out"])
        got = (out or place / "out").read_bytes()
        if done.status or got != want:
            bad.append(f"{name}: {done.tail()}, or another result")

    link, copy, fifo = place / "link", place / "copy", place / "fifo"
    link.symlink_to(a)
    merge("a link", link, b)
    copy.write_bytes(a.read_bytes())
    merge("the result in the place of an input", copy, b, out=copy)
    subprocess.run(["gzip", "-kf", a], check=True)
    merge("compressed", f"{a}.gz", b)
    os.mkfifo(fifo)
    with subprocess.Popen(["sh", "-c", 'cat "$0" >"$1"', a, fifo]):
        merge("a FIFO", fifo, b)
    for name in ("loop", "dangling"):
        (place / name).symlink_to("loop" if name == "loop" else "nothing")
        bad += refused(["merge", place / name], f"{name}: cannot be read")
    for out in ("/dev/full", place / "none" / "out", place):
        bad += refused(["merge", a, b, "-o", out], f"{out}: cannot be written")
    bad += refused(["merge", "/dev/null"], FOREIGN) + refused(["merge", "/dev/zero"], FOREIGN)
    return bad


def check_many(place, part):
    """So many at once take no descriptor each."""
    folder = place / "many"
    folder.mkdir()
    for k in range(MANY):
        os.link(part, folder / str(k))
    limit = (DESCRIPTORS, DESCRIPTORS)
    done = subprocess.run([harness.command(), "merge", *folder.iterdir(), "-o", place / "all"], capture_output=True,
                          timeout=120, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
    units = len(json.loads((place / "all").read_text())["units"]) if not done.returncode else 0
    return [] if units == MANY else [f"{done.returncode}, {done.stderr[-300:]}, {units} units"]


def check_rest(place, folder):
    """Files that are not listed, and those that units do not name, are added up below the others."""
    part, bad = place / "rest.part", []
    harness.ask("report", folder, "--partial", "--top", str(FILES), "-o", part)
    job = json.loads(harness.ask("report", part, "--format", "json"))
    more = [re.match(r"\((\d+) more\)$", f["path"]) for f in job["files"]]
    unnamed, named = sum(int(m[1]) for m in more if m), sum(not m for m in more)
    if sum(o["files"] for o in job["objects"]) != named + unnamed or named < 2 or not unnamed:
        bad.append(f"{named} files named, {unnamed} not")
    for form in ("text", "markdown"):
        said = harness.ask("report", part, "--top", "1", "--format", form).decode()
        bad += [f"{form} does not say {words!r}: {said[:3000]}" for words in (
            rf"{named - 1} more files?", rf"{unnamed} other files? that units do not name", "--top N")
            if not re.search(words, said)]
    return bad


def main():
    out = Tap()
    with harness.workplace() as place:
        _, folders = test_ranks.make_job(place)
        parts = []
        for k, folder in enumerate(folders):
            parts.append(place / f"part{k}")
            harness.ask("report", folder, "--partial", "-o", parts[-1])
        out.run("changed, cut and foreign", lambda: check_changed(place, parts[0]))
        out.run("the largest numbers", lambda: check_largest(place, parts[0]))
        out.run("odd places", lambda: check_places(place, parts))
        out.run("many at once", lambda: check_many(place, parts[0]))
        out.run("files that are not listed", lambda: check_rest(place, folders[0]))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
