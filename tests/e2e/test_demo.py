#!/usr/bin/env python3
"""The demo: its trainer's report, and that scripts/demo.sh keeps output and exit status."""
import os
import sys
from fnmatch import fnmatch

import harness
from harness import Tap

DEMO = harness.TOP / "scripts" / "demo"
STEPS, SAVE_EVERY, MODEL_MB, CHECKPOINT_MB = 16, 8, 4, 2
OBJECTS = {"model.safetensors": "artifact", "shards/*.shard": "input", "train.log": "output",
           "checkpoint-*": "output"}
# A batch is 1024 floats behind a length of four bytes; each is written and read.
PIPE_BYTES = 2 * STEPS * (4 * 1024 + 4)


def run_trainer(place):
    data = place / "data"
    made = harness.run([sys.executable, DEMO / "make_data.py", data, "--model-mb", MODEL_MB,
                        "--shards", 4, "--records", 4, "--record-kb", 128])
    if made.status:
        raise harness.Broken(f"make_data.py: status {made.status} ({made.tail()})")
    done = harness.trace([sys.executable, "-B", DEMO / "train.py", data, "--steps", STEPS,
                          "--compute-ms", 5, "--save-every", SAVE_EVERY, "--checkpoint-mb",
                          CHECKPOINT_MB], place / "trace")
    if done.status:
        raise harness.Broken(f"train.py: status {done.status} ({done.tail()})")
    return data


def rows(report, data, pattern):
    """The rows of files in the demo's folder."""
    return [row for row in report["files"] if fnmatch(row["path"], f"{data}/{pattern}")]


def check_object(report, data, pattern, want):
    mine = rows(report, data, pattern)
    bad = [f"{row['path']}: expected {want}, got {row['object']} ({row['why']})"
           for row in mine if row["object"] != want]
    return bad or ([] if mine else [f"no row for {pattern}"])


def check_bytes(report, data):
    """What each kind of file must have moved, from the files themselves."""
    size = {path.name: path.stat().st_size for path in data.iterdir() if path.is_file()}
    shards = sum(p.stat().st_size for p in (data / "shards").iterdir())
    want = {"model.safetensors": size["model.safetensors"], "shards/*.shard": shards,
            "train.log": size["train.log"],
            "checkpoint-*": STEPS // SAVE_EVERY * (CHECKPOINT_MB << 20)}
    got = {pattern: sum(row["bytes"] for row in rows(report, data, pattern)) for pattern in want}
    syncs = sum(row["sync_ops"] for row in rows(report, data, "checkpoint-*"))
    bad = [f"{pattern}: expected {want[pattern]} bytes, got {got[pattern]}"
           for pattern in want if want[pattern] != got[pattern]]
    if syncs != STEPS // SAVE_EVERY:
        bad.append(f"checkpoints: expected {STEPS // SAVE_EVERY} syncs, got {syncs}")
    return bad


def check_pipes(report):
    """The workers' pipes are state; that of standard output is not one of them."""
    got = sum(row["bytes"] for row in report["files"]
              if row["path"].startswith("pipe:") and row["object"] == "state")
    return [] if got == PIPE_BYTES else [f"expected {PIPE_BYTES} bytes, got {got}"]


def check_script(place, line, status, stdout):
    """demo.sh -- CMD: CMD's own output and status, and a report on standard error."""
    env = harness.plain({"IOTRACE": harness.command(), "IOTRACE_DIR": str(place / line[:4].strip()),
                         "LIBIOTRACE": os.environ["LIBIOTRACE"]})
    done = harness.run([harness.TOP / "scripts" / "demo.sh", "--", "sh", "-c", line], env, place)
    bad = []
    if (done.status, done.stdout) != (status, stdout):
        bad.append(f"expected status {status} and {stdout}, got {done.status} and {done.stdout} "
                   f"({done.tail()})")
    if b"trace: " not in done.stderr or b"output" not in done.stderr:
        bad.append(f"no report on standard error ({done.tail()})")
    return bad


def check_missing(place):
    """What cannot be started is said in one line, before anything is traced."""
    env = harness.plain({"IOTRACE": harness.command(), "IOTRACE_DIR": str(place / "none"),
                         "LIBIOTRACE": os.environ["LIBIOTRACE"]})
    done = harness.run([harness.TOP / "scripts" / "demo.sh", "--", "no-such-command"], env, place)
    if (done.status, done.stdout, done.stderr.count(b"\n")) == (127, b"", 1) and \
            b"no-such-command: no such command" in done.stderr and not (place / "none").exists():
        return []
    return [f"status {done.status}: {done.tail()}"]


def main():
    out = Tap()
    made = {}
    with harness.workplace() as place:
        def prepare():
            made["data"] = run_trainer(place)
            made["report"] = harness.report(place / "trace")
            return [] if made["report"]["run"]["processes"] == 3 else ["expected three processes"]

        if out.run("the trainer runs, in three processes, and its report keeps the rules", prepare):
            for pattern, want in OBJECTS.items():
                out.run(f"{pattern} is {want}",
                        lambda: check_object(made["report"], made["data"], pattern, want))
            out.run("bytes and syncs of each kind of file",
                    lambda: check_bytes(made["report"], made["data"]))
            out.run("the workers' pipes are state", lambda: check_pipes(made["report"]))
        out.run("demo.sh keeps a status",
                lambda: check_script(place, "echo out; exit 7", 7, b"out\n"))
        out.run("demo.sh keeps the end by a signal",
                lambda: check_script(place, "kill -KILL $$", 137, b""))
        out.run("demo.sh and a command that is missing", lambda: check_missing(place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
