"""Builds profiler recordings for tests: times in microseconds."""
import gzip
import json

NEW = {"op": "cpu_op", "call": "cuda_runtime", "kernel": "kernel", "memcpy": "gpu_memcpy",
       "memset": "gpu_memset", "range": "user_annotation"}
OLD = {"op": "Operator", "call": "Runtime", "kernel": "Kernel", "memcpy": "Memcpy",
       "memset": "Memset", "range": "Operator"}


class Profile:
    def __init__(self, names=None, base=1000, base_ns=0):
        self.names, self.base, self.events, self.base_ns = names or NEW, base, [], base_ns
        self.told = {}
        self.old = self.names is OLD

    def add(self, category, name, start, end, pid=10, tid=10, **args):
        self.events.append({"ph": "X", "cat": self.names.get(category, category), "name": name,
                            "pid": pid, "tid": str(tid) if self.old else tid,
                            "ts": self.base + start, "dur": end - start, "args": args})
        return self

    def tells(self, **facts):
        """What the recording says of itself, beside its events."""
        self.told.update(facts)
        return self

    def span(self, end):
        return self.add("Trace", "PyTorch Profiler (0)", 0, end, pid="Spans", tid="PyTorch Profiler")

    def call(self, name, start, end, correlation, **more):
        return self.add("call", name, start, end, cbid=1, correlation=correlation, **more)

    def on_gpu(self, category, name, start, end, correlation, stream=7, device=0, **args):
        tid = f"stream {stream}" if self.old else stream
        self.add(category, name, start, end, pid=device, device=device, stream=stream,
                 correlation=correlation, **args)
        self.events[-1]["tid"] = tid
        return self

    def copy(self, start, end, correlation, size, kind="HtoD (Pageable -> Device)", stream=7):
        return self.on_gpu("memcpy", f"Memcpy {kind}", start, end, correlation, stream, bytes=size)

    def kernel(self, start, end, correlation, stream=7, name="work", **args):
        return self.on_gpu("kernel", name, start, end, correlation, stream, **args)

    def sync(self, kind, start, end, correlation, stream, **args):
        return self.add("cuda_sync", kind, start, end, pid=0, tid=stream, cuda_sync_kind=kind,
                        stream=stream, correlation=correlation, device=0, **args)

    def text(self):
        return json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": self.base_ns, **self.told,
                           "traceEvents": self.events}).encode()

    def save(self, path):
        opened = gzip.open(path, "wb") if str(path).endswith(".gz") else open(path, "wb")
        with opened as file:
            file.write(self.text())
        return path
