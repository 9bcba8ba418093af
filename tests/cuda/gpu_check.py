#!/usr/bin/env python3
"""Runs the checks of a tracer on a GPU: one line each, and what they left as files.

    gpu_check.py --build DIR --programs DIR --out DIR [--python FILE] [--seconds N] [--standin]
                 [CHECK...]

scripts/gpu_check.sh is how it is called. --standin: there is no GPU, but a runtime of the tests' own
that acts as if. The last line is "N passed, N failed"; status 1 if any failed, or it was stopped."""
import argparse
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
from gpu_box import Box, Failed, Skipped, archive
from gpu_checks import CHECKS


class Lines:
    """Standard output, and the same in a file."""

    def __init__(self, path):
        self.file = open(path, "w")
        self.counts = {"pass": 0, "FAIL": 0, "skip": 0}

    def say(self, line):
        print(line, flush=True)
        self.file.write(line + "\n")
        self.file.flush()

    def result(self, state, name, said, took):
        self.counts[state] += 1
        self.say(f"{state} {name}: {said} ({took:.1f} s)")

    def close(self):
        passed, failed, skipped = self.counts.values()
        self.say(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
        self.file.close()
        return failed


def check(box, lines, what, limit, end, group):
    name, started = what.__name__, time.monotonic()
    if started >= end:
        lines.result("FAIL", name, "no time was left for it", 0)
        return
    box.begin(name, min(limit, end - started))
    try:
        state, said = "pass", what(box)
    except Skipped as why:
        state, said = "skip", why
    except Failed as why:
        state, said = "FAIL", why
    except Exception:  # what came was not even of the form that is expected
        text = traceback.format_exc()
        (box.folder / "exception.txt").write_text(text)
        state, said = "FAIL", text.splitlines()[-1]
    if state == "FAIL":
        said = f"{said}; see {name}/log.txt in {group}.tar.gz"
    lines.result(state, name, said, time.monotonic() - started)


def stopped(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "programs", "out"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--standin", action="store_true")
    parser.add_argument("checks", nargs="*")
    arguments = parser.parse_args()
    names = [what.__name__ for what, *_ in CHECKS]
    unknown = sorted(set(arguments.checks) - set(names))
    if unknown:
        parser.exit(2, f"gpu_check: no check is called {unknown[0]}, but {', '.join(names)}\n")

    arguments.out.mkdir(parents=True, exist_ok=True)
    lines = Lines(arguments.out / "results.txt")
    end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory(prefix="iotrace-gpu-", ignore_cleanup_errors=True) as work:
        work = Path(work).resolve()
        box = Box(arguments.build, arguments.programs.resolve(), work, arguments.python,
                  arguments.standin)
        groups, was_stopped = {}, False
        signal.signal(signal.SIGTERM, stopped)
        try:
            for what, limit, group in CHECKS:
                if not arguments.checks or what.__name__ in arguments.checks:
                    groups.setdefault(group, []).append(work / what.__name__)
                    check(box, lines, what, limit, end, group)
        except KeyboardInterrupt:  # a machine that is lent is taken back: what there is is of use
            was_stopped = True
            lines.say("stopped: what follows was not checked")
        for group, folders in groups.items():
            left = archive(arguments.out / f"{group}.tar.gz",
                           [folder for folder in folders if folder.is_dir()])
            for path in left:
                lines.say(f"too large for {group}.tar.gz: {path.relative_to(work)}")
    return 1 if lines.close() or was_stopped else 0


if __name__ == "__main__":
    sys.exit(main())
