#!/usr/bin/env python3
"""What a program hands to the kernel is the same with the preload: each call's size, and their order.

Output could be whole in the end and still come in other pieces or at another time. Each program runs
under strace without and with the preload; its reads and writes of pipes and of files in its folder
must be the same calls in the same order.
"""
import sys
from shutil import which

import harness
import oracle
import strace_moves
from harness import Broken, Tap
from test_stdio import make_files

PYTHON = """
import sys
print("one"); sys.stderr.write("two\\n"); print("three", flush=True); sys.stderr.write("four")
for line in sys.stdin:
    if len(line) > 4: print(line, end="")
open("made", "w").write("x" * 20000)
"""
PERL = r'$| = shift; print "one"; print STDERR "two"; while (<STDIN>) { print if /9/ } print "end\n"'

# Of the victim's cases those with one thread, and without children
STREAMS = ["chars", "lines", "blocks", "formatted", "fillings", "seeks", "names", "failures",
           "prompts", "pending", "close_all"]
# name, the program, its arguments; {place} is the folder
PROGRAMS = [
    *((f"{victim} {case}", victim, [case, "{place}"])
      for victim in ("streams", "streams_fortified") for case in STREAMS),
    ("C++ streams", "streams_cxx", ["{place}"]),
    ("python3", None, ["/usr/bin/python3", "-c", PYTHON]),
    ("python3, unbuffered", None, ["/usr/bin/python3", "-uc", PYTHON]),
    ("perl", None, ["perl", "-e", PERL, "0"]),
    ("perl, unbuffered", None, ["perl", "-e", PERL, "1"]),
    ("awk", None, ["awk", "{ print; if (NR % 100 == 0) fflush(); print NR > \"/dev/stderr\" }"]),
    ("sed", None, ["sed", "-n", "s/1/one/p"]),
    ("sed, unbuffered", None, ["sed", "-un", "s/1/one/p"]),
    ("grep, by lines", None, ["grep", "--line-buffered", "7"]),
    ("stdbuf", None, ["stdbuf", "-o0", "head", "-50"]),
    ("tee", None, ["tee", "copy"]),
    ("sort", None, ["sort", "-r"]),
    ("cat", None, ["cat", "-n"]),
]


def calls(argv, place, log, env, environment):
    settings = [f"-E{k}={v}" for k, v in env.items()]
    kinds = ",".join(f"?{name}" for name in strace_moves.MOVES)
    with open(place / "numbers", "rb") as stdin:
        done = harness.run(["strace", "-f", "-y", "-s", "0", "-o", log, "-e", f"trace={kinds}",
                            *settings, *argv], harness.plain(environment), place, stdin=stdin)
    with open(log, encoding="latin-1") as f:
        return done, [("pipe" if m.path.startswith("pipe") else m.path.removeprefix(f"{place}/"),
                       m.direction, m.bytes) for m in strace_moves.moves(f)
                      if m.path.startswith(("pipe", f"{place}/"))]


def check(work, number, argv):
    seen = []
    for name, env in (("without", {}), ("with", harness.preload_env(work / f"trace{number}"))):
        place = work / f"{name}{number}"
        make_files(place)
        whole = [str(a).format(place=place) if a == "{place}" else a for a in argv]
        seen.append(calls(whole, place, work / f"{name}{number}.log", env, {"LC_ALL": "C.UTF-8"}))
    if not (work / f"trace{number}").is_dir():
        raise Broken("no trace came to be")
    (plain, alone), (traced, together) = seen
    bad = []
    if plain.status != traced.status:
        bad.append(f"status {plain.status} without, {traced.status} with")
    if not alone:
        bad.append("strace saw nothing: its log was not understood")
    if alone != together:
        at = next((i for i, (a, b) in enumerate(zip(alone, together)) if a != b),
                  min(len(alone), len(together)))
        bad.append(f"call {at} of {len(alone)} and {len(together)}: without {alone[at:at + 3]}, "
                   f"with {together[at:at + 3]}")
    return bad


def main():
    reason = oracle.usable()
    if reason:
        harness.skip_all(reason)
    out = Tap()
    with harness.workplace() as work:
        for number, (name, victim, argv) in enumerate(PROGRAMS):
            try:
                whole = [harness.victim(f"victim_{victim}"), *argv] if victim else argv
            except Broken as e:
                out.skip(name, str(e))
                continue
            if not which(whole[0]):
                out.skip(name, f"{whole[0]} is not installed")
                continue
            out.run(name, lambda: check(work, number, whole))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
