#!/usr/bin/env python3
"""Who ended a wait: for each way to wait, a program that does nothing but wait for somebody who sleeps.

The sleeper is on the path if, and only if, it is known that it let the waiter go on.
"""
import sys

import harness
from harness import Tap

SLEPT_NS, LOST_NS = 80_000_000, 25_000_000


def check(way):
    with harness.workplace() as place:
        done = harness.trace([harness.victim("victim_wakers"), place, way], place / "iot")
        if done.status:
            return [f"status {done.status} ({done.tail()})"]
        path = harness.report(place / "iot")["path"]
        bad = []
        if path["sleep_ns"] < 0.9 * SLEPT_NS:
            bad.append(f"of the path {path['sleep_ns']} ns are sleep, not {SLEPT_NS}: {path}")
        for part in ("unexplained_ns", "external_ns", "io_ns"):
            if path[part] > LOST_NS:
                bad.append(f"of the path {path[part]} ns are {part}: {path}")
        return bad


def main():
    out = Tap()
    ways = harness.run([harness.victim("victim_wakers")]).stdout.decode().split()
    out.point(len(ways) >= 16, "the ways are listed", f"{ways}")
    for way in ways:
        out.run(way, lambda: check(way))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
