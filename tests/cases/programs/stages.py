"""Processes in a row, and a client with its server: stages.py WHICH FOLDER ITEMS MS

    pipeline   sh -c "source | sink": the source reads files, the sink works on each
    source, sink
    unix, tcp  the server reads the file that the client asks for; the client works on it
    nested     a child of a child of a child reads all files, and everybody waits
    reads
"""
import json
import os
import socket
import subprocess
import sys
import tempfile

import measure
from measure import now, waited_for_cpu

WHICH, FOLDER, ITEMS, MS = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
ROW = 96


def itself(which):
    return [sys.executable, "-B", sys.argv[0], which, *sys.argv[2:]]


def pack(*numbers):
    return " ".join(map(str, numbers)).ljust(ROW).encode()


def source():
    for k in range(ITEMS):
        io = measure.Spans()
        measure.read_file(io, FOLDER, k)
        os.write(1, pack(*io[0], now(), waited_for_cpu()))


def sink():
    io, waits = measure.Spans(), []
    for _ in range(ITEMS):
        start = now()
        a, b, sent, queued = map(int, os.read(0, ROW).split())
        io.append((a, b))
        if sent > start:
            waits.append((start, sent))
        measure.work(MS)
    # The shell waits for the first of them that ends: that one carries the run meanwhile. Their
    # interpreters' start-up, which sets them apart, is I/O as well.
    measure.truth("input", io.total(), io.shared(waits), None,
                  slack_ns=20_000_000, queued_ns=queued + waited_for_cpu())


def pipeline():
    words = " ".join(f"'{w}'" for w in itself("source"))
    others = " ".join(f"'{w}'" for w in itself("sink"))
    os.execv("/bin/sh", ["sh", "-c", f"{words} | {others}"])


def serve(listening):
    talk, _ = listening.accept()
    for _ in range(ITEMS):
        k = int(talk.recv(ROW))
        io = measure.Spans()
        measure.read_file(io, FOLDER, k)
        talk.sendall(pack(*io[0]))
    talk.close()


def client(family, address):
    listening = socket.socket(family)
    listening.bind(address)
    listening.listen()
    pid = os.fork()
    if not pid:
        serve(listening)
        os._exit(0)
    talk = socket.socket(family)
    talk.connect(listening.getsockname())
    listening.close()
    io = measure.Spans()
    for k in range(ITEMS):
        talk.sendall(pack(k))
        io.append(tuple(map(int, talk.recv(ROW).split())))
        measure.work(MS)
    os.waitpid(pid, 0)
    measure.truth("input", io.total(), io.total(), io.total())


def reads():
    io = measure.Spans()
    for k in range(ITEMS):
        measure.read_file(io, FOLDER, k)
    print(json.dumps(io.total()))


def nested():
    word = " ".join(f"'{w}'" for w in itself("reads"))
    with open("total", "w+b") as out:  # of a class of its own: written, then read back
        subprocess.run(["/bin/sh", "-c", f"sh -c \"{word}\"; true"], stdout=out, check=True)
        out.seek(0)
        total = int(out.read())
    measure.truth("input", total, total, 0)


if __name__ == "__main__":
    if WHICH == "unix":
        client(socket.AF_UNIX, os.path.join(tempfile.mkdtemp(), "socket"))
    elif WHICH == "tcp":
        client(socket.AF_INET, ("127.0.0.1", 0))
    else:
        {"pipeline": pipeline, "source": source, "sink": sink, "reads": reads,
         "nested": nested}[WHICH]()
