"""Storage of which every read takes a known time: a file system of the test's own (victims/slow_fs.c)."""
import contextlib
import os
import subprocess

import harness


def why_not():
    """Why there is none here; "" if there is."""
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "no /dev/fuse to be opened"
    with harness.workplace() as place:
        source = place / "source"
        source.write_bytes(bytes(4096))
        try:
            with mounted(source, place / "slow", 0):
                return ""
        except harness.Broken as e:
            return str(e)


@contextlib.contextmanager
def mounted(source, folder, delay_us, cached=True):
    """A file, or the files of a folder, as others under `folder`, of which each read takes so long: cold,
    or, not `cached`, always past the page cache. Gives the path of what stands for the source."""
    folder.mkdir()
    with subprocess.Popen([harness.victim("slow_fs"), source, folder, str(delay_us), *["cached"][:cached]],
                          env=harness.plain(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            if process.stdout.readline() != b"ready\n":
                said = process.stderr.read().decode(errors="replace").strip()
                raise harness.Broken(f"no file system can be mounted: {said}")
            yield folder if source.is_dir() else folder / source.name
        finally:
            process.terminate()
            process.wait()
