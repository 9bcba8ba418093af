"""What a recorded GPU program takes if its copies take less, worked out event by event from its dump
and from what it is known to do: nothing of the analyzer is in it.

A thread's next event begins as long after the one before as it was recorded. A call that waited ends
as long after what it waited for as was recorded, or where it is made if that is later; one that did not
wait may not begin before what it would have waited for. What runs in a stream begins at the
latest of: the end of the one before it in the stream, of what an event waited for (and of all that the event's own
stream had been told to wait for), of what the legacy default stream and the blocking ones wait for by themselves, each
a little later, and its launch and the time that the launch takes to get there, which the stand-in tells."""
import collections

COPIES = {"p": "HtoD", "h": "HtoD", "b": "HtoD", "o": "DtoH", "d": "DtoD"}
OTHER = {"madvise", "mmap", "munmap"}  # I/O that libraries do by themselves
GAP_NS = 50  # of the stand-in
ROUNDED_NS, US_NS = 20, 1000
RUNS = ("gpu_memcpy", "gpu_kernel")
OF_DEVICE = 8  # streams; the first is the default one
BLOCKING = {2, 4, 5, 10, 12}


def follows(stream):
    """The streams that one waits for by itself."""
    first = stream - stream % OF_DEVICE
    if stream == first:
        return [s for s in sorted(BLOCKING) if s - s % OF_DEVICE == first]
    return [first] if stream in BLOCKING else []


class Work:
    """One thing that ran: which call asked for it, when it would let it begin, what it waited for."""

    def __init__(self, letter, stream, call, ready, start, end):
        self.letter, self.stream, self.call, self.ready = letter, stream, call, ready
        self.start, self.end = start, end
        self.before, self.waits, self.chained, self.by_itself = None, [], [], []
        self.copy = COPIES.get(letter)


class Replay:
    """events: of the dump. threads: for each the steps [(letter, a, b)]. times: {(thread, step):
    (ready, start, end)} of work, on the stand-in's clock."""

    def __init__(self, events, threads, times):
        self.lanes = collections.defaultdict(list)
        for e in events:
            if not e["op"].startswith(RUNS):
                self.lanes[e["tid"]].append(e)
        self.root = next(e["tid"] for e in events if e["op"] == "start")
        self.lanes.pop(0, None)  # the first events of streams
        self.at = {tid: {} for tid in self.lanes}  # time: (index, is it an entry)
        for tid, lane in self.lanes.items():
            for k, e in enumerate(lane):
                self.at[tid].setdefault(e["t1_ns"], (k, False))
            for k, e in enumerate(lane):
                self.at[tid].setdefault(e["t0_ns"], (k, True))
        made = [(self.root, k) for k, e in enumerate(self.lanes[self.root])
                if e["op"] == "thread_create"]
        born = sorted((lane[0]["lane"], tid) for tid, lane in self.lanes.items()
                      if tid != self.root)
        self.maker = {tid: call for (_, tid), call in zip(born, made)}
        self.threads = threads
        self.place_work(events, times)
        self.place_calls()

    def steps_of(self, tid, number):
        """The calls of a thread's steps, and what is left behind them."""
        wanted = {"k": "gpu_launch", "s": "gpu_sync", "y": "gpu_sync", "a": "gpu_sync",
                  "r": "gpu_event_record", "w": "gpu_event_wait",
                  **{letter: "gpu_launch" for letter in COPIES}}
        calls = [k for k, e in enumerate(self.lanes[tid])
                 if e["op"] in wanted.values()]
        steps = [(k, s) for k, s in enumerate(self.threads[number]) if s[0] in wanted]
        assert len(calls) >= len(steps), (calls, steps)
        for index, (_, step) in zip(calls, steps):
            assert self.lanes[tid][index]["op"] == wanted[step[0]], (index, step)
        return {k: index for index, (k, _) in zip(calls, steps)}, calls[len(steps):]

    def place_work(self, events, times):
        """Each work with its record: of its kind, and nearest in time."""
        runs = [e for e in events if e["op"] in ("gpu_memcpy", "gpu_kernel")]
        rest = {(e["tid"], e["t0_ns"]): e["t1_ns"] for e in events if e["op"] == "gpu_memcpy_rest"}
        clock = min(e["t0_ns"] for e in runs) - min(start for _, start, _ in times.values())
        tids = self.tids()
        self.calls = [self.steps_of(tid, number) for number, tid in enumerate(tids)]
        self.works = []
        for (thread, step), (ready, started, ended) in sorted(times.items(), key=lambda i: i[1][1]):
            letter, a, b = self.threads[thread][step]
            size = a if letter == "b" else b
            record = min((e for e in runs if self.is_of(e, letter, size, ended - started)),
                         key=lambda e: abs(e["t0_ns"] - started - clock))
            runs.remove(record)
            end = rest.get((record["tid"], record["t1_ns"]), record["t1_ns"])
            self.works.append(Work(letter, OF_DEVICE * b if letter == "b" else a,
                                   (tids[thread], self.calls[thread][0][step]),
                                   record["t0_ns"] + ready - started, record["t0_ns"], end))
        assert not runs, runs

    @staticmethod
    def is_of(record, letter, size, took):
        if letter == "k":
            return (record["op"] == "gpu_kernel" and
                    abs(record["t1_ns"] - record["t0_ns"] - took) < US_NS // 2)
        return record["op"] == "gpu_memcpy" and record["bytes"] == size

    def tids(self):
        """Of the threads, in the order in which they were made: the main one first."""
        return sorted(self.lanes, key=lambda tid: self.lanes[tid][0]["lane"])[:len(self.threads)]

    def place_calls(self):
        """What each work begins after and each call waits for. The calls, one after the other, and by stream what
        its next work would have to wait for, and why; nothing is left out for being implied by another."""
        pending, before = collections.defaultdict(dict), {}
        for work in self.works:
            work.before = before.get(work.stream)
            before[work.stream] = work
        self.work_of = {work.call: work for work in self.works}
        self.waits = {}  # a call that waits: the works
        last, recorded = {}, {}

        def ask(stream):
            """What a default stream is asked for waits for its blocking ones."""
            for other in follows(stream) if stream % OF_DEVICE == 0 else []:
                add(stream, {**pending[other], **({last[other]: "by_itself"} if other in last else {})})

        def tell(stream):
            """And they for that."""
            for other in follows(stream) if stream % OF_DEVICE == 0 else []:
                add(other, {**pending[stream], **({last[stream]: "by_itself"} if stream in last else {})})

        def add(stream, more):
            for work, why in more.items():
                if pending[stream].get(work) != "waits":
                    pending[stream][work] = why

        def reached(stream):
            return [*pending[stream], *([last[stream]] if stream in last else [])]

        def of_device(device):
            return [w for s in {*last, *pending} if s // OF_DEVICE == device for w in reached(s)]

        for tid, index, letter, a, b in self.in_order():
            work = self.work_of.get((tid, index))
            if letter in "sya":
                if letter == "s":
                    ask(a)
                self.waits[tid, index] = (recorded.get(a, {}) if letter == "y" else
                                          reached(a) if letter == "s" else of_device(a))
                continue
            stream = work.stream if work else a
            if letter == "w" and b not in recorded:
                continue
            ask(stream)
            if work:
                for other, why in pending.pop(stream, {}).items():
                    getattr(work, why).append(other)
                if stream not in last or last[stream].start < work.start:
                    last[stream] = work
            elif letter == "r":
                recorded[b] = {other: "by_itself" if why == "by_itself" else "chained"
                               for other, why in pending[stream].items()}
                if stream in last:
                    recorded[b][last[stream]] = "waits"
            else:
                add(stream, recorded[b])
            tell(stream)

    def in_order(self):
        """The calls of all steps, and the last ones of the program, for each device one."""
        order = sorted((self.lanes[tid][index]["t0_ns"], tid, index, *self.threads[number][step])
                       for number, tid in enumerate(self.tids())
                       for step, index in self.calls[number][0].items())
        return [step[1:] for step in order] + [(self.root, index, "a", device, 0)
                                               for device, index in enumerate(self.calls[0][1])]

    def event(self, call):
        return self.lanes[call[0]][call[1]]

    # --- times ---

    def wall(self, scale):
        """How long it takes. scale: {kind of copy: by what its time is multiplied}."""
        self.scale, self.known = scale, {}
        return self.leave(self.root, len(self.lanes[self.root]) - 1)

    def leave(self, tid, index):
        key = tid, index
        if key not in self.known:
            self.known[key] = self.left(tid, index)
        return self.known[key]

    def enter(self, tid, index):
        e = self.lanes[tid][index]
        if index:
            return self.leave(tid, index - 1) + e["t0_ns"] - self.lanes[tid][index - 1]["t1_ns"]
        if tid == self.root:
            return e["t0_ns"]
        return self.enter(*self.maker[tid]) + e["t0_ns"] - self.event(self.maker[tid])["t0_ns"]

    def left(self, tid, index):
        e, entry = self.lanes[tid][index], self.enter(tid, index)
        awaited = [(w.end, self.end(w)) for w in self.waits.get((tid, index), [])]
        work = self.work_of.get((tid, index))
        if work and self.holds(work, e):
            awaited.append((min(work.end, e["t1_ns"]), self.end(work, e["t1_ns"])))
        if e.get("waker") and not e["op"].startswith("gpu_"):
            other, ns = e["waker"]["tid"], e["waker"]["t_ns"]
            k, is_entry = self.at[other][ns]
            awaited.append((ns, self.enter(other, k) if is_entry else self.leave(other, k)))
        late = [(recorded, new) for recorded, new in awaited if recorded > e["t0_ns"]]
        entry = max([entry, *(new for recorded, new in awaited if recorded <= e["t0_ns"])])
        if not late:
            share = self.scale.get("other", 1) if e["op"] in OTHER else 1
            return entry + (e["t1_ns"] - e["t0_ns"]) * share
        latency = e["t1_ns"] - max(recorded for recorded, _ in late)
        return max([entry, *(new + latency for _, new in late)])

    @staticmethod
    def holds(work, call):
        return work.letter in ("h", "b") and work.start < call["t1_ns"]

    def start(self, work):
        key = id(work)
        if key not in self.known:
            call = self.event(work.call)
            at = [self.enter(*work.call) + work.ready - call["t0_ns"]]
            at += [self.end(w) + self.gap(w, work)
                   for w in ([work.before] if work.before else []) + work.waits + work.chained +
                   work.by_itself]
            self.known[key] = max(at)
        return self.known[key]

    @staticmethod
    def gap(first, then):
        """The stand-in's, as it came out in the recording: two clock readings of one moment are
        rounded."""
        recorded = then.start - first.end
        return recorded if abs(recorded - GAP_NS) <= ROUNDED_NS else GAP_NS

    def end(self, work, until=None):
        """Of the part up to `until`, if that is given."""
        end = work.end if until is None else min(work.end, until)
        return self.start(work) + (end - work.start) * self.scale.get(work.copy, 1)
