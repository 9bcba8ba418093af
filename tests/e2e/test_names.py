"""File names that are hard to print: right in JSON, and harmless to a terminal in text."""
import os
import sys

import harness
from harness import Broken, Tap

# Each is opened, written and renamed to by a traced program.
NAMES = {
    "a newline": b"two\nlines.bin",
    "escapes": b"\x1b[2J\x1b]0;title\x07red\x1b[31m.bin",
    "all controls": bytes(c for c in range(1, 32)) + b"\x7f.bin",
    "invalid UTF-8": b"\xff\xfe\x80cut\xe2\x82.bin",
    "encoded controls": "\x85next\x9b31m.bin".encode(),
    "text turned round": "\u202etxt.exe\u2028\u2066\ufeff.bin".encode(),
    "quotes and backslashes": b"\"'\\x1b\\n\\.bin",
    "other scripts": "文字-ß-😀-é.bin".encode(),
    "blanks": b"  two  blanks \t.bin",
    "255 bytes": b"n" * 246 + b".bin",  # and .part
}

PROGRAM = r"""
import os, sys
os.chdir(sys.argv[1])
for name in [os.fsencode(n) for n in sys.argv[2:]]:
    with open(name + b".part", "wb", buffering=0) as f: f.write(b"x" * 5000)
    os.rename(name + b".part", name)
    with open(name, "rb", buffering=0) as f: f.read(100)
    try: os.stat(name + b"/none")
    except OSError: pass
"""


def traced(place, names):
    work = place / "work"
    work.mkdir()
    done = harness.trace([sys.executable, "-c", PROGRAM, work, *map(os.fsdecode, names)],
                         place / "trace")
    if done.status:
        raise Broken(f"the program ended with {done.status}: {done.tail()}")
    return work


def check_json(place, work, name):
    """The dump and the report have the name to the byte."""
    path = os.fsdecode(os.fsencode(work) + b"/" + name)
    of_file = [e for e in harness.dump(place / "trace") if path in (e["path"], e["path2"])]
    ops = {e["op"] for e in of_file}
    complaints = [f"no {op} of it in the dump" for op in ("read", "rename") if op not in ops]
    if sum(e["bytes"] for e in of_file if e["op"] == "read") != 100:
        complaints.append("the dump has not its 100 bytes read")
    rows = [f for f in harness.report(place / "trace")["files"] if f["path"] == path]
    if sum(f["read_bytes"] for f in rows) != 100:
        complaints.append(f"the report has {len(rows)} rows of it, and not its 100 bytes")
    return complaints


def check_text(place, name):
    """Nothing but printable characters and newlines, in all that a person is shown."""
    complaints = []
    odd = place / os.fsdecode(name.replace(b"/", b"_")[:200])
    for argv in (["dump", place / "trace"], ["report", place / "trace"],
                 ["report", place / "trace", "--top", "1000"], ["dump", odd], ["report", odd],
                 ["report", place / "trace", "--rules", odd]):
        done = harness.run([harness.command(), *argv])
        for line in (done.stdout + done.stderr).decode(errors="surrogateescape").splitlines():
            if not line.isprintable():
                complaints.append(f"{argv[0]}: {line!r}")
        if b"\x1b" in done.stdout + done.stderr:
            complaints.append(f"{argv[0]}: an escape character")
    return complaints[:5]


def long_path(place):
    """A path of 4095 bytes, the longest there is."""
    work = place / "work"
    work.mkdir()
    deep, parts = os.fsencode(work), []
    while len(deep) < 4095:
        room = 4095 - len(deep) - 1
        part = b"d" * (200 if room > 402 else room if room <= 255 else room // 2)
        deep += b"/" + part
        parts.append(part)
    program = ("import os, sys\n"
               "path = sys.argv[1]\n"
               "os.makedirs(os.path.dirname(path))\n"
               "with open(path, 'wb', buffering=0) as f: f.write(b'x' * 77)\n")
    done = harness.trace([sys.executable, "-c", program, os.fsdecode(deep)], place / "trace")
    if done.status:
        raise Broken(f"the program ended with {done.status}: {done.tail()}")
    wanted = os.fsdecode(deep)
    moved = sum(e["bytes"] for e in harness.dump(place / "trace")
                if e["path"] == wanted and e["op"] == "write")
    rows = [f for f in harness.report(place / "trace")["files"] if f["path"] == wanted]
    complaints = [] if moved == 77 else [f"the dump has {moved} bytes written"]
    if [f["write_bytes"] for f in rows] != [77]:
        complaints.append(f"the report has {len(rows)} rows of it")
    text = harness.run([harness.command(), "report", place / "trace", "--top", "1000"])
    complaints += [f"a line of {len(line)} bytes" for line in text.stdout.splitlines()
                   if len(line) > 120]
    return complaints


NAMELESS = """
import mmap, os, sys
for k in range(2):  # written and read back; written through a mapping alone, then read
    f = os.open(sys.argv[1], os.O_TMPFILE | os.O_RDWR)
    if k:
        os.ftruncate(f, 1 << 21)
        with mmap.mmap(f, 1 << 21) as m:
            m[:] = bytes(1 << 21)
    else:
        os.write(f, bytes(1 << 21))
        os.lseek(f, 0, os.SEEK_SET)
    os.read(f, 1 << 21)
    print(os.fstat(f).st_ino)
    if not k:
        kept = f  # else the second one may get its inode
"""


def without_a_name(place):
    """Files of O_TMPFILE: not their folder, and no input of the run."""
    work = place / "work"
    work.mkdir()
    try:
        os.close(os.open(work, os.O_TMPFILE | os.O_RDWR))
    except OSError:
        return []  # this file system has none
    done = harness.trace([sys.executable, "-c", NAMELESS, work], place / "trace")
    if done.status:
        raise Broken(f"the program ended with {done.status}: {done.tail()}")
    wanted = {f"{os.path.realpath(work)}/#{inode}" for inode in done.stdout.decode().split()}
    rows = {f["path"]: f for f in harness.report(place / "trace")["files"]
            if os.path.realpath(os.path.dirname(f["path"])) == os.path.realpath(work) or f["path"] == str(work)}
    if set(rows) != wanted:
        return [f"expected {wanted}, got {set(rows)}"]
    return [f"{path}: {f['object']}, {f['read_bytes']} B read" for path, f in rows.items()
            if (f["object"], f["read_bytes"]) != ("state", 1 << 21)]


def main():
    out = Tap()
    for what, name in NAMES.items():
        with harness.workplace() as place:
            work = traced(place, [name])
            out.run(f"{what}: JSON", lambda: check_json(place, work, name))
            out.run(f"{what}: text", lambda: check_text(place, name))
    with harness.workplace() as place:
        out.run("a path of 4095 bytes", lambda: long_path(place))
    with harness.workplace() as place:
        out.run("files without a name", lambda: without_a_name(place))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
