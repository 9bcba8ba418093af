"""Steps of 4 to 12 ms on records at random places of one file; every tenth is logged."""
import os
import random

import truth

truth.make_files(".", 1, 8_000_000, "records.dat")
t = truth.Truth()
chance = random.Random(42)
fd = os.open("records.dat", os.O_RDONLY)
for i in range(100):
    t.step()
    os.pread(fd, 65536, chance.randrange(7_900_000))
    truth.compute(chance.uniform(4, 12))
    if i % 10 == 9:
        print("step", i, flush=True)
t.write()
