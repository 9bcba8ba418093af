"""What the end-to-end tests share: run a command traced, ask for its report and its dump.

IOTRACE and LIBIOTRACE name the command and the preload library; meson sets them. Every report
and every dump made here is checked as schema.py says, so that a test looks only at what it is for.
"""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path.insert(0, str(TOP / "scripts"))
import schema
from tap import Broken, Tap, Undecided

__all__ = ["HANGS", "HERE", "TOP", "Broken", "Run", "Tap", "ask", "check_events", "command", "dump", "plain",
           "preload_env", "report", "run", "skip_all", "full", "trace", "victim", "workplace"]


# Seconds after which a command hangs. On a busy machine what takes one second takes a hundred; a test's own
# limit, which `meson test -t` lengthens, mostly comes before.
HANGS = 600


def named(variable):
    path = os.environ.get(variable)
    if not path:
        raise Broken(f"{variable} is not set; run this through meson test, or set it by hand")
    if not Path(path).exists():
        raise Broken(f"{variable} is {path}, and nothing is there")
    return str(Path(path).resolve())


def command():
    """The path of iotrace."""
    return named("IOTRACE")


def victim(name):
    """A program of tests/victims/, as built."""
    path = Path(os.environ.get("VICTIMS", "")) / name
    if not path.is_file():
        raise Broken(f"no victim {path}; VICTIMS names the folder they are built in")
    return str(path)


def full():
    """Whether the long variants are asked for."""
    return "--full" in sys.argv[1:]


def skip_all(reason):
    """Ends a test program that cannot run here."""
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


@contextlib.contextmanager
def workplace():
    """A folder of one's own, without links in its path; KEEP=1 leaves it and says where."""
    folder = Path(tempfile.mkdtemp(prefix="iotrace-e2e-")).resolve()
    try:
        yield folder
    finally:
        if os.environ.get("KEEP"):
            print(f"# kept: {folder}", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)


class Run:
    """How a command ended. `status` is negative for a signal, as subprocess has it."""

    def __init__(self, argv, done, folder=None):
        self.argv, self.folder = argv, folder
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr

    def tail(self):
        """The end of its standard error, for a complaint."""
        return "; ".join(self.stderr.decode(errors="replace").splitlines()[-3:])


def plain(env=None):
    """The environment without a tracer."""
    clean = {k: v for k, v in os.environ.items()
             if k not in ("LD_PRELOAD", "VICTIMS", "LIBIOTRACE") and not k.startswith("IOTRACE")}
    return clean | (env or {})


def preload_env(folder):
    return {"LD_PRELOAD": named("LIBIOTRACE"), "IOTRACE_DIR": str(folder)}


def run(argv, env=None, cwd=None, timeout=HANGS, stdin=subprocess.DEVNULL):
    """Runs a command as it is."""
    argv = [str(a) for a in argv]
    try:
        return Run(argv, subprocess.run(argv, env=env or plain(), cwd=cwd, capture_output=True,
                                        stdin=stdin, timeout=timeout))
    except subprocess.TimeoutExpired:
        raise Broken(f"{argv[0]}: no end after {timeout} s")


def trace(argv, folder, env=None, cwd=None, timeout=HANGS, stdin=subprocess.DEVNULL):
    """Runs a command with the preload; its trace comes to be in `folder`, new for each run."""
    if Path(folder).exists():
        raise Broken(f"{folder} exists: each run needs a folder of its own")
    done = run(argv, plain((env or {}) | preload_env(folder)), cwd, timeout, stdin)
    if not Path(folder).is_dir():
        raise Broken(f"{argv[0]}: no trace came to be in {folder} ({done.tail()})")
    done.folder = Path(folder)
    return done


def ask(*argv, timeout=HANGS):
    """Runs iotrace; gives its standard output."""
    done = run([command(), *argv], timeout=timeout)
    if done.status:
        raise Broken(f"iotrace {argv[0]}: status {done.status} ({done.tail()})")
    return done.stdout


def report(folder, complete=True):
    """The report of a trace, as a dict that keeps the rules; `complete`: no event was dropped."""
    text = ask("report", folder, "--format", "json")
    try:
        made = json.loads(text)
    except ValueError as e:
        raise Broken(f"iotrace report: no JSON: {e}")
    complaints = schema.check_report(made, complete)
    if complaints:
        raise Broken("the report breaks its rules: " + "\n".join(complaints[:10]))
    return made


def check_events(lines, keep=lambda line: True):
    """The events of these lines that `keep` accepts; all of them are checked."""
    kept, before = [], None
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError as e:
            raise Broken(f"iotrace dump: no JSON: {e}")
        complaints = schema.check_event(event, before)
        if complaints:
            raise Broken("the dump breaks its rules: " + "\n".join(complaints))
        before = event
        if keep(line):
            kept.append(event)
    return kept


def dump(folder, keep=lambda line: True):
    """The events of a trace whose line `keep` accepts; all of them are checked.

    The lines are read as they come: a dump may be long. `keep` sees the line as bytes.
    """
    argv = [command(), "dump", str(folder), "--format", "jsonl"]
    with tempfile.TemporaryFile() as errors, \
            subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=errors, env=plain()) as process:
        try:
            kept = check_events(process.stdout, keep)
        finally:
            process.stdout.close()
            status = process.wait()
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip()
    if status not in (0, -signal.SIGPIPE):
        raise Broken(f"iotrace dump: status {status} ({last})")
    return kept
