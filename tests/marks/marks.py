"""The same run in Python, through ctypes."""
import ctypes
import os
import time

process = ctypes.CDLL(None)


def call(name, *arguments):
    function = getattr(process, name, None)  # None: this process is not traced
    if function:
        function(*arguments)


call("iotrace_mark", b"loaded")
call("iotrace_range_begin", b"epoch")
for i in range(5):
    call("iotrace_step")
    call("iotrace_range_begin", b"load")
    fd = os.open("data.raw", os.O_RDONLY)
    os.read(fd, 65536)
    os.close(fd)
    call("iotrace_range_end")
    call("iotrace_range_begin", f"compute {i}".encode())
    time.sleep(0.002)
    call("iotrace_range_end")
call("iotrace_range_end")
