"""Long work says on a terminal what it is at, takes the line away again, and says it nowhere else."""
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest

IOTRACE, MAKE_TRACE = sys.argv.pop(1), sys.argv.pop(1)


class Progress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.long, cls.short = (os.path.join(place.name, name) for name in ("long", "short"))
        size = ("processes=16", "lanes=2", "queues=1")
        subprocess.run([MAKE_TRACE, cls.long, "events=2000000", *size], check=True)
        subprocess.run([MAKE_TRACE, cls.short, "events=1000", *size], check=True)

    def on_a_terminal(self, folder, *command):
        """What a report writes to a terminal that is its standard error."""
        master, slave = pty.openpty()
        with subprocess.Popen([IOTRACE, *(command or ["report"]), folder], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=slave) as process:
            os.close(slave)
            seen = b""
            try:
                while part := os.read(master, 4096):
                    seen += part
            except OSError:  # the other end is closed
                pass
        os.close(master)
        self.assertEqual(process.returncode, 0)
        return seen.decode()

    def test_on_a_terminal(self):
        seen = self.on_a_terminal(self.long)
        if not seen:
            self.skipTest("this machine takes less than a second")
        lines = seen.split("\r\033[K")
        self.assertEqual((lines[0], lines[-1]), ("", ""))  # nothing is left
        for line in lines[1:-1]:
            self.assertRegex(line, r"^[a-z' ]+( \(\d+ of \d+\))?$")
        self.assertNotIn("\n", seen)

    def test_an_export(self):
        out = os.path.join(os.path.dirname(self.long), "out")
        seen = self.on_a_terminal(self.long, "export", "--format", "chrome", "-o", out)
        if not seen:
            self.skipTest("this machine takes less than a second")
        self.assertTrue(seen.endswith("\r\033[K"), seen)
        self.assertRegex(seen, r"writing events \(\d+ of \d+\)")
        self.assertNotIn("\n", seen)

    def test_short_work_says_nothing(self):
        self.assertEqual(self.on_a_terminal(self.short), "")

    def test_nowhere_else(self):
        done = subprocess.run([IOTRACE, "report", self.long], capture_output=True, check=True)
        self.assertEqual(done.stderr, b"")
        self.assertFalse(re.search(rb"[\r\033]", done.stdout))


if __name__ == "__main__":
    unittest.main()
