#!/usr/bin/env python3
"""Places where a trace cannot be written, or not for long: the program's result is the same.

What could not be recorded is counted in the file, and what was recorded is readable.
"""
import contextlib
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import harness
from harness import Broken, Tap
from tally import Tally
from test_hazards import check_counts, dropped, told

NOBODY = 65534


class NotHere(Exception):
    """Something that the check needs is not to be had on this machine."""


@contextlib.contextmanager
def mounted(folder, options):
    """A small file system in memory."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)],
                          capture_output=True)
    if done.returncode:
        raise NotHere("mounting is not permitted")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def both(argv, place, trace_env, before=None, user=None):
    """Runs it without and with the preload; gives complaints if they differ, and its output."""
    results = []
    for number, env in enumerate(({}, trace_env)):
        work = place / f"work{number}"
        work.mkdir(mode=0o777)
        work.chmod(0o777)
        done = subprocess.run([str(a).format(work=work) for a in argv], env=harness.plain(env),
                              capture_output=True, timeout=120, cwd=place, preexec_fn=before, user=user)
        results.append((done.returncode, done.stdout.replace(b"work1", b"work0"), done.stderr))
    bad = []
    for what, without, with_ in zip(("status", "stdout", "stderr"), *results):
        if without != with_:
            bad.append(f"{what}: without {without!r}, with {with_!r}")
    if results[0][0] != 0:
        bad.append(f"the victim itself failed: {results[0]}")
    return bad, results[1][1]


def env_of(folder):
    return harness.preload_env(folder)


def victim(name, *arguments):
    return [harness.victim(f"victim_hazard_{name}"), "{work}", *arguments]


def full_disk(size, argv):
    """The result is the same; events are missing and counted; the rest is readable."""
    with harness.workplace() as place, mounted(place / "disk", f"size={size}") as disk:
        bad, stdout = both(argv, place, env_of(disk / "trace"))
        files = list((disk / "trace").glob("*.iot"))
        if not files:
            return bad + ["no trace at all"]
        # A child that gets no file at all counts nothing, and is told of.
        if not dropped(disk / "trace") and not harness.report(disk / "trace")["run"]["untraced"]:
            bad.append("nothing was counted as dropped, and no process as untraced")
        events = Tally(disk / "trace")
        if not len(events):
            bad.append("the dump is empty")
        bad += told(stdout, events, disk / "trace")
        said = harness.run([harness.command(), "dump", disk / "trace"]).stderr
        if b"damaged" in said:
            bad.append(f"a trace that says it is damaged: {said!r}")
        return bad


def no_room_at_all():
    with harness.workplace() as place, mounted(place / "disk", "size=4k") as disk:
        (disk / "filler").write_bytes(bytes(4096))
        return both(victim("writes", "3000"), place, env_of(disk / "trace"))[0]


def read_only():
    with harness.workplace() as place, mounted(place / "disk", "ro") as disk:
        return both(victim("writes", "3000"), place, env_of(disk / "trace"))[0]


def other_user():
    """No right to make the folder."""
    if os.geteuid() != 0:
        raise NotHere("needs the right to become another user")
    with harness.workplace() as place:
        place.chmod(0o755)
        for part in Path(harness.victim("victim_hazard_writes")).parents:
            if not part.stat().st_mode & 1:
                raise NotHere("another user cannot start the victim")
        return both(victim("writes", "3000"), place, env_of(place / "trace"), user=NOBODY)[0]


def relative_folder():
    """The folder is where the root started, wherever its children are."""
    with harness.workplace() as place:
        (place / "below").mkdir()
        script = f"cd below && {harness.victim('victim_hazard_writes')} {{work}} 50; cd / && ls / > {{work}}/list"
        bad, _ = both(["/bin/sh", "-c", script], place, env_of("sub/trace"))
        events = Tally(place / "sub" / "trace")
        bad += check_counts(b"did write data 50\n", events)
        if not any(e["op"] in ("openat", "opendir", "open") and e["path"] == "/" for e in events):
            bad.append("what ran in / left nothing in the folder of the run")
        if (place / "below" / "sub").exists():
            bad.append("a folder of its own for a child elsewhere")
        return bad


def limited(which, size, traced):
    """A limit that was there before the program started."""
    with harness.workplace() as place:
        bad, stdout = both(victim("writes", "3000"), place, env_of(place / "trace"),
                           lambda: resource.setrlimit(which, (size, size)))
        if traced:
            bad += check_counts(stdout, Tally(place / "trace"))
        elif list(place.glob("trace/*.iot")):
            bad += told(stdout, Tally(place / "trace"), place / "trace")
        return bad


def too_little_memory():
    """Nothing can be recorded, and the program is none the worse."""
    bad = []
    for which, size in ((resource.RLIMIT_DATA, 4 * MIB), (resource.RLIMIT_AS, 16 * MIB)):
        with harness.workplace() as place:
            (place / "work0").mkdir()
            argv = [str(a).format(work=place / "work0") for a in victim("writes", "30")]
            done = subprocess.run([harness.command(), "run", "-o", place / "trace", "--", *argv], env=harness.plain(),
                                  capture_output=True, timeout=120,
                                  preexec_fn=lambda: resource.setrlimit(which, (size, size)))
            if done.returncode or b"did write data 30" not in done.stdout:
                bad.append(f"status {done.returncode}, {done.stdout!r}")
            if b"nothing was recorded" not in done.stderr or done.stderr.count(b"\n") != 1:
                bad.append(f"it says {done.stderr!r}")
    return bad


def no_overcommit():
    """Where the machine is set so already: it is not for a test to set it."""
    if Path("/proc/sys/vm/overcommit_memory").read_text().strip() != "2":
        raise NotHere("vm.overcommit_memory is not 2")
    with harness.workplace() as place:
        bad, stdout = both(victim("threads", "crowd", "200"), place, env_of(place / "trace"))
        return bad + check_counts(stdout, Tally(place / "trace"))


def under_valgrind():
    if not shutil.which("valgrind"):
        raise NotHere("valgrind is not installed")
    with harness.workplace() as place:
        bad, stdout = both(["valgrind", "--tool=none", "-q", *victim("writes", "3000")], place,
                           env_of(place / "trace"))
        return bad + check_counts(stdout, Tally(place / "trace"))


MIB = 1 << 20
ROWS = [
    ("a disk that is full soon", lambda: full_disk("300k", victim("writes", "60000"))),
    ("a disk that fills up in the middle", lambda: full_disk("1m", victim("threads", "crowd", "200"))),
    ("a disk that fills up under forked children",
     lambda: full_disk("156k", victim("children", "generations"))),
    ("a disk without room at all", no_room_at_all),
    ("a folder on a disk to be read only", read_only),
    ("a folder of another user", other_user),
    ("a relative folder", relative_folder),
    ("address space limited from the start", lambda: limited(resource.RLIMIT_AS, 256 * MIB, True)),
    ("address space limited tightly", lambda: limited(resource.RLIMIT_AS, 16 * MIB, False)),
    ("data limited from the start", lambda: limited(resource.RLIMIT_DATA, 64 * MIB, True)),
    ("data limited tightly", lambda: limited(resource.RLIMIT_DATA, 4 * MIB, False)),
    ("`run` says what was too little memory", too_little_memory),
    ("all memory spoken for (vm.overcommit_memory=2)", no_overcommit),
    ("file size limited from the start", lambda: limited(resource.RLIMIT_FSIZE, 4 * MIB, True)),
    ("file size limited tightly", lambda: limited(resource.RLIMIT_FSIZE, 64 * 1024, False)),
    ("four descriptors", lambda: limited(resource.RLIMIT_NOFILE, 4, True)),
    ("valgrind", under_valgrind),
]


def main():
    out = Tap()
    for name, check in ROWS:
        if len(sys.argv) > 1 and not any(a in name for a in sys.argv[1:]):
            continue
        try:
            bad = check()
        except NotHere as reason:
            out.skip(name, str(reason))
            continue
        except (Broken, OSError, subprocess.TimeoutExpired) as e:
            bad = [e]
        out.point(not bad, name, bad)
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
