#!/usr/bin/env python3
"""Makes what the demo trainer reads: a checkpoint to start from, and shards of records.

make_data.py FOLDER [--model-mb N] [--shards N] [--records N] [--record-kb N]

    FOLDER/model.safetensors     eight bytes of length, a JSON table of tensors, their data
    FOLDER/shards/train-NNN.shard    records: four bytes of length, then that many of zlib

What is there already, made with the same numbers, is kept. Shards are dropped from the page
cache, as far as the system obliges, so that the demo reads a disk.
"""
import argparse
import array
import json
import os
import random
import struct
import sys
import zlib
from pathlib import Path

TENSORS = 16


def write_durably(path, chunks):
    with open(path, "wb") as f:
        for chunk in chunks:
            f.write(chunk)
        f.flush()
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def model_chunks(size, seeded):
    """Tensors of float32, all of one size."""
    each = size // TENSORS // 4 * 4
    table = {f"layer{i}.weight": {"dtype": "F32", "shape": [each // 4],
                                  "data_offsets": [i * each, (i + 1) * each]}
             for i in range(TENSORS)}
    head = json.dumps(table).encode()
    yield struct.pack("<Q", len(head)) + head
    for _ in range(TENSORS):
        values = array.array("f", (seeded.uniform(-0.1, 0.1) for _ in range(1024)))
        yield (values.tobytes() * (each // 4096 + 1))[:each]


def shard_chunks(records, size, seeded):
    """Records that deflate by half, so that decoding takes time."""
    for _ in range(records):
        packed = zlib.compress(seeded.randbytes(size // 2).hex().encode(), 1)
        yield struct.pack("<I", len(packed)) + packed


def main():
    parser = argparse.ArgumentParser(description="Data for the demo trainer.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model-mb", type=int, default=48)
    parser.add_argument("--shards", type=int, default=12)
    parser.add_argument("--records", type=int, default=5, help="records a shard")
    parser.add_argument("--record-kb", type=int, default=768, help="size of a record, decoded")
    args = parser.parse_args()

    shards = args.folder / "shards"
    model = args.folder / "model.safetensors"
    numbers = json.dumps([args.model_mb, args.shards, args.records, args.record_kb])
    stamp = args.folder / "made-with.json"
    shards.mkdir(parents=True, exist_ok=True)
    if stamp.exists() and stamp.read_text() == numbers:
        for path in [model, *shards.iterdir()]:
            with open(path, "rb") as f:
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return 0
    for path in shards.iterdir():
        path.unlink()
    seeded = random.Random(42)
    write_durably(model, model_chunks(args.model_mb << 20, seeded))
    for i in range(args.shards):
        write_durably(shards / f"train-{i:03}.shard",
                      shard_chunks(args.records, args.record_kb << 10, seeded))
    stamp.write_text(numbers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
