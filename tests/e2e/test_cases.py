#!/usr/bin/env python3
"""Programs whose exposed time is known, because they measure themselves, against the report.

The programs are not part of this tree: IOTRACE_CASES names their folder (run.py, cases.toml);
without it, shared/cases beside the checkout is taken if it is there.
"""
import os
import re
import sys
from pathlib import Path

import harness
from harness import Tap

CASES = ["artifact_blocking", "artifact_gzip", "input_sync", "checkpoint_sync", "tokens_flush",
         "kv_swap_blocking"]
RESULT = re.compile(r"^(ok|FAIL) (\w+)(.*)$")


def main():
    cases = Path(os.environ.get("IOTRACE_CASES") or harness.TOP.parent / "shared" / "cases")
    if not (cases / "run.py").is_file():
        harness.skip_all(f"no cases: {cases} has no run.py (IOTRACE_CASES names the folder)")
    out = Tap()
    done = harness.run([sys.executable, "-B", cases / "run.py", "--iotrace", harness.command(),
                        "--only", ",".join(CASES)], timeout=300)
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
