#!/usr/bin/env python3
"""Programs whose exposed time is known, because they measure themselves, against the report.

The programs are not part of this tree: IOTRACE_CASES names their folder (run.py, cases.toml);
without it, shared/cases beside the checkout is taken if it is there.
"""
import os
import re
import sys
import tomllib
from pathlib import Path

import harness
from harness import Tap

CASES = ["artifact_blocking", "artifact_gzip", "input_sync", "checkpoint_sync", "tokens_flush",
         "kv_swap_blocking"]
# Fields that the report leaves null so far.
NOT_YET = []
RESULT = re.compile(r"^(ok|FAIL) (\w+)(.*)$")


def without_fields(cases, place):
    """A folder of the same cases that do not ask for NOT_YET."""
    text = (cases / "cases.toml").read_text()
    for field in NOT_YET:
        text = re.sub(rf'(check = \[[^\]]*), "{field}"', r"\1", text)
    for row in tomllib.loads(text)["case"]:
        if set(NOT_YET) & set(row.get("check", [])):
            raise harness.Broken(f"{row['name']} still asks for one of {NOT_YET}")
    (place / "cases.toml").write_text(text)
    (place / "programs").symlink_to(cases / "programs")


def main():
    cases = Path(os.environ.get("IOTRACE_CASES") or harness.TOP.parent / "shared" / "cases")
    if not (cases / "run.py").is_file():
        harness.skip_all(f"no cases: {cases} has no run.py (IOTRACE_CASES names the folder)")
    out = Tap()
    with harness.workplace() as place:
        without_fields(cases.resolve(), place)
        done = harness.run([sys.executable, "-B", cases / "run.py", "--iotrace", harness.command(),
                            "--cases", place, "--only", ",".join(CASES)], timeout=300)
        lines = done.stdout.decode(errors="replace").splitlines()
        results = {m[2]: m for m in map(RESULT.match, lines) if m}
        for name in CASES:
            if name in results:
                out.point(results[name][1] == "ok", name, results[name][3].split("; "))
            else:
                out.point(False, name, f"no result; status {done.status} ({done.tail()})")
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
