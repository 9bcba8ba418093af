#!/usr/bin/env python3
"""The demo's counts against those of the baseline in the repository: what doc/ci.md recommends, for
iotrace itself. `--renew` writes a new baseline."""
import json
import os
import sys

import comparing
import harness
from harness import Tap

DEMO = harness.TOP / "scripts" / "demo"
KEPT = harness.TOP / "tests" / "golden" / "reports" / "demo"


def trainer(place, name, *changes):
    data = place / "data"
    made = harness.run([sys.executable, DEMO / "make_data.py", data, "--model-mb", 4, "--shards", 4,
                        "--records", 4, "--record-kb", 128])
    if made.status:
        raise harness.Broken(f"make_data.py: status {made.status} ({made.tail()})")
    done = harness.trace([sys.executable, "-B", DEMO / "train.py", data, "--steps", 16, "--compute-ms",
                          5, "--save-every", 8, "--checkpoint-mb", 2, *changes], place / name)
    if done.status:
        raise harness.Broken(f"train.py: status {done.status} ({done.tail()})")
    return done.folder


def compare(folder):
    return comparing.ask([KEPT / "base.json"], [folder], "--policy", KEPT / "policy")


def check_same(place):
    made, status = compare(trainer(place, "same"))
    bad = [f"{m['metric']} is {m['state']}: {m['base']}, now {m['candidate']}; {m['why']}"
           for m in made["metrics"] if m["level"] != "off" and m["state"] != "unchanged"]
    if made["gated"] < 10:
        bad.append(f"only {made['gated']} figures are gated")
    return bad + ([f"status {status}"] if status else [])


def check_changed(place):
    """Twice as many checkpoints are found, with the file."""
    made, status = compare(trainer(place, "changed", "--save-every", 4))
    syncs = made["by"]["output.sync_ops"]
    if status == 1 and syncs["state"] == "regressed" and any("checkpoint" in w for w in syncs["why"]):
        return []
    return [f"status {status}, {syncs}"]


def renew(place):
    """Only what tells nothing of the machine it was made on."""
    text = harness.ask("report", trainer(place, "new"), "--format", "json", "--top", 1000)
    text = text.decode().replace(str(place), "/demo")
    made = json.loads(text.replace(os.path.realpath(sys.executable), "/usr/bin/python3"))
    made["run"] |= {"host": "demo", "command": ["python3", "train.py"]}
    made["files"] = [f for f in made["files"] if f["object"] != "other"]
    made["waits"], made["advice"] = [], []
    (KEPT / "base.json").write_text(json.dumps(made, indent=1, ensure_ascii=True) + "\n")


def main():
    out = Tap()
    with harness.workplace() as place:
        if "--renew" in sys.argv[1:]:
            renew(place)
        out.run("the demo's counts are those of the baseline", lambda: check_same(place))
        out.run("more checkpoints are found", lambda: check_changed(place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
