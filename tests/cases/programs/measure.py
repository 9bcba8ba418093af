"""Programs that say themselves what their I/O cost them: spans of time, and the truth, which goes to
$TRUTH as JSON.

Where others take its CPUs, a program does not know of itself which side of a call it lost the time on, nor
what it would have waited for without: the time its threads waited for a CPU is the error of what it says."""
import contextlib
import json
import os
import threading
import time

now = time.monotonic_ns


def waited_for_cpu():
    """The calling thread, since it began, in ns."""
    with open(f"/proc/self/task/{threading.get_native_id()}/schedstat") as f:
        return int(f.read().split()[1])


def all_waited_for_cpu():
    """All threads that the process has now."""
    waited_ns = 0
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):  # it has just ended
            with open(f"/proc/self/task/{task}/schedstat") as f:
                waited_ns += int(f.read().split()[1])
    return waited_ns


class Spans(list):
    def timed(self, call, *args):
        start = now()
        result = call(*args)
        self.append((start, now()))
        return result

    def total(self):
        return sum(b - a for a, b in self)

    def shared(self, waits):
        """How much of it lies in the waits."""
        return sum(max(0, min(b, d) - max(a, c)) for a, b in self for c, d in waits)


def work(ms):
    """Work that needs no CPU, which others on the machine may want."""
    time.sleep(ms / 1000)


def whole(path):
    fd = os.open(path, os.O_RDONLY)
    data = os.read(fd, 1 << 16)
    os.close(fd)
    return data


def read_file(io, folder, k):
    return io.timed(whole, f"{folder}/part{k:03}.bin")


def truth(name, service, exposed, waited, **more):
    with open(os.environ["TRUTH"], "w") as out:
        json.dump({"object": name, "service_ns": service, "exposed_ns": exposed,
                   "waited_ns": waited, **more}, out)
