"""Completion in shells: what the scripts offer is what --help lists, for each command."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

IOTRACE = os.path.abspath(sys.argv.pop(1))
OPTION = re.compile(r"^  (?:-(\w), )?--([\w-]+)(?: (\S+))?(?:  |$)", re.M)


def output(*arguments):
    return subprocess.run([IOTRACE, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=True).stdout


COMMANDS = re.findall(r"^  (\w+)  ", output("--help"), re.M)


def options(command):
    """{"--name" or "-letter": the name of its argument, or ''} of --help."""
    found = {}
    for letter, name, argument in OPTION.findall(output(command, "--help")):
        found["--" + name] = argument
        if letter:
            found["-" + letter] = argument
    return found


def words_of(argument):
    return argument.split("|") if "|" in argument else None


class Refused(unittest.TestCase):
    def test_no_such_shell(self):
        for arguments in [], ["fish"], ["bash", "zsh"]:
            done = subprocess.run([IOTRACE, "completion", *arguments], capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, "iotrace: completion: for which shell, bash or zsh?\n")


@unittest.skipUnless(shutil.which("bash"), "there is no bash")
class Bash(unittest.TestCase):
    def complete(self, *words, folder="/"):
        """What Tab offers behind the words, the last of which is being written."""
        script = output("completion", "bash") + """
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _iotrace
            ((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"; true"""
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", "iotrace", *words], cwd=folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              check=True)
        self.assertEqual(done.stderr, "")
        return sorted(done.stdout.splitlines())

    def test_commands(self):
        self.assertEqual(self.complete(""), sorted([*COMMANDS, "--help", "--library", "--version"]))
        self.assertEqual(self.complete("rep"), ["report"])

    def test_options(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.assertEqual(self.complete(command, "-"), sorted(options(command)))

    def test_values(self):
        words = {(c, o): words_of(a) for c in COMMANDS for o, a in options(c).items() if words_of(a)}
        self.assertGreater(len(words), 8)
        for (command, option), expected in words.items():
            with self.subTest(command=command, option=option):
                self.assertEqual(self.complete(command, option, ""), sorted(expected))
        self.assertIn("markdown", self.complete("report", "--format", ""))
        self.assertEqual(self.complete("report", "--top", ""), [])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh"])

    def test_files_and_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a trace").mkdir()
            (Path(folder) / "a file").touch()
            self.assertEqual(self.complete("report", "a", folder=folder), ["a file", "a trace"])
            self.assertEqual(self.complete("run", "-o", "a", folder=folder), ["a trace"])
            self.assertEqual(self.complete("run", "-o", "x", "bas", folder=folder)[0], "base32")
            self.assertIn("bash", self.complete("run", "--", "bash", folder=folder))
            self.assertEqual(self.complete("run", "bash", "a", folder=folder), ["a file", "a trace"])
            self.assertIn("--clock", self.complete("run", "-o", "x", "--c", folder=folder))


@unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
class Zsh(unittest.TestCase):
    def specs(self, *words):
        """What zsh's own functions are told behind the words."""
        script = """
            _arguments() { print -rl -- "$@" }
            _describe() { print -rl -- "${(@P)4}" }
            words=("${@:2}"); CURRENT=$#words
            source "$1" """
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(output("completion", "zsh"))
            file.flush()
            done = subprocess.run(["zsh", "-f", "-c", f"f() {{ {script} }}; f \"$@\"", "zsh", file.name,
                                   "iotrace", *words], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=60, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def test_commands(self):
        self.assertEqual([line.split(":")[0] for line in self.specs("")][:len(COMMANDS)], COMMANDS)

    def test_options(self):
        for command in COMMANDS:
            with self.subTest(command):
                told = {}
                for line in self.specs(command, ""):
                    spec = re.match(r"(?:\([^)]*\)|\*)*(--?[\w-]+?)[=+]?\[([^]]*)\](?::([^:]+):(.*))?$", line)
                    if spec:
                        told[spec[1]] = spec[4]
                self.assertEqual(set(told), set(options(command)))
                for option, argument in options(command).items():
                    self.assertEqual(bool(argument), told[option] is not None, option)
                    if words_of(argument):
                        self.assertEqual(told[option], f"({' '.join(words_of(argument))})")


if __name__ == "__main__":
    unittest.main(verbosity=2)
