"""iotrace export --partition: the folder that engines of SQL read, and its sums those of the reports."""
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from table_names import escaped

IOTRACE, LIBIOTRACE, MAKE_JOB, MAKE_TRACE, READERS = (os.path.abspath(sys.argv.pop(1)) for _ in range(5))
HERE = Path(__file__).resolve().parent
SQL = HERE.parent.parent / "doc" / "sql"
GOLDEN = HERE.parent / "golden" / "v1"
RANKS = 6
TABLES = ["events", "files", "lanes", "processes", "stacks", "steps", "units"]
FIGURES = ["bytes", "read_bytes", "write_bytes", "data_ops", "metadata_ops", "sync_ops", "service_ns",
           "exposed_ns", "waited_ns", "hidden_ns", "blocking_ns", "small_ops"]
NULL = "__HIVE_DEFAULT_PARTITION__"


def export(*paths, to, **options):
    return subprocess.run([IOTRACE, "export", *paths, "--format", "parquet", "--partition", "-o", to],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=240, check=False, **options)


def report(*paths):
    done = subprocess.run([IOTRACE, "report", *paths, "--format", "json"], capture_output=True, timeout=240,
                          check=True)
    return json.loads(done.stdout)


def figures(rows):
    """The sum of rows of a report."""
    return {key: sum(row[key] for row in rows) for key in FIGURES}


def contents(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in Path(folder).rglob("*") if path.is_file()}


class Partition(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.job = cls.folder / "job"
        subprocess.run([MAKE_JOB, cls.job, f"ranks={RANKS}", "events=3000"], check=True, timeout=60)
        cls.ranks = [cls.job / f"rank-{rank}" for rank in range(RANKS)]

    def whole(self, *paths, to):
        done = export(*paths, to=to)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        return contents(to)

    def refused(self, done, *words):
        told = os.fsdecode(done.stderr)
        self.assertEqual((done.returncode, done.stdout, told.count("\n")), (2, b"", 1), told)
        for word in words:
            self.assertIn(word, told)

    def read(self, folder):
        return self.readers("partition", folder, SQL)

    def readers(self, *arguments):
        python = Path(READERS) / "bin" / "python"
        if not (Path(READERS) / "complete").exists():
            self.skipTest("no readers from PyPI: scripts/readers.sh said why")
        done = subprocess.run([python, HERE / "read_exports.py", *arguments], capture_output=True, timeout=240,
                              check=False, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def same_ledgers(self, views, traces, job):
        """Each rank's, each file's, each object's and the whole: as the reports say, to the last integer."""
        unit_of = {row["pid"]: row["unit"] for row in views["units"]}
        reports = [report(trace) for trace in traces]
        want_units, want_files, want_paths = {}, {}, {}
        for trace, r in zip(traces, reports):
            pid = json.loads(subprocess.run([IOTRACE, "dump", trace, "--format", "jsonl"], capture_output=True,
                                            check=True).stdout.splitlines()[0])["pid"]
            for row in r["objects"]:
                want_units[unit_of[pid], row["object"]] = figures([row])
            for row in r["files"]:
                key = escaped(row["path"]), row["object"]
                want_files[unit_of[pid], *key] = figures([row])
                want_paths.setdefault(key, []).append(row)
        empty = dict.fromkeys(FIGURES, 0)

        def compare(view, keys, want):
            got = {tuple(row[key] for key in keys): {key: row[key] for key in FIGURES} for row in views[view]}
            self.assertEqual(got, {key: value for key, value in want.items() if key in got}, view)
            self.assertEqual([key for key, value in want.items() if key not in got and value != empty], [], view)

        compare("ledger_units", ["unit", "object"], want_units)
        compare("ledger_files", ["unit", "path", "object"], want_files)
        compare("ledger_paths", ["path", "object"], {key: figures(rows) for key, rows in want_paths.items()})
        compare("ledger", ["object"], {(row["object"],): figures([row]) for row in job["objects"]})
        compare("ledger_total", [], {(): figures(job["objects"])})
        walls = {row["unit"]: row["wall_ns"] for row in views["units"]}
        self.assertEqual(sorted(walls.values()), sorted(r["wall_ns"] for r in reports))
        for row in views["units"]:
            self.assertEqual(row["wall_ns"], sum(row[part] for part in (
                "compute_ns", "io_ns", "gpu_ns", "sleep_ns", "wake_ns", "external_ns", "unexplained_ns")))
        exposed = {}
        for row in views["ledger_units"]:
            exposed[row["unit"]] = exposed.get(row["unit"], 0) + row["exposed_ns"]
        self.assertEqual({row["unit"]: row["io_ns"] for row in views["units"]}, exposed)

    def test_job(self):
        to = self.folder / "tables"
        made = self.whole(self.job, to=to)
        self.assertEqual(len(made), RANKS * len(TABLES))
        self.assertEqual(sorted(os.listdir(to)), TABLES)
        for rank in range(RANKS):
            self.assertEqual(len(list(to.glob(f"events/job=train-large/rank={rank}/unit-*.parquet"))), 1)
        got = self.read(to)
        views, job = got["views"], report(self.job)
        self.same_ledgers(views, self.ranks, job)
        self.assertEqual(got["hive"], [["train-large", rank] for rank in range(RANKS)])
        self.assertEqual(got["bad_bounds"], [])
        self.assertEqual({row["unit"] for row in views["units"]},
                         {int(name.rsplit("-", 1)[1].split(".")[0]) for name in made})
        self.assertEqual(views["stragglers"][0]["rank"], job["units"][job["straggler"]]["rank"])
        shared = {row["path"]: row for row in views["read_amplification"]}
        for row in job["files"]:
            if row["units"] > 1 and row["read_bytes"]:
                one = shared.pop(row["path"])
                self.assertEqual((one["units"], one["read_bytes"], one["largest_read_bytes"]),
                                 (row["units"], row["read_bytes"], row["largest_read_bytes"]))
        self.assertEqual(shared, {})

    def test_ranks_side_by_side(self):
        """Each by a process of its own, all at once: the same files, to the byte, as of the job."""
        one = self.whole(self.job, to=self.folder / "at-once")
        to = self.folder / "side-by-side"
        running = [subprocess.Popen([IOTRACE, "export", rank, "--format", "parquet", "--partition", "-o", to],
                                    stderr=subprocess.PIPE) for rank in self.ranks]
        for process in running:
            self.assertEqual((process.communicate(timeout=240)[1], process.returncode), (b"", 0))
        self.assertEqual(contents(to), one)

    def test_again(self):
        """What is there stays, and nothing is beside it."""
        to = self.folder / "again"
        before = self.whole(self.ranks[0], self.ranks[1], to=to)
        self.refused(export(self.ranks[1], to=to), str(to), "is there already")
        self.refused(export(self.ranks[2], self.ranks[0], to=to), "is there already")
        self.assertEqual(contents(to), before)
        self.refused(export(self.ranks[2], self.ranks[2], to=self.folder / "twice"), "is there already")
        self.assertFalse((self.folder / "twice").exists())

    def test_full_disk(self):
        """One line, and what was added goes with its folders; what others added stays."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        to = self.folder / "full"
        self.refused(export(self.job, to=to, preexec_fn=limit), "cannot be written: File too large")
        self.assertFalse(to.exists())
        before = self.whole(self.ranks[3], to=to)
        self.refused(export(self.job, to=to, preexec_fn=limit), "cannot be written: File too large")
        self.assertEqual(contents(to), before)
        self.assertEqual(sorted(p.name for p in (to / "events" / "job=train-large").iterdir()), ["rank=3"])

    def test_rank_that_cannot_be_read(self):
        job, to = self.folder / "damaged", self.folder / "of-damaged"
        shutil.copytree(self.job, job)
        (job / "rank-2" / "process.iot").write_bytes(b"nonsense" * 9999)
        self.refused(export(job, to=to), "rank-2")
        self.assertEqual(len(list(to.glob("units/*.parquet"))), RANKS - 1)

    def test_traced_ranks(self):
        """Ranks that were really traced: children, sendfile, a mapping; a name of a job that wants escaping."""
        job = self.folder / "traced"
        (self.folder / "data.bin").write_bytes(bytes(range(256)) * 2000)
        program = ("import mmap, os\n"
                   "source, target = os.open('data.bin', 0), os.open('copy.' + os.environ['IOTRACE_RANK'], 65)\n"
                   "os.sendfile(target, source, 0, 300000)\n"
                   "view = mmap.mmap(source, 0, prot=mmap.PROT_READ)\n"
                   "sum(view[::4096])\n"
                   "os.system('cat data.bin > out.' + os.environ['IOTRACE_RANK'])\n"
                   "os.sync()\n")
        for rank in range(3):
            subprocess.run([sys.executable, "-c", program], cwd=self.folder, check=True, timeout=60,
                           env={**os.environ, "LD_PRELOAD": LIBIOTRACE, "IOTRACE_DIR": str(job),
                                "IOTRACE_RANK": str(rank), "IOTRACE_JOB": "a/b=c d", "IOTRACE_WORLD_SIZE": "3"})
        to = self.folder / "of-traced"
        self.whole(job, to=to)
        self.assertEqual([p.name for p in (to / "events").iterdir()], ["job=a%2Fb%3Dc%20d"])
        got = self.read(to)
        self.assertEqual({row["job"] for row in got["views"]["units"]}, {"a/b=c d"})
        self.assertEqual(got["hive"], [["a/b=c d", rank] for rank in range(3)])
        self.same_ledgers(got["views"], [job / f"rank-{rank}" for rank in range(3)], report(job))

    def test_names_of_jobs(self):
        """Numbers, dates, what is long, and what is no UTF-8, are texts that lead to one folder each."""
        to, names = self.folder / "of-names", ["77", "2024-01-01", "\u00fc" * 50, os.fsdecode(b"a\xff'%"), "..",
                                               NULL]
        for name in names:
            trace = Path(tempfile.mkdtemp(dir=self.folder)) / "trace"
            subprocess.run(["true"], check=True, timeout=60, env={
                **os.environ, "LD_PRELOAD": LIBIOTRACE, "IOTRACE_DIR": str(trace), "IOTRACE_JOB": name})
            self.whole(trace, to=to)
        got = self.read(to)
        self.assertEqual({row["job"] for row in got["views"]["units"]}, set(map(escaped, names)))
        keys = {row[0] for row in got["hive"]}
        self.assertEqual(keys, {None if name == NULL else escaped(name)[:20] if name[0] == "\u00fc" else escaped(name)
                                for name in names})

    def test_one_without_rank(self):
        """Hive's null; and a run of several row groups, with bounds that are those of its values."""
        trace, to = self.folder / "large", self.folder / "of-large"
        subprocess.run([MAKE_TRACE, trace, "events=300000", "lanes=2", "queues=1"], check=True, timeout=60)
        self.whole(trace, to=to)
        self.assertEqual(len(list(to.glob(f"events/job={NULL}/rank={NULL}/unit-*.parquet"))), 1)
        got = self.read(to)
        self.assertEqual(got["hive"], [[None, None]])
        self.assertGreaterEqual(got["groups"], 3)
        self.assertLessEqual(got["group_rows"], 1 << 17)
        self.assertEqual(got["bad_bounds"], [])
        self.same_ledgers(got["views"], [trace], report(trace))

    def test_too_many_texts_for_a_dictionary(self):
        """Every value of a run with sixty thousand files, against CSV."""
        trace, folders = self.folder / "files", [self.folder / "files.parquet", self.folder / "files.csv"]
        subprocess.run([MAKE_TRACE, trace, "events=200000", "files=60000"], check=True, timeout=60)
        for folder in folders:
            subprocess.run([IOTRACE, "export", trace, "--format", folder.suffix[1:], "-o", folder], check=True,
                           timeout=240)
        counts = self.readers("same", *folders)
        self.assertGreater(counts["events"][0], 190000)
        self.assertGreaterEqual(counts["files"][0], 60000)
        self.assertEqual({name: count[1:] for name, count in counts.items()}, dict.fromkeys(TABLES, [0, 0]))

    def test_golden(self):
        to = self.folder / "of-golden"
        self.whole(GOLDEN, to=to)
        got = self.read(to)
        self.same_ledgers(got["views"], [GOLDEN], report(GOLDEN))

    def test_clickhouse(self):
        """The same views in another engine, where it is there."""
        python = Path(READERS) / "bin" / "python"
        if not python.exists() or subprocess.run([python, "-c", "import chdb"], capture_output=True).returncode:
            self.skipTest("no chdb among the readers: it is large; doc/sql/README.md says what was tried")
        to = self.folder / "of-clickhouse"
        self.whole(self.job, to=to)
        done = subprocess.run([python, HERE / "read_exports.py", "clickhouse", to, SQL], capture_output=True,
                              timeout=240, check=False, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        got = {row["object"]: row for row in json.loads(done.stdout)["ledger"]}
        for row in report(self.job)["objects"]:
            self.assertEqual({key: int(got[row["object"]][key]) if row["object"] in got else 0 for key in FIGURES},
                             figures([row]))

    def test_refused(self):
        for options, error in [
                (["--format", "csv", "--partition", "-o", "x"], "--partition is for --format parquet"),
                (["--format", "parquet", "--partition", "--table", "events", "-o", "x"], "and for all tables"),
                (["--format", "parquet", "--partition"], "--partition needs a folder: -o FOLDER"),
                (["--format", "parquet", "-o", "x"], "of several runs only with --format parquet --partition")]:
            with self.subTest(options):
                done = subprocess.run([IOTRACE, "export", self.job, *options], capture_output=True, check=False)
                self.refused(done, error)
        self.refused(export(self.job, to="/nonexistent/folder"), "/nonexistent/folder: cannot be made")
        self.refused(export(self.job, to="/dev/null"), "/dev/null: ")


if __name__ == "__main__":
    unittest.main(verbosity=2)
