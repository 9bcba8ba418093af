"""Programs with sanitizers in them, of the compilers that are here: built once, as a row first asks."""
import contextlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import harness

SOURCE = harness.TOP / "tests" / "victims" / "hazard_sanitized.c"
# Of each: the way of the victim in which it finds something.
FINDS = {"address": "heap", "undefined": "overflow", "thread": "race", "leak": "leak", "memory": "unset"}
FOUND = 66
OPTIONS = {f"{name}_OPTIONS": f"exitcode={FOUND}" for name in ("ASAN", "UBSAN", "TSAN", "LSAN", "MSAN")}
# The run-time that gcc has for addresses refuses a library before its own, unless it is told not to look.
UNORDERED = OPTIONS | {"ASAN_OPTIONS": f"exitcode={FOUND}:verify_asan_link_order=0"}


class NotHere(Exception):
    """The compiler or its run-time is missing."""


def rows():
    """(compiler, sanitizer, way, status) of all."""
    for compiler in ("gcc", "clang"):
        for kind, way in FINDS.items():
            if (compiler, kind) != ("gcc", "memory"):  # it has none
                yield compiler, kind, "calm", 0
                yield compiler, kind, way, FOUND


PLACE = []


@contextlib.contextmanager
def folder_for_all():
    """Made before the pool is, so that all of its processes build in one."""
    with harness.workplace() as place:
        place.chmod(0o755)
        PLACE.append(place)
        yield
        PLACE.pop()


def program(compiler, kind):
    """The victim, built if nobody has yet."""
    path = PLACE[-1] / f"{compiler}-{kind}"
    if not path.exists():
        if not shutil.which(compiler):
            raise NotHere(f"{compiler} is not installed")
        made = tempfile.NamedTemporaryFile(dir=PLACE[-1], prefix=path.name, delete=False).name
        done = subprocess.run([compiler, "-g", "-O1", f"-fsanitize={kind}", "-fno-sanitize-recover=all",
                               "-D_GNU_SOURCE", "-pthread", "-I", harness.TOP, SOURCE, "-o", made], capture_output=True)
        if done.returncode:
            raise NotHere(f"{compiler} cannot build with -fsanitize={kind}")
        Path(made).rename(path)
    return str(path)


def first(compiler, kind):
    """The run-time as a library to be loaded before all others."""
    done = subprocess.run([compiler, f"-print-file-name=lib{kind}.so"], capture_output=True, text=True)
    return done.stdout.strip()
