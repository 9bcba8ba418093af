"""``python3 -m iotrace ARGUMENT...`` is the command `iotrace` that was installed with this module."""

import os
import shutil
import signal
import sys
from importlib import metadata
from typing import Dict, Optional


def command() -> Optional[str]:
    """The path of the command: what the installation lists, else what PATH has."""
    try:
        files = metadata.files("iotrace") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = os.path.realpath(str(file.locate()))
        if file.parts[-2:] == ("bin", "iotrace") and os.access(path, os.X_OK):
            return path
    return shutil.which("iotrace")


def environment() -> Dict[bytes, bytes]:
    """Without what Python added: it sets LC_CTYPE for itself where the locale is plain C."""
    with open("/proc/self/environ", "rb") as start:
        given = {entry.partition(b"=")[0] for entry in start.read().split(b"\0")}
    return {name: value for name, value in os.environb.items()
            if name != b"LC_CTYPE" or name in given}


def main() -> int:
    path = command()
    if path is None:
        print("iotrace: the command is neither installed with this module nor in PATH; "
              "install iotrace anew", file=sys.stderr)
        return 2
    # Python ignores these; a command would inherit that, and so would the program it traces.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execve(path, ["iotrace", *sys.argv[1:]], environment())


if __name__ == "__main__":
    sys.exit(main())
