"""Gradient accumulation: each batch is a step; after every fourth one the weights change, and a
line is logged."""
import truth

truth.make_files("train", 96, 60_000)
t = truth.Truth()
log = open("train.log", "w", buffering=1)
for i in range(24):
    for k in range(4):
        t.step()
        with open(f"train/sample-{4 * i + k:04}.raw", "rb") as f:
            f.read()
        truth.compute(6)
    truth.compute(3)
    log.write(f"update {i}\n")
log.close()
t.write()
