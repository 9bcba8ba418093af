"""Traces that are wrong: each is refused in one line, or read with the loss stated; none is read
wrongly, and none holds the reader up. The list is FORMAT.md's section 11, its files are made by
tests/bad/make_bad.c."""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
IOTRACE, MAKE_BAD = sys.argv.pop(1), sys.argv.pop(1)
HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden" / "v1"
sys.path[:0] = [str(HERE.parent / "reader"), str(HERE.parent / "e2e")]
import schema
from xxh64 import xxh64

SEGMENT = 131072
# Of the whole run: 38 events of the root, 2 of its child.
ALL, ROOT, FIRST_BLOCK, SECOND_BLOCK, LIVE = 40, 38, 15, 15, 8

# What is wrong: how many events are left, and what is said of the loss. None: nothing is lost.
SALVAGED = {
    "whole": (ALL, None),
    "newer_minor": (ALL, None),
    "segment_kind_of_newer_minor": (ALL, None),
    "major_0": (ALL - ROOT, "byte 8: no such format version"),
    "odd_sizes": (ALL - ROOT, "byte 12: sizes"),
    "unknown_clock": (ALL - ROOT, "byte 28: an unknown clock"),
    "late_start": (ALL - ROOT, "byte 48: an impossible start"),
    "empty": (ALL - ROOT, "byte 0: the file is empty"),
    "within_header": (ALL - ROOT, "byte 191: the file ends within"),
    "header_only": (ALL - ROOT, "byte 4096: nothing was recorded"),
    "no_root": (ALL, "byte 44: the file of the run's first process"),
    "unknown_end": (ALL, "byte 140: an unknown kind of end"),
    "cut_short": (ALL - LIVE, "byte 262144: the file ends"),
    "too_few_segments": (ALL - LIVE, "byte 128: the file has more segments"),
    "no_segments": (ALL - ROOT, "byte 128: the file has more segments"),
    "endless_segments": (ALL, "byte 393216: the file ends"),
    "segment_magic": (ALL - LIVE, "byte 262144: a segment whose start"),
    "segment_magic_of_blocks": (ALL, "byte 131072: a segment whose start"),
    "segment_kind": (ALL - LIVE, "byte 262144: a segment of unknown kind"),
    "block_magic": (ALL - FIRST_BLOCK, "byte 131136: not a block"),
    "block_magic_0": (ALL - FIRST_BLOCK, "byte 131136: not a block"),
    "block_checksum": (ALL - FIRST_BLOCK, "byte 131136: a block's checksum"),
    "stored_bytes": (ALL - FIRST_BLOCK, "byte 131136: a block that reaches beyond"),
    "codec": (ALL - FIRST_BLOCK, "byte 131136: a block with an unknown codec"),
    "counts": (ALL - FIRST_BLOCK, "byte 131136: a block with impossible sizes"),
    "counts_above_raw_bytes": (ALL - FIRST_BLOCK, "byte 131136: a block with impossible sizes"),
    "raw_bytes": (ALL - FIRST_BLOCK, "byte 131136: a block with impossible sizes"),
    "raw_is_not_stored": (ALL - FIRST_BLOCK, "byte 131136: a block with impossible sizes"),
    "no_zstd": (ALL - FIRST_BLOCK, "byte 131136: a block that does not decompress"),
    "columns": (ALL - FIRST_BLOCK, "byte 131136: a block whose columns"),
    "epoch_missing": (ALL, "byte 262208: rows that came before these are missing"),
    "epoch_twice": (ALL - SECOND_BLOCK, "rows that are there twice"),
    "fact": (ALL, "a fact that is longer"),
    "anchors": (ALL, "byte 152: anchors of the clock contradict"),
    "no_rate": (ALL, "byte 48: how fast the clock ran"),
    "bytes": (ALL, "rows with bytes that cannot be"),
    "times": (ALL, "rows with times that cannot be"),
    "unknown_operation": (ALL - 1, None),
}
# The whole run cannot be read, though its other file could.
REJECTED = {"newer_major": "byte 8: format version 2.0"}
# A file for itself: refused, as nothing else is there.
ALONE = ("major_0", "odd_sizes", "unknown_clock", "late_start", "empty", "within_header")


def run(*arguments, timeout=30, threads=None):
    env = os.environ | ({"IOTRACE_THREADS": str(threads)} if threads else {})
    return subprocess.run([IOTRACE, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=timeout, check=False, env=env)


def header(data):
    """With the checksum that it must have."""
    return data[:112] + struct.pack("<Q", xxh64(bytes(data[:112]))) + data[120:]


class Bad(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.made)
        subprocess.run([MAKE_BAD, cls.made], check=True)

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def one_line(self, stderr):
        line = stderr.decode()
        self.assertRegex(line, r"\Aiotrace: [^\n]+\n\Z")
        self.assertTrue(line[:-1].isprintable(), line)
        return line

    def refused(self, folder, words):
        for command in (("dump", folder), ("dump", folder, "--format", "jsonl"),
                        ("report", folder), ("report", folder, "--format", "json")):
            done = run(*command)
            self.assertEqual((done.returncode, done.stdout), (2, b""), command)
            self.assertIn(words, self.one_line(done.stderr))

    def report(self, folder):
        done = run("report", folder, "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, b""), done)
        report = json.loads(done.stdout)
        self.assertEqual(schema.check_report(report, complete=False), [])
        return report

    def salvaged(self, folder, n, words):
        """Read with n events and the loss stated in dump, report and its text."""
        dump = run("dump", folder, "--format", "jsonl")
        self.assertEqual(dump.returncode, 0, dump)
        self.assertEqual(len(dump.stdout.splitlines()), n)
        report, text = self.report(folder), run("report", folder)
        self.assertEqual(text.returncode, 0)
        self.assertEqual(report["run"]["events"], n)
        if words is None:
            self.assertEqual(report["run"]["salvaged_processes"], 0)
            self.assertNotIn(b"damaged", dump.stderr + text.stdout)
            return report
        self.assertGreater(report["run"]["salvaged_processes"], 0)
        self.assertIn(words, self.one_line(dump.stderr))
        self.assertTrue(any(words in line for line in report["run"]["not_seen"]), report["run"])
        self.assertIn(words, " ".join(text.stdout.decode().split()))
        return report

    def test_the_list(self):
        names = {p.name for p in self.made.iterdir()}
        self.assertEqual(names, SALVAGED.keys() | REJECTED.keys())
        for name, (n, words) in SALVAGED.items():
            with self.subTest(name):
                self.salvaged(self.made / name, n, words)
        for name, words in REJECTED.items():
            with self.subTest(name):
                self.refused(self.made / name, words)

    def test_any_number_of_threads(self):
        """Reads the same, with more of them than files too."""
        for folder in (*sorted(self.made.iterdir()), GOLDEN):
            for what in (("report", "--format", "json"), ("dump", "--format", "jsonl")):
                with self.subTest(folder.name, what=what[0]):
                    one, many = (run(what[0], folder, *what[1:], threads=n) for n in (1, 7))
                    self.assertEqual((one.returncode, one.stdout, one.stderr),
                                     (many.returncode, many.stdout, many.stderr))

    def test_alone_a_file_is_refused(self):
        for name in ALONE:
            with self.subTest(name):
                shutil.copy(self.made / name / "100.iot", self.folder / "100.iot")
                self.refused(self.folder, SALVAGED[name][1])

    def test_an_unknown_operation_is_counted(self):
        report = self.report(self.made / "unknown_operation")
        self.assertTrue(any("Left out, of operations that this version does not know: 1 event" in line
                            for line in report["run"]["not_seen"]))

    def whole(self):
        for file in (self.made / "whole").iterdir():
            shutil.copy(file, self.folder)

    def test_foreign_files(self):
        foreign = {"text": b"Dear reader, this is no trace.\n" * 20,
                   "jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)) * 4,
                   "zeros": bytes(4096), "random": random.Random(1).randbytes(200000)}
        for name, data in foreign.items():
            with self.subTest(name):
                (self.folder / "x.iot").write_bytes(data)
                self.refused(self.folder, "x.iot: byte 0: not a trace file")
        self.whole()
        self.salvaged(self.folder, ALL, "x.iot: byte 0: not a trace file")

    def test_what_is_no_file(self):
        os.mkdir(self.folder / "x.iot")
        self.refused(self.folder, "x.iot: byte 0: not a regular file")
        os.rmdir(self.folder / "x.iot")
        os.mkfifo(self.folder / "x.iot")  # must not hold it up
        self.refused(self.folder, "x.iot: byte 0: not a regular file")
        self.whole()
        self.salvaged(self.folder, ALL, "x.iot: byte 0: not a regular file")
        os.unlink(self.folder / "x.iot")
        os.symlink("nowhere", self.folder / "x.iot")
        self.salvaged(self.folder, ALL, "x.iot: byte 0: No such file")
        self.refused(self.folder / "100.iot", "Not a directory")

    def test_a_file_twice(self):
        self.whole()
        shutil.copy(self.folder / "101.iot", self.folder / "copy of 101.iot")
        self.salvaged(self.folder, ALL, "copy of 101.iot: byte 32: a second file of a process")
        shutil.copy(self.folder / "100.iot", self.folder / "100 again.iot")
        report = self.salvaged(self.folder, ALL, "byte 32: a second file of a process")
        self.assertEqual(report["run"]["salvaged_processes"], 2)

    def test_a_number_given_twice(self):
        """Two processes with one pid are two, unless they start at the same moment."""
        self.whole()
        data = bytearray((self.folder / "101.iot").read_bytes())
        struct.pack_into("<QQ", data, 48, 1_009_000, 1_009_000)
        (self.folder / "101-later.iot").write_bytes(header(data))
        self.salvaged(self.folder, ALL + 2, None)

    def test_a_missing_process(self):
        self.whole()
        self.assertEqual(self.report(self.folder)["run"]["untraced"], [])
        (self.folder / "101.iot").unlink()
        report = self.salvaged(self.folder, ROOT, None)
        self.assertEqual([u["pid"] for u in report["run"]["untraced"]], [101])
        self.assertIn(b"1 process of the run left no trace", run("report", self.folder).stdout)

    def test_without_its_marker(self):
        self.whole()
        (self.folder / "run").unlink()
        self.salvaged(self.folder, ALL, None)

    def test_thousands_of_files(self):
        self.whole()
        data = bytearray((self.made / "header_only" / "100.iot").read_bytes())
        struct.pack_into("<I", data, 44, 0)
        for pid in range(1000, 6000):
            struct.pack_into("<I", data, 32, pid)
            (self.folder / f"{pid}.iot").write_bytes(header(data))
        report = self.salvaged(self.folder, ALL, None)
        self.assertEqual(report["run"]["processes"], 5002)

    def test_cut_anywhere(self):
        """A golden file cut at a byte is refused, or the loss is stated, as soon as bytes that mean
        something are gone."""
        whole = (GOLDEN / "500-1e8480.iot").read_bytes()
        used = len(whole.rstrip(b"\0"))
        events = len(run("dump", GOLDEN, "--format", "jsonl").stdout.splitlines())
        places = {0, 1, 7, 8, 11, 12, 47, 119, 127, 128, 191, 192, 193, 4095, 4096, 5000}
        places |= {at + d for at in range(SEGMENT, len(whole), SEGMENT) for d in (-1, 0, 1, 63, 64)}
        places |= set(random.Random(2).sample(range(used), 60))
        for at in sorted(places):
            with self.subTest(at):
                (self.folder / "500.iot").write_bytes(whole[:at])
                done = run("dump", self.folder, "--format", "jsonl")
                self.assertIn(done.returncode, (0, 2), done.stderr)
                self.assertEqual(done.returncode == 2, at < 192)
                if at < used:
                    self.assertIn(b"byte", done.stderr)
                if at >= 192:
                    self.assertLessEqual(len(done.stdout.splitlines()), events)
                    self.report(self.folder)

    def test_flipped_anywhere(self):
        """One byte of a golden file flipped: never a crash, and no other figure without a word."""
        for name in ("500-1e8480.iot", "510-1fe630.iot"):
            whole = (GOLDEN / name).read_bytes()
            (self.folder / name).write_bytes(whole)
            expected = run("dump", self.folder, "--format", "jsonl").stdout
            meant = [at for at in range(len(whole)) if whole[at]]
            places = set(random.Random(3).sample(meant, min(len(meant), 250)))
            places |= set(range(0, 192, 3)) | set(random.Random(4).sample(range(len(whole)), 50))
            for at in sorted(places):
                with self.subTest(name=name, at=at):
                    data = bytearray(whole)
                    data[at] ^= random.Random(at).randrange(1, 256)
                    (self.folder / name).write_bytes(data)
                    done = run("dump", self.folder, "--format", "jsonl")
                    self.assertIn(done.returncode, (0, 2), done.stderr)
                    if done.returncode:
                        self.one_line(done.stderr)
                        continue
                    self.report(self.folder)
                    if done.stdout != expected and b"damaged files" not in done.stderr:
                        self.assertTrue(self.unprotected(whole, at), done.stderr)

    @staticmethod
    def unprotected(whole, at):
        """What no checksum covers: live halves, heads of segments, what changes in the header."""
        base = at // SEGMENT * SEGMENT
        kind = struct.unpack_from("<I", whole, base + 4)[0]
        return 128 <= at < 192 or (base and (kind == 1 or at - base < 64))


if __name__ == "__main__":
    unittest.main()
