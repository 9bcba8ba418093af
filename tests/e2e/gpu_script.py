"""Scripts of what a GPU did (tests/cuda/gpu_play.c), played under the recorder, and what it made of them."""
import collections
import os
import sys
from pathlib import Path

import harness

sys.path.insert(0, str(harness.HERE.parent / "reader"))
import iotrace_reader

TOP = Path(os.environ["IOTRACE"]).parent.parent
CUDA = TOP / "tests" / "cuda"
PLAY = CUDA / "gpu_play"
SUBSCRIBER = TOP / "cupti" / "libiotrace-cupti.so"
STANDIN = {"LD_LIBRARY_PATH": str(CUDA)}
ASYNC = 65536
EVENT, STREAM, CONTEXT, LEGACY = 1, 3, 4, 255
KINDS = ["unknown", "legacy", "blocking", "by itself"]

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
    "cudaMemcpy3DBatchAsync corr=%d dst=0x70000 src=0x5000 bytes=4096 spitch=128 slayer=5 width=64 height=4 depth=3 count=3":
        [(0x5000, 0x70000, (2 * 5 + 3) * 128 + 64), (0, 0, 0),
         (0x5000 + 8192, 0x70000 + 8192, (2 * 5 + 3) * 128 + 64)],
    "cudaMemcpy3DBatchAsync corr=%d dst=0x70000 dpitch=512 src=0x5000 width=64 height=4 depth=1 count=1":
        [(0x5000, 0x70000, 3 * 512 + 64)],
    "cudaMemcpyPeerAsync corr=%d": [(0, 0, 0)],
    "cuMemcpyHtoD_v2 corr=%d dst=0x7000 src=0x5000 bytes=10": [(0x5000, 0, 10)],
    "cuMemcpyHtoDAsync_v2 corr=%d dst=0x7000 src=0x5000 bytes=10": [(0x5000, 0, 10)],
    "cuMemcpyDtoH_v2 corr=%d dst=0x7000 src=0x5000 bytes=10": [(0, 0x7000, 10)],
    "cuMemcpyDtoHAsync_v2 corr=%d dst=0x7000 src=0x5000 bytes=10": [(0, 0x7000, 10)],
    "cuMemcpyAsync corr=%d dst=0x7000 src=0x5000 bytes=10": [(0x5000, 0x7000, 10)],
    "cuMemcpy3DBatchAsync corr=%d dst=0x70000 src=0x5000 width=64 height=4 depth=2 count=1": [(0x5000, 0x70000, 512)],
    "cuMemcpy3DBatchAsync_v2 corr=%d dst=0x70000 src=0x5000 width=64 height=4 depth=2 count=1":
        [(0x5000, 0x70000, 512)],
    "cuMemcpy2D_v2 corr=%d dst=0x7000 src=0x5000 spitch=100 width=64 height=4": [(0x5000, 0, 364)],
    "cuMemcpy3D_v2 corr=%d dst=0x7000 src=0x5000 dpitch=128 width=64 height=4 depth=2":
        [(0, 0x7000 + (4 + 2) * 128 + 3, (4 + 3) * 128 + 64)],
}


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


COPY = "copy corr=1 stream=7 kind=1 from=1 to=3 bytes=64 start=1000 end=2000\n"
