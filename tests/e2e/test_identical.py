#!/usr/bin/env python3
"""Ordinary programs do byte for byte the same with the preload as without.

Each row of CASES runs twice, in folders of one path and with files of one age: standard output,
standard error, exit status and every file it leaves must be the same. Each program also has a run
that fails, since errors take other ways through a library than successes.
"""
import hashlib
import os
import random
import shutil
import sys
from shutil import which

import harness
from harness import Tap

AGE = 1_700_000_000  # of every file, in seconds since the epoch
SHELL = ["/bin/sh", "-c"]

JAVASCRIPT = """
const fs = require('fs');
const text = fs.readFileSync('text.txt', 'utf8');
fs.writeFileSync('copy.txt', text.toUpperCase());
for (const name of fs.readdirSync('tree').sort()) console.log(name, fs.statSync('tree/' + name).size);
fs.promises.readFile('text.txt').then(b => console.error('read', b.length));
"""
PERL = """
open(my $in, '<', 'text.txt') or die; my %n; while (<$in>) { $n{$_}++ for split }
printf "%s %d\\n", $_, $n{$_} for sort keys %n;
open(my $out, '>', 'perl.out') or die; print $out scalar(%n); close $out;
system('echo from a child'); print STDERR "done\\n";
"""
SQL = """
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
  insert into t select i, hex(i * 7919) from n;
create index b on t(b);
select count(*), sum(length(b)) from t; select * from t order by b limit 20; vacuum;
"""
C_GOOD = "#include <stdio.h>\nint main(void) { int unused; printf(\"%d\\n\", 42); return 0; }\n"

# name, the tool it needs, what is run (a text for the shell, in a folder made by make_data)
CASES = [
    ("ls -lR", "ls", "ls -lR ."),
    ("ls -lR of what is absent", "ls", "ls -lR tree absent"),
    ("git log", "git", "git -C repo log --stat -p"),
    ("git log outside a repository", "git", "git -C tree log"),
    ("git commit", "git", "cd repo && echo new > new && git add new && git commit -qm four "
                          "&& git log --oneline && git fsck"),
    ("tar", "tar", "tar -cf - tree text.txt | tee all.tar | tar -tvf -"),
    ("tar -xf", "tar", "tar -cf all.tar tree && mkdir out && tar -xvf all.tar -C out"),
    ("tar of what is no archive", "tar", "tar -tf text.txt"),
    ("gzip", "gzip", "gzip -9nc text.txt | tee text.gz | gzip -dc | cksum && gzip -nv blob"),
    ("gzip of what is no archive", "gzip", "gzip -dc text.txt"),
    ("gcc", "gcc", "gcc -Wall -O2 good.c -o good && ./good"),
    ("gcc, an error", "gcc", "gcc -Wall bad.c"),
    ("sqlite3", "sqlite3", "sqlite3 t.db < script.sql && sqlite3 t.db .dump | cksum"),
    ("sqlite3, an error", "sqlite3", "sqlite3 t.db 'select * from absent'"),
    ("perl", "perl", "perl script.pl"),
    ("perl, an error", "perl", "perl -e 'print 1; open(my $f, q(<), q(absent)) or die qq($!\\n)'"),
    ("node", "node", "node script.js"),
    ("node, an error", "node", "node -e 'process.stdout.write(\"a\"); process.exit(5)'"),
    ("java -version", "java", "java -version"),
    ("java of what is absent", "java", "java -cp . Absent"),
    ("python3 -m compileall", "python3", "{python} -m compileall -f package"),
    ("python3, an error", "python3", "{python} -c 'import os; os.write(1, b\"a\"); open(\"absent\")'"),
    ("a shell killed by a signal", "sh", "echo before; kill -TERM $$; echo after"),
    ("a shell's redirections", "sh", "exec 5>&1 >file 2>&1; echo one; ls absent; exec 1>&5; cat file; "
                                     "exit 9"),
]


def git(place, *args):
    env = {"HOME": str(place), "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": f"{AGE} +0000",
           "GIT_COMMITTER_DATE": f"{AGE} +0000"}
    done = harness.run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *args],
                       env=harness.plain(env), cwd=place)
    if done.status:
        raise harness.Broken(f"git {args[0]}: {done.tail()}")


def make_data(place):
    """What the programs work on."""
    seeded = random.Random(42)
    words = [seeded.randbytes(3).hex() for _ in range(200)]
    (place / "text.txt").write_text(
        "".join(" ".join(seeded.choices(words, k=12)) + "\n" for _ in range(8000)))
    (place / "blob").write_bytes(seeded.randbytes(300_000))
    for i in range(20):
        folder = place / "tree" / f"d{i % 4}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{i}").write_bytes(seeded.randbytes(100 * i))
    (place / "tree" / "link").symlink_to("d0/f0")
    package = place / "package"
    (package / "sub").mkdir(parents=True)
    for i in range(10):
        (package / f"m{i}.py").write_text(f"def f(x):\n    return [x + i for i in range({i})]\n")
    (package / "sub" / "bad.py").write_text("def f(:\n")
    (place / "good.c").write_text(C_GOOD)
    (place / "bad.c").write_text("int main(void) { return absent; }\n")
    (place / "script.js").write_text(JAVASCRIPT)
    (place / "script.pl").write_text(PERL)
    (place / "script.sql").write_text(SQL)
    if which("git"):
        (place / "repo").mkdir()
        git(place, "init", "-q", "repo")
        for i in range(3):
            (place / "repo" / f"file{i}").write_text("".join(f"{i} {n}\n" for n in range(50 * i)))
            git(place, "-C", "repo", "add", ".")
            git(place, "-C", "repo", "commit", "-qm", f"number {i}")


def copy_aged(source, target):
    """A copy in which everything has one age."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
    for folder, _, names in os.walk(target, topdown=False):
        for path in [os.path.join(folder, name) for name in names] + [folder]:
            os.utime(path, (AGE, AGE), follow_symlinks=False)


def left(place):
    """Every file in a folder: its path, kind and mode, and a digest of what is in it."""
    files = {}
    for folder, folders, names in os.walk(place):
        folders[:] = [f for f in folders if f != ".git"]  # an index holds times and inodes
        for path in [os.path.join(folder, name) for name in names + folders]:
            mode = os.lstat(path).st_mode
            body = b""
            if os.path.islink(path):
                body = os.readlink(path).encode()
            elif os.path.isfile(path):
                with open(path, "rb") as f:
                    body = f.read()
            files[os.path.relpath(path, place)] = (oct(mode), hashlib.sha256(body).hexdigest())
    return files


def shorten(data):
    return data[:300] + (b"..." if len(data) > 300 else b"")


def compare(without, with_, files_without, files_with):
    bad = []
    for what in ("status", "stdout", "stderr"):
        one, other = getattr(without, what), getattr(with_, what)
        if one != other:
            if isinstance(one, bytes):
                first = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b),
                             min(len(one), len(other)))
                bad.append(f"{what} differs at byte {first}: without {shorten(one[first:])}, "
                           f"with {shorten(other[first:])}")
            else:
                bad.append(f"{what}: without {one}, with {other}")
    for path in sorted(set(files_without) | set(files_with)):
        if files_without.get(path) != files_with.get(path):
            bad.append(f"{path}: without {files_without.get(path)}, with {files_with.get(path)}")
    return bad


def check(line, template, place, number):
    work, home = place / "w", place / "home"
    env = {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": f"{AGE} +0000",
           "GIT_COMMITTER_DATE": f"{AGE} +0000", "GIT_AUTHOR_NAME": "A", "GIT_COMMITTER_NAME": "A",
           "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_EMAIL": "a@example.org",
           "GIT_CEILING_DIRECTORIES": str(place), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    argv = [*SHELL, line.format(python=sys.executable) if "{python}" in line else line]
    home.mkdir(exist_ok=True)

    copy_aged(template, work)
    without = harness.run(argv, harness.plain(env), work)
    files_without = left(work)
    copy_aged(template, work)
    with_ = harness.trace(argv, place / f"trace{number}", env, work)
    bad = compare(without, with_, files_without, left(work))

    # A preload that did nothing would pass the above.
    events = harness.dump(with_.folder)
    if not any(e["op"] in ("open", "openat", "fopen", "write", "fwrite", "read") for e in events):
        bad.append(f"the trace holds no call, only {len(events)} events")
    harness.report(with_.folder)
    return bad


def main():
    out = Tap()
    with harness.workplace() as place:
        template = place / "template"
        template.mkdir()
        make_data(template)
        for number, (name, tool, line) in enumerate(CASES):
            if not which(tool):
                out.skip(name, f"{tool} is not installed")
                continue
            out.run(name, lambda: check(line, template, place, number))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
