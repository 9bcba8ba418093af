#!/usr/bin/env python3
"""Holds the dependency rule of the folders, as the #include lines show it.

check_deps.py [--tap] [TOP]     complaints as lines, or as TAP with a test of this script itself

A folder may include its own files and those of the folders in its row of ALLOWED. What is ours is
included by its path from the top, in quotes: "format/row.h".
"""
import argparse
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import tap

# include/ holds the public header: programs compile against it without anything else of ours.
ALLOWED = {
    "include": [],
    "format": [],
    "preload": ["include", "format"],
    "cupti": ["include", "format"],
    "analyzer": ["format"],
    "mpi": ["analyzer"],
    "tests": ["include", "format", "preload", "cupti", "analyzer", "mpi"],
}
ANY_INCLUDE = re.compile(r"^\s*#\s*include\s*(.*)$")
QUOTED = re.compile(r'"([^"]+)"')
ANGLE = re.compile(r"<([^>]+)>")
SUFFIXES = {".c", ".h", ".inc", ".cc", ".cpp", ".hpp", ".def"}


def sources(top):
    for path in sorted(top.rglob("*")):
        parts = path.relative_to(top).parts
        if path.suffix in SUFFIXES and not parts[0].startswith((".", "build")):
            yield path, parts[0] if len(parts) > 1 else ""


def check_line(top, folder, target):
    """What is wrong with what stands behind #include, or None."""
    quoted, angle = QUOTED.match(target), ANGLE.match(target)
    if angle:
        return f"<{angle[1]}> is ours: write it in quotes" if (top / angle[1]).is_file() else None
    if not quoted:
        return f"{target} is computed: this rule could not be checked"
    name = quoted[1]
    if ".." in Path(name).parts or not (top / name).is_file():
        return f'"{name}" is no path from the top'
    other = Path(name).parts[0]
    if other != folder and other not in ALLOWED[folder]:
        may = ", ".join(f"{f}/" for f in [folder, *ALLOWED[folder]])
        return f'"{name}": {folder}/ may include only {may}'
    return None


def check(top):
    """Complaints about the tree, each "file:line: what"."""
    bad = []
    for path, folder in sources(top):
        where = path.relative_to(top)
        if folder not in ALLOWED:
            bad.append(f"{where}:1: {folder or 'the top'} has no row in check_deps.py")
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            found = ANY_INCLUDE.match(line)
            wrong = found and check_line(top, folder, found[1])
            if wrong:
                bad.append(f"{where}:{number}: {wrong}")
    return bad


# Trees that must be refused: path and text of the one file that breaks the rule.
VIOLATIONS = [
    ("format that includes the recorder", "format/a.c", '#include "preload/a.h"\n'),
    ("the recorder that includes the analyzer", "preload/b.c", '#include "analyzer/a.h"\n'),
    ("the analyzer that includes the recorder", "analyzer/b.c", '# include "preload/a.h"\n'),
    ("the GPU subscriber that includes the recorder", "cupti/b.c", '#include "preload/a.h"\n'),
    ("the public header that includes the format", "include/b.h", '#include "format/a.h"\n'),
    ("a way round by ..", "preload/b.c", '#include "../analyzer/a.h"\n'),
    ("a path that starts from its own folder", "preload/b.c", '#include "a.h"\n'),
    ("ours in angle brackets", "preload/b.c", "#include <analyzer/a.h>\n"),
    ("a computed include", "preload/b.c", "#include TABLE\n"),
    ("a folder nobody has a rule for", "utils/a.c", "int x;\n"),
]
GOOD = {
    "include/a.h": "#include <stdint.h>\n", "format/a.h": "#include <stdint.h>\n",
    "preload/a.h": '#include "format/a.h"\n#include "include/a.h"\n',
    "analyzer/a.h": '#include "format/a.h"\n#include "analyzer/b.h"\n', "analyzer/b.h": "",
    "cupti/a.h": '#include "format/a.h"\n',
    "tests/a.c": '#include "preload/a.h"\n#include "analyzer/a.h"\n',
}


def check_tree(files):
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        for name, text in files.items():
            (top / name).parent.mkdir(exist_ok=True)
            (top / name).write_text(text)
        return check(top)


def as_tap(top):
    out = tap.Tap()
    complaints = check(top)
    out.point(not complaints, "every #include keeps the dependency rule", complaints)
    complaints = check_tree(GOOD)
    out.point(not complaints, "a tree that keeps it is accepted", complaints)
    for name, path, text in VIOLATIONS:
        complaints = check_tree(GOOD | {path: text})
        out.point(len(complaints) == 1, f"refused: {name}", complaints or "no complaint came")
    return out.done()


def main():
    parser = argparse.ArgumentParser(description="The dependency rule of the folders.")
    parser.add_argument("--tap", action="store_true", help="as TAP, with a test of this script")
    parser.add_argument("top", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    args = parser.parse_args()
    if args.tap:
        return as_tap(args.top)
    complaints = check(args.top)
    for line in complaints:
        print(line)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
