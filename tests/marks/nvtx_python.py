"""Ranges of the Python package `nvtx`."""
import os
import time

import nvtx

nvtx.mark("loaded")
with nvtx.annotate("epoch"):
    for i in range(5):
        with nvtx.annotate(f"train_step {i}", domain="trainer"):
            with nvtx.annotate("load"):
                fd = os.open("data.raw", os.O_RDONLY)
                os.read(fd, 65536)
                os.close(fd)
            step = nvtx.start_range(f"compute {i}")
            time.sleep(0.002)
            nvtx.end_range(step)
