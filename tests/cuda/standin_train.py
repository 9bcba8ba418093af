#!/usr/bin/env python3
"""Stands for train_loader.py where there is no GPU: copies through the stand-in runtime, children that
read the samples, and with --profile the recording that a profiler would write of those copies."""
import argparse
import ctypes
import json
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
HTOD, DTOH = 1, 2
EPOCHS, BATCH = 2, 16


class Runtime:
    def __init__(self):
        self.library = ctypes.CDLL("libcudart.so.13")
        self.copies = []

    def memory(self, function, size):
        memory = ctypes.c_void_p()
        assert not getattr(self.library, function)(ctypes.byref(memory), ctypes.c_size_t(size))
        return memory

    def copy(self, to, source, size, kind):
        assert not self.library.cudaMemcpyAsync(to, source, ctypes.c_size_t(size), kind, None)
        self.copies.append(("HtoD (Pinned -> Device)" if kind == HTOD else
                            "DtoH (Device -> Pinned)", size))

    def wait(self):
        assert not self.library.cudaDeviceSynchronize()


def in_child(paths):
    """What a worker of the loader reads, handed over in a pipe."""
    inner, outer = os.pipe()
    child = os.fork()
    if not child:
        os.close(inner)
        for path in paths:
            data = path.read_bytes()
            while data:
                data = data[os.write(outer, data):]
        os._exit(0)
    os.close(outer)
    data = b""
    while piece := os.read(inner, 1 << 16):
        data += piece
    os.close(inner)
    os.waitpid(child, 0)
    return data


def train(folder, runtime):
    paths = sorted(Path(folder).glob("*.sample"))
    size = BATCH * paths[0].stat().st_size
    host = runtime.memory("cudaMallocHost", size)
    device = runtime.memory("cudaMalloc", size)
    for _ in range(EPOCHS):
        total = 0
        for first in range(0, len(paths), BATCH):
            data = in_child(paths[first:first + BATCH])
            ctypes.memmove(host, data, len(data))
            runtime.copy(device, host, len(data), HTOD)
            runtime.copy(device, host, 8 * BATCH, HTOD)
            runtime.wait()
            total += sum(data[:64])
        runtime.copy(host, device, 4, DTOH)
        runtime.wait()
        print(f"loss {total / 1e6:.6f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--profile")
    arguments = parser.parse_args()
    runtime = Runtime()
    train(arguments.data, runtime)
    if arguments.profile:
        events = [{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans",
                   "tid": "PyTorch Profiler", "ts": 1000, "dur": 100000}]
        for k, (kind, size) in enumerate(runtime.copies):
            events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 10,
                        "tid": 10, "ts": 1010 + 20 * k, "dur": 5, "args": {"correlation": k + 1}},
                       {"ph": "X", "cat": "gpu_memcpy", "name": f"Memcpy {kind}", "pid": 0,
                        "tid": 7, "ts": 1020 + 20 * k, "dur": 5,
                        "args": {"device": 0, "stream": 7, "correlation": k + 1, "bytes": size}}]
        Path(arguments.profile).write_text(json.dumps({"traceEvents": events}))


if __name__ == "__main__":
    main()
