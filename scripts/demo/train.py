#!/usr/bin/env python3
"""A small trainer with the I/O of a big one, and nothing but Python's standard library.

train.py FOLDER [--steps N] [--compute-ms MS] [--save-every N] [--checkpoint-mb N] [--workers N]

It loads FOLDER/model.safetensors, then takes batches that worker processes read from
FOLDER/shards, decode and hand over through pipes; each step computes on a batch and writes a line
to FOLDER/train.log; every few steps it saves a checkpoint, first under another name, then synced
and renamed. make_data.py makes the folder. The work is real: the sums depend on every byte.
"""
import argparse
import array
import hashlib
import json
import multiprocessing
import os
import struct
import sys
import time
import zlib
from pathlib import Path

FEATURES = 1024  # of a batch; as bytes it fits into a pipe several times, so workers run ahead


def load_model(path):
    """The tensors, one read each."""
    with open(path, "rb") as f:
        table = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        tensors = {}
        for name, row in table.items():
            first, last = row["data_offsets"]
            values = array.array("f")
            values.frombytes(f.read(last - first))
            tensors[name] = values
    return tensors


def records(paths):
    """Records of these shards, for ever."""
    while True:
        for path in paths:
            with open(path, "rb", buffering=0) as f:
                while head := f.read(4):
                    yield f.read(struct.unpack("<I", head)[0])


def decode(record):
    """A batch of features out of one record."""
    raw = zlib.decompress(record)
    view = memoryview(raw)
    stride = len(raw) // FEATURES
    return array.array("f", (zlib.crc32(view[i * stride:(i + 1) * stride]) / 2**32
                             for i in range(FEATURES)))


def work(paths, pipe, batches):
    source = records(paths)
    for _ in range(batches):
        pipe.send_bytes(decode(next(source)))
    pipe.close()


def start_workers(paths, count, steps):
    """Worker w makes the batches of steps w, w + count, …; gives (process, pipe) of each."""
    workers = []
    for w in range(count):
        ours, theirs = multiprocessing.Pipe(duplex=False)
        batches = len(range(w, steps, count))
        process = multiprocessing.Process(target=work, args=(paths[w::count], theirs, batches))
        process.start()
        theirs.close()
        workers.append((process, ours))
    return workers


def compute(weights, batch, ms):
    """Rounds of arithmetic on the batch until `ms` have passed; at least one."""
    end = time.perf_counter() + ms / 1e3
    while True:
        loss = sum(w * x for w, x in zip(weights, batch))
        digest = hashlib.sha256(memoryview(weights).cast("B")).digest()
        weights[digest[0]] -= 1e-3 * loss * batch[digest[1]]
        if time.perf_counter() >= end:
            return loss


def save(path, tensors, size):
    """A checkpoint is there whole or not at all."""
    part = path.with_suffix(".tmp")
    with open(part, "wb", buffering=0) as f:
        left = size
        for values in tensors.values():
            chunk = values.tobytes()[:left]
            left -= f.write(chunk) if chunk else 0
        os.fsync(f.fileno())
    os.replace(part, path)


def main():
    parser = argparse.ArgumentParser(description="A small trainer, for tracing.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--compute-ms", type=float, default=35)
    parser.add_argument("--save-every", type=int, default=20)
    parser.add_argument("--checkpoint-mb", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()

    begin = time.perf_counter()
    paths = sorted((args.folder / "shards").glob("*.shard"))
    if len(paths) < args.workers:
        print(f"train.py: {args.folder}/shards: {len(paths)} shards for {args.workers} workers; "
              "make_data.py makes them", file=sys.stderr)
        return 2
    tensors = load_model(args.folder / "model.safetensors")
    weights = next(iter(tensors.values()))
    workers = start_workers(paths, args.workers, args.steps)
    loss = 0.0
    with open(args.folder / "train.log", "w", buffering=1) as log:
        for step in range(args.steps):
            batch = array.array("f")
            batch.frombytes(workers[step % args.workers][1].recv_bytes())
            loss = compute(weights, batch, args.compute_ms)
            log.write(f"step {step} loss {loss:.6f}\n")
            if (step + 1) % args.save_every == 0:
                save(args.folder / f"checkpoint-{step + 1:05}.pt", tensors,
                     args.checkpoint_mb << 20)
    for process, _ in workers:
        process.join()
    print(f"{args.steps} steps in {time.perf_counter() - begin:.2f} s, loss {loss:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
