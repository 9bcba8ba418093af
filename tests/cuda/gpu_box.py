"""What the GPU check works with: the built tracer, the CUDA programs, a folder for what they leave.

All that runs has a time limit, which ends it with everything it started."""
import collections
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tarfile
import time
from pathlib import Path

COPY_KINDS = {1: "HtoD", 2: "DtoH", 8: "DtoD", 10: "PtoP"}
HOLE_MOST = 2 << 20  # at the end of a trace's file
ARCHIVE_MOST = 15 << 20  # of one archive; its largest files are left out before that


class Failed(Exception):
    """The check found something wrong."""


class Skipped(Exception):
    """The check could not be made here."""


def must(condition, said):
    if not condition:
        raise Failed(said)


class Box:
    def __init__(self, build, programs, work, python, standin):
        self.build, self.programs, self.work = Path(build), Path(programs), Path(work)
        self.python, self.standin = python, standin
        self.iotrace = str((self.build / "analyzer" / "iotrace").resolve())
        self.deadline = None
        self.folder = None  # of the check that runs
        self.library = self.side_by_side()

    def side_by_side(self):
        """The two libraries in one folder, as an installation has them: the one finds the other."""
        folder = self.work / "lib"
        folder.mkdir()
        for part in ("preload/libiotrace.so", "cupti/libiotrace-cupti.so"):
            shutil.copy2(self.build / part, folder)
        return folder.resolve() / "libiotrace.so"

    def begin(self, name, limit):
        self.deadline = time.monotonic() + limit
        self.folder = self.work / name
        self.folder.mkdir()

    def run(self, *command, environment=None):
        """Its standard output; Failed if it does not end well."""
        status, out, error = self.execute(command, environment)
        must(not status, f"{Path(command[0]).name} ended with {status}: {last_line(error)}")
        return out.decode(errors="replace")

    def status_of(self, *command):
        return self.execute(command, None)[0]

    def execute(self, command, environment):
        """What it printed, and how it ended, is also left beside the traces."""
        started = time.monotonic()
        command = [str(part) for part in command]
        process = subprocess.Popen(command, env={**os.environ, **(environment or {})},
                                   cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        try:
            out, error = process.communicate(timeout=max(self.deadline - started, 0.1))
            late = False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, error = process.communicate()
            late = True
        except KeyboardInterrupt:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
        with open(self.folder / "log.txt", "ab") as log:
            log.write(f"$ {' '.join(command)}\n".encode() + out[-4000:] + error[-4000:] +
                      f"status {process.returncode}, {time.monotonic() - started:.2f} s\n".encode())
        must(not late, f"{Path(command[0]).name} did not end in time: {last_line(error)}")
        return process.returncode, out, error

    def program(self, name):
        return self.programs / f"check_{name}"

    def traced(self, name, *command, cuda=None, lineage=False):
        """Runs it traced. (standard output, trace folder)"""
        trace = self.folder / name
        environment = {"LD_PRELOAD": str(self.library), "IOTRACE_DIR": str(trace.resolve())}
        if cuda:
            environment["IOTRACE_CUDA"] = cuda
        if lineage:
            environment["IOTRACE_LINEAGE"] = "1"
        out = self.run(*command, environment=environment)
        must(trace.is_dir(), f"{name}: nothing was recorded")
        return out, trace

    def events(self, trace):
        text = self.run(self.iotrace, "dump", trace.resolve(), "--format", "jsonl")
        return [json.loads(line) for line in text.splitlines() if '"op":"gpu_' in line]

    def report(self, trace):
        report = json.loads(self.run(self.iotrace, "report", trace.resolve(), "--format", "json"))
        (self.folder / f"{trace.name}.report.json").write_text(json.dumps(report, indent=1))
        (self.folder / f"{trace.name}.report.txt").write_text(
            self.run(self.iotrace, "report", trace.resolve()))
        must(sum(report["path"].values()) == report["wall_ns"],
             f"{trace.name}: the parts of the path are not the whole")
        must(report["path"]["io_ns"] == report["total"]["exposed_ns"],
             f"{trace.name}: exposed I/O is not the path's")
        return report


def without_end(path):
    """The file of a traced program that was killed is as long as it might have become, and all but its beginning is a
    hole, which takes longer to pack than there may be time."""
    with open(path, "rb+") as file:
        at = end = 0
        while at >= 0:
            try:
                at = end = os.lseek(file.fileno(), os.lseek(file.fileno(), at, os.SEEK_DATA), os.SEEK_HOLE)
            except OSError:  # there is no more data
                at = -1
        if os.fstat(file.fileno()).st_size > end + HOLE_MOST:
            os.ftruncate(file.fileno(), end + HOLE_MOST)


def archive(target, folders):
    """One file of all that checks left, within the limit. Returns what is not in it."""
    files = sorted((path for folder in folders for path in folder.rglob("*") if path.is_file()),
                   key=lambda path: path.stat().st_size)
    for path in files:
        if path.suffix == ".iot":
            without_end(path)
    left = []
    while files:
        with tarfile.open(target, "w:gz") as tar:
            for path in sorted(files):
                tar.add(path, arcname=str(path.relative_to(folders[0].parent)))
        if target.stat().st_size <= ARCHIVE_MOST:
            break
        left.append(files.pop())
    return left


def last_line(text):
    lines = [line for line in text.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "nothing was said"


def copies_of(events):
    """How often a copy of that kind and that size was made."""
    return collections.Counter((COPY_KINDS.get(e["result"], str(e["result"])), e["bytes"])
                               for e in events if e["op"] == "gpu_memcpy")


def totals(copies):
    """{kind: (count, bytes)}"""
    found = {}
    for (kind, size), count in copies.items():
        was = found.get(kind, (0, 0))
        found[kind] = (was[0] + count, was[1] + count * size)
    return found


def difference(wanted, got):
    """The first few that are in one and not in the other."""
    parts = [f"{size} B {kind}: {count - got[kind, size]} missing"
             for (kind, size), count in sorted((wanted - got).items())]
    parts += [f"{size} B {kind}: {count} too many"
              for (kind, size), count in sorted((got - wanted).items())]
    return "; ".join(parts[:4]) + (f"; and {len(parts) - 4} more" if len(parts) > 4 else "")


def rows_of(report, kind):
    return [f for f in report["files"] if f["path"].startswith("gpu") and
            f["path"].endswith(f":{kind}")]
