"""Two worker processes read samples and send them through pipes; they are slower than the trainer."""
import os

import truth

STEPS, SIZE, WORKERS = 60, 150_000, 2

truth.make_files("train", STEPS, SIZE)
t = truth.Truth()
ends = []
for w in range(WORKERS):
    r, wr = os.pipe()
    if not os.fork():
        os.close(r)
        for i in range(w, STEPS, WORKERS):
            with open(f"train/sample-{i:04}.raw", "rb") as f:
                data = f.read()
            truth.compute_without_gil(14)
            while data:
                data = data[os.write(wr, data):]
        os._exit(0)
    os.close(wr)
    ends.append(r)
for i in range(STEPS):
    t.step()
    left = SIZE
    while left:
        left -= len(os.read(ends[i % WORKERS], left))
    truth.compute(4)
for _ in range(WORKERS):
    os.wait()
t.write()
