#!/usr/bin/env python3
"""How long `iotrace merge` takes, and how much memory, for 250, 500 and 1,000 partial results; and the
reduction of iotrace-mpi, step by step: the tree of merges that as many ranks would make of them, each
merge by itself here, of which a real job does those of one step at the same time.

usage: scripts/bench_merge.py IOTRACE [FILES]

Each is of a rank of its own with FILES files (64 if not given), half of which all ranks share, with some
ten times each, steps, ranges and queues. They are made here, in the form that `iotrace report --partial`
writes.
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
           "unexplained_ns", "exposed_error_ns", "replay_error_ns", "unmatched_waits", "cut_edges", "gpus",
           "gpus_known", "gpu_busy_ns", "gpu_idle_ns", "gpu_launch_ns", "gpu_gap_ns", "gpu_ranges_forgotten",
           "collectives", "collectives_matched", "collectives_waited_ns", "collectives_transfer_ns",
           "uncalled_read_bytes", "uncalled_write_bytes", "steps"]
OBJECTS = ["input", "artifact", "state", "output", "other"]
BOTH = ["files", "data_ops", "metadata_ops", "sync_ops", "bytes", "read_bytes", "write_bytes", "service_ns",
        "data_service_ns", "exposed_ns", "waited_ns", "serialization_ns", "coded", "mapped_bytes", "fault_ns",
        "small_ops", "opens", "placed_bytes", "distinct_bytes", "opened_bytes", "resident_bytes", "timed_ops",
        "max_ns", "recoverable_ns"]
UNIT = BOTH + ["gpu_idle_ns"]
FILE = BOTH + ["units", "recoverable_units", "largest_read_bytes", "cut_exposed_ns", "cut_service_ns", "cut_bytes"]


KINDS = {
    "phases": ["name", "units", "steps", "total_ns"],
    "phase_objects": ["phase", "units", "ops", "bytes", "service_ns", "exposed_ns", "waited_ns"],
    "queues": ["name", "producer", "consumer", "units", "messages", "growing", "mean_thousandths", "max_length"],
    "ranges": ["name", "units", "ranges", "total_ns", "ops", "bytes", "service_ns", "exposed_ns"],
    "marks": ["name", "units", "marks", "first_ns", "last_ns"],
    "waits": ["waiter", "waited_for", "doing", "path", "units", "waited_ns", "most_ns"],
    "advice": ["action", "units", "gain_ns", "most_ns"],
    "sites": ["site", "units", "calls", "bytes", "service_ns", "exposed_ns"],
    "not_seen": ["sentence", "units"],
    "evidence": ["sentence", "units"],
    "uncalled": ["exe", "units", "processes", "read_bytes", "write_bytes"],
    "gpu_copies": ["direction", "decided_by", "memory", "units", "copies", "bytes", "service_ns"],
    "gpu_devices": ["device", "units", "unknown", "busy_ns", "idle_ns", "input_ns", "artifact_ns", "state_ns",
                    "output_ns", "other_ns"],
}
STARTS = 45  # of 5,000 steps so many are kept


def times(chance, n):
    return [x for b in sorted(chance.sample(range(600, 900), n)) for x in (b, chance.randrange(1, 9999))]


def named(chance):
    """Rows with names as a training has them; the first of each kind says what is in the others."""
    made = {kind: [columns] for kind, columns in KINDS.items()}
    for phase in ("cold_start", "steady"):
        made["phases"].append([phase, 1, 5000, 10**11, times(chance, 100)])
        for name in [*OBJECTS, None]:
            made["phase_objects"].append([phase, name, 1, *values(chance, range(5)), times(chance, 40)])
    made["queues"].append(["a pipe", "loader", "train", "input", 1, 5000, 0, 2000, 9])
    for k in range(10):
        made["ranges"].append([f"layer{k}", 1, *values(chance, range(6)), times(chance, 60)])
    made["not_seen"].append(["Calls made without libc", 1, "Calls made without libc"])
    waited = f"Processes waited {chance.randrange(1, 99999)} ms for a CPU, {chance.randrange(1, 999)} of them"
    made["evidence"].append([waited, 1, waited])
    made["uncalled"].append(["/usr/bin/python3", 1, 4, *values(chance, range(2))])
    for direction in ("DtoH", "HtoD"):
        made["gpu_copies"].append([direction, "file", "pinned", "input", 1, *values(chance, range(3))])
    made["gpu_devices"].append(["0", 1, 0, *values(chance, range(7))])
    return made


def values(chance, columns):
    return [chance.randrange(10**10) for _ in columns]


def partial(rank, world, files):
    chance = random.Random(rank)
    numbers = {key: 0 for key in NUMBERS} | {"pid": 1000 + rank, "wall_ns": 10**11 + chance.randrange(10**10),
                                             "start_realtime_ns": 1700000000 * 10**9, "start_mono_ns": 10**12,
                                             "gpus": 1, "gpus_known": 1, "steps": 5000,
                                             "gpu_busy_ns": chance.randrange(10**11)}
    unit = {"job": "bench", "rank": rank, "local_rank": rank % 8, "world_size": world, "source": "slurm",
            "host": f"node{rank // 8:04}", "boot_id": f"{rank // 8:032x}", "command": "python train.py",
            "damage": "", "ranks": [], **numbers, "curve": [numbers["wall_ns"]] * 9,
            "objects": [values(chance, UNIT) for _ in OBJECTS],
            "calls": [[[c, 1000, 10**6] for c in (12, 17, 21)] if o < 4 else [] for o in range(5)], "waits": [],
            "ready": [[f"/models/part-{k:02}.safetensors", *values(chance, range(3))] for k in range(16)],
            "starts_ns": sorted(values(chance, range(STARTS)))}
    calls = [[[c, c << 20, *(n for b in range(500 + 40 * c, 540 + 40 * c) for n in (b, chance.randrange(1, 9999)))]
              for c in (12, 17, 21)] if o < 4 else [] for o in range(5)]
    names = [f"/data/train/shard-{k:05}.tar" if k % 2 else f"/out/rank-{rank}/part-{k:05}.bin"
             for k in range(files)]
    rows = sorted([name, "input" if "train" in name else "output", "read", *values(chance, FILE),
                   times(chance, 10)] for name in names)
    return {"schema": "iotrace-partial/2", "unit_columns": UNIT, "file_columns": FILE, "units": [unit],
            "objects": [{"object": name, "rest": values(chance, FILE), "calls": calls[o]}
                        for o, name in enumerate(OBJECTS)], "files": rows, **named(chance), "unread": []}


def measured(argv):
    """Seconds of CPU, seconds, MiB."""
    start = os.times()
    process = subprocess.Popen(argv)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{argv[1]} failed: {status}")
    return usage.ru_utime + usage.ru_stime, os.times().elapsed - start.elapsed, usage.ru_maxrss / 1024


def reduced(iotrace, place, paths):
    """The steps of the tree: merges, seconds of CPU of all and of the longest, its size and memory."""
    have, bit = dict(enumerate(paths)), 1
    print(f"{'step':>8} {'merges':>7} {'CPU s':>7} {'longest':>8} {'MiB':>7} {'MB it has':>10}")
    while len(have) > 1:
        steps = []
        for rank in [r for r in have if not r & bit and r + bit in have]:
            to = place / f"reduced-{bit}-{rank}"
            cpu, _, room = measured([iotrace, "merge", str(have[rank]), str(have.pop(rank + bit)), "-o", str(to)])
            steps.append((cpu, room, to.stat().st_size / 1e6))
            have[rank] = to
        cpu, room, size = (max(column) for column in zip(*steps))
        print(f"{bit.bit_length():8} {len(steps):7} {sum(s[0] for s in steps):7.2f} {cpu:8.2f} {room:7.1f} {size:10.1f}")
        bit *= 2
    return have[0]


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
        if reduced(iotrace, Path(place), paths).read_bytes() != merged.read_bytes():
            sys.exit("the tree has another result than one merge")


if __name__ == "__main__":
    main()
