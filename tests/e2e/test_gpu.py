#!/usr/bin/env python3
"""What the CUPTI subscriber records, against scripts of what a GPU did (tests/cuda/gpu_play.c)."""
import collections
import os
import sys

import harness
from gpu_script import (CALLS, CONTEXT, COPIES, COPY, CUDA, EVENT, KINDS, LEGACY, PLAY, RAN, STANDIN, STREAM, ASYNC, play,
                        rows, said, same)
from harness import Tap

OF_LEGACY = 17  # what is said of the stream beside an event


def check_ran(place):
    """Each record once, in its stream, with its own bytes, kinds, correlation and times to the ns."""
    found, streams = rows(play(place, "ran", RAN))
    bad = []
    origin = next(r.t0 for r in found if r.offset == 2 and r.op == "gpu_memcpy") - 1000000
    got = sorted((streams[r.lane].result, streams[r.lane].offset, streams[r.lane].addr, r.op, r.result,
                  r.obj2, r.bytes, r.addr, r.offset, r.t0 - origin, r.t1 - origin)
                 for r in found if r.lane in streams)
    second = 13 + (1 << 24)
    same(bad, "what ran", sorted([
        (0, 13, 1, "gpu_memcpy", 1, 0, 4096, 2 + 256 * 3 + ASYNC, 2, 1000000, 2000000),
        (0, 7, 1, "gpu_memcpy", 2, 0, 100, 3 + 256, 3, 2000001, 2000003),
        (0, 14, 1, "gpu_memcpy", 8, 0, 7, 3 + 256 * 3 + ASYNC, 4, 2000000, 2000500),
        (0, 14, 1, "gpu_memcpy", 1, 0, 5368709120, 5 + 256 * 3 + ASYNC, 5, 2100000, 2200000),
        (1, second, 2, "gpu_memcpy", 10, 1, 999, 3 + 256 * 3 + ASYNC, 6, 2000000, 2000009),
        (0, 14, 1, "gpu_memset", 0, 0, 55, 0, 7, 3000000, 3100000),
        (0, 13, 1, "gpu_memcpy", 1, 0, 9, 1 + 256 * 3, 9, 2500000, 2600000)]), got)
    files = {f["path"]: f["bytes"] for f in harness.report(place / "ran.trace")["files"]}
    same(bad, "rows of the report", {"gpu0:HtoD": 4096 + 5368709120 + 9, "gpu0:DtoH": 100,
                                     "gpu0:DtoD": 7, "gpu1:PtoP": 999},
         {p: n for p, n in files.items() if p.startswith("gpu")})
    return bad


def check_kernels(place):
    """Only where they are asked for, with their launches; a collective by its name."""
    script = ("call cudaLaunchKernel corr=1\nkernel corr=1 stream=7 name=gemm start=1000 end=2000\n"
              "call cuLaunchKernel corr=2\n"
              "kernel corr=2 stream=7 name=_Z38ncclDevKernel_AllReduce start=3000 end=4000\n")
    bad = []
    none, _ = rows(play(place, "copies", script))
    same(bad, "without", ["gpu_unseen", "gpu_unseen"], [r.op for r in none])
    bad += said(place / "copies.trace", "kernels", "IOTRACE_CUDA=kernels")
    found, streams = rows(play(place, "kernels", script, {"IOTRACE_CUDA": "kernels"}))
    same(bad, "kernels", [("gpu_kernel", "gemm", 1, 1000),
                          ("gpu_collective", "_Z38ncclDevKernel_AllReduce", 2, 1000)],
         [(r.op, r.name, r.offset, r.t1 - r.t0) for r in found if r.lane in streams])
    same(bad, "launches", [("cudaLaunchKernel", 1), ("cuLaunchKernel", 2)],
         [(r.name, r.offset) for r in found if r.op == "gpu_launch"])
    return bad


def check_copies(place):
    """What each way to ask for a copy touches on the host."""
    script = "".join(f"call {text % (k + 1)}\n" for k, text in enumerate(COPIES))
    found, _ = rows(play(place, "forms", script))
    bad = []
    for k, (text, want) in enumerate(COPIES.items()):
        mine = [r for r in found if r.offset == k + 1 and r.op == "gpu_launch"]
        same(bad, text, want, [(r.addr, r.result, r.bytes) for r in mine])
        plain = text.split()[0].removesuffix("_v2")
        same(bad, f"name of {text}", {plain}, {r.name for r in mine})
        same(bad, f"only the first takes time: {text}", [True] + [False] * (len(mine) - 1),
             [r.t1 > r.t0 for r in mine])
    return bad


def check_calls(place):
    """Waits are joined to what they wait for; calls inside others are part of them; what failed or was
    only captured puts nothing into a stream."""
    found, streams = rows(play(place, "calls", CALLS))
    got = {r.offset: (r.op, r.name, r.obj2, r.result, r.addr) for r in found
           if r.lane not in streams and r.op != "gpu_unseen"}
    want = {
        1: ("gpu_call", "cudaMalloc", 0, 0, 0),
        6: ("gpu_event_record", "cudaEventRecord", 15, 0, 0),
        7: ("gpu_event_record", "cudaEventRecord", 8, 0, OF_LEGACY),
        8: ("gpu_event_wait", "cudaStreamWaitEvent", 15, 13, 6 << 8),
        9: ("gpu_sync", "cudaEventSynchronize", 8, 0, EVENT + (7 << 8)),
        10: ("gpu_sync", "cudaEventSynchronize", 0, 0, EVENT),
        11: ("gpu_sync", "cudaStreamSynchronize", 14, 0, STREAM),
        12: ("gpu_sync", "cudaStreamSynchronize", 9, 0, STREAM),
        13: ("gpu_sync", "cudaDeviceSynchronize", 1, 0, CONTEXT),
        14: ("gpu_sync", "cuStreamSynchronize", 15, 0, STREAM),
        15: ("gpu_sync", "cuCtxSynchronize", 1, 0, CONTEXT),
        16: ("gpu_event_record", "cudaEventRecord", 14, 0, 0),
        17: ("gpu_event_wait", "cudaStreamWaitEvent", 14, 7, (16 << 8) + OF_LEGACY),
        19: ("gpu_sync", "cudaEventSynchronize", 0, 0, EVENT),
        20: ("gpu_call", "cudaStreamSynchronize", 0, 0, 0),
        21: ("gpu_sync", "cudaStreamSynchronize", 16, 0, STREAM),
        22: ("gpu_call", "cudaMemcpyAsync", 0, 0, 0),
        23: ("gpu_call", "cudaStreamBeginCapture", 0, 0, 0),
        24: ("gpu_call", "cudaEventRecord", 0, 0, 0),
        25: ("gpu_call", "cudaMemcpyAsync", 0, 0, 0),
        26: ("gpu_call", "cudaStreamEndCapture", 0, 0, 0),
        27: ("gpu_sync", "cudaEventSynchronize", 0, 0, EVENT),
        28: ("gpu_launch", "cudaGraphLaunch", 0, 0, 0),
    }
    bad = []
    for k in sorted(set(want) | set(got)):
        same(bad, f"call {k}", want.get(k), got.get(k))
    same(bad, "a graph's work", [(28, 10), (28, 11), (28, 12)],
         [(r.offset, r.bytes) for r in found if r.lane in streams])
    origin = next(r.t0 for r in found if r.lane in streams) - 1000
    ends = {r.offset: r.t1 - origin for r in found if r.op == "gpu_sync"}
    same(bad, "waits end when they do", True, 3000000 <= ends[9] < ends[10] and 4000000 <= ends[11])
    return bad


def check_streams(place):
    """Of which kind each is, and that a wait for a context is for no other's; CUPTI's threads are no lanes."""
    program = CUDA / "gpu_schedule"
    if not program.exists():
        return []
    steps = "k0,20:k1,20:k2,20:k8,20:k10,20:r0,1:w8,1:s0:a0:a1"
    done = harness.trace([program, steps], place / "trace",
                         {**STANDIN, "IOTRACE_CLOCK": "monotonic", "IOTRACE_CUDA": "kernels"})
    found, streams = rows(place / "trace")
    bad = []
    same(bad, "status", 0, done.status)
    same(bad, "kinds", [(0, 1, "legacy"), (0, 1, "by itself"), (0, 1, "blocking"), (1, 2, "legacy"),
                        (1, 2, "blocking")],
         [(r.result, r.addr, KINDS[r.obj2]) for r in sorted(streams.values(), key=lambda r: (r.result, r.offset))])
    same(bad, "waits", [(LEGACY, 8), (CONTEXT, 1), (CONTEXT, 2), (CONTEXT, 1), (CONTEXT, 2)],
         [(r.addr, r.obj2) for r in found if r.op == "gpu_sync"])
    same(bad, "events", [("gpu_event_record", OF_LEGACY), ("gpu_event_wait", OF_LEGACY)],
         [(r.op, r.addr & 255) for r in found if r.op.startswith("gpu_event")])
    same(bad, "lanes", 1 + len(streams), harness.report(place / "trace")["run"]["lanes"])
    return bad


def check_clock(place):
    """On the processor's clock the records' times come out the same, to a microsecond."""
    script = RAN.replace("deliver\n", "at 300000000\ndeliver\n")
    found, streams = rows(play(place, "ticks", script, {"IOTRACE_CLOCK": "tsc"}))
    ran = {r.offset: r for r in found if r.lane in streams}
    bad = []
    for k, start, end in ((2, 1000000, 2000000), (7, 3000000, 3100000), (9, 2500000, 2600000)):
        for what, at in (("start", ran[k].t0 - start), ("end", ran[k].t1 - end)):
            if abs(at - (ran[2].t0 - 1000000)) > 1000:
                bad.append(f"{what} of {k} is {at - ran[2].t0 + 1000000} ns off")
    launch = next(r for r in found if r.op == "gpu_launch")
    if not -1000 < ran[2].t0 - 1000000 - launch.t0 + 5000000 < 5001000:
        bad.append(f"the streams' clock is not the threads': {ran[2].t0}, {launch.t0}")
    return bad


def check_crowd(place):
    """Threads that all copy at once, more than a buffer holds: nothing is lost or doubled."""
    threads, rounds = 8, 4000
    folder = play(place, "crowd", f"crowd threads={threads} rounds={rounds}\n", {"IOTRACE_CLOCK": "tsc"})
    found, streams = rows(folder)
    bad = []
    for op in ("gpu_launch", "gpu_memcpy"):
        mine = [r.offset for r in found if r.op == op]
        same(bad, f"{op} rows", threads * rounds, len(mine))
        same(bad, f"{op} correlations", len(mine), len(set(mine)))
    same(bad, "streams", threads, len(streams))
    report = harness.report(folder)
    same(bad, "dropped", 0, report["run"]["dropped_events"])
    copies = next(f for f in report["files"] if f["path"] == "gpu0:HtoD")
    same(bad, "bytes", threads * rounds * 4096, copies["bytes"])
    return bad


def check_window(place):
    """Copies whose calls lie outside the window are not recorded, whenever CUPTI hands them over."""
    call = "call cudaMemcpyAsync corr=%d dst=1 src=2 bytes=64 kind=1\n"
    copy = COPY.replace("corr=1", "corr=%d")
    script = call % 1 + copy % 1 + "at 400000000\n" + call % 2 + copy % 2
    found, _ = rows(play(place, "window", script, {"IOTRACE_AFTER": "200ms"}))
    bad = []
    same(bad, "correlations", [2, 2], [r.offset for r in found if r.op in ("gpu_memcpy", "gpu_launch")])
    return bad


def check_run(place):
    """iotrace run --gpu."""
    path = place / "run.txt"
    path.write_text("kernel corr=1 stream=7 name=k start=1 end=2\n" + COPY)
    bad = []
    for word, want in (("off", {"gpu_unseen": 1}), ("copies", {"gpu_unseen": 2, "gpu_memcpy": 1}),
                       ("kernels", {"gpu_unseen": 2, "gpu_memcpy": 1, "gpu_kernel": 1})):
        done = harness.run([harness.command(), "run", "--gpu", word, "-o", place / word, "--", PLAY, path],
                           harness.plain({**STANDIN, "LIBIOTRACE": os.environ["LIBIOTRACE"]}))
        same(bad, f"status with {word}", 0, done.status)
        same(bad, word, want, dict(collections.Counter(r.op for r in rows(place / word)[0])))
    return bad


def check_asking(place):
    """However the driver asks who wants to look on."""
    path = place / "asking.txt"
    path.write_text(COPY)
    bad = []
    seen = {}
    for how in ("getenv", "secure", "environ"):
        env = {**STANDIN, "STANDIN_CUDA": how}
        done = [harness.trace([PLAY, path], place / how, env)]
        for word in ("copies", "off"):
            done.append(harness.run([harness.command(), "run", "--gpu", word, "-o", place / f"{how}-{word}", "--",
                                     PLAY, path], harness.plain({**env, "LIBIOTRACE": os.environ["LIBIOTRACE"]})))
        # Of a run with it, one program without.
        done.append(harness.run([harness.command(), "run", "--gpu", "copies", "-o", place / f"{how}-inner", "--",
                                 "/usr/bin/env", "IOTRACE_CUDA=0", PLAY, path],
                                harness.plain({**env, "LIBIOTRACE": os.environ["LIBIOTRACE"]})))
        same(bad, f"ends of {how}", [0] * 4, [d.status for d in done])
        seen[how] = [sum(r.op == "gpu_memcpy" for r in rows(place / name)[0])
                     for name in (how, f"{how}-copies", f"{how}-off", f"{how}-inner")]
    same(bad, "copies: preloaded, run, run without, within a run without",
         {"getenv": [1, 1, 0, 0], "secure": [1, 1, 0, 0], "environ": [0, 1, 0, 0]}, seen)
    return bad


def check_doctor(place):
    done = harness.run([harness.command(), "doctor", "--format", "json"],
                       harness.plain({**STANDIN, "IOTRACE_CUDA": "0"}), place)
    text = done.stdout.decode()
    return [f"doctor does not say {part!r}: {text}" for part in
            ("libiotrace-cupti.so agrees with the headers of CUPTI's version 13", "CUDA driver for 13.0",
             "IOTRACE_CUDA is 0") if part not in text]


CHECKS = [
    ("what ran, by stream", check_ran),
    ("kernels and collectives", check_kernels),
    ("addresses of copies on the host", check_copies),
    ("calls, events, captures and graphs", check_calls),
    ("kinds of streams, contexts, CUPTI's threads", check_streams),
    ("times on the processor's clock", check_clock),
    ("many threads", check_crowd),
    ("a window of the run", check_window),
    ("iotrace run --gpu", check_run),
    ("however the driver asks", check_asking),
    ("iotrace doctor", check_doctor),
]


def main():
    if not PLAY.exists():
        harness.skip_all("built without the headers of CUPTI")
    out = Tap()
    for name, function in CHECKS:
        if any(word in name for word in sys.argv[1:] or [""]):
            with harness.workplace() as place:
                out.run(name, lambda: function(place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
