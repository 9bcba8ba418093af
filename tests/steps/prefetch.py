"""A thread reads ahead into a queue of two; the main thread computes longer than that takes."""
import queue
import threading

import truth

truth.make_files("train", 60, 400_000)
t = truth.Truth()
ready = queue.Queue(2)


def reader():
    for i in range(60):
        with open(f"train/sample-{i:04}.raw", "rb") as f:
            ready.put(f.read())
        truth.compute_without_gil(2)
    ready.put(None)


threading.Thread(target=reader).start()
with open("train.log", "w", buffering=1) as log:
    while True:
        t.step()
        item = ready.get()
        if item is None:
            break
        truth.compute_without_gil(7)
        log.write(f"{len(item)}\n")
t.starts.pop()
t.write()
