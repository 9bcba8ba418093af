"""Real programs for the oracle: what each needs, and what it runs in a folder of its own.

A line for the shell, in a folder with `blob` (3 MB), `text` (lines), `tree` (small files) and
what `make` adds, which runs untraced before. {here} is the folder of the tests.
"""
from collections import namedtuple

# name: of the check, its first word names the program    tool: what has to be installed
# line: what runs traced      make: what runs before, untraced     slow: not in an ordinary run
# unseen: bytes move where no call of libc is seen, and the report has to say so: "bytes" of a
#   traced process, "process" that left no trace
# missing: why it is left out here
# apart: names (a regular expression) of which the trace may have less; why is its `because`
Program = namedtuple("Program", "name tool line make slow unseen apart because missing",
                     defaults=("", False, None, None, None, None))

SQL = """
pragma journal_mode=wal; create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
  insert into t select i, hex(i * 7919) from n;
create index b on t(b); update t set b = b || 'x' where a % 3 = 0;
select count(*), sum(length(b)) from t; pragma wal_checkpoint(truncate);
"""
PYTHON = """
import json, os, pickle, shutil, subprocess, threading
rows = [{"i": i, "text": "x" * (i % 50)} for i in range(5000)]
json.dump(rows, open("rows.json", "w"))
assert json.load(open("rows.json")) == rows
pickle.dump(rows, open("rows.pickle", "wb"))
shutil.copyfile("blob", "blob.copy")
shutil.copytree("tree", "tree.copy")
def part(k):
    with open("blob", "rb", buffering=0) as f:
        f.seek(k * 500000)
        open(f"part.{k}", "wb").write(f.read(400000))
threads = [threading.Thread(target=part, args=(k,)) for k in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(subprocess.run(["cat", "text"], stdout=subprocess.PIPE).stdout))
os.sendfile(os.open("sent", os.O_WRONLY | os.O_CREAT), os.open("blob", 0), 0, 1000000)
"""
PERL = r"""
open(my $in, '<', 'text') or die; my %n; while (<$in>) { $n{$_}++ for split }
open(my $out, '>', 'counts') or die; printf $out "%s %d\n", $_, $n{$_} for sort keys %n; close $out;
sysopen(my $raw, 'blob', 0) or die; sysread($raw, my $b, 1000000); print length($b), "\n";
print `wc -c text`;
"""
NODE = """
const fs = require('fs');
fs.writeFileSync('upper', fs.readFileSync('text', 'utf8').toUpperCase());
fs.copyFileSync('blob', 'blob.copy');
fs.createReadStream('blob').pipe(fs.createWriteStream('piped')).on('finish', async () => {
  for (const f of await fs.promises.readdir('tree')) await fs.promises.readFile('tree/' + f);
  console.log(require('child_process').execSync('cat text').length);
});
"""
JAVA = """
import java.io.*; import java.nio.*; import java.nio.channels.*; import java.nio.file.*;
public class Copy {
    public static void main(String[] a) throws Exception {
        byte[] all = Files.readAllBytes(Path.of("blob"));
        try (FileOutputStream out = new FileOutputStream("stream")) { out.write(all); }
        Files.copy(Path.of("blob"), Path.of("copied"));
        try (FileChannel in = FileChannel.open(Path.of("blob"));
             FileChannel out = FileChannel.open(Path.of("sent"), StandardOpenOption.CREATE,
                                                StandardOpenOption.WRITE)) {
            in.transferTo(0, in.size(), out);
            out.write(ByteBuffer.allocateDirect(10000), 5);
        }
        try (BufferedReader r = new BufferedReader(new FileReader("text"))) {
            System.out.println(r.lines().count());
        }
    }
}
"""
RUST = r"""
use std::{fs, io::{BufRead, BufReader, Read, Seek, SeekFrom, Write}, os::unix::fs::FileExt, thread};
fn main() {
    fs::write("all", fs::read("blob").unwrap()).unwrap();
    fs::copy("blob", "copied").unwrap();
    let mut out = fs::File::create("lines").unwrap();
    for line in BufReader::new(fs::File::open("text").unwrap()).lines() {
        writeln!(out, "{}", line.unwrap()).unwrap();
    }
    let all: Vec<_> = (0..4u64).map(|k| thread::spawn(move || {
        let mut part = vec![0; 100000];
        let mut f = fs::File::open("blob").unwrap();
        f.read_exact_at(&mut part, k * 1000).unwrap();
        f.seek(SeekFrom::Start(5)).unwrap();
        f.read_exact(&mut part[..77]).unwrap();
    })).collect();
    for t in all { t.join().unwrap(); }
    std::io::copy(&mut fs::File::open("blob").unwrap(), &mut fs::File::create("io").unwrap()).unwrap();
}
"""
CXX = r"""
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
int main() {
    std::ifstream in("text");
    std::ofstream out("lines", std::ios::app);
    for (std::string line; std::getline(in, line);) out << line << '\n' << std::flush;
    std::fstream both("both", std::ios::in | std::ios::out | std::ios::trunc);
    std::vector<char> block(100000, 'x');
    for (int i = 0; i < 10; i++) both.write(block.data(), i * 9000 + 1);
    both.seekg(50); both.read(block.data(), 70000); both.seekp(3); both << "here";
    std::ifstream raw("blob", std::ios::binary);
    std::ofstream copy("copied", std::ios::binary);
    copy << raw.rdbuf();
    std::string word; std::cin >> word; std::cout << word << std::endl; std::cerr << "done\n";
}
"""
# Reads and writes without libc.
RAW = r"""
#include <fcntl.h>
#include <unistd.h>
static long raw(long n, long a, void *b, long c) {
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return r;
}
int main(void) {
    static char block[100000];
    int in = open("blob", O_RDONLY), out = open("copied", O_WRONLY | O_CREAT, 0644);
    for (long n; (n = raw(0, in, block, sizeof block)) > 0;) raw(1, out, block, n);
    return 0;
}
"""
REDIS = r"""
redis-server --port 0 --unixsocket $PWD/s --dir $PWD --save '' --appendonly yes \
  --appendfsync always --daemonize no > server.log & pid=$!
for i in $(seq 200); do redis-cli -s $PWD/s ping >/dev/null 2>&1 && break; sleep 0.05; done
redis-benchmark -s $PWD/s -q -n 300 -c 4 -t set,get,lpush > bench.out
redis-cli -s $PWD/s save; redis-cli -s $PWD/s shutdown nosave; wait $pid
"""


def fio(engine, more=""):
    return (f"fio --name=f --ioengine={engine} --rw=randrw --bs=16k --size=4m --directory=. --thread "
            f"--output=fio.out {more}")


def c(name, text, compiler="gcc", flags=""):
    return f"cat > {name}.src <<'END'\n{text}\nEND\n{compiler} -O1 {flags} {name}.src -o {name}"


PROGRAMS = [
    Program("cat and wc", "wc", "cat blob text | wc; wc < text; cat tree/* > joined"),
    Program("cp", "cp", "cp blob copied; cp -r tree tree.copy; cp --sparse=always blob sparse; "
                        "mv blob moved; install -m 600 text installed"),
    Program("dd with O_DIRECT", "dd", "dd if=aligned of=out bs=64k iflag=direct oflag=direct "
                                      "2> dd.err; dd if=blob of=part bs=1000 count=300 conv=fsync",
            "head -c 2097152 /dev/zero > aligned"),
    Program("tar with zstd", "zstd", "tar -cf - tree text | zstd -q > t.zst; tar --zstd -cf u.zst "
                                     "tree blob; mkdir out; tar --zstd -xf u.zst -C out"),
    Program("gzip and xz", "xz", "gzip -k blob; gzip -dc blob.gz | cksum; xz -0k -T2 text; xz -dc text.xz "
                                 "> back"),
    Program("sqlite3 with WAL", "sqlite3", "sqlite3 t.db < script.sql; sqlite3 t.db .dump > dump.sql",
            f"cat > script.sql <<'END'\n{SQL}\nEND"),
    Program("git clone", "git", "git clone -q repo one; git clone -q --no-local repo two; "
                                "cd one; git log --stat > log; git gc -q",
            "git init -q repo; cd repo; cp ../text ../blob .; git add .; "
            "git -c user.name=A -c user.email=a@b commit -qm one; cp ../tree/* .; git add .; "
            "git -c user.name=A -c user.email=a@b commit -qm two"),
    Program("gcc", "gcc", "gcc -O1 -xc prog.src -o prog && ./prog > out; ar rc lib.a prog prog.src; "
                          "make -f /dev/null 2>/dev/null; true",
            "printf '#include <stdio.h>\\nint main(void) { puts(\"x\"); return 0; }' > prog.src"),
    Program("rsync between folders", "rsync", "rsync -a tree/ t2; echo more >> tree/f1; "
                                              "rsync -a --inplace --no-W tree/ blob t2; "
                                              "rsync -ac t2/ t3"),
    Program("perl", "perl", "perl script", f"cat > script <<'END'\n{PERL}\nEND"),
    Program("python3", "python3", "/usr/bin/python3 script", f"cat > script <<'END'\n{PYTHON}\nEND"),
    Program("C++ fstream", "g++", "./prog < text", c("prog", CXX, "g++ -xc++")),
    Program("sort, awk, sed", "awk", "sort -S 64k -T . text > sorted; awk '{ print $1 > \"first\" }' text; "
                                "sed -i s/a/b/ text; grep -c b text; split -n 4 blob; head -c 100000 blob "
                                "| tail -c 100 > end; shuf text | tee copy | cksum"),
    *(Program(f"fio {engine}", "fio", fio(engine)) for engine in ("sync", "psync", "vsync", "mmap")),
    *(Program(f"fio {engine}", "fio", fio(engine),
              missing="strace does not say what requests moved; tests/e2e/test_async.py asks fio itself")
      for engine in ("libaio", "io_uring")),
    Program("node", "node", "node script.js", f"cat > script.js <<'END'\n{NODE}\nEND", slow=True),
    Program("java", "java", "java Copy.java", f"cat > Copy.java <<'END'\n{JAVA}\nEND", slow=True),
    Program("rustc", "rustc", "rustc -O prog.rs && ./prog", f"cat > prog.rs <<'END'\n{RUST}\nEND", slow=True),
    Program("redis with a client", "redis-server", REDIS, slow=True),
    Program("raw system calls", "gcc", "./prog", c("prog", RAW, "gcc -xc"), unseen="bytes",
            apart=r".*/(blob|copied)$", because="made without libc"),
    Program("a static program", "gcc", "./prog; cat blob > copied2", c("prog", RAW, "gcc -xc", "-static"),
            unseen="process", apart=r".*/(blob|copied)$", because="a static program"),
]
