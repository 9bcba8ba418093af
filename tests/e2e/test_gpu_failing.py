#!/usr/bin/env python3
"""What keeps the CUPTI subscriber from recording is said, and the program does not notice."""
import collections
import os
import shutil
import subprocess
import sys
from pathlib import Path

import harness
from gpu_script import (CALLS, COPIES, COPY, CUDA, PLAY, RAN, STANDIN, SUBSCRIBER, not_seen, play, rows, said,
                        same)
from harness import Tap

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


def check_exec(place):
    """What comes before an exec and was not handed over is said to be missing."""
    folder = play(place, "exec", COPY + "deliver\n" + COPY + "exec /bin/true\n")
    bad = []
    same(bad, "copies", 1, sum(r.op == "gpu_memcpy" for r in rows(folder)[0]))
    return bad + said(folder, "What the GPU did last for 1 process")


def check_amid(place):
    """A process that exits while its threads go on copying, and CUPTI hands over. Where others have its CPUs, it
    is given longer until it has copied enough."""
    bad = []
    for name, script, status in (("exit", "exit status=6\n", 6), ("return", "", 0), ("_exit", "_exit status=5\n", 5)):
        for ms in (100, 1000, 10000):
            folder = play(place, f"{name}-{ms}",
                          f"crowd threads=4 rounds=1000000 amid=1\nat {ms}000000\ndeliver\n" + script, status=status)
            copies = [r.offset for r in rows(folder)[0] if r.op == "gpu_memcpy"]
            if len(copies) > 1000:
                break
        same(bad, f"{name}: copies", (True, len(copies)), (len(copies) > 1000, len(set(copies))))
        harness.report(folder)
    return bad


def check_descriptors(place):
    """No descriptor is left for the program to notice, and none is needed when it has none left."""
    path = place / "few.txt"
    path.write_text("crowd threads=2 rounds=3000\nsay ends\nexit status=7\n")
    bad = []
    for limit in (4, 5, 8):
        command = ["/bin/sh", "-c", f"ulimit -n {limit}; exec \"$@\"", "sh", PLAY, path]
        plain = harness.run(command, harness.plain(STANDIN))
        done = harness.trace(command, place / str(limit), STANDIN)
        same(bad, f"its end with {limit}", (plain.status, plain.stdout, plain.stderr),
             (done.status, done.stdout, done.stderr))
        if plain.status == 7:
            same(bad, f"copies with {limit}", 6000,
                 sum(r.op == "gpu_memcpy" for r in rows(place / str(limit))[0]))
    return bad


def check_full(place):
    """The trace's disk is full: the program goes on, and what is lost is counted."""
    disk = place / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", disk], capture_output=True,
                      check=False).returncode:
        return []  # not allowed to
    try:
        path = place / "full.txt"
        path.write_text("crowd threads=8 rounds=40000\nsay ends\nexit status=7\n")
        done = harness.trace([PLAY, path], disk / "trace", STANDIN)
        bad = []
        same(bad, "its end", (7, b"ends\n", b""), (done.status, done.stdout, done.stderr))
        report = harness.report(disk / "trace", complete=False)
        copies = sum(f["data_ops"] for f in report["files"] if f["path"] == "gpu0:HtoD")
        same(bad, "some are there, and what is lost is counted", (True, True),
             (0 < copies < 320000, report["run"]["dropped_events"] > 0))
        return bad
    finally:
        subprocess.run(["umount", disk], check=False)


# A thread's record of the call that it is in is used again by a later thread, when the library lets it:
# that is not compiled with the sanitizer, which so does not know.
SUPPRESSED = "race:^entered$\n"


def check_sanitized(place, which):
    """The subscriber built with sanitizers finds nothing to complain of."""
    flags, library = {"address": ("address,undefined", "libasan.so"), "thread": ("thread", "libtsan.so")}[which]
    compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
    built = place / "libiotrace-cupti.so"
    sources = [f for f in sorted((harness.TOP / "cupti").glob("*.c")) if f.name != "check_headers.c"]
    make = [compiler, "-std=gnu11", "-g", "-O1", "-D_GNU_SOURCE", f"-fsanitize={flags}",
            "-fno-sanitize-recover=undefined", "-fPIC", "-shared", "-fvisibility=hidden",
            f"-I{harness.TOP}", *sources, harness.TOP / "format" / "cupti_places.c", "-o", built]
    found = shutil.which(compiler) and subprocess.run([compiler, f"-print-file-name={library}"], text=True,
                                                      capture_output=True, check=False).stdout.strip()
    if not found or not os.path.isabs(found) or subprocess.run(make, check=False).returncode:
        return []  # no sanitizers here
    shutil.copy(os.environ["LIBIOTRACE"], place)
    (place / "suppressed").write_text(SUPPRESSED)
    script = place / "all.txt"
    script.write_text(RAN + "crowd threads=4 rounds=2000\n" + CALLS +
                      "".join(f"call {text % (k + 900)}\n" for k, text in enumerate(COPIES)) +
                      "crowd threads=8 rounds=500\n" + "".join(loss[0] for loss in LOSSES.values()))
    plain = ["setarch", "-R"] if which == "thread" else []  # its shadow needs the usual addresses
    done = harness.run([*plain, PLAY, script],
                       harness.plain({**STANDIN, "LD_PRELOAD": f"{found} {place}/libiotrace.so",
                                      "IOTRACE_DIR": str(place / "trace"), "IOTRACE_CUDA": "kernels",
                                      "ASAN_OPTIONS": "detect_leaks=0",
                                      "TSAN_OPTIONS": f"suppressions={place}/suppressed "
                                                      "ignore_noninstrumented_modules=1"}))
    bad = []
    same(bad, "its end", (0, b""), (done.status, done.stderr[:2000]))
    found, _ = rows(place / "trace")
    same(bad, "it was the subscriber that ran", True, sum(r.op == "gpu_memcpy" for r in found) > 8000)
    return bad


CHECKS = [
    ("why nothing is recorded", check_why_not),
    ("the library without libiotrace.so", check_no_preload),
    ("a program without a driver", check_no_driver),
    ("fork", check_fork),
    ("ends of a process", check_ends),
    ("exec", check_exec),
    ("exit while others go on", check_amid),
    ("no descriptors left", check_descriptors),
    ("a full disk", check_full),
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
    for which in ("address", "thread"):
        check(f"sanitizers: {which}", check_sanitized, which)
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
