"""The options of every command: what --help lists is taken, is in the manual, and nothing else is."""
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

IOTRACE = sys.argv.pop(1)
PAGES = Path(sys.argv.pop(1))
MANUAL = Path(__file__).resolve().parents[2] / "doc" / "iotrace.1"
NOT_THERE = "/nonexistent/folder"
# An argument that is right for each of its names in --help; a list of words is its own.
ARGUMENTS = {"FORMAT": "text", "FILE": NOT_THERE, "DIR": NOT_THERE, "N": "3", "NAME": "input",
             "GLOB": "*", "X": "0.5", "GBPS": "2", "TIME": "80us",
             "A-B": "2-3", "PID": "0", "SIZE": "16M", "TABLE": "events"}
# Where the name means something else in one command.
OWN = {("export", "FORMAT"): "csv"}
OPTION = re.compile(r"^  (?:-(\w), )?--([\w-]+)(?: (\S+))?(?:  |$)", re.M)


def run(*arguments):
    return subprocess.run([IOTRACE, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False)


COMMANDS = re.findall(r"^  (\w+)  ", run("--help").stdout, re.M)


def options(command):
    """(letter, name, argument) of each option in --help."""
    return OPTION.findall(run(command, "--help").stdout)


def flags(lines):
    """The options that lines of roff name: `.It Fl o , -output Ar file` has two."""
    found = []
    for line in lines:
        for words in re.findall(r"(?<= )Fl ((?:-?\w[\w-]*(?: , )?)+)|(?<=^\.)Fl (-?\w[\w-]*)", line):
            found += ["-" + word for word in "".join(words).split(" , ")]
    return found


def page_flags(command):
    """Those of the command's page: in its synopsis, and in the lists of its description."""
    text = (PAGES / f"iotrace-{command}.1").read_text()
    synopsis, rest = text.split(".Sh SYNOPSIS")[1].split(".Sh DESCRIPTION")
    return flags(synopsis.splitlines()), flags(line for line in rest.splitlines() if line.startswith(".It "))


class Options(unittest.TestCase):
    def test_all_commands_are_here(self):
        self.assertGreaterEqual(set(COMMANDS),
                                {"compare", "completion", "doctor", "dump", "experiment", "explain", "import", "ledger", "report", "run", "top", "whatif"})

    def test_library(self):
        env = {k: v for k, v in os.environ.items() if k != "LIBIOTRACE"}
        done = subprocess.run([IOTRACE, "--library"], env=env, capture_output=True, text=True, check=False)
        library = Path(IOTRACE).resolve().parents[1] / "preload" / "libiotrace.so"
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{library}\n", ""))
        done = subprocess.run([IOTRACE, "--library"], env={**env, "LIBIOTRACE": NOT_THERE},
                              capture_output=True, text=True, check=False)
        self.refused(done, NOT_THERE)

    def each(self):
        for command in COMMANDS:
            for letter, name, argument in options(command):
                with self.subTest(command=command, option=name):
                    yield command, letter, name, argument

    def refused(self, done, part):
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith("iotrace: "), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(part, done.stderr)

    def test_help(self):
        for command in COMMANDS:
            with self.subTest(command):
                done = run(command, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(done.stdout.startswith(f"Usage: iotrace {command} "))
                self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
                self.assertEqual(run(command, "-h").stdout, done.stdout)
                usage = " ".join(done.stdout.split("\n\n")[0].split("\n                  "))
                self.assertNotIn("  [", done.stdout.splitlines()[0])
                for needed in re.findall(r" (-\w [A-Z]+)(?= |$)", usage):
                    self.assertNotIn(f"[{needed}]", usage)
                self.assertEqual(options(command)[-1], ("h", "help", ""))

    def test_each_is_taken(self):
        """With a right value the complaint is about what comes after the options."""
        for command, letter, name, argument in self.each():
            if name == "help" or command in ("doctor", "experiment"):
                continue  # they need no operand
            value = ARGUMENTS.get(argument, argument.split("|")[-1])
            if (command, argument) in OWN:
                value = OWN[command, argument]
            for spelled in [f"--{name}"] + ([f"-{letter}"] if letter else []):
                done = run(command, *([spelled, value] if argument else [spelled]))
                self.refused(done, f"iotrace {command} --help")
                self.assertNotIn("option", done.stderr)

    def test_wrong_values(self):
        for command, _, name, argument in self.each():
            if argument in ("FILE", "DIR", "GLOB", "LABEL", "LINE", ""):
                continue
            self.refused(run(command, f"--{name}", "no\x1bsense"), f"{command}: --{name} is ")
        self.refused(run("report", "--top", "-3"), "--top is a whole number, not '-3'")
        self.refused(run("report", "--format", "xml"), "text, json, markdown, html or ledger, not 'xml'")
        self.refused(run("dump", "--format", "json"), "--format is text or jsonl, not 'json'")

    def test_no_value(self):
        for command, letter, name, argument in self.each():
            if argument:
                self.refused(run(command, f"--{name}"), f"option '--{name}' needs a value")
            if argument and letter:
                self.refused(run(command, f"-{letter}"), f"option '-{letter}' needs a value")

    def test_unknown(self):
        for command in COMMANDS:
            for option in ("--sideways", "-Z", "--help=yes"):
                with self.subTest(command=command, option=option):
                    done = run(command, option)
                    self.refused(done, f"option '{option}' is not understood here")
                    self.assertIn(f"'iotrace {command} --help'", done.stderr)

    def test_of_a_traced_command_are_its_own(self):
        self.refused(run("run", "/nonexistent/command", "--clock", "sundial"), "/nonexistent/command")

    def test_flags_of_roff(self):
        self.assertEqual(flags([".It Fl o , -output Ar file , Fl -rules Ar file", ".Fl -to", ".Op Fl -",
                                ".Ar folder | Fl p Ar pid", ".Op Fl -steps Ar a Ns - Ns Ar b | Fl -after Ar time"]),
                         ["-o", "--output", "--rules", "--to", "-p", "--steps", "--after"])

    def test_manual(self):
        """A command's page has its options and no others: each in the synopsis, and where there is a list of
        them, by both its names."""
        for command in COMMANDS:
            synopsis, described = page_flags(command)
            mine = [{f"--{name}"} | ({f"-{letter}"} if letter else set()) for letter, name, _ in options(command)[:-1]]
            operands = set(re.findall(r" (--\w+) [A-Z]", run(command, "--help").stdout.split("\n")[0]))
            with self.subTest(command):
                self.assertLessEqual({*synopsis, *described}, operands.union(*mine))
                for names in mine:
                    self.assertEqual(len(names & set(synopsis)), 1, names)
                    if described or len(names) > 1:
                        self.assertEqual(names - set(described), set())

    def test_headings_of_the_manual(self):
        for heading in (".It Fl -help", ".It Fl -version", ".Ss Progress", ".Ss Damaged traces"):
            self.assertIn(f"\n{heading}\n", MANUAL.read_text(), heading)


    def test_a_page_for_each_command(self):
        self.assertEqual(sorted(page.name for page in PAGES.glob("iotrace-*.1")),
                         [f"iotrace-{command}.1" for command in COMMANDS])
        for command in COMMANDS:
            text = (PAGES / f"iotrace-{command}.1").read_text()
            self.assertRegex(text, rf"\.Sh NAME\n\.Nm iotrace-{command}\n\.Nd [a-z].{{10,70}}\n\.Sh SYN")

    @unittest.skipUnless(shutil.which("mandoc"), "there is no mandoc")
    def test_pages_are_well_formed(self):
        for page in [MANUAL, *PAGES.glob("iotrace-*.1")]:
            done = subprocess.run(["mandoc", "-Tlint", "-W", "warning", page], capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertEqual(done.stdout, "", page)


if __name__ == "__main__":
    unittest.main()
