"""Four epochs over the same files; at the end of each a checkpoint is made without I/O for 30 ms and
then written."""
import os

import truth

truth.make_files("train", 25, 80_000)
t = truth.Truth()
for epoch in range(4):
    for i in range(25):
        t.step()
        with open(f"train/sample-{i:04}.raw", "rb") as f:
            f.read()
        truth.compute(7)
    truth.compute(30)
    with open("model.tmp", "wb") as f:
        f.write(bytes(2_000_000))
        f.flush()
        os.fsync(f.fileno())
    os.rename("model.tmp", f"model-{epoch}.pt")
t.write()
