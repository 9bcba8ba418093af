"""The table of operations, read from the file that the recorder and the analyzer read."""
import re
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent.parent / "format" / "ops.def"
ROW = re.compile(r'^IOT_OP\(\d+, \w+, "(\w+)", (\w+), (\w+), (\w+)\)$', re.MULTILINE)

# name → (class, moves, subject), in the words of the table
OPS = {row[0]: row[1:] for row in ROW.findall(TABLE.read_text())}

OPEN = {"open", "openat", "creat", "fopen", "freopen", "mkstemp", "tmpfile", "shm_open"}
CLOSE = {"close", "fclose"}
SEEK = {"lseek"}
STAT = {"stat", "lstat", "fstat", "fstatat", "statx"}
WAITS = {name for name, row in OPS.items() if row[0] == "WAIT"}
LIFE = {name for name, row in OPS.items() if row[0] == "LIFE"}


def kind(op):
    """What a call on a file is to somebody who compares two traces of it; None: not compared."""
    class_, moves, _ = OPS[op]
    if class_ == "DATA":
        return {"IN": "read", "OUT": "write"}.get(moves)
    if class_ == "SYNC":
        return "sync"
    for name, members in (("open", OPEN), ("close", CLOSE), ("seek", SEEK), ("stat", STAT)):
        if op in members:
            return name
    return None
