"""iotrace top: a run that is going on, seen from beside it."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

IOTRACE, LIBIOTRACE = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))
# Not a script that looks for the interpreter, as some installations have.
PYTHON = os.path.realpath(sys.executable)
PROGRAM = """
import os, time
while True:
    with open("written", "wb", buffering=0) as file:
        for _ in range(50):
            file.write(b"x" * 1000)
        os.fsync(file.fileno())
    time.sleep(0.05)
"""


def iotrace(*arguments, **more):
    return subprocess.run([IOTRACE, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, check=False, **more)


def service_of(text, name):
    """The bytes of an object in the first ledger of a text."""
    return re.search(rf"^{name} +(\S+ \S+)", text, re.M)[1]


class Top(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.trace = self.folder / "a trace"
        self.running = subprocess.Popen(
            [PYTHON, "-c", PROGRAM], cwd=self.folder,
            env={**os.environ, "LD_PRELOAD": LIBIOTRACE, "IOTRACE_DIR": str(self.trace)})
        self.addCleanup(self.running.wait)
        self.addCleanup(self.running.kill)
        for _ in range(600):
            if (self.folder / "written").exists():
                break
            time.sleep(0.05)
        time.sleep(0.5)

    def test_two_looks(self):
        done = iotrace("top", "--pid", self.running.pid, "--interval", "500ms", "--rounds", "2",
                       cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("\033", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80, done.stdout)
        first, second = re.split(r"\n(?=[^\n]* so far, 1 process, 1 of them going on\n)", done.stdout)
        self.assertRegex(second, r"\A\S+ m?s so far")
        self.assertIn("since the start", first)
        self.assertIn("since the last look", second)
        for look in first, second:
            self.assertRegex(look, r"(?m)^ +\S+ [kM]?B/s +\S+ ?k?/s +\S+ m?s  output, all of it$")
            self.assertRegex(look, r"(?m)^ +\S+ [kM]?B/s +\S+ ?k?/s +\S+ m?s  output   written$")

    def test_the_same_as_the_report(self):
        self.running.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        top = iotrace("top", self.trace, "-n", "1")
        report = iotrace("report", self.trace)
        self.assertEqual((top.returncode, report.returncode), (0, 0))
        ledger = re.search(r"(?ms)^object .*?^total .*?$", report.stdout)[0]
        self.assertIn(ledger, top.stdout)
        self.assertIn("The run was still going on when its trace was read (1 process",
                      " ".join(report.stdout.split()))

    def test_it_ends_with_the_run(self):
        looking = subprocess.Popen([IOTRACE, "top", self.trace, "-i", "200ms"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        self.assertIsNone(looking.poll())
        self.running.kill()
        self.running.wait()
        out, error = looking.communicate(timeout=60)
        self.assertEqual((looking.returncode, error), (0, ""))
        self.assertRegex(out, r"so far, 1 process, 0 of them going on\n(?!.*so far)(?s:.*)\Z")
        self.assertNotIn("still going on", iotrace("report", self.trace).stdout)

    def test_refused(self):
        for arguments, error in [
                ([], "give the folder of a trace, or --pid; see 'iotrace top --help'"),
                ([self.trace, "-p", self.running.pid], "give the folder"),
                (["-p", "4194305"], "process 4194305: there is none"),
                (["-p", os.getpid()], f"process {os.getpid()} is not traced"),
                (["-p", "x"], "--pid is a whole number, not 'x'"),
                ([self.folder / "nothing"], "nothing")]:
            with self.subTest(arguments):
                done = iotrace("top", *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(error, done.stderr)

    @unittest.skipIf(os.getuid(), "only root may become another user")
    def test_of_another_user(self):
        try:
            done = iotrace("top", "-p", self.running.pid, user="nobody", cwd="/")
        except (OSError, LookupError) as e:
            self.skipTest(f"nobody may not run {IOTRACE}: {e}")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn("it is another user's", done.stderr)
        self.assertIn("instead of -p", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
