"""A thread writes each checkpoint while the trainer goes on."""
import os
import threading

import truth

truth.make_files("train", 90, 50_000)
t = truth.Truth()
saver = None
part = bytes(500_000)


def save(i):
    with open(f"checkpoint-{i}.tmp", "wb", buffering=0) as f:
        for _ in range(8):
            f.write(part)
        os.fsync(f.fileno())
    os.rename(f"checkpoint-{i}.tmp", f"checkpoint-{i}.pt")


for i in range(90):
    t.step()
    with open(f"train/sample-{i:04}.raw", "rb") as f:
        f.read()
    truth.compute(8)
    if i % 15 == 14:
        if saver:
            saver.join()
        saver = threading.Thread(target=save, args=(i,))
        saver.start()
saver.join()
t.write()
