#!/usr/bin/env python3
"""What the CUPTI subscriber records, against scripts of what a GPU did (tests/cuda/gpu_play.c), and that it
fails without the program noticing."""
import collections
import os
import shutil
import subprocess
import sys
from pathlib import Path

import harness
from harness import Tap

sys.path.insert(0, str(harness.HERE.parent / "reader"))
import iotrace_reader

TOP = Path(os.environ["IOTRACE"]).parent.parent
CUDA = TOP / "tests" / "cuda"
PLAY = CUDA / "gpu_play"
SUBSCRIBER = TOP / "cupti" / "libiotrace-cupti.so"
STANDIN = {"LD_LIBRARY_PATH": str(CUDA)}
ASYNC = 65536
EVENT, STREAM, CONTEXT = 1, 3, 4

Row = collections.namedtuple("Row", "op name obj2 result bytes addr offset t0 t1 lane")


def play(place, name, script, env=None, status=0):
    """Traces a script. What it prints, and its status, must be as without us."""
    path = place / f"{name}.txt"
    path.write_text(script)
    plain = harness.run([PLAY, path], harness.plain(STANDIN))
    done = harness.trace([PLAY, path], place / f"{name}.trace",
                         {**STANDIN, "IOTRACE_CLOCK": "monotonic", **(env or {})})
    if (done.status, done.stdout, done.stderr) != (status, plain.stdout, b"") or \
            plain.status != status:
        raise harness.Broken(f"status {done.status}, untraced {plain.status}: {done.stdout!r} "
                             f"{plain.stdout!r} {done.stderr!r}")
    return done.folder


def rows(folder):
    """All rows about a GPU, by lane; and the first row of each lane that is a stream."""
    streams, found = {}, []
    for process in iotrace_reader.Run(Path(folder)).processes:
        for number, (_, events) in process.lanes.items():
            for e in sorted(events, key=lambda e: (e.t0, -e.t1, e.order)):
                op, subject, _ = iotrace_reader.OPERATIONS[e.row.op]
                if not op.startswith("gpu_"):
                    continue
                name = process.names.text(e.row.obj) if subject == "PATH" else None
                row = Row(op, name.decode() if name else None, e.row.obj2, e.row.result,
                          e.row.bytes, e.row.addr, e.row.offset, e.t0, e.t1, number)
                if op == "gpu_stream":
                    streams[number] = row
                else:
                    found.append(row)
    return found, streams


def not_seen(folder):
    """What the report says, in JSON and, the same, in text."""
    sentences = harness.report(folder)["run"]["not_seen"]
    text = " ".join(harness.ask("report", folder).decode().split())
    missing = [s for s in sentences if " ".join(s.split()) not in text]
    if missing:
        raise harness.Broken(f"not in the text: {missing}")
    return sentences


def same(bad, what, want, got):
    if want != got:
        bad.append(f"{what}: {got}, expected {want}")


def said(folder, *parts):
    """A sentence of what is not seen has all of them."""
    sentences = not_seen(folder)
    return [] if any(all(p in s for p in parts) for s in sentences) else \
        [f"nothing says {parts}: {sentences}"]


RAN = """\
stream 0x100 id=13
stream 0x200 id=14
stream 0x300 id=13 context=2
call cudaMemcpyAsync corr=2 dst=0x7000 src=0x5000 bytes=4096 kind=1 stream=0x100
call cudaMemcpy corr=3 dst=0x6000 src=0x7000 bytes=100 kind=2 stream=0
copy corr=2 stream=13 kind=1 from=2 to=3 async=1 bytes=4096 start=1000000 end=2000000
copy corr=3 stream=7 kind=2 from=3 to=1 bytes=100 start=2000001 end=2000003
copy corr=4 stream=14 kind=8 from=3 to=3 async=1 bytes=7 start=2000000 end=2000500
copy corr=5 stream=14 kind=1 from=5 to=3 async=1 bytes=5368709120 start=2100000 end=2200000
peer corr=6 stream=13 context=2 device=1 source=0 target=1 bytes=999 start=2000000 end=2000009 async=1
memset corr=7 stream=14 bytes=55 start=3000000 end=3100000
kernel corr=8 stream=13 name=gemm start=1 end=2
deliver
copy corr=9 stream=13 kind=1 from=1 to=3 bytes=9 start=2500000 end=2600000
"""


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


COPIES = {
    # what a call says, and the (source, target, bytes) on the host that it comes to
    "cudaMemcpy corr=%d dst=0x7000 src=0x5000 bytes=10 kind=1": [(0x5000, 0, 10)],
    "cudaMemcpyAsync corr=%d dst=0x7000 src=0x5000 bytes=10 kind=2": [(0, 0x7000, 10)],
    "cudaMemcpyAsync corr=%d dst=0x7000 src=0x5000 bytes=10 kind=3": [(0, 0, 0)],
    "cudaMemcpyAsync corr=%d dst=0x7000 src=0x5000 bytes=10 kind=0": [(0x5000, 0x7000, 10)],
    "cudaMemcpyAsync corr=%d per_thread=1 dst=0x7000 src=0x5000 bytes=10 kind=4": [(0x5000, 0x7000, 10)],
    "cudaMemcpyToSymbol corr=%d dst=0x7000 src=0x5000 bytes=12 kind=1": [(0x5000, 0, 12)],
    "cudaMemcpy2DAsync corr=%d dst=0x7000 dpitch=512 src=0x5000 spitch=100 width=64 height=4 kind=1":
        [(0x5000, 0, 364)],
    "cudaMemcpy2DAsync corr=%d dst=0x7000 dpitch=512 src=0x5000 spitch=100 width=64 height=4 kind=2":
        [(0, 0x7000, 1600)],
    "cudaMemcpy2DAsync corr=%d dst=0x7000 dpitch=512 src=0x5000 spitch=100 width=64 height=0 kind=2":
        [(0, 0x7000, 0)],
    "cudaMemcpy3D corr=%d dst=0x7000 dpitch=512 src=0x5000 spitch=128 width=64 height=4 depth=3 kind=1":
        [(0x5000, 0, (2 * 4 + 3) * 128 + 64)],
    "cudaMemcpyBatchAsync corr=%d dst=0x70000 dpitch=4096 src=0x5000 spitch=256 bytes=200 count=3":
        [(0x5000 + 256 * k, 0x70000 + 4096 * k, 200) for k in range(3)],
    "cudaMemcpyPeerAsync corr=%d": [(0, 0, 0)],
    "cuMemcpyHtoD_v2 corr=%d dst=0x7000 src=0x5000 bytes=10": [(0x5000, 0, 10)],
    "cuMemcpyHtoDAsync_v2 corr=%d dst=0x7000 src=0x5000 bytes=10": [(0x5000, 0, 10)],
    "cuMemcpyDtoH_v2 corr=%d dst=0x7000 src=0x5000 bytes=10": [(0, 0x7000, 10)],
    "cuMemcpyDtoHAsync_v2 corr=%d dst=0x7000 src=0x5000 bytes=10": [(0, 0x7000, 10)],
    "cuMemcpyAsync corr=%d dst=0x7000 src=0x5000 bytes=10": [(0x5000, 0x7000, 10)],
    "cuMemcpy2D_v2 corr=%d dst=0x7000 src=0x5000 spitch=100 width=64 height=4": [(0x5000, 0, 364)],
    "cuMemcpy3D_v2 corr=%d dst=0x7000 src=0x5000 dpitch=128 width=64 height=4 depth=2":
        [(0, 0x7000 + (4 + 2) * 128 + 3, (4 + 3) * 128 + 64)],
}


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


CALLS = """\
stream 0x100 id=13
stream 0x200 id=14
call cudaMalloc corr=1 inner=cuMemcpyAsync icorr=50
call cudaGetDevice corr=2
call cudaGetLastError corr=3
call cudaPeekAtLastError corr=4
call cudaStreamIsCapturing corr=5
call cudaEventRecord corr=6 event=0x900 stream=0x200
call cudaEventRecord corr=7 event=0x901 stream=0 inner=cuEventRecord icorr=51
call cudaStreamWaitEvent corr=8 event=0x900 stream=0x100
call cudaEventSynchronize corr=9 event=0x901 until=3000000
call cudaEventSynchronize corr=10 event=0x902
call cudaStreamSynchronize corr=11 stream=0x100 until=4000000
call cudaStreamSynchronize corr=12 per_thread=1 stream=0
call cudaDeviceSynchronize corr=13
call cuStreamSynchronize corr=14 stream=0x200
call cuCtxSynchronize corr=15
call cudaEventRecord corr=16 event=0x900 stream=0x100
call cudaStreamWaitEvent corr=17 event=0x900 stream=0
call cudaEventDestroy corr=18 event=0x900
call cudaEventSynchronize corr=19 event=0x900
destroy 0x100
call cudaStreamSynchronize corr=20 stream=0x100 result=400
stream 0x100 id=15
call cudaStreamSynchronize corr=21 stream=0x100
call cudaMemcpyAsync corr=22 dst=0x7000 src=0x5000 bytes=10 kind=1 result=1
call cudaStreamBeginCapture corr=23 stream=0x100
call cudaEventRecord corr=24 event=0x905 stream=0x100
call cudaMemcpyAsync corr=25 dst=0x7000 src=0x5000 bytes=10 kind=1
call cudaStreamEndCapture corr=26 stream=0x100
call cudaEventSynchronize corr=27 event=0x905
call cudaGraphLaunch corr=28 inner=cuMemcpyHtoDAsync_v2 icorr=52
copy corr=52 stream=15 kind=1 from=2 to=3 async=1 bytes=10 start=1000 end=2000
copy corr=52 stream=15 kind=1 from=2 to=3 async=1 bytes=11 start=2000 end=3000
memset corr=28 stream=15 bytes=12 start=3000 end=4000
"""


def check_calls(place):
    """Waits are joined to what they wait for; calls inside others are part of them; what failed or was
    only captured puts nothing into a stream."""
    found, streams = rows(play(place, "calls", CALLS))
    got = {r.offset: (r.op, r.name, r.obj2, r.result, r.addr) for r in found
           if r.lane not in streams and r.op != "gpu_unseen"}
    want = {
        1: ("gpu_call", "cudaMalloc", 0, 0, 0),
        6: ("gpu_event_record", "cudaEventRecord", 15, 0, 0),
        7: ("gpu_event_record", "cudaEventRecord", 8, 0, 0),
        8: ("gpu_event_wait", "cudaStreamWaitEvent", 15, 13, 6 << 8),
        9: ("gpu_sync", "cudaEventSynchronize", 8, 0, EVENT + (7 << 8)),
        10: ("gpu_sync", "cudaEventSynchronize", 0, 0, EVENT),
        11: ("gpu_sync", "cudaStreamSynchronize", 14, 0, STREAM),
        12: ("gpu_sync", "cudaStreamSynchronize", 9, 0, STREAM),
        13: ("gpu_sync", "cudaDeviceSynchronize", 0, 0, CONTEXT),
        14: ("gpu_sync", "cuStreamSynchronize", 15, 0, STREAM),
        15: ("gpu_sync", "cuCtxSynchronize", 0, 0, CONTEXT),
        16: ("gpu_event_record", "cudaEventRecord", 14, 0, 0),
        17: ("gpu_event_wait", "cudaStreamWaitEvent", 14, 7, 16 << 8),
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


COPY = "copy corr=1 stream=7 kind=1 from=1 to=3 bytes=64 start=1000 end=2000\n"
LOSSES = {
    "dropped": ("drop n=5\n" + COPY + "deliver\n", 1, ("5 records", "no room for them")),
    "untimed": (COPY + COPY.replace("start=1000 end=2000", "start=0 end=0"), 1, ("The time of 1 record", "took none")),
    "unfinished": (COPY + COPY.replace("end=2000", "end=0"), 1, ("The time of 1 record", "took none")),
    "unknown": (COPY + "unknown\nunknown\n" + COPY, 2, ("2 records", "kinds")),
    "invalid": (COPY + "invalid\n" + COPY, 1, ("1 buffer", "cut short")),
    "truncated": (COPY + COPY + "deliver cut=60\n", 1, ("1 buffer", "cut short")),
    "fatal": (COPY + "deliver\nfatal the GPU has fallen off the bus\n" + COPY, 1,
              ("CUPTI shut itself down (the GPU has fallen off the bus)",)),
}


def check_loss(place, name):
    script, copies, parts = LOSSES[name]
    folder = play(place, name, script)
    found, _ = rows(folder)
    bad = said(folder, *parts)
    same(bad, "copies", copies, sum(r.op == "gpu_memcpy" for r in found))
    return bad


WHOLE = "say begins\nstream 0x100 id=13\n" + \
    "call cudaMemcpyAsync corr=1 dst=1 src=2 bytes=64 kind=1 stream=0x100\n" + COPY + "deliver\n" + \
    "call cudaStreamSynchronize corr=2 stream=0x100\nsay ends\nexit status=7\n"

FAILING = ["cuptiGetVersion", "cuptiSubscribe_v2", "cuptiSetThreadIdType",
           "cuptiActivityRegisterTimestampCallback", "cuptiActivitySetAttribute",
           "cuptiActivityRegisterCallbacks", "cuptiActivityEnable@1", "cuptiActivityEnable@2",
           "cuptiActivityEnable@3", "cuptiActivityFlushPeriod", "cuptiEnableCallback@1",
           "cuptiEnableCallback@4", "cuptiEnableCallback@200", "cuptiActivityFlushAll"]
# Without these something is not known, and the rest goes on.
HARMLESS = ["cuptiActivityGetNextRecord", "cuptiActivityGetNumDroppedRecords", "cuptiGetContextId",
            "cuptiGetStreamIdEx"]


def check_failing(place, call):
    folder = play(place, call, WHOLE, {"STANDIN_CUPTI": call}, status=7)
    return said(folder, call.split("@")[0].removesuffix("_v2"), "999", "nvidia-smi")


def check_harmless(place, call):
    found, _ = rows(play(place, call, WHOLE, {"STANDIN_CUPTI": call}, status=7))
    return [] if any(r.op == "gpu_sync" for r in found) else ["no call was recorded"]


def check_why_not(place):
    """Each reason for which nothing is recorded is said, with what to do."""
    bad = []
    bad += said(play(place, "held", WHOLE, {"STANDIN_CUPTI": "taken"}, 7), "CUPTI for somebody",
                "IOTRACE_CUDA=0", "iotrace import")
    bad += said(play(place, "off", WHOLE, {"IOTRACE_CUDA": "0"}, 7), "switched off (IOTRACE_CUDA=0)")
    bad += said(play(place, "none", WHOLE, {"CUDA_INJECTION64_PATH": "none"}, 7),
                "switched off (CUDA_INJECTION64_PATH=none)")
    bad += said(play(place, "tool", WHOLE, {"CUDA_INJECTION64_PATH": "/no/such/tool.so"}, 7),
                "another tool (/no/such/tool.so)")
    for name in ("held", "off", "none", "tool"):
        found, _ = rows(place / f"{name}.trace")
        same(bad, name, ["gpu_unseen"], [r.op for r in found])
    alone = place / "alone"
    alone.mkdir()
    shutil.copy(os.environ["LIBIOTRACE"], alone)
    done = harness.run([PLAY, place / "off.txt"],
                       harness.plain({**STANDIN, "LD_PRELOAD": f"{alone}/libiotrace.so",
                                      "IOTRACE_DIR": str(place / "lone.trace")}))
    same(bad, "alone", (7, b"begins\nends\n", b""), (done.status, done.stdout, done.stderr))
    bad += said(place / "lone.trace", f"{alone}/libiotrace-cupti.so is not there")
    only = place / "only"
    only.mkdir()
    shutil.copy(CUDA / "libcuda.so.1", only)
    bad += said(play(place, "nolib", WHOLE, {"LD_LIBRARY_PATH": str(only), "CUDA_HOME": "/no/such",
                                             "STANDIN_CUPTI": "x"}, 7),
                "no libcupti", "CUDA_HOME") if not has_other_cupti() else []
    return bad


def has_other_cupti():
    return any(Path(p).exists() for p in ("/usr/local/cuda/lib64", "/usr/local/cuda/lib",
                                          "/usr/local/cuda/extras/CUPTI/lib64")) or \
        b"libcupti.so" in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True,
                                         check=False).stdout


def real_cupti():
    for place in ("/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/usr/local/cuda/extras/CUPTI/lib64"):
        if (Path(place) / "libcupti.so.13").exists() or (Path(place) / "libcupti.so.12").exists():
            return place
    return None


def check_real(place):
    """The real CUPTI, without a driver: said, and the program goes on."""
    done = harness.trace([PLAY, "--inject", SUBSCRIBER], place / "real",
                         {"LD_LIBRARY_PATH": real_cupti()})
    bad = []
    same(bad, "its end", (0, b"answered 1\n", b""), (done.status, done.stdout, done.stderr))
    return bad + said(place / "real", "GPU work: cuptiSubscribe gave 999")


def check_no_preload(place):
    """The library alone does nothing."""
    done = harness.run([PLAY, "--inject", SUBSCRIBER], harness.plain(STANDIN), place)
    bad = []
    same(bad, "its end", (0, b"answered 1\n", b""), (done.status, done.stdout, done.stderr))
    same(bad, "files", [], list(place.iterdir()))
    return bad


def check_no_driver(place):
    """A program without a driver has no use for any of it, and is told nothing."""
    script = ("import os, ctypes; libc = ctypes.CDLL(None); libc.getenv.restype = ctypes.c_char_p\n"
              "print(libc.getenv(b'CUDA_INJECTION64_PATH'), 'CUDA_INJECTION64_PATH' in os.environ,"
              "any('libcupti' in l or 'iotrace-cupti' in l for l in open('/proc/self/maps')))")
    done = harness.trace([sys.executable, "-c", script], place / "trace")
    bad = []
    same(bad, "what it sees", b"None False False\n", done.stdout)
    found, _ = rows(place / "trace")
    same(bad, "rows", [], found)
    return bad + said(place / "trace", "GPU work, if there was any")


def check_fork(place):
    """The child has no GPU, and the parent's goes on."""
    folder = play(place, "fork", COPY + "fork\n" + COPY)
    found, _ = rows(folder)
    bad = []
    same(bad, "rows", {"gpu_unseen": 2, "gpu_memcpy": 2}, dict(collections.Counter(r.op for r in found)))
    same(bad, "correlations", {0, 1}, {r.offset for r in found})
    return bad


def check_ends(place):
    """What CUPTI had not handed over when a process ended by itself is said to be missing."""
    bad = []
    folder = play(place, "gone", COPY + "deliver\n" + COPY + "_exit status=3\n", status=3)
    found, _ = rows(folder)
    same(bad, "copies", 1, sum(r.op == "gpu_memcpy" for r in found))
    bad += said(folder, "What the GPU did last for 1 process")
    whole = play(place, "left", COPY + "exit status=4\n", status=4)
    same(bad, "copies, left by exit", 1, sum(r.op == "gpu_memcpy" for r in rows(whole)[0]))
    if any("did last" in s for s in not_seen(whole)):
        bad.append("something is said to be missing after exit")
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


def check_doctor(place):
    done = harness.run([harness.command(), "doctor", "--format", "json"],
                       harness.plain({**STANDIN, "IOTRACE_CUDA": "0"}), place)
    text = done.stdout.decode()
    return [f"doctor does not say {part!r}: {text}" for part in
            ("libiotrace-cupti.so agrees with the headers of CUPTI's version 13", "CUDA driver for 13.0",
             "IOTRACE_CUDA is 0") if part not in text]


def check_sanitized(place):
    """The subscriber built with sanitizers finds nothing to complain of."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    built = place / "libiotrace-cupti.so"
    make = [compiler or "cc", "-std=gnu11", "-g", "-D_GNU_SOURCE", "-fsanitize=address,undefined",
            "-fno-sanitize-recover=undefined", "-fPIC", "-shared", "-fvisibility=hidden",
            f"-I{harness.TOP}", *(f for f in sorted((harness.TOP / "cupti").glob("*.c")) if f.name != "check_headers.c"),
            "-o", built]
    runtime = compiler and subprocess.run([compiler, "-print-file-name=libasan.so"], text=True,
                                          capture_output=True, check=False).stdout.strip()
    if not compiler or not os.path.isabs(runtime) or subprocess.run(make, check=False).returncode:
        return []  # no sanitizers here
    shutil.copy(os.environ["LIBIOTRACE"], place)
    script = place / "all.txt"
    script.write_text(RAN + "crowd threads=4 rounds=2000\n" + CALLS +
                      "".join(f"call {text % (k + 900)}\n" for k, text in enumerate(COPIES)) +
                      "".join(loss[0] for loss in LOSSES.values()))
    done = harness.run([PLAY, script],
                       harness.plain({**STANDIN, "LD_PRELOAD": f"{runtime} {place}/libiotrace.so",
                                      "IOTRACE_DIR": str(place / "trace"), "IOTRACE_CUDA": "kernels",
                                      "ASAN_OPTIONS": "detect_leaks=0"}))
    bad = []
    same(bad, "its end", (0, b""), (done.status, done.stderr[:2000]))
    found, _ = rows(place / "trace")
    same(bad, "it was the subscriber that ran", True, sum(r.op == "gpu_memcpy" for r in found) > 8000)
    return bad


CHECKS = [
    ("what ran, by stream", check_ran),
    ("kernels and collectives", check_kernels),
    ("addresses of copies on the host", check_copies),
    ("calls, events, captures and graphs", check_calls),
    ("times on the processor's clock", check_clock),
    ("why nothing is recorded", check_why_not),
    ("the library without libiotrace.so", check_no_preload),
    ("a program without a driver", check_no_driver),
    ("sanitizers", check_sanitized),
    ("fork", check_fork),
    ("ends of a process", check_ends),
    ("many threads", check_crowd),
    ("a window of the run", check_window),
    ("iotrace run --gpu", check_run),
    ("iotrace doctor", check_doctor),
]


def main():
    if not PLAY.exists():
        harness.skip_all("built without the headers of CUPTI")
    out = Tap()
    wanted = sys.argv[1:]

    def check(name, function, *more):
        if wanted and not any(w in name for w in wanted):
            return
        with harness.workplace() as place:
            out.run(name, lambda: function(place, *more))

    for name, function in CHECKS:
        check(name, function)
    for name in LOSSES:
        check(f"records: {name}", check_loss, name)
    for call in FAILING:
        check(f"{call} fails", check_failing, call)
    for call in HARMLESS:
        check(f"{call} fails, and the rest goes on", check_harmless, call)
    if real_cupti():
        check("the real CUPTI without a driver", check_real)
    else:
        out.skip("the real CUPTI without a driver", "there is none")
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
