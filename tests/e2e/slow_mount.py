"""Storage of which every read takes a known time: a file system of the test's own (victims/slow_fs.c)."""
import contextlib
import os
import subprocess
import time
from pathlib import Path

import harness


def why_not():
    """Why there is none here; "" if there is."""
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "no /dev/fuse to be opened"
    if not (Path(os.environ.get("VICTIMS", "")) / "slow_fs").is_file():
        return "built without libfuse (libfuse3-dev)"
    with harness.workplace() as place:
        source = place / "source"
        source.write_bytes(bytes(4096))
        try:
            with mounted(source, place / "slow", 0):
                return ""
        except harness.Broken as e:
            return str(e)


@contextlib.contextmanager
def mounted(source, folder, delay_us):
    """The file as another under `folder`, cold, of which each read takes so long; gives its path."""
    folder.mkdir()
    path = folder / source.name
    with subprocess.Popen([harness.victim("slow_fs"), folder, source, str(delay_us)],
                          env=harness.plain(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            until = time.monotonic() + 10
            while not path.exists():
                if process.poll() is not None or time.monotonic() > until:
                    process.kill()
                    said = process.stderr.read().decode(errors="replace").splitlines()
                    raise harness.Broken(f"no file system can be mounted: {(said or ['?'])[-1]}")
                time.sleep(0.02)
            yield path
        finally:
            process.terminate()
            process.wait()
