#!/usr/bin/env python3
"""What is read does not depend on how many threads read it. Also run with the thread sanitizer."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

IOTRACE, MAKE_TRACE = sys.argv.pop(1), sys.argv.pop(1)


class Threads(unittest.TestCase):
    def report(self, folder, threads, form):
        done = subprocess.run([IOTRACE, "report", folder, "--format", form], capture_output=True,
                              env=os.environ | {"IOTRACE_THREADS": str(threads)})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def test_many_processes(self):
        with tempfile.TemporaryDirectory(prefix="iotrace-threads-") as place:
            folder = Path(place) / "trace"
            subprocess.run([MAKE_TRACE, folder, "events=60000", "processes=100", "lanes=2",
                            "queues=1"], check=True)
            for form in ("json", "text"):
                alone = self.report(folder, 1, form)
                for threads in (2, 4, 7):
                    self.assertEqual(self.report(folder, threads, form), alone, threads)


if __name__ == "__main__":
    unittest.main()
