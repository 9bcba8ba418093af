"""iotrace import: recordings with known answers, what it refuses, and real recordings where they
are there (IOT_PROFILES, or ../shared/data/kineto beside the project)."""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from profile_of import NEW, OLD, Profile

IOTRACE = sys.argv.pop(1)
PROFILES = Path(os.environ.get("IOT_PROFILES") or
                Path(__file__).resolve().parents[3] / "shared" / "data" / "kineto")


def run(*arguments):
    return subprocess.run([IOTRACE, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=300, check=False)


def output(*arguments):
    done = run(*arguments)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return done.stdout.decode()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="iotrace-import-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.trace = self.folder / "trace"

    def imported(self, *profiles):
        files = [p if isinstance(p, Path) else p.save(self.folder / f"{k}.json")
                 for k, p in enumerate(profiles)]
        output("import", *files, "-o", self.trace)
        return self.report()

    def report(self):
        report = json.loads(output("report", self.trace, "--format", "json"))
        self.assertEqual(sum(report["path"].values()), report["wall_ns"])
        self.assertEqual(report["path"]["io_ns"], report["total"]["exposed_ns"])
        self.assertEqual(report["model"]["replay_error_ns"], 0)
        self.assertEqual(report["model"]["cut_edges"], 0)
        return report

    def events(self):
        return [json.loads(line) for line in
                output("dump", self.trace, "--format", "jsonl").splitlines()]

    @staticmethod
    def row(report, path):
        return next(f for f in report["files"] if f["path"] == path)


def blocking(names=NEW):
    """A pageable copy in a call that waits for it: all of it is exposed, in the caller's lane."""
    return (Profile(names).span(1000).add("op", "aten::to", 50, 400)
            .call("cudaMemcpyAsync", 100, 300, 1).copy(120, 290, 1, 4096)
            .add("op", "aten::add", 450, 600))


class KnownAnswers(Case):
    def test_what_it_says(self):
        said = output("import", blocking().save(self.folder / "one.json"), "-o", self.trace)
        self.assertIn(": 1.00 ms; 1 thread, 1 GPU stream\n  1 GPU copy of 4.10 kB, 1 CUDA call\n", said)

    def test_blocking_copy(self):
        for names in (NEW, OLD):
            with self.subTest(names=names["op"]):
                self.trace = self.folder / names["op"]
                report = self.imported(blocking(names))
                row = self.row(report, "gpu0:HtoD")
                self.assertEqual((row["data_ops"], row["bytes"], row["service_ns"],
                                  row["exposed_ns"], row["blocking_ns"], row["object"]),
                                 (1, 4096, 170000, 170000, 170000, "artifact"))
                self.assertEqual((report["wall_ns"], report["path"]["wake_ns"],
                                  report["path"]["gpu_ns"]), (1000000, 10000, 20000))

    def test_copy_that_outlasts_its_call(self):
        """The call returns at 250; the synchronisation waits for the rest."""
        report = self.imported(Profile().span(1000).call("cudaMemcpyAsync", 100, 250, 1)
                               .copy(120, 290, 1, 4096).call("cudaStreamSynchronize", 252, 295, 2))
        row = self.row(report, "gpu0:HtoD")
        self.assertEqual((row["data_ops"], row["bytes"], row["service_ns"]), (1, 4096, 170000))
        self.assertEqual((row["exposed_ns"], row["blocking_ns"]), (170000, 170000))
        parts = [e for e in self.events() if e["op"].startswith("gpu_memcpy")]
        self.assertEqual([(e["op"], e["t0_ns"], e["t1_ns"], e["bytes"]) for e in parts],
                         [("gpu_memcpy", 120000, 250000, 4096),
                          ("gpu_memcpy_rest", 250000, 290000, 0)])
        explained = json.loads(output("explain", self.trace, "gpu0:HtoD", "--format", "json"))["files"][0]
        self.assertEqual([explained["read"][k] for k in ("calls", "bytes", "empty")], [1, 4096, 0])
        self.assertEqual((explained["service_ns"], explained["lanes"][0]["calls"]), (170000, 1))

    def test_hidden_copy(self):
        report = self.imported(
            Profile().span(1000).call("cudaMemcpyAsync", 100, 110, 1)
            .copy(115, 215, 1, 1 << 20, "HtoD (Pinned -> Device)", 20)
            .call("cudaLaunchKernel", 120, 130, 2).kernel(135, 435, 2)
            .call("cudaDeviceSynchronize", 140, 440, 3))
        row = self.row(report, "gpu0:HtoD")
        self.assertEqual((row["service_ns"], row["exposed_ns"]), (100000, 0))
        self.assertGreater(report["path"]["gpu_ns"], 300000)

    def test_event_wait(self):
        """A kernel that waits for the copy by an event: without the copy it would start when its
        launch lets it, 15 us after 120."""
        report = self.imported(
            Profile().span(1000).call("cudaMemcpyAsync", 100, 110, 1)
            .copy(115, 315, 1, 1 << 20, "HtoD (Pinned -> Device)", 20)
            .call("cudaEventRecord", 111, 112, 2).call("cudaStreamWaitEvent", 113, 114, 3)
            .sync("Stream Wait Event", 114, 115, 3, 7, wait_on_stream=20,
                  wait_on_cuda_event_record_corr_id=2)
            .call("cudaLaunchKernel", 120, 130, 4).kernel(317, 417, 4)
            .call("cudaStreamSynchronize", 140, 420, 5).sync("Stream Sync", 141, 419, 5, 7))
        self.assertEqual(self.row(report, "gpu0:HtoD")["exposed_ns"], 182000)

    def test_stream_order(self):
        """A copy behind a kernel in one stream waits for it, and is exposed whole."""
        report = self.imported(
            Profile().span(1000).call("cudaLaunchKernel", 100, 110, 1).kernel(115, 315, 1)
            .call("cudaMemcpyAsync", 120, 380, 2)
            .copy(316, 376, 2, 100, "DtoH (Device -> Pageable)"))
        row = self.row(report, "gpu0:DtoH")
        self.assertEqual((row["object"], row["exposed_ns"]), ("output", 60000))
        self.assertEqual(report["path"]["gpu_ns"], 15000 + 200000 + 1000)

    def test_loader_steps_and_ranges(self):
        profile = Profile().span(900)
        for k in range(3):
            at = 300 * k
            profile.add("range", f"ProfilerStep#{k}", at, at + 290)
            profile.add("range", "enumerate(DataLoader)#_Iter.__next__", at + 10, at + 110)
            profile.call("cudaHostAlloc", at + 50, at + 60, 0)  # not the loader's
            profile.add("range", "forward", at + 120, at + 200)
            profile.add("op", "aten::mm", at + 120, at + 250)
        report = self.imported(profile)
        row = self.row(report, "enumerate(DataLoader)#_Iter.__next__")
        self.assertEqual((row["object"], row["service_ns"], row["exposed_ns"]),
                         ("input", 270000, 270000))
        self.assertEqual([p["steps"] for p in report["phases"] if p["name"] == "steady"], [3])
        marks = [e for e in self.events() if e["op"] == "mark"]
        self.assertEqual([m["path"] for m in marks][:2], ["ProfilerStep#0", "forward"])
        whatif = json.loads(output("whatif", self.trace, "--file", "*DataLoader*", "--format",
                                   "json"))
        self.assertEqual(whatif["gained_ns"], 270000)

    def test_hand_off(self):
        """Two threads that take turns: what delays the one delays the other."""
        report = self.imported(
            Profile().span(1000).add("range", "ProfilerStep#1", 0, 990)
            .add("range", "enumerate(DataLoader)#_Iter.__next__", 10, 110)
            .add("op", "aten::mm", 110, 200).add("op", "MmBackward", 210, 500, tid=11)
            .add("op", "Optimizer", 520, 700))
        self.assertEqual(report["total"]["exposed_ns"], 100000)
        waits = [e for e in self.events() if e["op"] == "sem_wait"]
        self.assertEqual([(w["tid"], w["waker"]["tid"]) for w in waits], [(11, 10), (10, 11)])

    def test_ranks_and_folder(self):
        profiles = self.folder / "profiles"
        profiles.mkdir()
        blocking().save(profiles / "rank0.json.gz")
        blocking().save(profiles / "rank1.json")
        (profiles / "notes.txt").write_text("no profile")
        output("import", profiles, "-o", self.trace)
        self.assertEqual(self.report()["run"]["processes"], 2)

    def ranks_of(self, report):
        return [(r["pid"], r["device"], r["matched"], r["waited_ns"], r["transfer_ns"])
                for r in report["gpu"]["ranks"]]

    def test_ranks_wait_for_each_other(self):
        """Rank 1 loads until 200 and comes last: rank 0 waits in its collective from 30 to 230. The
        recordings count from different moments, and rank 1's began first."""
        ranks = [Profile(base=1000, base_ns=5_000_000), Profile(base=6000, base_ns=0)]
        for rank, profile in enumerate(ranks):
            at = 210 if rank else 10
            profile.add("Trace", "PyTorch Profiler (0)", -20 if rank else 0, 500, pid="Spans")
            profile.add("range", "ProfilerStep#1", 0, 490, pid=40 + rank, tid=40 + rank)
            profile.call("cudaLaunchKernel", at, at + 5, 9, pid=40 + rank, tid=40 + rank)
            profile.kernel(at + 20, 300 + rank, 9, name="ncclDevKernel_AllReduce_Sum_f32", device=rank,
                           **{"Process Group Name": "0", "Process Group Ranks": "[0, 1]"})
            profile.call("cudaDeviceSynchronize", at + 6, 305, 10, pid=40 + rank, tid=40 + rank)
        ranks[1].add("range", "enumerate(DataLoader)#_Iter.__next__", 0, 200, pid=41, tid=41)
        report = self.imported(*ranks)
        self.assertEqual(self.ranks_of(report),
                         [(41, 1, 1, 0, 71000), (40, 0, 1, 200000, 70000)])
        self.assertEqual(report["wall_ns"], 520000)
        self.assertEqual(self.row(report, "gpu1:collective")["service_ns"], 71000)
        # Without the loading rank 1 comes at once, and rank 0 has come before.
        self.assertEqual(report["objects"][0]["exposed_ns"], 200000)
        dumped = [e for e in self.events() if e["op"].startswith("gpu_collective")]
        self.assertEqual([(e["op"], e["t0_ns"] // 1000, e["t1_ns"] // 1000, e["correlation"])
                          for e in dumped],
                         [("gpu_collective_wait", 50, 250, 9), ("gpu_collective", 250, 321, 9),
                          ("gpu_collective", 250, 320, 9)])
        self.assertEqual(dumped[1]["path2"], "ncclDevKernel_AllReduce_Sum_f32 of 0 [0, 1]")

    def test_several_processes_in_one_recording(self):
        """Two processes with the same correlations, each on a stream of its own of one GPU."""
        profile = Profile().span(1000)
        for k, pid in enumerate((30, 20)):
            profile.add("op", "aten::to", 10, 600, pid=pid, tid=pid)
            for n in range(1, 4):
                at = 100 * n + 3 * k
                profile.call("cudaMemcpyAsync", at, at + 60, n, pid=pid, tid=pid)
                profile.copy(at + 10, at + 50, n, 1000 * (k + 1), stream=7 + k)
        profile.call("cudaDeviceSynchronize", 500, 510, 9, pid=20, tid=20)
        said = output("import", profile.save(self.folder / "two.json"), "-o", self.trace)
        self.assertIn(": 1.00 ms; 2 processes, 2 threads, 2 GPU streams", said)
        report = self.report()
        self.assertEqual(report["run"]["processes"], 2)
        self.assertEqual(report["model"]["unmatched_waits"], 0)
        events = self.events()
        self.assertEqual({e["pid"] for e in events}, {20, 30})
        for pid, size in ((30, 1000), (20, 2000)):
            mine = [e for e in events if e["pid"] == pid]
            self.assertEqual([e["bytes"] for e in mine if e["op"] == "gpu_memcpy"], [size] * 3)
            self.assertEqual([e["correlation"] for e in mine if e["op"] == "gpu_launch"], [1, 2, 3])
            self.assertEqual([e["correlation"] for e in mine if e["op"] == "gpu_memcpy"], [1, 2, 3])
            self.assertEqual({e["t0_ns"] for e in mine if e["op"] == "start"}, {0})
        # The main process is the one with most calls.
        self.assertEqual(events[0]["pid"], 20)
        shown = output("dump", self.trace)
        self.assertRegex(shown, r"gpu_memcpy +- +1000 +#2 ")

    def test_processes_that_share_a_stream(self):
        """An item goes to the process that has its correlation."""
        profile = Profile().span(1000)
        for k, pid in enumerate((20, 30)):
            profile.add("op", "aten::to", 10, 600, pid=pid, tid=pid)
            for n in range(4):
                at = 100 * n + 50 * k + 10
                profile.call("cudaLaunchKernel", at, at + 5, 10 * (k + 1) + n, pid=pid, tid=pid)
                profile.kernel(at + 10, at + 30, 10 * (k + 1) + n)
        self.imported(profile)
        events = self.events()
        for pid, first in ((20, 10), (30, 20)):
            self.assertEqual([e["correlation"] for e in events
                              if e["pid"] == pid and e["op"] == "gpu_kernel"],
                             [first, first + 1, first + 2, first + 3])

    def test_idle_gpu(self):
        """Nothing runs from 0 to 30, from 130 to 320 (a loader until 300) and from 420 on."""
        profile = (Profile().span(1000).add("range", "ProfilerStep#1", 0, 990)
                   .call("cudaLaunchKernel", 10, 15, 1).kernel(30, 130, 1)
                   .call("cudaDeviceSynchronize", 20, 135, 2)
                   .add("range", "enumerate(DataLoader)#_Iter.__next__", 140, 300)
                   .call("cudaLaunchKernel", 300, 305, 3).kernel(320, 420, 3)
                   .call("cudaDeviceSynchronize", 306, 425, 4))
        report = self.imported(profile)
        self.assertEqual(report["gpu"]["devices"],
                         [{"device": 0, "busy_ns": 200000, "idle_ns": 220000,
                           "idle_of_ns": {"input": 160000, "artifact": 0, "state": 0, "output": 0,
                                          "other": 0}}])
        text = output("report", self.trace)
        self.assertIn("- gpu0: busy 0.20 ms, idle 0.22 ms, because of I/O: 0.16 ms input.", text)

    def test_collective_and_peers(self):
        report = self.imported(
            Profile().span(500).call("cudaLaunchKernel", 10, 20, 1)
            .kernel(30, 130, 1, 7, "ncclDevKernel_AllReduce_Sum_f32").call(
                "cudaMemcpyPeerAsync", 20, 25, 2)
            .copy(140, 150, 2, 64, "PtoP (Device -> Device)"))
        for path in ("gpu0:collective", "gpu0:PtoP"):
            self.assertEqual(self.row(report, path)["object"], "state")

    def test_plain_chrome_trace(self):
        """Begin and end, a list without an object around it, times with fractions."""
        path = self.folder / "chrome.json"
        path.write_text(json.dumps([
            {"ph": "B", "name": "outer", "pid": 1, "tid": 1, "ts": 0.5},
            {"ph": "B", "name": "inner", "pid": 1, "tid": 1, "ts": 1.25},
            {"ph": "E", "pid": 1, "tid": 1, "ts": 2.125},
            {"ph": "i", "name": "now", "pid": 1, "tid": 1, "ts": 2, "s": "g"},
            {"ph": "E", "pid": 1, "tid": 1, "ts": 1e1},
            {"ph": "X", "name": "other", "pid": 1, "tid": 2, "ts": 3, "dur": 1}]))
        self.assertEqual(self.imported(path)["wall_ns"], 9500)

    def test_a_stream_below_zero(self):
        """The number is nobody's: a wait that names no stream is none for it."""
        profile = Profile()
        profile.call("cudaLaunchKernel", 0, 5, 1)
        profile.kernel(10, 40, 1, -1)
        profile.call("cudaEventRecord", 41, 42, 2)
        profile.call("cudaStreamWaitEvent", 43, 44, 3)
        profile.sync("Stream Wait Event", 43, 43, 3, -1, wait_on_stream=-1,
                     wait_on_cuda_event_record_corr_id=2)
        profile.call("cudaLaunchKernel", 45, 46, 4)
        profile.kernel(50, 60, 4, -1)
        report = self.imported(profile)
        self.assertEqual(report["model"]["cut_edges"], 0)

    def test_folder_is_not_overwritten(self):
        self.imported(blocking())
        before = sorted(self.trace.iterdir())
        said = output("import", self.folder / "0.json", "-o", self.trace)
        self.assertEqual(sorted(self.trace.iterdir()), before)
        self.assertNotIn(f"in {self.trace}\n", said)


class Schedule:
    """A random program of one thread that gives three streams work, and when all of it happens."""
    LATENCY, CALL = 15, 3

    def __init__(self, seed):
        pick = random.Random(seed)
        self.steps = [("kernel", 7, 20)]  # one that its launch alone holds back
        recorded = []
        for _ in range(40):
            kind = pick.choice(["kernel", "copy", "copy", "work", "sync", "record", "wait", "chain"])
            stream = pick.choice([7, 20, 21])
            if kind == "chain":  # through streams that run nothing
                for stream in pick.choices([30, 31, 20], k=pick.randint(1, 3)) if recorded else []:
                    self.steps.append(("wait", stream, recorded[-1]))
                    recorded.append(len(self.steps))
                    self.steps.append(("record", stream, 0))
                continue
            if kind == "wait":
                if recorded:
                    self.steps.append((kind, stream, pick.choice(recorded)))
                continue
            if kind == "record":
                recorded.append(len(self.steps))
            self.steps.append((kind, stream, pick.randint(1, 120)))

    def times(self, copies=True, profile=None):
        """How long it takes, with copies or with all of them taking no time."""
        now, last, waits, events, number = 100, {}, {}, {}, 0
        for k, (kind, stream, value) in enumerate(self.steps):
            number, start = number + 1, now
            if kind == "work":
                now += value
                if profile:
                    profile.add("op", "aten::mm", start, now)
                continue
            if kind == "sync":
                now = max(now, last.get(stream, 0), waits.get(stream, 0))
                if profile:
                    profile.call("cudaStreamSynchronize", start, now, number)
                    profile.sync("Stream Sync", start, now, number, stream)
                now += 1
                continue
            now += self.CALL
            if kind == "record":
                events[k] = (max(last.get(stream, 0), waits.get(stream, 0)), number, stream)
                if profile:
                    profile.call("cudaEventRecord", start, now, number)
            elif kind == "wait":
                end, record, other = events[value]
                waits[stream] = max(waits.get(stream, 0), end)
                if profile:
                    profile.call("cudaStreamWaitEvent", start, now, number)
                    profile.sync("Stream Wait Event", start, start, number, stream,
                                 wait_on_stream=other, wait_on_cuda_event_record_corr_id=record)
            else:
                begin = max(start + self.LATENCY, last.get(stream, 0), waits.pop(stream, 0))
                last[stream] = begin + (value if copies or kind == "kernel" else 0)
                if profile and kind == "kernel":
                    profile.call("cudaLaunchKernel", start, now, number)
                    profile.kernel(begin, last[stream], number, stream)
                elif profile:
                    profile.call("cudaMemcpyAsync", start, now, number)
                    profile.copy(begin, last[stream], number, 1 << 20,
                                 "HtoD (Pinned -> Device)", stream)
        end = max([now, *last.values()])
        if profile:
            profile.call("cudaDeviceSynchronize", now, end, number + 1)
            profile.sync("Context Sync", now, end, number + 1, -1)
            profile.span(end + 10)
        return end + 10


class Random(Case):
    def test_what_copies_cost(self):
        """What all copies together are exposed by is what the program takes less without them."""
        hidden = 0
        for seed in range(40):
            with self.subTest(seed=seed):
                self.trace = self.folder / f"trace-{seed}"
                schedule, profile = Schedule(seed), Profile()
                wall = schedule.times(profile=profile)
                report = self.imported(profile)
                self.assertEqual(report["wall_ns"], wall * 1000)
                self.assertEqual(report["wall_ns"] - report["total"]["exposed_ns"],
                                 schedule.times(copies=False) * 1000)
                hidden += report["total"]["hidden_ns"]
        self.assertGreater(hidden, 0)


class Refused(Case):
    EVENT = b'{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}'

    def refused(self, text, *parts):
        path = self.folder / "bad.json"
        path.write_bytes(text)
        done = run("import", path, "-o", self.trace)
        error = done.stderr.decode()
        self.assertEqual((done.returncode, error.count("\n"), done.stdout), (2, 1, b""), error)
        for part in (str(path), *parts):
            self.assertIn(part, error)
        self.assertFalse(self.trace.exists())

    def test_json(self):
        whole = b'{"traceEvents":[' + self.EVENT + b"]}"
        for text, *parts in [
                (b"", "byte 0", "too early"),
                (whole[:-1], f"byte {len(whole) - 1}", "too early"),
                (whole[:30], "byte 30", "in a string"),
                (whole + b"x", f"byte {len(whole)}", "follows the end"),
                (b"[1]", "byte 1", "not an event"),
                (b"{}", "traceEvents"),
                (b'{"traceEvents":[]}', "no complete events"),
                (b'{"a":' + b"[" * 100, "byte 68", "deeper than 64"),
                (b'{"a":' * 100, "byte 320", "deeper than 64"),
                (b'{"a":1,"b":{"a":1},"a":2}', "byte 19", "twice"),
                (b'{"a":1,"\\u0061":2}', "byte 7", "twice"),
                (b'{"traceEvents":[{"ph":"X","ts":1,"ts":2}]}', "byte 33", "twice"),
                (b'{"a":1e999}', "byte 5", "out of range"),
                (b'{"a":' + b"9" * 500 + b"}", "byte 5", "out of range"),
                (whole.replace(b'"ts":1', b'"ts":1e30'), "cannot be"),
                (whole.replace(b'"ts":1', b'"ts":-1'), "cannot be"),
                (whole.replace(b'"ts":1', b'"ts":"1"'), "byte 16", "without its time"),
                (whole.replace(b'"dur":2', b'"dur":-2'), "ends before"),
                (whole.replace(b'"dur":2', b'"dur":1e13'), "104 days"),
                (b'{"a":01}', "not a number"), (b'{"a":1.}', "not a number"),
                (b'{"a":-}', "not a number"), (b'{"a":tru}', "not a value"),
                (b'{"a" 1}', "':'"), (b'{"a":1 "b":2}', "','"), (b'{"a":1,}', "key"),
                (b"{1:2}", "key"), (b'{"a":"\n"}', "control character"),
                (b'{"a":"\\x"}', "escape"), (b'{"a":"\\u12g4"}', "escape")]:
            with self.subTest(text=text[:60]):
                self.refused(text, *parts)

    def test_compressed(self):
        path = blocking().save(self.folder / "a.json.gz")
        packed = path.read_bytes()
        path.write_bytes(packed[:len(packed) // 2])
        done = run("import", path, "-o", self.trace)
        self.assertEqual(done.returncode, 2)
        self.assertIn("compressed file ends too early", done.stderr.decode())
        path.write_bytes(packed[:40] + bytes([packed[40] ^ 0xff]) + packed[41:])
        done = run("import", path, "-o", self.trace)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))

    def test_second_file_takes_the_trace_away(self):
        good = blocking().save(self.folder / "good.json")
        bad = self.folder / "bad.json"
        bad.write_text("{")
        self.assertEqual(run("import", good, bad, "-o", self.trace).returncode, 2)
        self.assertFalse(self.trace.exists())

    def test_usage(self):
        good = blocking().save(self.folder / "good.json")
        (self.folder / "empty").mkdir()
        for arguments, part in [((), "which files"), ((good,), "give -o"),
                                ((self.folder / "none", "-o", self.trace), "No such file"),
                                ((self.folder / "empty", "-o", self.trace), "no *.json")]:
            done = run("import", *arguments)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))
            self.assertIn(part, done.stderr.decode())

    def test_odd_but_whole(self):
        """What a recording may hold and has no use for: nothing of it is an error."""
        text = (b'{"traceEvents":[' + self.EVENT + b',{"ph":"X","ts":5,"dur":1,"pid":"p\\ud800",'
                b'"tid":[1,{"x":null}],"args":7,"cat":true,"name":{"a":[]}},'
                b'{"ph":"E","ts":9,"pid":1,"tid":1},{"ph":"?"},{}],"other":[[],{},1e-400,-0.0]}')
        path = self.folder / "odd.json"
        path.write_bytes(text)
        self.assertEqual(self.imported(path)["wall_ns"], 5000)


@unittest.skipUnless(PROFILES.is_dir(), f"no real recordings in {PROFILES}")
class Real(Case):
    # copies, bytes, kernels, span (us), kind of the copies, synchronisations on record, loader
    # ranges; of what nobody else counted, None
    FIGURES = {"resnet50_workers0": (12, 115607040, 8772, 1065723, "HtoD", None, 6),
               "resnet50_workers4": (12, 115607040, 8868, 846954, "HtoD", None, 6),
               "hta_alexnet": (16, 244403360, None, 43458523, "HtoD", 41, None),
               "hta_simple_add": (16, 244403360, None, 41602354, "HtoD", None, None),
               "hta_cuda_event_sync": (1, 1, 4, 3154, "DtoH", 4, None)}

    def take(self, name):
        path = PROFILES / f"{name}.json.gz"
        if not path.exists():
            self.skipTest(f"{path} is not there")
        self.trace = self.folder / name
        self.said = output("import", path, "-o", self.trace)
        return self.report()

    def test_figures(self):
        for name, (copies, size, kernels, span, kind, syncs, loads) in self.FIGURES.items():
            with self.subTest(name=name):
                report = self.take(name)
                row = self.row(report, f"gpu0:{kind}")
                self.assertEqual((row["data_ops"], row["bytes"], report["wall_ns"]),
                                 (copies, size, span * 1000))
                self.assertIn("pageable", row["why"])
                if kernels:
                    self.assertEqual(sum(e["op"] == "gpu_kernel" for e in self.events()), kernels)
                if syncs:
                    self.assertIn(f"of {syncs} calls it says what they waited for", self.said)
                if loads:
                    self.assertIn(f"{loads} loader ranges", self.said)

    def test_no_time_is_dropped(self):
        """The parts of the path are the span to the nanosecond (report() adds them up), and each of
        them is explained; the replay keeps the length, with all I/O and with none of it."""
        for name, (_, _, _, span, *_) in self.FIGURES.items():
            with self.subTest(name=name):
                report = self.take(name)
                self.assertEqual((report["path"]["unexplained_ns"], report["path"]["external_ns"],
                                  report["path"]["sleep_ns"], report["model"]["unmatched_waits"]),
                                 (0, 0, 0, 0))
                self.assertTrue(all(ns >= 0 for ns in report["path"].values()))
                curve = report["model"]["curve"]
                self.assertEqual(curve[0], [1, span * 1000])
                self.assertEqual(curve[-1],
                                 [0, report["wall_ns"] - report["total"]["exposed_ns"]])
                whatif = json.loads(output("whatif", self.trace, "--format", "json"))
                self.assertEqual(whatif["wall_ns"], span * 1000)
                part = whatif["path"]
                self.assertEqual(sum(part["io_ns"].values()) +
                                 sum(ns for key, ns in part.items() if key != "io_ns"),
                                 span * 1000)

    def test_they_compare(self):
        """Traces and their reports give the same figures."""
        for name in ("resnet50_workers0", "resnet50_workers4"):
            self.take(name)
            (self.folder / f"{name}.report.json").write_text(
                output("report", self.trace, "--format", "json"))
        slow, fast = (str(self.folder / name) for name in ("resnet50_workers0",
                                                          "resnet50_workers4"))
        done = run("compare", fast, "--to", slow, "--format", "json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        metrics = {m["metric"]: m for m in json.loads(done.stdout)["metrics"]}
        self.assertEqual((metrics["wall"]["base"], metrics["wall"]["candidate"]),
                         (846954000, 1065723000))
        done = run("compare", f"{fast}.report.json", "--to", f"{slow}.report.json", "--format",
                   "json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual({m["metric"]: m for m in json.loads(done.stdout)["metrics"]}, metrics)

    def test_alexnet_copies_are_on_the_path(self):
        self.take("hta_alexnet")
        events = self.events()
        calls = [e for e in events if e["op"] in ("gpu_launch", "gpu_sync", "gpu_call",
                                                  "gpu_event_record", "gpu_event_wait")]
        self.assertEqual(len(calls), 361)
        whatif = json.loads(output("whatif", self.trace, "--format", "json"))
        self.assertEqual(whatif["path"]["io_ns"]["artifact"], 55503000)

    def test_loader_behind_the_gpu(self):
        for name, service, gained, margin in [("resnet50_workers0", 415791, 353900, 17695),
                                              ("resnet50_workers4", 8522, 8200, 1000)]:
            with self.subTest(name=name):
                self.take(name)
                got = json.loads(output("whatif", self.trace, "--file", "*DataLoader*", "--format",
                                        "json"))
                self.assertEqual(got["service_ns"], service * 1000)
                self.assertAlmostEqual(got["gained_ns"], gained * 1000, delta=margin * 1000)


if __name__ == "__main__":
    unittest.main()
