"""The events of a dump, many at a time: for tests that count a million of them.

A line of the kind that iotrace writes is checked as schema.check_event does, by one pattern for
all of them; a dump that has another line is read and checked line by line.
"""
import collections
import functools
import json
import re
from operator import itemgetter

import harness
import schema
from harness import Broken

NUMBER, SIGNED = rb"\d+", rb"-?\d+"
TEXT = rb'[^"\\\n]*(?:\\.[^"\\\n]*)*"'
PATH = rb'null|"(?:/|[^"\\/:\n]+:)' + TEXT  # absolute, or of a named kind
FIELDS = {"t0_ns": NUMBER, "t1_ns": NUMBER, "pid": NUMBER, "tid": NUMBER, "lane": NUMBER, "op": rb'"\w+"',
          "fd": rb"null|" + SIGNED, "path": PATH, "path2": rb'null|"' + TEXT, "bytes": NUMBER,
          "offset": rb"null|" + SIGNED, "result": SIGNED, "errno": SIGNED}
KEPT = ["t0_ns", "t1_ns", "lane", "op", "fd", "path", "errno"]
T0, T1, LANE, OP, FD, PATH_, ERRNO = range(len(KEPT))
LINE = re.compile(rb"^\{" + rb",".join(
    b'"%s":(%s%s)' % (name.encode(), b"" if name in KEPT else b"?:", FIELDS[name])
    for name in schema.EVENT) + rb'(?:,"waker":(?:null|\{[^{}\n]*\}))?\}$', re.MULTILINE)


class Tally:
    """Counts, and what was read of it: a sequence of events as harness.dump gives them."""

    def __init__(self, folder):
        self.text = harness.ask("dump", folder, "--format", "jsonl")
        self.rows = LINE.findall(self.text)
        if len(self.rows) == self.text.count(b"\n"):
            self.check_order()
        else:
            harness.check_events(self.text.splitlines())
            self.rows = [tuple(json.dumps(e[key]).encode() for key in KEPT) for e in self]

    def check_order(self):
        before = (-1, -1)
        for t0, t1, lane, *rest in self.rows:
            t0, lane = int(t0), int(lane)
            if int(t1) < t0 or before > (t0, lane):
                raise Broken(f"the dump breaks its rules: {rest} from {t0} to {int(t1)} in lane {lane}, "
                             f"after t0 {before[0]}, lane {before[1]}")
            before = t0, lane

    @functools.cached_property
    def counts(self):
        """How many events there are of each (op, path or None, errno)."""
        count = collections.Counter(map(itemgetter(OP, PATH_, ERRNO), self.rows))
        return {tuple(map(json.loads, key)): n for key, n in count.items()}

    @functools.cached_property
    def events(self):
        return [json.loads(line) for line in self.text.splitlines()]

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.events)
