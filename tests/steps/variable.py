"""Four samples a step, then computing that varies widely; nothing is logged."""
import random

import truth

truth.make_files("train", 240, 30_000)
t = truth.Truth()
chance = random.Random(42)
for i in range(60):
    t.step()
    for k in range(4):
        with open(f"train/sample-{4 * i + k:04}.raw", "rb") as f:
            f.read()
        truth.compute(0.3)
    truth.compute(8 * chance.lognormvariate(0, 0.35))
t.write()
