"""iotrace whatif: its schema, its text, and what it refuses."""
import json
import subprocess
import sys
import unittest
from pathlib import Path

IOTRACE = sys.argv.pop(1)
TRACE = Path(__file__).resolve().parent.parent / "golden" / "v1"
KEYS = ["schema", "wall_ns", "new_wall_ns", "gained_ns", "calls", "bytes", "service_ns",
        "new_service_ns", "fixed_latency_ns", "path", "new_path"]
PATH = ["compute_ns", "gpu_ns", "sleep_ns", "wake_ns", "external_ns", "unexplained_ns", "io_ns"]


def whatif(*arguments):
    return subprocess.run([IOTRACE, "whatif", *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, check=False)


def answer(*arguments):
    done = whatif(TRACE, "--format", "json", *arguments)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return json.loads(done.stdout)


class Whatif(unittest.TestCase):
    def test_schema(self):
        got = answer()
        self.assertEqual(list(got), KEYS)
        self.assertEqual(got["schema"], "iotrace-whatif/1")
        for path, wall in (("path", "wall_ns"), ("new_path", "new_wall_ns")):
            self.assertEqual(list(got[path]), PATH)
            parts = dict(got[path])
            self.assertEqual(sum(parts.pop("io_ns").values()) + sum(parts.values()), got[wall])
        self.assertEqual(got["new_service_ns"], 0)
        self.assertEqual(got["gained_ns"], got["wall_ns"] - got["new_wall_ns"])

    def test_twice_as_slow_and_unchanged(self):
        slower, same = answer("--scale", "2"), answer("--scale", "1")
        self.assertLess(slower["gained_ns"], 0)
        self.assertEqual(slower["new_service_ns"], 2 * slower["service_ns"])
        self.assertEqual((same["gained_ns"], same["path"]), (0, same["new_path"]))

    def test_selections_add_up(self):
        """All objects together are everything; a glob with a slash is matched with
        the whole path, or what follows a slash in it."""
        names = ["input", "artifact", "state", "output", "other"]
        all_objects = answer(*[a for name in names for a in ("--object", name)])
        self.assertEqual(all_objects, answer())
        self.assertEqual(answer("--file", "model.bin"), answer("--file", "/data/model.bin"))
        self.assertEqual(answer("--file", "model.bin"), answer("--file", "data/m*.bin"))
        self.assertLess(answer("--file", "model.bin")["calls"], all_objects["calls"])

    def test_text(self):
        done = whatif(TRACE, "--object", "artifact", "--object", "output")
        text = done.stdout.decode()
        self.assertEqual((done.returncode, text.startswith("The run would take ")), (0, True), text)
        self.assertRegex(text, r"critical path +recorded +then\n")
        self.assertIn("more I/O on it than the report", " ".join(text.split()))
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_refused(self):
        for arguments, part in [
                ((), "needs one folder"),
                ((TRACE, TRACE), "got 2"),
                ((TRACE, "--object", "weights"), "not 'weights'"),
                ((TRACE, "--scale", "-1"), "not below 0"),
                ((TRACE, "--scale", "nan"), "not below 0"),
                ((TRACE, "--bandwidth", "0"), "above 0"),
                ((TRACE, "--latency", "5"), "with its unit"),
                ((TRACE, "--latency", "-5ms"), "with its unit"),
                ((TRACE, "--overlap", "--scale", "0"), "one change at a time"),
                ((TRACE, "--file", "no such file"),
                 "no file is like 'no such file'; 'iotrace report' lists them"),
                ((TRACE, "--file", "model.bin", "--file", "modle.bin"), "no file is like 'modle.bin'"),
                ((TRACE, "--object", "input", "--file", "modle.bin"), "no file is like 'modle.bin'"),
                ((TRACE, "--file", "odel"), "no file is like 'odel'; near it are /data/model.bin"),
                ((TRACE, "--file", "*/modle.bin"), "near it are /data/model.bin"),
                ((TRACE, "--object", "input"), "no I/O of this run is selected"),
                ((TRACE, "--format", "xml"), "'xml'"),
                ((TRACE / "nowhere",), "nowhere"),
        ]:
            with self.subTest(part):
                done = whatif(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                line = done.stderr.decode()
                self.assertTrue(line.startswith("iotrace: ") and line.count("\n") == 1, line)
                self.assertIn(part, line)


if __name__ == "__main__":
    unittest.main()
