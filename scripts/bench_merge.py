#!/usr/bin/env python3
"""How long `iotrace merge` takes, and how much memory, for 250, 500 and 1,000 partial results.

usage: scripts/bench_merge.py IOTRACE [FILES]

Each is of a rank of its own with FILES files (64 if not given), half of which all ranks share. They are
made here, in the form that `iotrace report --partial` writes.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

NUMBERS = ["pid", "start_realtime_ns", "start_mono_ns", "wall_ns", "part_of_ns", "processes", "lanes", "events",
           "dropped_events", "salvaged_processes", "untraced", "storage_read_bytes", "storage_write_bytes",
           "runqueue_ns", "compute_ns", "io_ns", "gpu_ns", "sleep_ns", "wake_ns", "external_ns",
           "unexplained_ns", "exposed_error_ns", "replay_error_ns", "unmatched_waits", "cut_edges"]
OBJECTS = ["input", "artifact", "state", "output", "other"]
BOTH = ["files", "data_ops", "metadata_ops", "sync_ops", "bytes", "read_bytes", "write_bytes", "service_ns",
        "data_service_ns", "exposed_ns", "waited_ns", "serialization_ns", "coded", "mapped_bytes", "fault_ns",
        "small_ops", "opens", "placed_bytes", "distinct_bytes", "opened_bytes", "resident_bytes", "timed_ops",
        "max_ns"]
UNIT = BOTH + ["recoverable_ns"]
FILE = BOTH + ["units", "largest_read_bytes", "cut_exposed_ns", "cut_service_ns", "cut_bytes"]


def values(chance, columns):
    return [chance.randrange(10**10) for _ in columns]


def partial(rank, world, files):
    chance = random.Random(rank)
    numbers = {key: 0 for key in NUMBERS} | {"pid": 1000 + rank, "wall_ns": 10**11 + chance.randrange(10**10),
                                             "start_realtime_ns": 1700000000 * 10**9, "start_mono_ns": 10**12}
    unit = {"job": "bench", "rank": rank, "local_rank": rank % 8, "world_size": world, "source": "slurm",
            "host": f"node{rank // 8:04}", "boot_id": f"{rank // 8:032x}", "command": "python train.py",
            "damage": "", "ranks": [], **numbers, "curve": [numbers["wall_ns"]] * 9,
            "objects": [values(chance, UNIT) for _ in OBJECTS], "waits": []}
    calls = [[[c, c << 20, *(n for b in range(500 + 40 * c, 540 + 40 * c) for n in (b, chance.randrange(1, 9999)))]
              for c in (12, 17, 21)] if o < 4 else [] for o in range(5)]
    names = [f"/data/train/shard-{k:05}.tar" if k % 2 else f"/out/rank-{rank}/part-{k:05}.bin"
             for k in range(files)]
    rows = sorted([name, "input" if "train" in name else "output", "read", *values(chance, FILE)]
                  for name in names)
    return {"schema": "iotrace-partial/1", "unit_columns": UNIT, "file_columns": FILE, "units": [unit],
            "objects": [{"object": name, "rest": values(chance, FILE), "calls": calls[o]}
                        for o, name in enumerate(OBJECTS)], "files": rows}


def measured(argv):
    """Seconds of CPU, seconds, MiB."""
    start = os.times()
    process = subprocess.Popen(argv)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{argv[1]} failed: {status}")
    return usage.ru_utime + usage.ru_stime, os.times().elapsed - start.elapsed, usage.ru_maxrss / 1024


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    iotrace, files = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 64
    with tempfile.TemporaryDirectory(prefix="iotrace-merge-") as place:
        paths = []
        for rank in range(1000):
            paths.append(Path(place) / f"rank-{rank}.json")
            paths[-1].write_text(json.dumps(partial(rank, 1000, files), separators=(",", ":")))
        size = sum(p.stat().st_size for p in paths) / len(paths)
        print(f"{files} files a rank, {size / 1000:.1f} kB a partial result")
        print(f"{'partials':>8} {'CPU s':>7} {'s':>7} {'MiB':>7} {'report, CPU s':>14}")
        for n in (250, 500, 1000):
            merged = Path(place) / f"merged-{n}"
            cpu, wall, room = measured([iotrace, "merge", *map(str, paths[:n]), "-o", str(merged)])
            report, _, _ = measured([iotrace, "report", str(merged), "-o", os.devnull])
            print(f"{n:8} {cpu:7.2f} {wall:7.2f} {room:7.1f} {report:14.2f}")


if __name__ == "__main__":
    main()
