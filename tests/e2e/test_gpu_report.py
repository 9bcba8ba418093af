#!/usr/bin/env python3
"""What reports say of the GPUs of runs that the subscriber recorded, by scripts of what a GPU did
(tests/cuda/gpu_play.c)."""
import html
import json
import sys

import harness
import html_page
import test_ranks
from gpu_script import PLAY, play, same
from harness import Tap
from schema import OBJECTS

BLOCKING = """\
call cudaMemcpy corr=1 dst=0x7000 src=buffer bytes=1048576 kind=1 until=20000000
copy corr=1 stream=7 kind=1 from=2 to=3 bytes=1048576 start=1000000 end=19000000
"""
BESIDE = """\
stream 0x100 id=13
call cudaMemcpyAsync corr=1 dst=0x7000 src=buffer bytes=1048576 kind=1 stream=0x100
copy corr=1 stream=13 kind=1 from=2 to=3 async=1 bytes=1048576 start=1000000 end=19000000
at 60000000
call cudaStreamSynchronize corr=2 stream=0x100
"""


def check_path(place):
    """A copy that its call waits for is exposed, one beside a longer computation is not."""
    bad = []
    for name, script, low, high in (("blocking", BLOCKING, 17900000, 18000000),
                                    ("beside", BESIDE, 0, 0)):
        report = harness.report(play(place, name, script))
        copy = next(f for f in report["files"] if f["path"] == "gpu0:HtoD")
        same(bad, f"{name}: service", 18000000, copy["service_ns"])
        if not low <= copy["exposed_ns"] <= high:
            bad.append(f"{name}: {copy['exposed_ns']} ns are exposed, not {low} to {high}")
    return bad


CARRIES = """\
stream 0x100 id=13
call cudaMemcpyAsync corr=1 dst=0x7000 src=buffer+100 bytes=4096 kind=1 stream=0x100
copy corr=1 stream=13 kind=1 from=2 to=3 async=1 bytes=4096 start=200000000 end=201000000
at 210000000
"""
CARRIES_ANOTHER = """\
call cudaMemcpyAsync corr=2 dst=0x7000 src=buffer bytes=1000 kind=1 stream=0x100
copy corr=2 stream=13 kind=1 from=2 to=3 async=1 bytes=1000 start=300000000 end=300500000
at 310000000
"""


def check_explain(place):
    """The name of several rows is all of them: their sum, then each."""
    for name in ("m.safetensors", "s.tfrecord"):
        (place / name).write_bytes(bytes(1 << 20))
    folder = play(place, "e", f"read {place}/m.safetensors\n{CARRIES}read {place}/s.tfrecord\n"
                              f"{CARRIES_ANOTHER}")
    text = " ".join(harness.ask("explain", folder, "gpu0:HtoD").decode().split())
    files = json.loads(harness.ask("explain", folder, "gpu0:HtoD", "--format", "json"))["files"]
    bad = [f"{words!r} is not there: {text}" for words in (
        "gpu0:HtoD, 2 rows of the ledger", "1.00 ms 1 4.10 kB artifact: read from m.safetensors, pinned",
        "0.50 ms 1 1.00 kB input: read from s.tfrecord, pinned", "1.50 ms 2 5.10 kB together")
           if words not in text]
    same(bad, "files", [("gpu0:HtoD", "artifact", 4096), ("gpu0:HtoD", "input", 1000)],
         [(f["path"], f["read"]["object"], f["read"]["bytes"]) for f in files])
    return bad


def check_pages(place):
    """What the text says of GPUs stands also in Markdown and on the page, with when an artifact was ready."""
    (place / "m.safetensors").write_bytes(bytes(1 << 20))
    folder = play(place, "p", f"read {place}/m.safetensors\n{CARRIES}")
    page = html_page.Page(harness.ask("report", folder, "--format", "html").decode())
    words = page.data("view")["words"]["gpus"]
    text = " ".join(harness.ask("report", folder).decode().split())
    marked = html.unescape(harness.ask("report", folder, "--format", "markdown").decode())
    bad = [f"{w!r} is not in {where}" for w in words for where, whole in (("text", text), ("Markdown", marked))
           if w not in whole]
    for part in ("To GPUs: 4.10 kB in 1 copy, pinned: artifact, as the files whose bytes they are.",
                 "m.safetensors: ready after ", " 1.00 ms pinned HtoD."):
        if not any(part in w for w in words):
            bad.append(f"nothing says {part!r}: {words}")
    return bad


def check_lineage(place):
    """A copy is of the object of the file that its buffer was read from."""
    (place / "m.safetensors").write_bytes(bytes(1 << 20))
    copies = harness.report(play(place, "c", f"read {place}/m.safetensors\n" + CARRIES))["gpu"]["copies"]
    return [] if [(c["decided_by"], c["object"]) for c in copies] == [("file", "artifact")] else copies


RANKS = [  # what each does; both have a device 0
    "read {place}/m.safetensors\n" + CARRIES + """kernel corr=8 stream=13 name=gemm start=205000000 end=206000000
read {place}/s.tfrecord
""" + CARRIES_ANOTHER + "kernel corr=9 stream=13 name=gemm start=302000000 end=303000000\n",
    "read {place}/m.safetensors\n" + CARRIES.replace("end=201000000", "end=209000000"),
]


def check_job(place):
    """The sums of two ranks, and who waited longest for an artifact."""
    for name in ("m.safetensors", "s.tfrecord"):
        (place / name).write_bytes(bytes(1 << 20))
    folders = [play(place, f"j{k}", script.format(place=place),
                    {"IOTRACE_RANK": str(k), "IOTRACE_CUDA": "kernels"}) / f"rank-{k}"
               for k, script in enumerate(RANKS)]
    singles, (job, merged) = [harness.report(f) for f in folders], ([], place / "merged")
    for paths in (folders, folders[::-1], [merged]):
        job.append(test_ranks.job_of(*paths))
        harness.ask("merge", *folders, "-o", merged)
    bad = [] if job[0] == job[1] == job[2] else ["another report in another order, or of what was merged"]
    gpu, want = job[0]["gpu"], {}
    for row in (c for s in singles for c in s["gpu"]["copies"]):
        sums = want.setdefault((row["direction"], row["decided_by"], row["memory"] or "", row["object"]), [0, 0, 0])
        for k, key in enumerate(("copies", "bytes", "service_ns")):
            sums[k] += row[key]
    same(bad, "copies", want, {(c["direction"], c["decided_by"], c["memory"], c["object"]):
                               [c["copies"], c["bytes"], c["service_ns"]] for c in gpu["copies"]})
    (device,) = gpu["devices"]
    for key in ("busy_ns", "idle_ns"):
        same(bad, key, sum(d[key] or 0 for s in singles for d in s["gpu"]["devices"]), device[key])
    for name in OBJECTS:
        same(bad, f"idle of {name}", sum((d["idle_of_ns"] or {}).get(name, 0) for s in singles
                                         for d in s["gpu"]["devices"]), device[f"{name}_ns"])
    same(bad, "units, one without kernels", (2, 1, 2, 1),
         (device["units"], device["unknown"], gpu["units"], gpu["known_units"]))
    same(bad, "idle", [device["idle_ns"]] * 2, [gpu["spread_idle_ns"][key] for key in ("min", "max")])
    same(bad, "path", {key: sum(s["gpu"]["path"][key] for s in singles) for key in gpu["path"]}, gpu["path"])
    (row,) = (f for f in job[0]["files"] if f["path"].endswith("m.safetensors"))
    ready = [next(f["ready_ns"] for f in s["files"] if f["path"] == row["path"]) for s in singles]
    wholes = [sum(parts.values()) for parts in ready]
    most = wholes.index(max(wholes))
    same(bad, "ready", (ready[most], [min(wholes), max(wholes)], 1 - most, most),
         (row["ready_ns"], [row["spread_ready_ns"][k] for k in ("min", "max")], row["spread_ready_ns"]["min_unit"],
          row["spread_ready_ns"]["max_unit"]))
    for form in ("text", "markdown"):
        text = " ".join(html.unescape(harness.ask("report", *folders, "--format", form).decode()).split())
        bad += [f"{words!r} is not in {form}" for words in (
            "To GPUs: 9.19 kB in 3 copies, pinned: 1.00 kB input, 8.19 kB artifact", "gpu0 of 2 units, of 1 not known: busy ",
            "m.safetensors: ready after ", f" in rank {most} on ") if words not in text]
    return bad


CHECKS = [
    ("blocking and overlapped copies on the path", check_path),
    ("copies of what was read", check_lineage),
    ("several rows of one name", check_explain),
    ("Markdown and the page", check_pages),
    ("two ranks", check_job),
]


def main():
    if not PLAY.exists():
        harness.skip_all("built without the headers of CUPTI")
    out = Tap()
    for name, function in CHECKS:
        with harness.workplace() as place:
            out.run(name, lambda: function(place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
