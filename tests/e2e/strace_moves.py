"""The bytes in a log of `strace -f -y`: which process moved how many, from or to which file.

strace_log.py knows the calls that a file's own story is made of; this has every call that moves
bytes, each end of those that have two, and what libc's own reads look like.
"""
import re
from collections import namedtuple

from strace_log import CALL, DELETED, unescape, whole_lines

# system call → direction of its one descriptor, or (reading end, writing end): which of the
# descriptors in its arguments that is
MOVES = {
    **dict.fromkeys(("read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg",
                     "recvmmsg"), "read"),
    **dict.fromkeys(("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg",
                     "sendmmsg"), "write"),
    "vmsplice": "write", "sendfile": (1, 0), "copy_file_range": (0, 1), "splice": (0, 1),
    "tee": (0, 1),
}
# Their result is a number of messages, each with its length.
MANY = {"recvmmsg", "sendmmsg"}
DESCRIPTOR = re.compile(r"\b\d+<((?:\\.|[^>\\])*)>")
LENGTH = re.compile(r"msg_len=(\d+)")

Move = namedtuple("Move", "pid path direction bytes")


def name_of(text):
    path = unescape(text)
    return path[:-len(DELETED)] if path.endswith(DELETED) else path


def moves(lines):
    """Each end of each call that returned, a failed one with no bytes."""
    for pid, text in whole_lines(lines):
        call = CALL.match(text)
        ends = call and MOVES.get(call[1])
        if not ends or call[3] == "?":
            continue
        named = DESCRIPTOR.findall(call[2])
        if not named:
            continue  # a descriptor that is not open
        count = max(int(call[3]), 0)
        if call[1] in MANY:
            count = sum(int(n) for n in LENGTH.findall(call[2])[:count])
        if isinstance(ends, str):
            yield Move(int(pid), name_of(named[0]), ends, count)
        elif len(named) > 1:
            yield Move(int(pid), name_of(named[ends[0]]), "read", count)
            yield Move(int(pid), name_of(named[ends[1]]), "write", count)


# --- how the parser is known to read ---------------------------------------------

LOG = r'''
7 read(3</d/in>, ""..., 100)            = 60
7 sendfile(4</d/out>, 3</d/in>, NULL, 4096) = 40
7 copy_file_range(3</d/in>, [0], 5</d/a (1)>, NULL, 9, 0 <unfinished ...>
8 recvfrom(9<socket:[12]>, ""..., 64, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)
7 <... copy_file_range resumed>)        = 9
8 sendmmsg(9<socket:[12]>, [{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=""..., iov_len=30}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=30}, {msg_hdr={msg_name=NULL}, msg_len=12}], 2, 0) = 2
8 splice(3</d/in>, NULL, 6<pipe:[44]>, NULL, 4096, 0) = 17
8 write(77, ""..., 5)                   = -1 EBADF (Bad file descriptor)
8 writev(4</d/out (deleted)>, [{iov_base=""..., iov_len=8}], 1) = 8
8 read(6<pipe:[44]>, ""..., 9)          = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
8 +++ exited with 0 +++
'''
WANT = [
    (7, "/d/in", "read", 60), (7, "/d/in", "read", 40), (7, "/d/out", "write", 40),
    (8, "socket:[12]", "read", 0), (7, "/d/in", "read", 9), (7, "/d/a (1)", "write", 9),
    (8, "socket:[12]", "write", 42), (8, "/d/in", "read", 17), (8, "pipe:[44]", "write", 17),
    (8, "/d/out", "write", 8),
]


def self_test(out):
    got = [tuple(m) for m in moves(LOG.strip().splitlines())]
    out.point(got == WANT, "strace's log: moves", f"expected {WANT}, got {got}")
