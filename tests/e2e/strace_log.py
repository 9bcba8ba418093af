"""Reads what `strace -f -y` wrote, into calls and bytes a file.

Only what the comparison with a trace needs: which system call, on which file, with what result.
"""
import os
import re
from collections import Counter, defaultdict

# system call → kind, in the words of ops.kind()
KINDS = {
    "open": "open", "openat": "open", "openat2": "open", "creat": "open", "close": "close",
    "read": "read", "pread64": "read", "readv": "read", "preadv": "read", "preadv2": "read",
    "write": "write", "pwrite64": "write", "writev": "write", "pwritev": "write",
    "pwritev2": "write", "lseek": "seek", "fstat": "stat", "newfstatat": "stat", "stat": "stat",
    "lstat": "stat", "statx": "stat", "fsync": "sync", "fdatasync": "sync",
    "sync_file_range": "sync",
}

LINE = re.compile(r"^(?:(\d+) +)?(.*)$", re.DOTALL)
UNFINISHED = " <unfinished ...>"
RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>(.*)$", re.DOTALL)
CALL = re.compile(r"^(\w+)\((.*)\)\s*= (-?\d+|\?)(.*)$", re.DOTALL)
# A descriptor with its path, and the first string among the arguments.
DESCRIPTOR = re.compile(r"^(?:\d+|AT_FDCWD)<((?:\\.|[^>\\])*)>")
STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
DELETED = " (deleted)"


def unescape(text):
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape") \
        .encode("latin-1").decode(errors="replace")


def whole_lines(lines):
    """(pid, call) of each call, those put together that another process interrupted."""
    begun = {}
    for line in lines:
        pid, text = LINE.match(line.rstrip("\n")).groups()
        resumed = RESUMED.match(text)
        if text.endswith(UNFINISHED):
            begun[pid] = text[:-len(UNFINISHED)]
            continue
        if resumed:
            if pid not in begun:
                continue  # it began before the log did
            text = begun.pop(pid) + resumed[2]
        yield pid, text


def subject(name, arguments):
    """The path a call is about, or None."""
    descriptor = DESCRIPTOR.match(arguments)
    base = unescape(descriptor[1]) if descriptor else None
    if name in ("open", "creat", "stat", "lstat", "openat", "openat2", "newfstatat", "statx"):
        string = STRING.search(arguments[descriptor.end():] if descriptor else arguments)
        path = unescape(string[1]) if string else ""
        if path.startswith("/"):
            base = os.path.normpath(path)
        elif path:
            base = os.path.normpath(os.path.join(base, path)) if base else None
    if base and base.endswith(DELETED):
        base = base[:-len(DELETED)]
    return base


def calls(lines):
    """(pid, kind, path, result) of every call of KINDS that returned."""
    for pid, text in whole_lines(lines):
        call = CALL.match(text)
        if not call or call[3] == "?" or call[1] not in KINDS:
            continue  # a signal, an end, a call that the kernel starts again, another call
        path = subject(call[1], call[2])
        if path:
            yield pid, KINDS[call[1]], path, int(call[3])


def by_file(lines):
    """path → Counter of calls by kind, and of `read_bytes` and `write_bytes`."""
    files = defaultdict(Counter)
    for _, kind, path, result in calls(lines):
        files[path][kind] += 1
        if kind in ("read", "write"):
            files[path][kind + "_bytes"] += max(result, 0)
    return files


# --- how the parser is known to read ---------------------------------------------

LOG = r'''
101 openat(AT_FDCWD</d>, "in", O_RDONLY|O_CLOEXEC) = 3</d/in>
101 newfstatat(3</d/in>, "", {st_mode=S_IFREG|0644, st_size=32768, ...}, AT_EMPTY_PATH) = 0
101 read(3</d/in>,  <unfinished ...>
102 openat(AT_FDCWD</d>, "/d/./out (1)", O_WRONLY|O_CREAT|O_TRUNC, 0666 <unfinished ...>
101 <... read resumed>""..., 4096)       = 4096
102 <... openat resumed>)               = 4</d/out (1)>
102 writev(4</d/out (1)>, [{iov_base=""..., iov_len=10}, {iov_base=")= 7", iov_len=4}], 2) = 14
101 read(3</d/in>, "", 4096)            = 0
101 lseek(3</d/in>, 0, SEEK_SET)        = 0
102 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=103} ---
102 write(4</d/out (1) (deleted)>, ""..., 5) = -1 ENOSPC (No space left on device)
101 openat(AT_FDCWD</d>, "absent", O_RDONLY) = -1 ENOENT (No such file or directory)
101 openat(5</d/sub>, "caf\303\251", O_RDONLY) = 6</d/sub/caf\303\251>
101 close(6</d/sub/caf\303\251>)        = 0
102 wait4(-1,  <unfinished ...>
101 close(3</d/in>)                     = 0
101 read(7<pipe:[55]>, ""..., 8)        = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
101 +++ exited with 0 +++
102 <... wait4 resumed>0x7ffe, 0, NULL) = 101
102 fsync(4</d/out (1)>)                = 0
102 close(4</d/out (1)> <unfinished ...>
102 +++ killed by SIGKILL +++
'''
WANT = {
    "/d/in": {"open": 1, "stat": 1, "read": 2, "read_bytes": 4096, "seek": 1, "close": 1},
    "/d/out (1)": {"open": 1, "write": 2, "write_bytes": 14, "sync": 1},
    "/d/absent": {"open": 1},
    "/d/sub/café": {"open": 1, "close": 1},
}


def self_test(out):
    got = by_file(LOG.strip().splitlines())
    for path in sorted(WANT | got):
        want, have = WANT.get(path), dict(got.get(path, {}))
        out.point(want == have, f"strace's log: {path}", f"expected {want}, got {have}")
