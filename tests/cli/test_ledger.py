"""iotrace ledger, and what every command shares: help, version, errors, exit status."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

IOTRACE = sys.argv.pop(1)

CASE = [
    {"object": "artifact", "bytes": 10**9, "bandwidth_gbps": 1},
    {"object": "state", "bytes": 10**8, "bandwidth_gbps": 10, "frequency": 4,
     "overlap_window_ms": 6, "blocking_dependency": False},
]


def run(*arguments, stdin=b"", **options):
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([IOTRACE, *arguments], input=stdin, stderr=subprocess.PIPE,
                          timeout=60, check=False, **options)


class Iotrace(unittest.TestCase):
    def fails(self, result, *parts):
        """Status 2, nothing on standard output, one line of printable characters."""
        self.assertEqual(result.returncode, 2, result)
        self.assertFalse(result.stdout)
        line = result.stderr.decode()
        self.assertTrue(line.startswith("iotrace: ") and line.endswith("\n"), line)
        self.assertTrue(line[:-1].isprintable(), line)
        for part in parts:
            self.assertIn(part, line)

    def ledger(self, events, *arguments):
        result = run("ledger", "-", *arguments, stdin=json.dumps(events).encode())
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout.decode()

    def test_text(self):
        lines = self.ledger(CASE).splitlines()
        self.assertEqual([line.split()[0] for line in lines],
                         ["object", "ms", "input", "artifact", "state", "output", "total"])
        self.assertEqual(len({len(line) for line in lines}), 1)
        self.assertEqual(lines[4].split(), ["state", "400000000", "40.000", "16.000", "24.000",
                                            "0.000", "0.000"])
        self.assertEqual(lines[6].split()[1:4], ["1400000000", "1040.000", "1016.000"])

    def test_text_fits_in_80_columns_whatever_the_figures(self):
        for time in (0, 1e-320, 4e-4, 0.0009999, 99999.9996, 999999999.6, 1e9, 1e300):
            events = [{"object": "output", "bytes": 2**63 - 1, "bandwidth_gbps": 1e300,
                       "fixed_latency_ms": time, "serialization_ms": time,
                       "backpressure_ms": time}]
            for line in self.ledger(events).splitlines():
                self.assertLessEqual(len(line), 80, line)
                self.assertEqual(len(line.split()), 7 if "ms" not in line else 5, line)
            total = self.ledger(events).splitlines()[-1].split()
            self.assertEqual(total[2:], [total[2], total[2], "0.000", total[2], total[2]])
            if time > 0:
                self.assertAlmostEqual(float(total[2]) / time, 1, delta=0.006)

    def test_decimals_give_way_to_digits(self):
        for time, text in ((99999.5, "99999.500"), (123456.78, "123456.78"),
                           (1234567.8, "1234567.8"), (12345678.9, "12345679"),
                           (123456789, "123456789"), (1234567890, "1.23e+09"),
                           (0.001, "0.001"), (0.00025, "2.50e-04")):
            events = [{"object": "input", "bytes": 0, "bandwidth_gbps": 1,
                       "fixed_latency_ms": time}]
            self.assertEqual(self.ledger(events).split()[-5], text)

    def test_json(self):
        ledger = json.loads(self.ledger(CASE, "--format", "json"))
        self.assertEqual(list(ledger), ["schema", "objects", "total"])
        self.assertEqual(ledger["schema"], "iotrace-ledger/1")
        rows = {row["object"]: row for row in ledger["objects"]}
        self.assertEqual(list(rows), ["input", "artifact", "state", "output"])
        self.assertEqual(rows["artifact"]["exposed_ms"], 1000)
        self.assertEqual(rows["state"]["service_ms"], 40)
        self.assertEqual(rows["state"]["exposed_ms"], 16)
        self.assertEqual(ledger["total"]["bytes"], 1_400_000_000)
        for name, value in ledger["total"].items():
            self.assertEqual(value, sum(row[name] for row in rows.values()), name)
            self.assertIs(type(value), int if name in ("calls", "bytes") else float, name)

    def test_a_file_is_read_like_standard_input(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "events.json")
            with open(path, "w", encoding="ascii") as file:
                json.dump({"events": CASE}, file)
            self.assertEqual(run("ledger", path).stdout.decode(), self.ledger(CASE))

    def test_invalid_events_are_named(self):
        for field, value, part in (("bytes", -1, "at least 0"), ("frequency", 0, "greater than 0"),
                                   ("frequency", True, "an integer, not true"),
                                   ("frequency", 1.0, "an integer, not a real number"),
                                   ("frequency", "1", "an integer, not a string"),
                                   ("bandwidth_gbps", 0, "greater than 0"),
                                   ("object", "other", "one of input"),
                                   ("bytes", 2**62, "too large"), ("x\n\x1b\x7f", 1, "not a field")):
            events = [CASE[0], {**CASE[1], field: value}]
            result = run("ledger", "-", stdin=json.dumps(events).encode())
            self.fails(result, "standard input: events[1]." + field[:1], part)

    def test_unreadable_input(self):
        self.fails(run("ledger", "/no/such\nfile"), "/no/such\\x0afile", "No such file")
        self.fails(run("ledger", "/"), "/: cannot be read: Is a directory")
        self.fails(run("ledger", "-"), "standard input: line 1")
        self.fails(run("ledger", "-", stdin=b"[]\n]"), "line 2, column 1, byte 4")
        self.fails(run("ledger", "-", stdin=b"\xff\x1b"), "standard input: line")

    def test_usage(self):
        self.fails(run())
        self.fails(run("legder"), "'legder' is not a command", "--help")
        self.fails(run("--nothing"), "'--nothing'")
        self.fails(run(b"\xff\n"), "'\\xff\\x0a'")
        self.fails(run("ledger"), "one file of events")
        self.fails(run("ledger", "a", "b"), "got 2")
        self.fails(run("ledger", "-", "--format", "xml"), "not 'xml'")
        self.fails(run("ledger", "-", "--format"), "'--format' needs a value")
        self.fails(run("ledger", "-", "--frmat=json"), "'--frmat=json'")
        self.fails(run("ledger", "-", "-x"), "'-x'")

    def test_help_and_version(self):
        for arguments in (("--help",), ("-h",), ("ledger", "--help"), ("ledger", "-h")):
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertTrue(result.stdout.startswith(b"Usage: iotrace "))
            self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)
        self.assertIn(b"\n  ledger ", run("--help").stdout)
        self.assertRegex(run("--version").stdout, rb"\Aiotrace \d+\.\d+\.\d+\n\Z")

    def test_full_disk(self):
        stdin = json.dumps(CASE).encode()
        for arguments in (("ledger", "-"), ("ledger", "-", "--format=json"), ("--help",),
                          ("--version",), ("ledger", "--help")):
            with open("/dev/full", "wb") as full:
                self.fails(run(*arguments, stdin=stdin, stdout=full), "No space left on device")


if __name__ == "__main__":
    unittest.main()
