"""iotrace dump: golden traces byte for byte, the table, and what is said of losses."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

IOTRACE = sys.argv.pop(1)
GOLDEN = Path(__file__).resolve().parent.parent / "golden"
KEYS = ["t0_ns", "t1_ns", "pid", "tid", "lane", "op", "fd", "path", "path2", "bytes", "offset",
        "result", "errno"]


def dump(*arguments, **options):
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([IOTRACE, "dump", *arguments], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=60, check=False, **options)


class Dump(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def fails(self, result, *parts):
        """Status 2, nothing on standard output, one line of printable characters."""
        self.assertEqual((result.returncode, result.stdout), (2, b""), result)
        self.one_line(result.stderr, *parts)

    def one_line(self, stderr, *parts):
        line = stderr.decode()
        self.assertTrue(line.startswith("iotrace: ") and line.endswith("\n"), line)
        self.assertTrue(line[:-1].isprintable(), line)
        for part in parts:
            self.assertIn(part, line)

    def test_golden_files_of_every_version(self):
        versions = sorted(GOLDEN.glob("v*"))
        self.assertTrue(versions)
        for version in versions:
            with self.subTest(version.name):
                result = dump(version, "--format", "jsonl")
                self.assertEqual(result.returncode, 0, result)
                self.assertEqual(result.stdout.decode().splitlines(),
                                 (version / "dump.jsonl").read_text().splitlines())
                self.assertEqual(result.stderr.decode().replace(str(version), "DIR"),
                                 (version / "stderr").read_text())

    def golden(self):
        result = dump(GOLDEN / "v1", "--format", "jsonl")
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_keys_and_order(self):
        events = self.golden()
        for event in events:
            waits = event["op"] in ("join", "waitpid", "poll")
            known = ["addr", "addr_bytes"] * ("addr" in event)
            self.assertEqual(list(event), KEYS + ["waker"] * waits + known)
        self.assertEqual(events, sorted(events, key=lambda e: (e["t0_ns"], e["lane"])))

    def test_a_name_survives_exactly(self):
        paths = {e["path"] for e in self.golden() if e["path"] and "odd" in e["path"]}
        self.assertEqual([os.fsencode(p) for p in paths], [b"/data/odd\n\033[31mname\xff.log"])

    def test_text_is_a_table(self):
        lines = dump(GOLDEN / "v1").stdout.decode().splitlines()
        self.assertEqual(len(lines), 1 + len(self.golden()))
        self.assertTrue(all(line.isprintable() for line in lines))
        place = lines[0].index("path")
        self.assertEqual({line[place - 1] for line in lines}, {" "})
        opened, failed, sent = (next(line for line in lines if f" {op} " in line)
                                for op in ("openat", "open", "sendfile"))
        self.assertEqual(opened.split(), ["0.001000", "0.000800", "500", "500", "0", "openat", "3",
                                          "0", "-", "3", "/data/model.bin"])
        self.assertEqual(failed.split()[6:], ["-", "0", "-", "ENOENT", "/data/missing"])
        self.assertTrue(sent.endswith("/data/model.bin -> socket:[888]"), sent)

    def test_a_damaged_block_is_stated(self):
        for source in (GOLDEN / "v1").glob("*.iot"):
            shutil.copy(source, self.folder)
        with open(self.folder / "500-1e8480.iot", "r+b") as file:
            file.seek(131072 + 64 + 64 + 10)
            file.write(b"?!?!")
        result = dump(self.folder, "--format", "jsonl")
        self.assertEqual(result.returncode, 0)
        self.assertLess(len(result.stdout.splitlines()), len(self.golden()))
        self.one_line(result.stderr.splitlines(True)[0], "500-1e8480.iot: byte 131136: ",
                      "checksum", "was read: 1;")

    def test_nothing_to_read(self):
        self.fails(dump(self.folder / "none"), "No such file or directory")
        self.fails(dump(self.folder), "no trace in this folder")
        for k, name in enumerate(("newer", "older")):
            (self.folder / name).mkdir()
            (self.folder / name / "x.iot").write_bytes(b"")
            os.utime(self.folder / name, (1e9 - k, 1e9 - k))
        self.fails(dump(self.folder), "no trace in this folder", "as ", "/newer\n")
        (self.folder / "job/rank-10").mkdir(parents=True)
        self.fails(dump(self.folder / "job"), "no trace in this folder, but a job's", "/job/rank-10")
        (self.folder / "x.iot").write_bytes(b"")
        self.fails(dump(self.folder), "x.iot: byte 0: the file is empty")
        (self.folder / "a\n\033.iot").write_bytes(b"iotrace\n\x02\0\x03\0")
        self.fails(dump(self.folder), "a\\x0a\\x1b.iot: byte 8: format version 2.3",
                   "reads up to 1.0")

    def test_usage(self):
        self.fails(dump(), "which folder?")
        self.fails(dump("a", "b"), "one folder only")
        self.fails(dump("a", "--format", "xml"), "'xml'")
        self.fails(dump("--what", "a"), "'--what'")
        result = dump("--help")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertIn(b"--format text|jsonl", result.stdout)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk_is_an_error(self):
        for form in ("text", "jsonl"):
            with open("/dev/full", "wb") as full:
                result = dump(GOLDEN / "v1", "--format", form, stdout=full)
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"standard output", result.stderr.splitlines()[0])


if __name__ == "__main__":
    unittest.main()
