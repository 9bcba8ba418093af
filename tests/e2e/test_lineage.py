#!/usr/bin/env python3
"""Addresses of buffers: recorded where IOTRACE_LINEAGE asks for them, and nowhere else."""
import sys

import harness
from harness import Tap


def traced(place, name, env, victim="buffers"):
    done = harness.trace([harness.victim(f"victim_{victim}"), place / f"{name}-file"], place / name, env,
                         place)
    if done.status:
        raise harness.Broken(f"status {done.status} ({done.tail()})")
    return done, [e for e in harness.dump(done.folder) if "addr" in e and e["fd"] != 1]


def switched_on(place):
    """Each call of the victim is there with its address and how much of its bytes lies there."""
    done, seen = traced(place, "on", {"IOTRACE_LINEAGE": "1"})
    told = [line.split() for line in done.stdout.decode().splitlines()]
    want = [(op, int(at), int(size)) for op, at, size in told]
    got = [(e["op"], e["addr"], e["addr_bytes"]) for e in seen if e["op"] != "buffer"]
    harness.report(done.folder)
    if len(want) < 15:
        return [f"the victim told of {len(want)} calls"]
    return [f"{w}, not {g}" for w, g in zip(want, got) if w != g] + (
        [] if len(want) == len(got) else [f"{len(got)} calls with an address, not {len(want)}"])


def beside_rows(place):
    """What a row has no room for: the rest of vectors, messages, requests."""
    done, seen = traced(place, "beside", {"IOTRACE_LINEAGE": "1"}, "buffers_async")
    want = [line.split() for line in done.stdout.decode().splitlines()]
    got = [["read" if e["result"] else "write", str(e["addr"]), str(e["addr_bytes"])]
           for e in seen if e["op"] == "buffer"]
    bad = [f"{w} is not there: {got}" for w in want if want.count(w) != got.count(w)]
    bad += [f"{g} is too much" for g in got if g not in want]
    of = {e["path2"] for e in seen if e["op"] == "buffer"}
    if str(place / "beside-file") not in of or not any(name.startswith("socket:") for name in of):
        bad.append(f"they are of {of}")
    report = harness.report(done.folder)
    off = harness.report(traced(place, "beside-off", {}, "buffers_async")[0].folder)
    counts = [(r["data_ops"], r["metadata_ops"], r["bytes"]) for r in (report["total"], off["total"])]
    return bad if counts[0] == counts[1] else bad + [f"what is counted differs: {counts}"]


def switched_off(place):
    bad = []
    for name, env in (("unset", {}), ("zero", {"IOTRACE_LINEAGE": "0"}), ("odd", {"IOTRACE_LINEAGE": "11"})):
        _, seen = traced(place, name, env)
        bad += [f"{name}: {e['op']} has an address" for e in seen]
    return bad


def main():
    tap = Tap()
    with harness.workplace() as place:
        tap.run("addresses and lengths of buffers", lambda: switched_on(place))
        tap.run("buffers that a row has no room for", lambda: beside_rows(place))
        tap.run("none unless asked for", lambda: switched_off(place))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
