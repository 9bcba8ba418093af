"""Every fifth step is followed by a checkpoint that takes as long as several steps."""
import os
import pickle

import truth

truth.make_files("train", 80, 50_000)
t = truth.Truth()
state = [float(i) for i in range(100_000)]
log = open("train.log", "w", buffering=1)
for i in range(80):
    t.step()
    with open(f"train/sample-{i:04}.raw", "rb") as f:
        f.read()
    truth.compute(5)
    log.write(f"step {i}\n")
    if i % 5 == 4:
        with open("checkpoint.tmp", "wb") as f:
            pickle.dump(state, f)
            truth.compute(10)
            f.flush()
            os.fsync(f.fileno())
        os.rename("checkpoint.tmp", f"checkpoint-{i}.ckpt")
log.close()
t.write()
