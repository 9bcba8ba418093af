"""The first four steps are five times slower; all that is seen of a step is its line in a log."""
import truth

t = truth.Truth()
truth.compute(50)
with open("metrics.csv", "w", buffering=1) as log:
    log.write("step,loss\n")
    for i in range(50):
        t.step()
        truth.compute(25 if i < 4 else 5)
        log.write(f"{i},0.5\n")
truth.compute(50)
t.write()
