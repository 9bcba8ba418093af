#!/usr/bin/env python3
"""Holds the house rules that a machine can see.

check_style.py [--tap] [--build DIR] [TOP]

Of the tree: no file over 600 lines, no line of C over 100 columns, no unfinished work, no path of
somebody's machine, one version. With --build also of what was built: every symbol is static or has
our prefix, and the preload library needs libc alone.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import tap

MAX_LINES = 600
MAX_COLUMNS = 100
C_SOURCES = {".c", ".h"}
LIMITED = {".c", ".h", ".inc", ".py", ".sh", ".build", ".map"}
# Letters in brackets, so that these lines do not speak of themselves.
UNFINISHED = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b")
MACHINE = re.compile(r"(?<![\w.}$])/(?:w[o]rk|r[o]ot)/[\w.]")

OURS = re.compile(r"iot_|iotrace_")
# The ledger's functions bear the names of their source, NVTX and CUDA ask for theirs; a program has a main.
ALLOWED = {"io_service_time_ms", "exposed_io_time_ms", "io_critical_path_ledger",
           "InitializeInjection", "InitializeInjectionNvtx2", "main"}
# What the sanitizers and coverage put into an object.
COMPILER = re.compile(r"__(odr_)?(asan|tsan|ubsan|msan|gcov|llvm|sanitizer)|_fini$|_init$|DW\.ref")
# What copies, compares and searches: the recorder has these straight from libc (preload/libc.c).
BYTES = re.compile(r"(mem|str(?!error)|stp|wcs|wmem|bcmp|bcopy|bzero|clock_gettime)")
LIBRARIES = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def tree_files(top):
    """Names of the files that git knows or would take; where this is no clone, of all but builds."""
    git = shutil.which("git")
    listed = git and subprocess.run([git, "-C", str(top), "ls-files", "-co", "--exclude-standard"],
                                    capture_output=True, text=True)
    # In an unpacked tarball git may know of a repository further up, which says nothing of these.
    if listed and listed.returncode == 0 and (top / ".git").exists():
        return sorted(listed.stdout.splitlines())
    names = (p.relative_to(top) for p in top.rglob("*") if p.is_file())
    return sorted(str(name) for name in names if not name.parts[0].startswith("build"))


def text_files(top):
    """The text files of the tree."""
    for name in tree_files(top):
        try:
            yield name, (top / name).read_text()
        except (UnicodeDecodeError, OSError):
            continue  # binary, or deleted and not yet committed


def check_tree(top):
    bad = []
    for name, text in text_files(top):
        lines = text.splitlines()
        if Path(name).suffix in LIMITED and len(lines) > MAX_LINES:
            bad.append(f"{name}: {len(lines)} lines, at most {MAX_LINES}: does it hold one idea?")
        for number, line in enumerate(lines, 1):
            if Path(name).suffix in C_SOURCES and len(line) > MAX_COLUMNS:
                bad.append(f"{name}:{number}: {len(line)} columns, at most {MAX_COLUMNS}: "
                           f"clang-format --lines={number}:{number}")
            if UNFINISHED.search(line):
                bad.append(f"{name}:{number}: unfinished: {line.strip()}")
            if MACHINE.search(line):
                bad.append(f"{name}:{number}: a path of one machine: {line.strip()}")
    return bad


def check_version(top):
    """meson.build has the version; Debian's changelog must say the same."""
    try:
        texts = [(top / name).read_text() for name in ("meson.build", "debian/changelog")]
    except OSError:
        return []  # a tarball has no debian/
    built, packaged = (re.search(rule, text, re.M) for rule, text in
                       zip((r"^ *version : '(.*?)'", r"^iotrace \((.*)-[^-]*\)"), texts))
    if built and packaged and built[1] == packaged[1]:
        return []
    return [f"debian/changelog: the newest version is not {built and built[1]}, as in meson.build"]


def symbols(*args):
    """Names of global symbols, without versions."""
    done = subprocess.run(["nm", "--defined-only", "-g", "-P", *map(str, args)],
                          capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return {line[0].split("@")[0] for line in lines if len(line) > 1 and line[1] in "TDBRVWiCuSGN"}


def libc_symbols():
    done = subprocess.run(["cc", "-print-file-name=libc.so.6"], capture_output=True, text=True,
                          check=True)
    return symbols("-D", done.stdout.strip())


def table_symbols(top):
    """What the recorder's tables wrap; a newer libc than this one may have more of them."""
    return {name for path in (top / "preload").glob("*.def")
            for name in re.findall(r"^[A-Z0-9]+\([^,(]+, (\w+),", path.read_text(), re.M)}


def check_symbols(objects, libc):
    """Wrappers bear libc's names; only the recorder has any."""
    bad = []
    for path in objects:
        wrapper = libc if "preload" in path.parts else set()
        for name in sorted(symbols(path) - ALLOWED - wrapper):
            if not OURS.match(name) and not COMPILER.match(name) and "." not in name:
                bad.append(f"{path.name}: {name} is neither static nor prefixed with iot_")
    return bad


def check_needed(library):
    done = subprocess.run(["readelf", "-d", str(library)], capture_output=True, text=True,
                          check=True)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout))
    return [f"{library.name}: needs {name}, and may need libc alone"
            for name in sorted(needed - LIBRARIES)]


def check_straight(library):
    done = subprocess.run(["nm", "-D", "--undefined-only", "-P", str(library)], capture_output=True,
                          text=True, check=True)
    asked = sorted({line.split("@")[0].split()[0] for line in done.stdout.splitlines()})
    return [f"{library.name}: {name} may come from a sanitizer; it needs a row in preload/libc.c"
            for name in asked if BYTES.match(name)]


def built_objects(build):
    return [path for folder in ("format", "preload", "cupti", "analyzer", "mpi")
            for path in sorted((build / folder).rglob("*.o"))]


def sanitized(build):
    return any(b"-fsanitize" in path.read_bytes() for path in build.glob("compile_commands.json"))


def self_test(out):
    """The checks of the tree refuse what they should."""
    wrong = {"a long file": ("a.c", "\n" * (MAX_LINES + 1)),
             "a long line of C": ("a.h", "/* " + "x" * MAX_COLUMNS + " */\n"),
             "unfinished work": ("a.md", "T" + "ODO: the rest\n"),
             "a path of one machine": ("a.md", "see /wo" + "rk/main/x\n")}
    for name, (path, text) in wrong.items():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / path).write_text(text)
            out.point(len(check_tree(Path(folder))) == 1, f"refused: {name}")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "debian").mkdir()
        (Path(folder) / "meson.build").write_text("  version : '1.2.0',\n")
        (Path(folder) / "debian/changelog").write_text("iotrace (1.1.0-1) unstable; urgency=low\n")
        out.point(len(check_version(Path(folder))) == 1, "refused: two versions")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.c"
        source.write_text("int iot_good; static int quiet; int bare; int use(void);\n"
                          "int use(void) { return quiet; }\n")
        subprocess.run(["cc", "-c", source, "-o", source.with_suffix(".o")], check=True)
        got = check_symbols([source.with_suffix(".o")], set())
        out.point(len(got) == 2, "refused: symbols without the prefix", got)


def main():
    parser = argparse.ArgumentParser(description="House rules that a machine can see.")
    parser.add_argument("--tap", action="store_true", help="as TAP, with a test of this script")
    parser.add_argument("--build", type=Path, metavar="DIR", help="also check what was built there")
    parser.add_argument("top", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    args = parser.parse_args()

    checks = {"files are short, finished and of no one machine": lambda: check_tree(args.top)}
    checks["there is one version"] = lambda: check_version(args.top)
    if args.build:
        library = args.build / "preload" / "libiotrace.so"
        checks["symbols have our prefix"] = (
            lambda: check_symbols(built_objects(args.build),
                                  libc_symbols() | table_symbols(args.top)))
        if not sanitized(args.build):
            checks["the preload library needs libc alone"] = lambda: check_needed(library)
            checks["the preload library copies by libc itself"] = lambda: check_straight(library)
    if not args.tap:
        complaints = [line for check in checks.values() for line in check()]
        for line in complaints:
            print(line)
        return 1 if complaints else 0
    out = tap.Tap()
    for name, check in checks.items():
        out.run(name, check)
    self_test(out)
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
