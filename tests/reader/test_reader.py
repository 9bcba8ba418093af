"""The reader written from FORMAT.md alone reads what iotrace reads: golden files, bad ones, and
traces made on the spot."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]
import iotrace_reader
from tap import Tap
from xxh64 import xxh64

IOTRACE, LIBIOTRACE, MAKE_BAD, REQUESTS = sys.argv[1:5]

# What a run may do that names depend on: children by fork, vfork and exec, threads, descriptors
# that were inherited, duplicated, made inside libc, relative to a folder; odd names.
PROGRAM = r"""
import os, socket, subprocess, sys, tempfile, threading
folder = sys.argv[1].encode()
subprocess.run(["true"]); subprocess.run("cat </dev/null | wc -c", shell=True)
os.system("echo x >/dev/null")
threads = [threading.Thread(target=lambda: [os.stat("/usr/../etc/.//passwd") for _ in range(900)])
           for _ in range(3)]
[t.start() for t in threads]; [t.join() for t in threads]
a, b = socket.socketpair(); a.send(b"x"); b.recv(1)
name = folder + b"/odd\n\x1b[31m\xff"
fd = os.open(name, os.O_CREAT | os.O_RDWR); os.pwrite(fd, b"y" * 5000, 4096)
copy = os.dup(fd); os.close(fd); os.pread(copy, 100, 4200); os.fsync(copy)
where = os.open(folder, os.O_RDONLY); os.stat(b"odd\n\x1b[31m\xff", dir_fd=where)
os.rename(name, folder + b"/new"); os.symlink(b"new", folder + b"/link")
with open(folder + b"/link", "rb") as f: f.read()
f = tempfile.TemporaryFile(); f.write(b"z" * 100000); f.flush()
pid = os.fork()
if not pid: os.write(copy, b"child"); os._exit(3)
os.waitpid(pid, 0); os.execv("/bin/true", ["true"])
"""


# Rows that have an address and no name: dump adds that of the file which is mapped there.
BY_ADDRESS = ("munmap", "mremap", "msync", "madvise", "mlock", "resident")


def iotrace_dump(folder):
    done = subprocess.run([IOTRACE, "dump", folder, "--format", "jsonl"], capture_output=True,
                          check=False)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    for event in events:
        event.pop("waker", None)
        if event["op"] in BY_ADDRESS:
            event["path"] = None
    return done.returncode, events, b"damaged files" in done.stderr


def other_dump(folder):
    done = subprocess.run([sys.executable, HERE / "iotrace_reader.py", folder],
                          capture_output=True, check=False)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, events, done.returncode == 0 and bool(done.stderr)


def compare(folder, least=0):
    one, other = iotrace_dump(folder), other_dump(folder)
    complaints = []
    if one[0] != other[0] or one[2] != other[2]:
        complaints.append(f"status and damage: iotrace {one[::2]}, the other reader {other[::2]}")
    if len(one[1]) < least:
        complaints.append(f"only {len(one[1])} events")
    if len(one[1]) != len(other[1]):
        complaints.append(f"events: iotrace {len(one[1])}, the other reader {len(other[1])}")
    complaints += [f"{a}\n{b}" for a, b in zip(one[1], other[1]) if a != b][:3]
    return complaints


# More than four MiB hold, on a file that stays open all the while and on ones that do not. It is names, which
# go round as the blocks do, that fill them: this reader takes a while for each call.
LONG = r"""
import os, random, sys
numbers = random.Random(1)
stays = os.open("/etc/passwd", os.O_RDONLY)
for i in range(int(sys.argv[1])):
    name = "/proc/self/fdinfo/%d" % stays if i % 50 else "%s/%d" % (sys.argv[2], i)
    fd = os.open(name, os.O_RDONLY | (0 if i % 50 else os.O_CREAT))
    os.access("/nowhere" + "".join("/%0200x" % numbers.getrandbits(800) for _ in range(14)), 0)
    os.close(fd); os.pread(stays, i * 7919 % 61, i * 104729 % 997); os.lseek(stays, i, 0)
"""


def newest(place):
    folder, work = place / "trace-newest", place / "work-newest"
    work.mkdir()
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("IOTRACE")}
    env |= {"LD_PRELOAD": LIBIOTRACE, "IOTRACE_DIR": str(folder), "IOTRACE_MAX_SIZE": "4M"}
    subprocess.run([sys.executable, "-c", LONG, "2400", work], env=env, check=True)
    report = json.loads(subprocess.run([IOTRACE, "report", folder, "--format", "json"], check=True,
                                       capture_output=True).stdout)
    missing = [] if report["run"]["window"]["older_events"] else ["everything fits: more calls are needed"]
    return missing + compare(folder, 10000)


def traced(place, clock):
    folder, work = place / f"trace-{clock}", place / f"work-{clock}"
    work.mkdir()
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("IOTRACE")}
    env |= {"LD_PRELOAD": LIBIOTRACE, "IOTRACE_DIR": str(folder), "IOTRACE_CLOCK": clock}
    subprocess.run([sys.executable, "-c", PROGRAM, work], env=env, check=True, capture_output=True)
    return compare(folder, 2700)


def requests(place, way):
    """Asynchronous ones, which a reader has to put together."""
    folder, work = place / f"trace-{way}", place / f"work-{way}"
    work.mkdir()
    env = os.environ | {"LD_PRELOAD": LIBIOTRACE, "IOTRACE_DIR": str(folder)}
    subprocess.run([REQUESTS, way, work], env=env, check=True, capture_output=True)
    return compare(folder, 5)


def rank(place):
    """What the launcher said, in every process: to both readers the same."""
    folder = place / "trace-rank"
    said = {"job": "a=b", "rank": 2, "local_rank": 0, "world_size": 3, "source": "iotrace"}
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("IOTRACE")}
    env |= {"LD_PRELOAD": LIBIOTRACE, "IOTRACE_DIR": str(folder), "IOTRACE_JOB": "a=b", "IOTRACE_RANK": "2",
            "IOTRACE_LOCAL_RANK": "0", "IOTRACE_WORLD_SIZE": "3"}
    subprocess.run(["sh", "-c", "true | cat"], env=env, check=True)
    folder /= "rank-2"
    report = json.loads(subprocess.run([IOTRACE, "report", folder, "--format", "json"], check=True,
                                       capture_output=True).stdout)
    others = [p.identity for p in iotrace_reader.Run(folder).processes if p.identity]
    ours = [{k: v for k, v in r.items() if k != "processes"} for r in report["run"]["ranks"]]
    bad = [] if ours == [said] else [f"iotrace: {ours}"]
    return bad + [f"the other reader: {o}" for o in others if o != said] + ([] if others else ["nobody says it"])


def known_sums():
    """From the specification of XXH64."""
    known = {b"": 0xEF46DB3751D8E999, b"a": 0xD24EC4F1A98C6E5B, b"abc": 0x44BC2CF5AD770999}
    return [f"{data}: {xxh64(data):x}" for data, wanted in known.items() if xxh64(data) != wanted]


def main():
    out = Tap()
    out.run("xxh64 of known texts", known_sums)
    if not shutil.which("zstd"):
        out.skip("traces", "the zstd command is not installed")
        return out.done()
    for version in sorted((HERE.parent / "golden").glob("v*")):
        out.run(f"golden {version.name}", lambda: compare(version, 50))
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place).resolve()
        (place / "bad").mkdir()
        subprocess.run([MAKE_BAD, place / "bad"], check=True)
        for bad in sorted((place / "bad").iterdir()):
            out.run(f"bad: {bad.name}", lambda: compare(bad))
        for clock in ("tsc", "monotonic"):
            out.run(f"a run traced with {clock}", lambda: traced(place, clock))
        for way in ["aio", "list", "libaio"] + (
                [] if subprocess.run([REQUESTS, "probe"], check=False).returncode else ["ring", "forked"]):
            out.run(f"requests: {way}", lambda: requests(place, way))
        out.run("a rank of a job", lambda: rank(place))
        out.run("a run of which the newest is kept", lambda: newest(place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
