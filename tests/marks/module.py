"""The same run through the Python module `iotrace`, and what only the module has."""
import os
import time

import iotrace


def read(name):
    fd = os.open(name, os.O_RDONLY)
    os.read(fd, 65536)
    os.close(fd)


load = iotrace.range("load")(read)

iotrace.mark("loaded")
with iotrace.range("epoch"):
    for i in range(5):
        iotrace.step()
        load("data.raw")
        with iotrace.range(f"compute {i}"):
            time.sleep(0.002)
try:
    with iotrace.range("throws"):
        raise ValueError("out of a range")
except ValueError:
    pass
iotrace.pause()
read("data.raw")  # not recorded
iotrace.resume()
