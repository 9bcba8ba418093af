"""iotrace export: every format read back, and its sums those of the report."""
import csv
import json
import os
import pty
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from table_names import escaped

IOTRACE, LIBIOTRACE, READERS = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
HERE = Path(__file__).resolve().parent
VIEWS = HERE.parent.parent / "doc" / "sql" / "views.sql"
PYTHON = os.path.realpath(sys.executable)
TABLES = ["events", "files", "lanes", "processes", "stacks", "steps", "units"]
# Threads, a child behind a pipe, sendfile, steps, and a name that wants care everywhere.
PROGRAM = r"""
import ctypes, os, threading, time
name = b'a "b",c;d\n\xff\x1b[31m<&>.bin'
step = ctypes.CDLL(None).iotrace_step
open(name, "wb").write(b"x" * 300000)
def work():
    with open(name, "rb", buffering=0) as file:
        while file.read(4096):
            pass
for pause in 0, 0.5, 0, 0:
    step()
    time.sleep(pause)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    with open("out.log", "ab", buffering=0) as out:
        out.write(b"line\n")
        os.fsync(out.fileno())
source, target = os.open(name, os.O_RDONLY), os.open("copy.dat", os.O_WRONLY | os.O_CREAT)
os.sendfile(target, source, 0, 100000)
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, b"hello")
    os._exit(0)
os.read(read, 5)
os.wait()
# A queue: twenty messages, most of them ahead of their reader.
read, write = os.pipe()
def take():
    time.sleep(0.05)
    for _ in range(20):
        os.read(read, 8)
thread = threading.Thread(target=take)
thread.start()
for _ in range(20):
    os.write(write, b"message.")
thread.join()
"""
NAME = os.fsdecode(b'a "b",c;d\n\xff\x1b[31m<&>.bin')


def iotrace(*arguments, status=0):
    done = subprocess.run([IOTRACE, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=240, check=False)
    if done.returncode != status:
        raise AssertionError(f"status {done.returncode}: {done.stderr.decode()}")
    return done


def strict(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key twice: {keys}")
    return dict(pairs)


def no_constant(text):
    raise ValueError(text)


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.trace = cls.folder / "trace"
        (cls.folder / "place").mkdir()
        subprocess.run([PYTHON, "-c", PROGRAM], cwd=cls.folder / "place", check=True, timeout=60,
                       env={**os.environ, "LD_PRELOAD": LIBIOTRACE, "IOTRACE_DIR": str(cls.trace)})
        cls.report = json.loads(iotrace("report", cls.trace, "--format", "json").stdout)
        cls.events = [json.loads(line) for line in
                      iotrace("dump", cls.trace, "--format", "jsonl").stdout.splitlines()]

    def export(self, name, *options):
        path = self.folder / name
        done = iotrace("export", self.trace, "-o", path, "--format", *options)
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        return path

    def database(self, name, trace=None):
        """The path of a database; without SQLite the command says so, in words about that file."""
        path = self.folder / name
        done = subprocess.run([IOTRACE, "export", trace or self.trace, "--format", "sqlite", "-o", path],
                              capture_output=True, timeout=240, check=False)
        told = os.fsdecode(done.stderr)
        if "built without SQLite" in told:
            self.assertTrue(told.startswith(f"iotrace: {path}: this iotrace was built without"), told)
            self.assertEqual((done.returncode, path.exists()), (2, False))
            self.skipTest("built without SQLite")
        self.assertEqual((done.returncode, done.stdout, told), (0, b"", ""))
        return path

    def same_ledger(self, rows):
        """rows: object, bytes, read, written, data, metadata, sync, service, exposed, waited, hidden,
        blocking, small."""
        got = {row[0]: list(row[1:]) for row in rows}
        keys = ["bytes", "read_bytes", "write_bytes", "data_ops", "metadata_ops", "sync_ops",
                "service_ns", "exposed_ns", "waited_ns", "hidden_ns", "blocking_ns", "small_ops"]
        for row in self.report["objects"]:
            self.assertEqual(got.get(row["object"], [0] * 12), [row[key] for key in keys], row["object"])
        self.assertGreater(got["output"][0], 100000)  # sendfile's other end is in it
        self.assertEqual(sum(row[7] for row in got.values()), self.report["total"]["exposed_ns"])

    def same_queue(self, lengths):
        """A counter's (ns, messages) of the one queue: as the report says, and empty at the end."""
        queue, = self.report["queues"]
        self.assertEqual(max(length for _, length in lengths), queue["length"]["max"])
        self.assertEqual(lengths[-1][1], 0)
        self.assertEqual([t for t, _ in lengths], sorted(t for t, _ in lengths))

    def test_sqlite(self):
        path = self.database("run.db")
        database = sqlite3.connect(path)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.same_ledger(database.execute("SELECT * FROM ledger").fetchall())
        self.assertEqual(database.execute("SELECT COUNT(*) FROM events").fetchone()[0], len(self.events))
        names = [row[0] for row in database.execute("SELECT path FROM files")]
        self.assertIn(escaped(str(self.folder / "place" / NAME)), names)
        self.assertEqual(database.execute("SELECT COUNT(*) FROM steps").fetchone()[0], 4)
        for view in re.findall(r"CREATE VIEW (\w+)", VIEWS.read_text()):
            with self.subTest(view):
                rows = database.execute(f"SELECT * FROM {view}").fetchall()
                self.assertTrue(rows or view in ("small_reads", "gpu_copies", "read_amplification"))
        waited = database.execute("SELECT waiter, waited_for FROM who_waited").fetchall()
        self.assertTrue(any("thread" in row[1] for row in waited), waited)

    def test_sqlite_that_was_there(self):
        path = self.database("twice.db")
        before = path.stat().st_ino
        self.database("twice.db")
        self.assertNotEqual(path.stat().st_ino, before)
        self.same_ledger(sqlite3.connect(path).execute("SELECT * FROM ledger").fetchall())

    def test_csv(self):
        folder = self.export("csv", "csv")
        self.assertEqual(sorted(os.listdir(folder)), [f"{name}.csv" for name in TABLES])
        with open(folder / "events.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, strict=True))
        self.assertEqual(len(rows), len(self.events))
        dumped = sorted((e["t0_ns"], e["lane"], e["op"], e["bytes"]) for e in self.events)
        self.assertEqual(sorted((int(r["t0_ns"]), int(r["lane"]), r["op"], int(r["bytes"])) for r in rows),
                         dumped)
        self.assertEqual(sum(int(r["exposed_ns"]) for r in rows), self.report["total"]["exposed_ns"])
        self.assertIn(escaped(str(self.folder / "place" / NAME)), {r["path"] for r in rows})
        one = iotrace("export", self.trace, "--format", "csv", "--table", "events").stdout
        self.assertEqual(one, (folder / "events.csv").read_bytes())

    def test_csv_has_no_formulas(self):
        """Where a spreadsheet would see one there is an apostrophe, and taking it away gives the text."""
        for name in "=1+1", "+1", "-1", "@SUM(A1)", "'quoted", "\uff1dA1", "plain", "a=b", '=HYPERLINK("x","y")':
            with self.subTest(name):
                trace = Path(tempfile.mkdtemp(dir=self.folder)) / "trace"
                subprocess.run([name], executable="/bin/true", check=True, timeout=60,
                               env={**os.environ, "LD_PRELOAD": LIBIOTRACE, "IOTRACE_DIR": str(trace)})
                text = iotrace("export", trace, "--format", "csv", "--table", "processes").stdout.decode()
                row, = csv.DictReader(text.splitlines(), strict=True)
                guarded = name not in ("plain", "a=b")
                self.assertEqual(row["command"], "'" * guarded + name)

    def test_chrome(self):
        trace = json.loads(self.export("run.json", "chrome").read_text(encoding="utf-8"),
                           object_pairs_hook=strict, parse_constant=no_constant)
        calls = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] < 1 << 22]
        path = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == 1 << 22]
        self.assertEqual(len(calls), len(self.events))
        self.assertEqual(sum(e.get("args", {}).get("exposed_ns", 0) for e in calls),
                         self.report["total"]["exposed_ns"])
        self.assertEqual(sorted((round(e["ts"] * 1000), e["name"]) for e in calls),
                         sorted((e["t0_ns"], e["op"]) for e in self.events))
        self.assertIn(str(self.folder / "place" / NAME), {e.get("args", {}).get("path") for e in calls})
        self.assertAlmostEqual(sum(e["dur"] for e in path) * 1000, self.report["wall_ns"], delta=10)
        starts = {e["id"] for e in trace["traceEvents"] if e["ph"] == "s"}
        self.assertEqual(starts, {e["id"] for e in trace["traceEvents"] if e["ph"] == "f"})
        self.assertGreaterEqual(len(starts), 5)  # four joins, the pipe, the child
        self.same_queue([(e["ts"] * 1000, e["args"]["messages"]) for e in trace["traceEvents"]
                         if e["ph"] == "C" and e["name"].startswith("pipe:")])
        names = [e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"]
        self.assertTrue(any(name.startswith("thread 1") for name in names), names)

    def test_stacks(self):
        lines = self.export("run.stacks", "stacks").read_text(encoding="utf-8").splitlines()
        weights = 0
        for line in lines:
            stack, weight = line.rsplit(" ", 1)
            weights += int(weight)
            self.assertGreaterEqual(len(stack.split(";")), 2, line)
            self.assertTrue(line.isprintable(), line)
        self.assertEqual(weights, self.report["total"]["exposed_ns"])
        self.assertEqual(len({line.rsplit(" ", 1)[0] for line in lines}), len(lines))

    def test_stacks_of_call_sites(self):
        trace = self.folder / "sites"
        subprocess.run([PYTHON, "-c", PROGRAM], cwd=self.folder / "place", check=True, timeout=60,
                       env={**os.environ, "LD_PRELOAD": LIBIOTRACE, "IOTRACE_DIR": str(trace),
                            "IOTRACE_STACKS": "sites"})
        report = json.loads(iotrace("report", trace, "--format", "json").stdout)
        lines = iotrace("export", trace, "--format", "stacks").stdout.decode().splitlines()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines),
                         report["total"]["exposed_ns"])
        self.assertGreater(max(line.count(";") for line in lines), 3)
        database = sqlite3.connect(self.database("sites.db", trace))
        self.assertEqual(database.execute(
            "SELECT COUNT(*) FROM events WHERE stack NOT IN (SELECT stack FROM stacks)").fetchone()[0], 0)
        self.assertGreater(database.execute("SELECT MAX(depth) FROM stacks").fetchone()[0], 1)

    def test_the_schema_is_documented(self):
        schema = "".join(f"{row[0]};\n" for row in sqlite3.connect(self.database("schema.db")).execute(
            "SELECT sql FROM sqlite_master WHERE type = 'table'"))
        self.assertIn(f"```\n{schema}```\n", (VIEWS.parent / "README.md").read_text())
        self.assertEqual([t for t in re.findall(r"CREATE TABLE (\w+)", schema)], TABLES)

    def test_openmetrics(self):
        text = self.export("run.txt", "openmetrics").read_text(encoding="utf-8")
        self.assertTrue(text.endswith("# EOF\n"))
        values = {}
        for line in text.splitlines()[:-1]:
            sample = re.fullmatch(r'([a-z_]+(?:\{[a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})?) '
                                  r'(\S+)', line)
            self.assertTrue(sample or re.match(r"# (TYPE|UNIT|HELP) iotrace_[a-z_]+ \S", line), line)
            if sample:
                values[sample[1]] = float(sample[2])
                self.assertRegex(sample[2], r"^\d+\.\d{9}$" if "_seconds" in sample[1] else r"^\d+$")
        for row in self.report["objects"]:
            self.assertEqual(values[f'iotrace_exposed_seconds{{object="{row["object"]}"}}'],
                             row["exposed_ns"] / 1e9)
            self.assertEqual(values[f'iotrace_read_bytes{{object="{row["object"]}"}}'], row["read_bytes"])
        self.assertEqual(values["iotrace_wall_seconds"], self.report["wall_ns"] / 1e9)

    def readers(self, *arguments):
        python = Path(READERS) / "bin" / "python"
        if not (Path(READERS) / "complete").exists():
            self.skipTest("no readers from PyPI: scripts/readers.sh said why")
        done = subprocess.run([python, HERE / "read_exports.py", *arguments], capture_output=True,
                              timeout=240, check=False, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_parquet(self):
        folder = self.export("parquet", "parquet")
        got = self.readers("parquet", folder, VIEWS)
        self.assertEqual(got["rows"], got["arrow_rows"])
        self.assertEqual(got["rows"]["events"], len(self.events))
        self.assertEqual(got["codecs"], ["ZSTD"])
        self.same_ledger(got["views"]["ledger"])
        database = sqlite3.connect(self.database("same.db"))
        for name in TABLES:
            with self.subTest(name):
                rows = database.execute(f"SELECT * FROM {name}").fetchall()
                self.assertEqual([tuple(row.values()) for row in got["arrow"][name]], rows)
        for view, rows in got["views"].items():
            with self.subTest(view):
                self.assertEqual(sorted(map(repr, map(tuple, rows))),
                                 sorted(map(repr, database.execute(f"SELECT * FROM {view}"))))

    def test_perfetto(self):
        got = self.readers("perfetto", self.export("run.pftrace", "perfetto"))
        self.assertEqual(got["bad"], 0)
        tracks = {name: uuid for uuid, (name, _, _) in got["tracks"].items()}
        path = [s for s in got["slices"] if str(s["track"]) == tracks["critical path"]]
        calls = [s for s in got["slices"] + got["instants"]
                 if str(s["track"]) != tracks["critical path"] and s["name"] != "goes on"]
        self.assertEqual(sorted((s["start"], s["name"]) for s in calls),
                         sorted((e["t0_ns"], e["op"]) for e in self.events))
        self.assertEqual(sum(s.get("exposed_ns", 0) for s in calls), self.report["total"]["exposed_ns"])
        self.assertEqual(sum(s["end"] - s["start"] for s in path), self.report["wall_ns"])
        self.assertIn(str(self.folder / "place" / NAME), {s.get("path") for s in calls})
        self.assertGreaterEqual(got["arrows"], 5)
        queues = [lengths for name, lengths in got["counters"].items() if name.startswith("pipe:")]
        self.assertEqual(len(queues), 1)
        self.same_queue(queues[0])
        columns = got["counters"]["output bandwidth"]
        width = self.report["wall_ns"] / len(columns) / 1e9
        written = [row["bytes"] for row in self.report["objects"] if row["object"] == "output"][0]
        self.assertGreater(sum(value for _, value in columns) * width, 0)
        self.assertLessEqual(sum(value for _, value in columns) * width, written * 1.01)

    def test_refused(self):
        for options, error in [
                (["--format", "xml"], "--format is perfetto, chrome, sqlite, parquet, csv, stacks or"),
                ([], "which --format?"),
                (["--format", "sqlite"], "sqlite needs a file: -o FILE"),
                (["--format", "parquet"], "several tables need a folder"),
                (["--format", "chrome", "--table", "events"], "--table is for parquet and csv"),
                (["--format", "csv", "-o", "/nonexistent/folder"], "/nonexistent/folder: cannot be made"),
                (["--format", "sqlite", "-o", "/dev/null"], "a database needs a regular file"),
                (["--format", "chrome", "-o", "/nonexistent/folder/x"], "No such file")]:
            with self.subTest(options):
                done = iotrace("export", self.trace, *options, status=2)
                self.assertEqual(done.stdout, b"")
                self.assertEqual(done.stderr.count(b"\n"), 1)
                self.assertIn(error, done.stderr.decode())

    def test_terminal(self):
        """What would only mess it up is refused; text is not."""
        for options, status in [(["--format", "perfetto"], 2), (["--format", "parquet", "--table", "lanes"], 2),
                                (["--format", "csv", "--table", "lanes"], 0)]:
            with self.subTest(options):
                master, slave = pty.openpty()
                done = subprocess.run([IOTRACE, "export", self.trace, *options], stdin=subprocess.DEVNULL,
                                      stdout=slave, stderr=subprocess.PIPE, timeout=60, check=False)
                os.close(slave)
                os.close(master)
                self.assertEqual(done.returncode, status, done)
                self.assertEqual(b"a terminal cannot show that: -o FILE" in done.stderr, status == 2)

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        for name in "chrome", "perfetto", "stacks", "openmetrics":
            with self.subTest(name):
                done = iotrace("export", self.trace, "--format", name, "-o", "/dev/full", status=2)
                self.assertEqual(done.stderr, b"iotrace: /dev/full: cannot be written: "
                                              b"No space left on device\n")

    def test_file_size_limit(self):
        """As a full disk: the reason is said, what was there stays, and nothing is left beside it."""
        place = self.folder / "limited"
        for command in (["report", "--format", "html"], ["report", "--format", "json"],
                        ["export", "--format", "chrome"], ["export", "--format", "sqlite"]):
            with self.subTest(command):
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                (place / "out").write_text("before")
                done = subprocess.run([IOTRACE, command[0], self.trace, *command[1:], "-o", place / "out"],
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
                                      capture_output=True, timeout=240, check=False)
                self.assertEqual(done.returncode, 2, done)
                self.assertRegex(done.stderr.decode(), r"\Aiotrace: [^\n]*limited/out: [^\n]+\n\Z")
                if "sqlite" not in command:
                    self.assertIn(b"cannot be written: File too large\n", done.stderr)
                self.assertEqual([p.name for p in place.iterdir()], ["out"])
                self.assertEqual((place / "out").read_text(), "before")

    def test_folder_that_is_not_whole(self):
        """Is gone if the export made it, and stays if it was there."""
        for there in False, True:
            for name in "csv", "parquet":
                with self.subTest(name, there=there):
                    place = self.folder / f"part-{name}-{there}"
                    if there:
                        place.mkdir()
                    done = subprocess.run([IOTRACE, "export", self.trace, "--format", name, "-o", place],
                                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
                                          capture_output=True, timeout=240, check=False)
                    self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done)
                    self.assertEqual(place.exists(), there)


if __name__ == "__main__":
    unittest.main(verbosity=2)
