#!/usr/bin/env python3
"""A second reader of traces, written from format/FORMAT.md alone, to hold the first one against.

    iotrace_reader.py DIR

prints what `iotrace dump DIR --format jsonl` does, without who woke whom: that is no part of the
format but worked out from it. It is slow, and needs Python's library and the `zstd`
command alone."""
import collections
import json
import pathlib
import sys

sys.dont_write_bytecode = True
from container import DESC, STRING, File, Newer, Rejected

LATEST = (1 << 53) - 1
BYTES_MOST = 1 << 48
ADOPTED, DUP = 1 << 31, 1 << 30

# Section 8: what obj2 is. An open's path counts where it gave no descriptor.
OTHER_DESC = {30, 31, 32, 43, 44, 45, 233, 249}
OTHER_PATH = {79, 80, 81, 88, 89}
OTHER_NAME = {1, 2, 3, 110, 112, 85}
HAS_OFFSET = {22, 23, 26, 27, 9, 129, 100, 247, 248}
FORK_OF_VFORK, EXEC, START = 182, 184, 180
REQUESTS, DONE = range(230, 236), 236
WINDOW_CLOSE = 252
KINDS = {0: 0, 1: 1, 2: 3}  # of queues; those from 16 on are rings: 2
BUFFERS = {*range(20, 30), *range(49, 55), 114, 115}  # rows that may have the address of theirs
GPU = range(261, 273)
GPU_LAUNCH = 266
BUFFER = 249
POSITIONED = {28, 29, 230, 231}  # -1: at no place of its own


def operations():
    """Numbers, names, classes and subjects, from the table beside FORMAT.md."""
    table = {}
    text = (pathlib.Path(__file__).resolve().parents[2] / "format" / "ops.def").read_text()
    for line in text.splitlines():
        if line.startswith("IOT_OP(") and line[7].isdigit():
            number, _, name, class_, _, subject = (w.strip() for w in line[7:-1].split(","))
            table[int(number)] = (name.strip('"'), subject, class_)
    return table


OPERATIONS = operations()


class Clock:
    """Section 7."""

    def __init__(self, file):
        h = file.header
        self.tsc, self.beyond = h.clock == 2, (0, 0)
        start = (h.start_ticks, h.start_mono)
        anchors = [p.anchor for p in file.pieces] + [(h.last_ticks, h.last_mono)]
        self.kept, self.wrong = [start], self.tsc and 0 < h.last_ticks < start[0]
        if self.tsc:
            self.keep(sorted(a for a in anchors if a[0] > start[0]))

    def keep(self, anchors):
        latest = self.kept[0]
        for a in anchors:
            last = self.kept[-1]
            ticks, ns = a[0] - last[0], a[1] - last[1]
            if a[0] == latest[0] or a[1] < latest[1] or not ticks // 20 <= ns <= ticks * 100 + 99:
                self.wrong |= a != latest
                continue
            latest = a
            if ns >= 10_000_000:
                self.kept.append(a)
        if latest[0] != self.kept[-1][0]:
            if len(self.kept) > 1:
                self.kept.pop()
            self.kept.append(latest)

    def rate(self):
        first, last = self.kept[0], self.kept[-1]
        return (last[1] - first[1], last[0] - first[0])

    def mono(self, ticks):
        if not self.tsc:
            return ticks
        first, last = self.kept[0], self.kept[-1]
        ns, per = self.beyond if self.beyond[1] else (1, 1)
        if ticks < first[0]:
            return first[1] - (first[0] - ticks) * ns // per
        if ticks >= last[0]:
            return last[1] + (ticks - last[0]) * ns // per
        for a, b in zip(self.kept, self.kept[1:]):
            if ticks < b[0]:
                return a[1] + (ticks - a[0]) * (b[1] - a[1]) // (b[0] - a[0])
        raise AssertionError


def normalise(path):
    if path.startswith(b"anon_inode:"):
        what = path[11:]
        if len(what) > 1 and what.startswith(b"[") and what.endswith(b"]"):
            what = what[1:-1]
        return b"anon:" + what
    if not path.startswith(b"/"):
        return path
    kept = []
    for part in path.split(b"/"):
        if part == b"..":
            del kept[-1:]
        elif part not in (b"", b"."):
            kept.append(part)
    return b"/" + b"/".join(kept)


class Names:
    """Section 6: the strings and descriptors of one file."""

    def __init__(self):
        self.strings, self.descs, self.files = {}, {}, {}

    def define(self, d):
        if d.number and d.op == STRING:
            self.strings.setdefault(d.number, normalise(d.text.split(b"\0")[0]))
        elif d.number and d.op == DESC:
            self.descs.setdefault(d.number, d.fields)

    def original(self, number):
        d = self.descs.get(number)
        for _ in range(64):
            if not d or not d.addr & DUP:
                return d
            d = self.descs.get(d.offset)
        return None

    def text(self, number, depth=0):
        """A string as a path; None if it is not defined."""
        text = self.strings.get(number)
        if text is None or not text.startswith(b"\1"):
            return text
        digits = text[1:].split(b"/")[0]
        base = None
        if digits.isdigit() and depth < 64:
            d = self.original(int(digits))
            base = self.text(d.obj2, depth + 1) if d else None
        rest = text[1 + len(digits):]
        if base is None or len(base) + len(rest) >= 16 * 1024:
            return rest.removeprefix(b"/")
        return normalise(base + rest)

    def name_of(self, number):
        """What a descriptor is open on."""
        d = self.original(number)
        return self.files.get(d.obj) if d else None

    def fd(self, number):
        d = self.descs.get(number)
        return d.site - 1 if d and 1 <= d.site <= 1 << 31 else None


def bind(all_names):
    """Descriptors' names; those that the kernel named are looked for among those opened by path."""
    by_inode, inode_of = {}, {}
    for adopted in (False, True):
        for names in all_names:
            for number, d in names.descs.items():
                name = names.text(d.obj2) if not d.addr & DUP else None
                if name is None or bool(d.addr & ADOPTED) != adopted:
                    continue
                if adopted:
                    name = name.removesuffix(b" (deleted)") or name
                on_disk = name.startswith(b"/") and (d.result or d.bytes)
                inode = (d.result, d.bytes, name.rsplit(b"/", 1)[-1])
                if adopted and on_disk:
                    name = by_inode.get(inode, name)
                names.files[number] = name
                if inode_of.setdefault(name, inode[:2]) == inode[:2] and on_disk and not adopted:
                    by_inode.setdefault(inode, name)


Event = collections.namedtuple("Event", "t0 t1 order row")


class Process:
    def __init__(self, pid, ppid, start, root, order, names, clock):
        self.pid, self.ppid, self.start, self.root, self.order = pid, ppid, start, root, order
        self.names, self.clock, self.lanes, self.identity = names, clock, {}, None

    def lane(self, number, tid):
        return self.lanes.setdefault(number, (tid, []))[1]


def identity(fact):
    """Fact 10: what the process is in its job."""
    said = dict(line.split("=", 1) for line in fact.decode(errors="surrogateescape").split("\n") if "=" in line)
    for key in ("rank", "local_rank", "world_size"):
        value = said.pop(key, "")
        said[key] = int(value) if value.isascii() and value.isdigit() and int(value) < 10**9 else None
    return said


class Run:
    """Section 9."""

    def __init__(self, folder):
        self.damage, self.files, self.unknown = {}, {}, 0
        paths = sorted(p for p in folder.iterdir() if p.name.endswith(".iot") and len(p.name) > 4)
        for path in paths:
            try:
                self.files[path.name] = File(path)
            except Rejected as e:
                self.damage[path.name] = [str(e)]
        if not self.files:
            raise Rejected(f"{folder}: nothing that can be read")
        self.put_in_order()
        self.read()

    def put_in_order(self):
        files = sorted(self.files.items(), key=lambda f: (f[1].header.root != 1,
                                                          f[1].header.start_mono, f[0]))
        root = files[0]
        if root[1].header.root != 1:
            root[1].lose(36, "the file of the run's first process is missing")
        rest = sorted(files[1:], key=lambda f: (f[1].header.start_mono, f[0]))
        self.files, seen = {}, set()
        for name, file in [root, *rest]:
            image = (file.header.pid, file.header.start_ticks, file.header.start_mono)
            if image in seen:
                self.damage[name] = ["a second file of a process"]
            else:
                self.files[name] = file
            seen.add(image)
        self.start = root[1].header.start_mono
        self.clocks = {name: Clock(file) for name, file in self.files.items()}
        longest = max((c.rate() for c in self.clocks.values() if c.tsc), default=(0, 0))
        for name, clock in self.clocks.items():
            clock.beyond = longest
            if clock.wrong:
                self.files[name].lose(152, "anchors contradict each other")
            if clock.tsc and not longest[1]:
                self.files[name].lose(48, "how fast the clock ran is not known")

    def time(self, clock, ticks):
        return min(max(clock.mono(ticks) - self.start, 0), LATEST)

    def read(self):
        self.processes, moved = [], []
        for order, (name, file) in enumerate(self.files.items()):
            h, names = file.header, Names()
            process = Process(h.pid, h.ppid, h.start_mono, order == 0, order, names,
                              self.clocks[name])
            self.processes.append(process)
            process.lane(0, h.pid)
            process.identity = identity(file.facts().get(10, b""))
            file.unpack_all()
            moved += self.read_lanes(file, process)
            if not order and not any(events for _, events in process.lanes.values()):
                file.lose(4096, "nothing was recorded of the run's first process")
            if file.damage:
                self.damage[name] = file.damage
        bind([p.names for p in self.processes])
        self.processes += moved
        closed = [e.t0 for p in self.processes for _, events in p.lanes.values() for e in events
                  if e.row.op == WINDOW_CLOSE]
        for each in self.processes:
            self.join_requests(each, closed)
        self.processes.sort(key=lambda p: (not p.root, p.start))

    def read_lanes(self, file, process):
        """The rows, those of children of vfork into processes of their own."""
        lanes = {}
        for piece in file.pieces:
            lanes.setdefault(piece.lane, []).append(piece)
        children = []
        for piece in file.names:
            for d in file.rows(piece)[1]:
                process.names.define(d)
        for number, pieces in sorted(lanes.items()):
            if number == 0:
                process.lanes.pop(0)
            own, child, stack, before = process.lane(number, pieces[0].tid), None, [], None
            for piece in pieces:
                if before and (before.slot, before.epoch + 1) != (piece.slot, piece.epoch):
                    child, stack = None, []
                before = piece
                events, definitions = file.rows(piece)
                for d in definitions:
                    process.names.define(d)
                for row in events:
                    if row.op not in OPERATIONS:
                        self.unknown += 1
                        continue
                    if row.op == START and row.obj2 == 1:
                        stack.append(child)
                        child = Process(row.offset & 0xFFFFFFFF, row.result & 0xFFFFFFFF, 0, False,
                                        0, process.names, process.clock)
                        children.append(child)
                    elif row.op == FORK_OF_VFORK and child and row.result == child.pid:
                        child = stack.pop()
                    self.add(file, child.lane(0, child.pid) if child else own, process.clock, row)
            if not own and number:
                process.lanes.pop(number)
        for child in children:
            child.start = self.start + child.lanes[0][1][0].t0
        return children

    @staticmethod
    def join_requests(process, closed):
        """Section 8: the rows of a request become one event, in a lane that is no thread."""
        rows, order = [], 0
        for number, (_, events) in sorted(process.lanes.items()):
            rows += [e for e in events if e.row.op in REQUESTS or e.row.op == DONE]
            events[:] = [e for e in events if e.row.op not in REQUESTS and e.row.op != DONE]
        found = {}
        for order, e in enumerate(rows):
            done = e.row.op == DONE
            found.setdefault((e.row.err, e.row.addr), []).append(
                (e.t1 if done else e.t0, not done, order, e))
        whole = []
        for (queue, _), group in found.items():
            waiting = []
            for t, made, order, e in sorted(group, key=lambda g: g[:3]):
                while not made and waiting and any(waiting[0][1] <= c <= t for c in closed):
                    del waiting[0]
                if made:
                    row = e.row._replace(result=0, bytes=0, err=0)
                    waiting.append([KINDS.get(queue, 2 if queue >= 16 else 0), t, order, t, row])
                    whole.append(waiting[-1])
                elif waiting:
                    row, result = waiting[0][4], e.row.result
                    moved = max(result, 0) if OPERATIONS[row.op][2] == "DATA" else 0
                    waiting[0][3:] = [e.t1, row._replace(
                        bytes=row.bytes + moved, result=max(result, -1),
                        err=-result if -4096 < result < 0 else 0)]
                    if e.row.offset != 1:
                        del waiting[0]
        lanes = {}
        for kind, t0, order, t1, row in sorted(whole, key=lambda w: w[:3]):
            mine = lanes.setdefault(kind, [])
            lane = next((lane for lane in mine if lane[-1].t1 < t0), None)
            if lane is None:
                lane = []
                mine.append(lane)
            lane.append(Event(t0, t1, len(lane), row))
        for kind, mine in sorted(lanes.items()):
            for depth, lane in enumerate(mine):
                process.lanes[(1 << 30) + (kind << 24) + depth] = (0, lane)

    def add(self, file, events, clock, row):
        t0 = self.time(clock, row.t0)
        t1 = max(self.time(clock, row.t1), t0)
        if t1 == LATEST:
            file.lose(0, "times that cannot be")
        moves = OPERATIONS.get(row.op, ("", "", ""))[2] == "DATA"
        if moves and abs(row.bytes) > BYTES_MOST:
            file.lose(0, "bytes that cannot be")
        if moves:
            row = row._replace(bytes=min(max(row.bytes, 0), BYTES_MOST))
        last = events[-1] if events else None
        if row.op == EXEC and row.result == -1 and last and last.row.op == EXEC and \
                last.row.result != -1 and last.t0 == t0:
            events.pop()
        events.append(Event(t0, t1, len(events), row))

    def events(self):
        """All of them, as `iotrace dump` has them."""
        found, lane = [], 0
        for process in self.processes:
            for _, (tid, events) in sorted(process.lanes.items()):
                for e in sorted(events, key=lambda e: (e.t0, -e.t1, e.order)):
                    found.append(self.line(process, tid, lane, e))
                lane += 1
        return sorted(found, key=lambda e: (e["t0_ns"], e["lane"]))

    @staticmethod
    def line(process, tid, lane, event):
        row, names = event.row, process.names
        name, subject, _ = OPERATIONS[row.op]
        path = path2 = fd = None
        if subject == "DESC":
            path, fd = names.name_of(row.obj), names.fd(row.obj)
        elif subject == "PATH":
            path = names.text(row.obj)
        if row.op in OTHER_DESC:
            path2 = names.name_of(row.obj2)
        elif row.op in OTHER_PATH:
            path2 = names.text(row.obj2)
        elif row.op in OTHER_NAME and not path:
            path = names.text(row.obj2)
        offset = row.offset if row.op in HAS_OFFSET or (row.op in POSITIONED and row.offset != -1) \
            else None
        line = {"t0_ns": event.t0, "t1_ns": event.t1, "pid": process.pid, "tid": tid, "lane": lane,
                "op": name, "fd": fd, "path": text_of(path), "path2": text_of(path2),
                "bytes": row.bytes, "offset": offset, "result": row.result, "errno": row.err}
        if row.op in BUFFERS and row.addr:
            line |= {"addr": row.addr, "addr_bytes": row.obj2 or max(row.bytes, 0)}
        if row.op == BUFFER:
            line |= {"addr": row.addr, "addr_bytes": row.offset}
        if row.op in GPU:
            line["correlation"] = row.offset or None
            if row.op == GPU_LAUNCH and (row.addr or row.result):
                line["addr"] = row.addr or row.result
        return line


def text_of(name):
    return name.decode("utf-8", "surrogateescape") if name else None


def main():
    try:
        run = Run(pathlib.Path(sys.argv[1]))
    except (Rejected, Newer, OSError) as e:
        print(f"iotrace_reader: {e}", file=sys.stderr)
        return 2
    for event in run.events():
        print(json.dumps(event))
    for name, damage in run.damage.items():
        print(f"iotrace_reader: {name}: {damage[0]}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
