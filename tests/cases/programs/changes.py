"""A trainer that reads ahead, logs, and saves on the side; and each way to make its I/O worse.

changes.py FOLDER STEPS [--chunk BYTES] [--depth N] [--sync-log] [--save-in-line]

FOLDER/model.safetensors and a file of FOLDER/train for each step are read, `--chunk` bytes a call;
`--depth` steps ahead, or, at 0, when they are needed. make() makes the folder.
"""
import argparse
import os
import queue
import threading
from pathlib import Path

from measure import work

MODEL_BYTES, SAMPLE_BYTES, CHUNK_BYTES = 1024 * 1024, 16 * 1024, 64 * 1024
STEP_MS, SAVE_EVERY, PIECES, PIECE_BYTES = 18, 8, 4, 256 * 1024


def make(folder, steps):
    (folder / "train").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(bytes(MODEL_BYTES))
    for k in range(steps):
        (folder / "train" / f"part{k:03}.tfrecord").write_bytes(bytes(SAMPLE_BYTES))


def read(path, chunk):
    fd = os.open(path, os.O_RDONLY)
    while os.read(fd, chunk):
        pass
    os.close(fd)


def samples(folder, steps, chunk, depth):
    """Each step's sample, read no more than `depth` steps before it is taken."""
    def one(k):
        read(folder / "train" / f"part{k:03}.tfrecord", chunk)
    if not depth:
        for k in range(steps):
            yield one(k)
        return
    ready = queue.Queue(depth)

    def reader():
        for k in range(steps):
            ready.put(one(k))
    thread = threading.Thread(target=reader, name="reader")
    thread.start()
    for _ in range(steps):
        yield ready.get()
    thread.join()


def save(path):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for _ in range(PIECES):
        os.write(fd, bytes(PIECE_BYTES))
    os.fsync(fd)
    os.close(fd)


def train(folder, steps, args):
    saver = None
    read(folder / "model.safetensors", args.chunk)
    log = os.open(folder / "train.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for k, _ in enumerate(samples(folder, steps, args.chunk, args.depth), 1):
        work(STEP_MS)
        if args.sync_log:
            os.fsync(log)
        if k % SAVE_EVERY:
            continue
        os.write(log, f"step {k}\n".encode())
        if saver:
            saver.join()
        if args.save_in_line:
            save(folder / f"checkpoint-{k:05}.pt")
            continue
        saver = threading.Thread(target=save, args=(folder / f"checkpoint-{k:05}.pt",), name="saver")
        saver.start()
    work(SAVE_EVERY * STEP_MS)  # what comes after the last step hides its checkpoint
    if saver:
        saver.join()
    os.close(log)


def main():
    parser = argparse.ArgumentParser(description="A trainer whose I/O can be made worse.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("steps", type=int)
    parser.add_argument("--chunk", type=int, default=CHUNK_BYTES)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--sync-log", action="store_true")
    parser.add_argument("--save-in-line", action="store_true")
    args = parser.parse_args()
    train(args.folder, args.steps, args)


if __name__ == "__main__":
    main()
