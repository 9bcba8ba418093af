"""Every twentieth step is followed by an evaluation of ten samples, which are no steps."""
import truth

truth.make_files("train", 80, 60_000)
truth.make_files("val", 10, 60_000)
t = truth.Truth()
log = open("metrics.csv", "w", buffering=1)
for i in range(80):
    t.step()
    with open(f"train/sample-{i:04}.raw", "rb") as f:
        f.read()
    truth.compute(8)
    if i % 20 == 19:
        for k in range(10):
            with open(f"val/sample-{k:04}.raw", "rb") as f:
                f.read()
            truth.compute(3)
        log.write(f"{i},0.5\n")
log.close()
t.write()
