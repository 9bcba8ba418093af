"""Three worker processes put what they read into a queue of multiprocessing; the trainer takes it."""
import multiprocessing

import truth

truth.make_files("train", 75, 120_000)
WORKERS = 3


def work(first, queue):
    for i in range(first, 75, WORKERS):
        with open(f"train/sample-{i:04}.raw", "rb") as f:
            data = f.read()
        truth.compute_without_gil(4)
        queue.put(data)


t = truth.Truth()
queue = multiprocessing.Queue(4)
workers = [multiprocessing.Process(target=work, args=(w, queue)) for w in range(WORKERS)]
for w in workers:
    w.start()
for i in range(75):
    t.step()
    queue.get()
    truth.compute(8)
for w in workers:
    w.join()
t.write()
