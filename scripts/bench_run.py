"""How the benchmark runs its programs: the things compared, interleaved rounds, statistics."""

import contextlib
import dataclasses
import importlib.util
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

BLOCK = 4096
FILE_BLOCKS = 1024  # in the page cache at all times


class Unavailable(Exception):
    """A thing that cannot be measured here; the text says why."""


def run(argv, env=None, **more):
    """Runs argv to its end and returns the result; a failure is a RuntimeError with its output."""
    done = subprocess.run(argv, env=env, capture_output=True, text=True, **more)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(f"{' '.join(argv)}: status {done.returncode}: "
                           f"{said[-1] if said else 'no output'}")
    return done


def figures(text):
    """The `name=value` pairs of a bench program's line, numbers as float."""
    pairs = dict(word.split("=", 1) for word in text.split() if "=" in word)
    return {key: float(value) for key, value in pairs.items()
            if re.fullmatch(r"[0-9.]+", value)}


@dataclasses.dataclass
class Spread:
    """The median of the rounds, and the least and the most of them."""
    median: float
    low: float
    high: float

    def text(self, digits):
        return f"{self.median:.{digits}f} ({self.low:.{digits}f}–{self.high:.{digits}f})"


def spread(values):
    return Spread(statistics.median(values), min(values), max(values))


@dataclasses.dataclass
class Contender:
    """One thing that stands between a program and its calls."""
    label: str
    clock: str = ""
    libraries: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)
    prefix: tuple = ()      # a command in front, such as strace
    share: float = 1.0      # of the calls; slow ones make fewer
    missing: str = ""       # why it cannot be used here
    lttng: bool = False     # records only while a session runs
    into: str = "IOTRACE_DIR"  # the variable that says where its trace goes


class Machine:
    """Where the programs, libraries and temporary files are, and which contenders there are."""

    def __init__(self, build, tracer, iotrace, folder):
        self.programs = pathlib.Path(build).resolve() / "tests" / "bench"
        self.iotrace = pathlib.Path(iotrace).resolve()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="iotrace-bench-", dir=folder))
        self.file = self.folder / "blocks"
        self.file.write_bytes(os.urandom(BLOCK * FILE_BLOCKS))
        self.stub = str(self.programs / "libstub.so")
        self.tick = str(self.programs / "libtick.so")
        self.tracer = str(pathlib.Path(tracer).resolve())
        self.tracer_missing = "" if os.path.exists(self.tracer) else "libiotrace.so is not built"
        self.sessiond = None

    def close(self):
        if self.sessiond is not None:
            self.sessiond.terminate()
            self.sessiond.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # The contenders.

    @staticmethod
    def bare():
        return Contender("nothing")

    def two_clocks(self, clock):
        return Contender("two clock readings", clock, (str(self.programs / "libtwoclock.so"),),
                         {"BENCH_CLOCK": clock})

    def traced(self, clock):
        return Contender("iotrace", clock, (self.tracer,), {"IOTRACE_CLOCK": clock},
                         missing=self.tracer_missing)

    def lttng(self):
        library = self.programs / "libustpreload.so"
        missing = "" if library.exists() else "built without lttng-ust"
        if not missing:
            try:
                self._start_sessiond()
            except Unavailable as reason:
                missing = str(reason)
        return Contender("LTTng-UST", "monotonic", (str(library),), share=0.2, missing=missing,
                         lttng=True)

    def strace(self, label, *options):
        missing = "" if shutil.which("strace") else "strace is not installed"
        if not missing:
            try:
                run(["strace", "-f", "-o", "/dev/null", "true"])
            except RuntimeError as error:
                missing = f"strace cannot trace here: {error}"
        return Contender(label, "", (), {}, ("strace", "-f", *options), share=0.01,
                         missing=missing)

    def darshan(self):
        """With extended tracing (DXT), as its own script finds it, or DARSHAN_LIBRARY does."""
        library = os.environ.get("DARSHAN_LIBRARY", "")
        config = shutil.which("darshan-config")
        if not library and config:
            library = f"{run([config, '--path']).stdout.strip()}/lib/libdarshan.so"
        return Contender("Darshan, DXT", "", (library,),
                         {"DARSHAN_ENABLE_NONMPI": "1", "DXT_ENABLE_IO_TRACE": "1"},
                         missing="" if os.path.exists(library) else "not installed",
                         into="DARSHAN_LOGFILE")

    def dftracer(self):
        """Of the Python package, or at DFTRACER_LIBRARY."""
        library = os.environ.get("DFTRACER_LIBRARY", "")
        package = importlib.util.find_spec("dftracer")
        if not library and package and package.submodule_search_locations:
            library = f"{package.submodule_search_locations[0]}/lib64/libdftracer_preload.so"
        return Contender("DFTracer", "", (library,),
                         {"DFTRACER_ENABLE": "1", "DFTRACER_INIT": "PRELOAD",
                          "DFTRACER_DATA_DIR": "all", "LD_LIBRARY_PATH": os.path.dirname(library)},
                         share=0.2, missing="" if os.path.exists(library) else "not installed",
                         into="DFTRACER_LOG_FILE")

    def straces(self):
        log = str(self.folder / "strace.log")
        return [self.strace("strace -c", "-c", "-o", log),
                self.strace("strace to a file", "-e", "trace=pread64,write", "-o", log)]

    # Running under one of them.

    def environment(self, contender, libraries_behind=(), trace=None):
        env = {key: value for key, value in os.environ.items()
               if key != "LD_PRELOAD" and not key.startswith("IOTRACE_")}
        env.update(contender.environment)
        libraries = (*contender.libraries, *libraries_behind)
        if libraries:
            env["LD_PRELOAD"] = ":".join(libraries)
        if trace is not None:
            env[contender.into] = str(trace)
        return env

    @contextlib.contextmanager
    def trace_folder(self, contender):
        """A folder for one run's trace, gone afterwards; an LTTng session if it needs one."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "trace"
        try:
            if contender.lttng:
                with self.session(folder):
                    yield folder
            else:
                yield folder
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)

    def program(self, contender, name, *arguments, behind=()):
        """Runs one bench program under the contender; returns its figures."""
        with self.trace_folder(contender) as trace:
            argv = [*contender.prefix, str(self.programs / name), *map(str, arguments)]
            env = self.environment(contender, behind, trace)
            return figures(run(argv, env).stdout)

    def driver(self, contender, kind, calls, threads=1, behind=(), options=(), file=None):
        calls = max(1000, int(calls * contender.share))
        return self.program(contender, "driver", *options, "-t", threads, "-n", calls, kind,
                            file or self.file, behind=behind)

    # LTTng.

    def _start_sessiond(self):
        if not (shutil.which("lttng") and shutil.which("lttng-sessiond")):
            raise Unavailable("lttng-tools is not installed")
        if subprocess.run(["lttng", "list"], capture_output=True).returncode == 0:
            return
        self.sessiond = subprocess.Popen(["lttng-sessiond", "--no-kernel"],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(50):
            time.sleep(0.1)
            if subprocess.run(["lttng", "list"], capture_output=True).returncode == 0:
                return
        raise Unavailable("lttng-sessiond does not start here")

    @contextlib.contextmanager
    def session(self, folder):
        """A recording session with buffers large enough to drop nothing; drops are an error."""
        name = f"iotrace-bench-{os.getpid()}"
        run(["lttng", "create", name, f"--output={folder}"])
        try:
            run(["lttng", "enable-channel", "-s", name, "-u", "--subbuf-size=4M",
                 "--num-subbuf=16", "calls"])
            run(["lttng", "enable-event", "-s", name, "-u", "-c", "calls", "iotrace_bench:call"])
            run(["lttng", "start", name])
            yield
            run(["lttng", "stop", name])
            dropped = re.search(r"Discarded events: (\d+)", run(["lttng", "list", name]).stdout)
            if dropped is None or int(dropped[1]) != 0:
                raise RuntimeError("LTTng dropped events, so its cost would look too small; "
                                   "use fewer --calls")
        finally:
            run(["lttng", "destroy", name])


def interleave(rounds, contenders, measure):
    """Measures every contender once a round, in turn, so that a slow moment of the machine meets
    all of them. Returns, by contender's place, the list of what measure(contender) gave."""
    results = [[] for _ in contenders]
    for _ in range(rounds):
        for place, contender in enumerate(contenders):
            if not contender.missing:
                results[place].append(measure(contender))
    return results


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
