#!/usr/bin/env python3
"""Addresses of buffers: recorded where IOTRACE_LINEAGE asks for them, and nowhere else."""
import sys

import harness
from harness import Tap


def traced(place, name, env):
    done = harness.trace([harness.victim("victim_buffers"), place / f"{name}-file"], place / name, env,
                         place)
    if done.status:
        raise harness.Broken(f"status {done.status} ({done.tail()})")
    return done, [e for e in harness.dump(done.folder) if "addr" in e and e["fd"] != 1]


def switched_on(place):
    """Each call of the victim is there with its address and how much of its bytes lies there."""
    done, seen = traced(place, "on", {"IOTRACE_LINEAGE": "1"})
    told = [line.split() for line in done.stdout.decode().splitlines()]
    want = [(op, int(at), int(size)) for op, at, size in told]
    got = [(e["op"], e["addr"], e["addr_bytes"]) for e in seen]
    harness.report(done.folder)
    if len(want) < 15:
        return [f"the victim told of {len(want)} calls"]
    return [f"{w}, not {g}" for w, g in zip(want, got) if w != g] + (
        [] if len(want) == len(got) else [f"{len(got)} calls with an address, not {len(want)}"])


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
        tap.run("none unless asked for", lambda: switched_off(place))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
