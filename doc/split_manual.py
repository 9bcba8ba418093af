#!/usr/bin/env python3
"""Cuts iotrace.1 into a page for each command: iotrace-report.1 and so on.

split_manual.py MANUAL COMMAND OUT     the text of the one is the text of the other: it is written once
"""
import re
import sys
from pathlib import Path


def part(lines, command):
    """(synopsis, description) of a command: the items of the outermost list of DESCRIPTION."""
    synopsis, description, depth, inside, section, mine = [], [], 0, False, None, False
    for k, line in enumerate(lines):
        if line.startswith(".Sh "):
            section, inside = line, False
        if section == ".Sh SYNOPSIS":
            if line == ".Nm":
                mine = lines[k + 1] == f".Cm {command}"
            if mine:
                synopsis.append(line)
        elif section == ".Sh DESCRIPTION":
            if line.startswith(".El"):
                depth -= 1
                inside = inside and depth > 0
            if depth == 1 and line.startswith(".It Cm "):
                inside = line == f".It Cm {command}"
            elif inside:
                description.append(line)
            if line.startswith(".Bl "):
                depth += 1
    return synopsis, description


def elsewhere(line):
    """A reference to a section of the whole manual, as one to its page."""
    found = re.fullmatch(r"\.Sx (\w+)(?: (\W+))?", line)
    return f"{found[1]}\nof\n.Xr iotrace 1{' ' + found[2] if found[2] else ''}" if found else line


def sentence(description):
    """The first words, for NAME."""
    plain = [re.sub(r"^\.(?:Ar|Cm|Nm|Pa|Ev|Xr) ", "", line) for line in description]
    first = re.split(r"[.:;,](?:\s|$)| \.", " ".join(plain))[0].strip()
    return first[0].lower() + first[1:]


def page(text, command):
    lines = text.splitlines()
    synopsis, description = part(lines, command)
    if not synopsis or not description:
        sys.exit(f"split_manual.py: nothing on '{command}'")
    date = next(line for line in lines if line.startswith(".Dd "))
    return "\n".join([
        date, f".Dt IOTRACE-{command.upper()} 1", ".Os", ".Sh NAME", f".Nm iotrace-{command}",
        f".Nd {sentence(description)}", ".Sh SYNOPSIS",
        *(".Nm iotrace" if line == ".Nm" else line for line in synopsis), ".Sh DESCRIPTION",
        *(elsewhere(".Nm iotrace" if line == ".Nm" else line) for line in description),
        ".Sh EXIT STATUS", "As", ".Xr iotrace 1", "says.", ".Sh SEE ALSO", ".Xr iotrace 1", ""])


if __name__ == "__main__":
    manual, wanted, out = sys.argv[1:]
    Path(out).write_text(page(Path(manual).read_text(encoding="utf-8"), wanted), encoding="utf-8")
