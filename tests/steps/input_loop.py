"""A sample is read, computed on, and a line is logged; weights are loaded before."""
import truth

truth.make_files("train", 60, 200_000)
truth.make_files(".", 1, 4_000_000, "weights.dat")
t = truth.Truth()
with open("weights.dat", "rb", buffering=0) as f:
    while f.read(1 << 18):
        truth.compute(1)
with open("train.log", "w", buffering=1) as log:
    for i in range(60):
        t.step()
        with open(f"train/sample-{i:04}.raw", "rb") as f:
            f.read()
        truth.compute(6)
        log.write(f"step {i}\n")
t.write()
