#!/usr/bin/env python3
"""iotrace explain on a real trace: figures that the program knows, the report's sums, refusals."""
import json
import re
import sys

import harness
from harness import Tap

PROGRAM = """
import os, threading
def write_log():
    f = os.open('log.tmp', os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for _ in range(50):
        os.write(f, b'x' * 100)
    os.fsync(f)
    os.close(f)
    os.rename('log.tmp', 'run.txt')
os.mkdir('sub')
for name in ('a.data', 'sub/a.data', 'a.csv'):
    f = os.open(name, os.O_WRONLY | os.O_CREAT)
    os.write(f, bytes(10))
    os.close(f)
f = os.open('in.data', os.O_RDONLY)
for _ in range(8):
    os.read(f, 65536)
os.lseek(f, 0, os.SEEK_SET)
os.read(f, 65536)
for i in range(6):
    os.pread(f, 4096, i * 100000)
os.close(f)
thread = threading.Thread(target=write_log)
thread.start()
thread.join()
"""


def iotrace(*argv):
    return harness.run([harness.command(), *argv])


def explain(folder, path, *more):
    done = iotrace("explain", folder, path, "--format", "json", *more)
    if done.status:
        raise harness.Broken(f"explain {path}: status {done.status} ({done.tail()})")
    made = json.loads(done.stdout)
    if made["schema"] != "iotrace-explain/1":
        raise harness.Broken(f"explain {path}: schema {made['schema']}")
    return made["files"]


def differences(got, wanted):
    return [f"{key}: expected {value}, got {got[key]}" for key, value in wanted.items()
            if got[key] != value]


def check_reads(folder):
    [file] = explain(folder, "in.data")
    bad = differences(file["read"], {
        "object": "input", "calls": 15, "bytes": 9 * 65536 + 6 * 4096, "small": 0, "empty": 0,
        "sequential": 7, "strided": 4, "random": 3,
        "sizes": [{"from_bytes": 4096, "calls": 6}, {"from_bytes": 65536, "calls": 9}]})
    wanted = {"opens": 1, "opening_processes": 1, "renames": []}
    rows = [row for row in harness.report(folder)["files"] if row["path"] == file["path"]]
    return bad + differences(file, wanted | {"cache_scope": rows[0]["cache_scope"]})


def check_writes(folder):
    [file] = explain(folder, "log.tmp")
    bad = differences(file["written"], {"object": "output", "why": "written, synced, renamed",
                                        "calls": 50, "small": 50, "sequential": 50})
    if [name.rsplit("/", 1)[1] for name in file["renames"]] != ["run.txt"]:
        bad.append(f"renames: {file['renames']}")
    lanes = file["lanes"]
    if len(lanes) != 1 or lanes[0]["tid"] == lanes[0]["pid"]:
        bad.append(f"expected the second thread alone, got {lanes}")
    return bad


def check_sums(folder):
    """Every file of the report costs as much as explain says, in its tenths and lanes as well."""
    rows, bad = {}, []
    for row in harness.report(folder)["files"]:
        sums = rows.setdefault(row["path"], {"service_ns": 0, "exposed_ns": 0})
        for key in sums:
            sums[key] += row[key]
    shown = [path for path in rows if "*" not in path and path.startswith("/")]
    for path in sorted(shown, key=lambda p: -rows[p]["exposed_ns"])[:20]:
        [file] = explain(folder, path)
        for key, value in rows[path].items():
            tenths = sum(file[key.replace("_ns", "_in_tenths_ns")])
            lanes = sum(lane[key] for lane in file["lanes"])
            if not value == file[key] == tenths == lanes:
                bad.append(f"{path}: {key} is {value}, explained {file[key]}, in tenths {tenths}, "
                           f"in lanes {lanes}")
    return bad


def check_text(folder):
    done = iotrace("explain", folder, "in.data")
    text = done.stdout.decode()
    bad = [f"over 80 columns: {line}" for line in text.splitlines() if len(line) > 80]
    bad += [f"no {word!r} in it" for word in ("object", "input", "sequential", "from   64 KiB",
                                               "% ", ", main") if word not in text]
    tenths = re.findall(r"^ +\d+ to +\d+ % +(\S+)", text, re.M)
    if not tenths or "0" in (tenths[0], tenths[-1]):
        bad.append(f"tenths of the run begin or end with nothing: {tenths}")
    return bad + ([] if done.status == 0 else [f"status {done.status}"])


def check_rules(folder, place):
    (place / "rules").write_text("# mine\nstate *.data op=read\n")
    [file] = explain(folder, "in.data", "--rules", place / "rules")
    return differences(file["read"], {"object": "state", "by": "a rule of yours",
                                      "why": "rule *.data, rules:2"})


def check_glob(folder):
    got = sorted(file["path"].rsplit("/", 1)[1] for file in explain(folder, "*.data"))
    wanted = ["a.data", "a.data", "in.data"]
    return [] if got == wanted else [f"expected {wanted}, got {got}"]


def check_families(folder):
    """More files than are shown one by one: rows that add up to the report's."""
    done = iotrace("explain", folder, "*", "--format", "json")
    made = json.loads(done.stdout)
    rows, bad = made["families"], [] if made["files"] == [] else ["files are there as well"]
    report = harness.report(folder)
    for key in ("service_ns", "exposed_ns"):
        wanted = sum(row[key] for row in report["files"] if not row["path"].startswith(("fs:", "(no file)")))
        got = sum(row[key] for row in rows)
        if got != wanted:
            bad.append(f"{key}: the rows are {got} together, the report's files {wanted}")
    data = [row["files"] for row in rows if row["path"].endswith("/in.data")]
    if data != [1]:
        bad.append(f"expected one row of in.data alone, got {data}")
    text = iotrace("explain", folder, "*").stdout.decode()
    bad += [f"over 80 columns: {line}" for line in text.splitlines() if len(line) > 80]
    bad += [f"cut: {row['why']}" for row in rows[:20] if len(row["why"]) <= 70 and row["why"] not in text]
    return bad + ([] if f"{sum(row['files'] for row in rows)} files;" in text else [text[:80]])


def check_refused(argv, *mentions):
    done = iotrace(*argv)
    lines = done.stderr.decode(errors="replace").splitlines()
    if done.status == 2 and not done.stdout and len(lines) == 1 and all(m in lines[0]
                                                                        for m in mentions):
        return []
    return [f"expected status 2 and one line with {mentions}, got {done.status} and {lines}"]


def main():
    out = Tap()
    with harness.workplace() as place:
        (place / "in.data").write_bytes(bytes(1 << 20))
        folder = place / "trace"
        harness.trace([sys.executable, "-c", PROGRAM], folder, cwd=place)
        out.run("reads: sizes and order", lambda: check_reads(folder))
        out.run("writes of a thread, and a rename", lambda: check_writes(folder))
        out.run("sums are the report's", lambda: check_sums(folder))
        out.run("the text", lambda: check_text(folder))
        out.run("rules of the user", lambda: check_rules(folder, place))
        out.run("a glob is many files", lambda: check_glob(folder))
        out.run("a glob is very many files", lambda: check_families(folder))
        for argv, mentions in [
                (["explain", folder, "in.dtaa"], ["in.dtaa", "near it", "/in.data"]),
                (["explain", folder, "zzzzzzzzzz"], ["zzzzzzzzzz"]),
                (["explain", folder, "n.dat"], ["near it", "/in.data"]),
                (["explain", folder, "a.data"], ["2 files", "sub/a.data"]),
                (["explain", folder], ["path"]),
                (["explain", folder, "a.csv", "a.data"], ["needs one path, got 2", "quote a pattern"]),
                (["explain", place / "absent", "x"], ["absent"]),
                (["explain", folder, "in.data", "--format", "xml"], ["xml"])]:
            out.run(f"refused: {' '.join(str(a).rsplit('/', 1)[-1] for a in argv)}",
                    lambda: check_refused(argv, *mentions))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
