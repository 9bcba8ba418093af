"""How fast iotrace import is, and how much memory it takes: on a recording of as many MB of JSON
as are asked for, made like those of the PyTorch profiler.

    bench_import.py IOTRACE [MB]

Prints one line. Status 1 below 50 MB of JSON a second, or from 1 GiB of memory on.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

LEAST_MB_PER_S, MOST_MIB = 50, 1024
# One round: an operator, the call that launches a kernel, and the kernel.
ROUND = """\
{"ph":"X","cat":"cpu_op","name":"aten::add_%(name)d","pid":10,"tid":10,"ts":%(ts)d.125,"dur":8.25,
 "args":{"External id":%(id)d,"Ev Idx":%(id)d,"Input Dims":[[32,1024],[],[]],"Call stack":"train.py(31): main;torch/nn/modules/module.py(1501): _call_impl;torch/nn/modules/linear.py(114)"}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":10,"ts":%(ts)d.500,"dur":5,
 "args":{"External id":%(id)d,"cbid":211,"correlation":%(id)d}},
{"ph":"s","id":%(id)d,"pid":10,"tid":10,"ts":%(ts)d.500,"cat":"ac2g","name":"ac2g"},
{"ph":"X","cat":"kernel","name":"void at::native::vectorized_elementwise_kernel<4, %(name)d>(int)",
 "pid":0,"tid":7,"ts":%(ts)d.900,"dur":9.1,"args":{"External id":%(id)d,"queued":0,"device":0,
 "context":1,"stream":7,"correlation":%(id)d,"registers per thread":16,"shared memory":0,
 "blocks per SM":0.625,"warps per SM":5.0,"grid":[50,1,1],"block":[256,1,1]}},
{"ph":"f","id":%(id)d,"pid":0,"tid":7,"ts":%(ts)d.900,"cat":"ac2g","name":"ac2g","bp":"e"},
"""


def make(path, size):
    with open(path, "w", encoding="ascii") as file:
        written = file.write('{"schemaVersion":1,"traceEvents":[\n')
        number = 0
        while written < size:
            rounds = "".join(ROUND % {"name": k % 97, "ts": 1000 + 10 * k, "id": k + 1}
                             for k in range(number, number + 1000))
            number += 1000
            written += file.write(rounds)
        written += file.write('{"ph":"X","cat":"Trace","name":"all","pid":"Spans","tid":"P","ts":0,'
                              f'"dur":{10 * number + 5000}}}]}}\n')
    return written, number


def main():
    iotrace, size = sys.argv[1], int(sys.argv[2] if len(sys.argv) > 2 else 200) * 1000000
    with tempfile.TemporaryDirectory(prefix="iotrace-bench-") as folder:
        path = os.path.join(folder, "profile.json")
        written, rounds = make(path, size)
        started = time.monotonic()
        subprocess.run([iotrace, "import", path, "-o", os.path.join(folder, "trace")], check=True,
                       stdout=subprocess.DEVNULL)
        took = time.monotonic() - started
    mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    speed = written / 1e6 / took
    print(f"import: {written / 1e6:.0f} MB of JSON, {rounds} kernels: {took:.1f} s, "
          f"{speed:.0f} MB/s, {mib:.0f} MiB")
    return int(speed < LEAST_MB_PER_S or mib >= MOST_MIB)


if __name__ == "__main__":
    sys.exit(main())
