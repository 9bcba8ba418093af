"""iotrace doctor: what made-up programs are, each with what to do; the machine; hostile files."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

IOTRACE = os.path.abspath(sys.argv.pop(1))
NOBODY = 65534
# A sanitized build needs its run-time before the library: no trial can succeed there.
SANITIZED = b"__asan_report_load" in Path(IOTRACE).read_bytes()
INTERP, DYNAMIC, LOAD = 3, 2, 1


def run(*arguments, env=None, **options):
    plain = {k: v for k, v in os.environ.items()
             if not k.startswith("IOTRACE") and k not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    return subprocess.run([IOTRACE, "doctor", *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False,
                          env={**plain, **(env or {})}, **options)


def compiler():
    return shutil.which("cc") or shutil.which("gcc")


def build(path, *flags, source="int main(void) { return 0; }", cc=None):
    done = subprocess.run([cc or compiler(), "-x", "c", "-", "-o", path, *flags], input=source.encode(),
                          stderr=subprocess.PIPE, check=False)
    return path if done.returncode == 0 else None


def segments(data):
    """Offset of each program header, and its type, offset and size."""
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        at = start + i * size
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, at)
        yield at, kind, offset, length


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, contents, mode=0o755):
        path = self.folder / name
        path.write_bytes(contents)
        path.chmod(mode)
        return path

    def findings(self, *arguments, **options):
        """As JSON: status and what of it is about the checks."""
        result = run("--format", "json", "--", *arguments, **options)
        self.assertEqual(result.stderr, b"")
        answer = json.loads(result.stdout)
        self.assertEqual(answer["schema"], "iotrace-doctor/1")
        self.assertEqual(answer["command"], [str(a) for a in arguments])
        bad = any(f["level"] == "bad" for f in answer["findings"])
        self.assertEqual((result.returncode, answer["traceable"]), (2 if bad else 0, not bad))
        for finding in answer["findings"]:
            self.assertEqual(list(finding), ["check", "level", "finding", "action"])
            self.assertIn(finding["level"], ("ok", "note", "bad"))
        return answer["findings"]

    def program(self, *arguments, **options):
        return [f for f in self.findings(*arguments, **options) if f["check"] == "program"]

    def bad(self, path, *parts, **options):
        """One BAD finding about the program, with something to do."""
        found = [f for f in self.program(path, **options) if f["level"] == "bad"]
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0]["action"])
        for part in parts:
            self.assertIn(part, found[0]["finding"])

    def fine(self, path, *parts, **options):
        found = self.program(path, **options)
        self.assertFalse([f for f in found if f["level"] == "bad"], found)
        text = " ".join(f["finding"] for f in found)
        for part in parts:
            self.assertIn(part, text)
        return found

    def built(self, name, *flags, **options):
        path = build(self.folder / name, *flags, **options)
        if not path:
            self.skipTest(f"the compiler has no {' '.join(flags)}")
        return path


@unittest.skipUnless(compiler(), "no C compiler")
class Built(Folder):
    def test_dynamic(self):
        found = self.fine(self.built("plain"), "dynamic")
        self.assertEqual([f["level"] for f in found], ["ok"])

    def test_static(self):
        self.bad(self.built("static", "-static"), "a static program:", "ignores")
        self.bad(self.built("pie", "-static-pie"), "a static program (static-pie)")

    def test_run_says_the_same(self):
        """Before it is run, and without keeping it from running."""
        path = self.built("static", "-static", source="int main(void) { return 7; }")
        result = subprocess.run([IOTRACE, "run", "-o", self.folder / "trace", path],
                                stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(result.returncode, 7)
        self.assertIn(b"is a static program: it ignores a preload library; it is run all the same",
                      result.stderr)

    def test_go(self):
        section = 'const char info[] __attribute__((section(".go.buildinfo"))) = "x";'
        source = section + "int main(void) { return !info[0]; }"
        self.bad(self.built("go", "-static", source=source), "a static Go program")
        self.bad(self.built("cgo", source=source), "a Go program", "system calls of its own")

    def test_32_bits(self):
        made = build(self.folder / "narrow", "-m32")
        header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHI", 2, 3, 1) + bytes(28)
        self.bad(made or self.write("narrow", header), "a 32-bit program")

    def test_another_processor(self):
        data = bytearray(self.built("plain").read_bytes())
        struct.pack_into("<H", data, 18, 0x15)  # ppc64
        self.bad(self.write("other", data), "for another processor")
        data[5] = 2  # the other byte order
        self.bad(self.write("swapped", data), "for another processor")

    def with_loader(self, loader):
        data = bytearray(self.built("plain").read_bytes())
        at, offset, length = next((a, o, n) for a, kind, o, n in segments(data) if kind == INTERP)
        self.assertLess(len(loader), length)
        data[offset:offset + len(loader) + 1] = loader + b"\0"
        struct.pack_into("<Q", data, at + 32, len(loader) + 1)
        return self.write("loader", data)

    def test_musl(self):
        self.bad(self.with_loader(b"/lib/ld-musl-x86.so.1"), "musl", "Error relocating")

    def test_a_loader_that_is_missing(self):
        self.bad(self.with_loader(b"/no/such/loader"), "its loader /no/such/loader is missing")

    def test_own_calls(self):
        source = ("#include <stddef.h>\n#include <sys/types.h>\n"
                  "ssize_t read(int f, void *b, size_t n) { (void)f; (void)b; return (ssize_t)n; }"
                  "int main(void) { return 0; }")
        found = self.fine(self.built("own", "-rdynamic", source=source), "brings its own read:")
        self.assertIn("note", [f["level"] for f in found])

    def test_sanitized(self):
        path = self.built("asan", "-fsanitize=address")
        if b"libasan" not in path.read_bytes():
            self.skipTest("the run-time is linked in")
        self.bad(path, "AddressSanitizer")
        self.fine(path, "sanitizer", env={"ASAN_OPTIONS": "verify_asan_link_order=0"})

    def test_sanitizers(self):
        """All but that one start, and are told to be slower than the program is."""
        missing = []
        for name in "gcc", "clang":
            for kind in "thread", "undefined", "leak", "address":
                path = self.folder / f"{name}-{kind}"
                if (name, kind) == ("gcc", "address"):
                    continue
                if not shutil.which(name) or not build(path, f"-fsanitize={kind}", cc=name):
                    missing.append(path.name)
                    continue
                with self.subTest(path.name):
                    self.fine(path, "sanitizer")
        for kind in "asan", "tsan":  # gcc's, where it is put into the program
            path = self.folder / f"gcc-static-{kind}"
            flags = [f"-static-lib{kind}", f"-fsanitize={'address' if kind == 'asan' else 'thread'}"]
            if not shutil.which("gcc") or not build(path, *flags, cc="gcc"):
                missing.append(path.name)
                continue
            with self.subTest(path.name):
                found = self.fine(path, "built with a sanitizer")
                self.assertNotIn("brings its own", " ".join(f["finding"] for f in found))
        if len(missing) == 9:
            self.skipTest("no sanitizers here")

    def test_dlmopen(self):
        source = ("#define _GNU_SOURCE\n#include <dlfcn.h>\n"
                  "int main(void) { return !dlmopen(LM_ID_NEWLM, \"x\", RTLD_NOW); }")
        found = self.fine(self.built("spaces", source=source), "dlmopen")
        self.assertIn("note", [f["level"] for f in found])

    def test_library(self):
        self.bad(self.built("lib.so", "-shared", "-Wl,-soname,lib.so", source="int f;"),
                 "a shared library")

    def test_set_user_id(self):
        if os.getuid():
            self.skipTest("needs root, to give a file away")
        path = self.built("suid")
        os.chown(path, NOBODY, 0)
        path.chmod(0o4755)
        if os.statvfs(path).f_flag & os.ST_NOSUID:
            self.skipTest("the temporary folder is mounted nosuid")
        self.bad(path, "a set-user-id program", "ignores")
        path.chmod(0o755)
        self.fine(path)

    @unittest.skipIf(SANITIZED, "a sanitized build cannot be tried")
    def test_the_command_is_not_run(self):
        path = self.built("touches", source='#include <stdio.h>\n'
                          'int main(void) { return !fopen("was-run", "w"); }')
        self.fine(path, cwd=self.folder)
        found = self.findings(path, cwd=self.folder)
        self.assertTrue([f for f in found if "takes it" in f["finding"]], found)
        self.assertEqual(os.listdir(self.folder), ["touches"])


class Scripts(Folder):
    def test_interpreter(self):
        self.fine(self.write("a", b"#!/bin/sh\n"), "is a script, which /bin/sh runs", "dynamic")
        self.fine(self.write("b", b"#! /usr/bin/env -S A=b sh -x\n"), "is a script", "/sh runs")
        self.fine(self.write("c", f"#!{self.folder / 'a'}\n".encode()), "which /bin/sh runs")

    def test_without_its_line(self):
        found = self.fine(self.write("text", b"echo hello\n"), "/bin/sh runs it")
        self.assertEqual(found[0]["level"], "note")
        self.fine(self.write("empty", b""), "/bin/sh runs it")
        self.bad(self.write("bytes", b"\0\1\2"), "neither an ELF file nor a script")

    def test_no_interpreter(self):
        self.bad(self.write("a", b"#!/no/such/thing\n"), "'/no/such/thing' is missing")
        self.bad(self.write("b", b"#!/bin/sh\r\n"), "'/bin/sh\r' is missing")
        self.bad(self.write("c", b"#!/usr/bin/env no-such-thing\n"), "'no-such-thing' is missing")
        self.bad(self.write("d", b"#!\n"), "interpreter ''")
        endless = self.write("e", b"")
        endless.write_bytes(f"#!{endless}\n".encode())
        self.bad(endless, "too many in a row")

    @unittest.skipUnless(compiler(), "no C compiler")
    def test_static_interpreter(self):
        static = self.built("static", "-static")
        self.bad(self.write("a", f"#!{static}\n".encode()), "a static program")

    def test_missing(self):
        self.bad(self.folder / "none", "No such file")
        self.bad("no-such-program-anywhere", "PATH")
        self.bad(self.write("data", b"x", 0o644), "not a file that may be executed")
        self.bad(self.folder, "not a file that may be executed")

    def test_launchers(self):
        for name in ("docker", "podman", "sudo", "ssh"):
            self.bad(name, "does not reach it")


class Machine(Folder):
    def levels(self, check, part, **options):
        return [f["level"] for f in self.findings(**options)
                if f["check"] == check and part in f["finding"]]

    @unittest.skipIf(SANITIZED, "a sanitized build cannot be tried")
    def test_this_one(self):
        """What the other tests trace, doctor must allow."""
        found = self.findings()
        self.assertFalse([f for f in found if f["level"] == "bad"], found)
        self.assertTrue([f for f in found if "left a trace" in f["finding"]], found)
        self.assertEqual([f["check"] for f in found if f["check"] == "program"], [])

    def test_clock(self):
        self.assertEqual(self.levels("clock", "ignored", env={"IOTRACE_CLOCK": "sundial"}), ["note"])
        self.assertEqual(self.levels("clock", "forces", env={"IOTRACE_CLOCK": "monotonic"}), ["ok"])
        if not SANITIZED:
            self.assertEqual(
                self.levels("clock", "monotonic is used", env={"IOTRACE_CLOCK": "monotonic"}), ["ok"])

    def test_library(self):
        self.assertEqual(self.levels("library", "LIBIOTRACE", env={"LIBIOTRACE": "/no/such.so"}),
                         ["bad"])
        text = self.write("text.so", b"no library")
        self.assertEqual(self.levels("library", "no library for", env={"LIBIOTRACE": str(text)}),
                         ["bad"])

    @unittest.skipUnless(compiler(), "no C compiler")
    def test_a_library_that_does_not_work(self):
        silent = self.built("silent.so", "-shared", source="int f;")
        self.assertEqual(self.levels("library", "left no trace", env={"LIBIOTRACE": str(silent)}),
                         ["bad"])

    def test_folder(self):
        wanted = {"IOTRACE_DIR": str(self.folder / "not" / "there")}
        self.assertEqual(self.levels("folder", f"{self.folder} is on", env=wanted)[0] in
                         ("ok", "note"), True)
        self.assertEqual(os.listdir(self.folder), [])
        file = self.write("file", b"")
        self.assertEqual(self.levels("folder", "is no folder", env={"IOTRACE_DIR": str(file)}),
                         ["bad"])
        self.assertEqual(self.levels("folder", "no file can be made there",
                                     env={"IOTRACE_DIR": "/proc/x"}), ["bad"])

    def test_limits(self):
        def small():
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, resource.RLIM_INFINITY))
        self.assertEqual(self.levels("limits", "file size (RLIMIT_FSIZE) is limited to 67.1 MB",
                                     preexec_fn=small), ["note"])

    def test_other_tools(self):
        self.assertEqual(self.levels("gpu", "CUDA_INJECTION64_PATH is set",
                                     env={"CUDA_INJECTION64_PATH": "/x.so"}), ["note"])

    @unittest.skipIf(SANITIZED, "a sanitized build refuses what comes before its run-time")
    def test_other_preloads(self):
        self.assertEqual(self.levels("library", "LD_PRELOAD is set",
                                     env={"LD_PRELOAD": "libm.so.6"}), ["ok"])

    @unittest.skipUnless(compiler(), "no C compiler")
    def test_gpu(self):
        self.built("libcuda.so.1", "-shared", "-fPIC",
                   source="int cuDriverGetVersion(int *v);"
                          "int cuDriverGetVersion(int *v) { *v = 12040; return 0; }")
        # What of CUPTI there is is the machine's.
        self.assertIn(self.levels("gpu", "CUDA driver for 12.4",
                                  env={"LD_LIBRARY_PATH": str(self.folder)}), (["ok"], ["note"]))

    def test_the_subscriber(self):
        self.assertIn(self.levels("gpu", "libiotrace-cupti.so"), (["ok"], ["note"]))
        alone = self.folder / "libiotrace.so"
        shutil.copy(Path(IOTRACE).parent.parent / "preload" / "libiotrace.so", alone)
        self.assertEqual(self.levels("gpu", "there is no libiotrace-cupti.so",
                                     env={"LIBIOTRACE": str(alone)}), ["note"])
        for word, says in (("0", "IOTRACE_CUDA is 0"), ("full", "IOTRACE_CUDA is full, which counts for nothing")):
            self.assertEqual(self.levels("gpu", says, env={"IOTRACE_CUDA": word}), ["note"])
        for word in ("copies", "kernels"):
            self.assertEqual(self.levels("gpu", "IOTRACE_CUDA is", env={"IOTRACE_CUDA": word}), [])

    def test_python(self):
        path = self.write("python3", b"#!/bin/sh\nsleep 30\n")
        env = {"PATH": f"{path.parent}:{os.environ['PATH']}"}
        self.assertEqual(self.levels("python", "does not answer", env=env), ["note"])
        path.write_bytes(b"#!/bin/sh\nprintf '/x\\n3.99.1\\n7.0\\n\\n'\n")
        self.assertEqual(self.levels("python", "Python 3.99.1, PyTorch 7.0", env=env), ["ok"])

    def test_text(self):
        odd = self.write("odd\n\033[31m" + "x" * 150, b"\0")
        for arguments in ((), ("sh",), (odd,)):
            lines = run(*arguments).stdout.decode().splitlines()
            self.assertTrue(all(line.isprintable() for line in lines), lines)
            self.assertLessEqual(max(map(len, lines)), 80)
            words = [line[10:14].strip() for line in lines[2:] if line[10:14].strip()]
            self.assertLessEqual(set(words), {"OK", "NOTE", "BAD"})
        self.assertIn("cannot be traced", lines[0] + lines[1] + lines[2])

    def test_usage(self):
        for arguments, part in ((("--format", "xml"), "'xml'"), (("--what",), "'--what'"),
                                (("--format",), "needs a value")):
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, b""))
            self.assertIn(part, result.stderr.decode())
            self.assertEqual(len(result.stderr.splitlines()), 1)
        result = run("--help")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([IOTRACE, "doctor"], stdout=full, stderr=subprocess.PIPE,
                                    timeout=60, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"standard output", result.stderr)


class Hostile(Folder):
    """Through `run`, which looks at a file as doctor does, and has nothing else to find out."""

    def look(self, data):
        path = self.write("hostile", data)
        # The library is not there, so that nothing is started: the file is looked at first.
        result = subprocess.run([IOTRACE, "run", "--", path], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20,
                                check=False, env={**os.environ, "LIBIOTRACE": "/no/such.so"})
        self.assertEqual((result.returncode, result.stderr.count(b"\n")), (2, 1), result)
        self.assertIn(b"LIBIOTRACE is /no/such.so", result.stderr)

    def setUp(self):
        super().setUp()
        self.data = Path("/bin/sh").resolve().read_bytes()

    def test_cut_in_the_headers(self):
        for n in range(64 + 56 * 3):
            self.look(self.data[:n])
        for n in range(300, len(self.data), len(self.data) // 64):
            self.look(self.data[:n])

    def test_huge_numbers(self):
        for at in range(16, 64 + 56 * 13, 4):
            data = bytearray(self.data)
            data[at:at + 8] = b"\xff" * 7 + b"\x7f"
            self.look(data)

    def test_what_is_said_of_them(self):
        self.bad(self.write("a", self.data[:40]), "a damaged ELF file: byte 40: the header is cut")
        self.bad(self.write("b", self.data[:4096]), "is cut off")
        for at, value, part in ((54, 0, "no program headers"), (32, 2**63, "lie outside the file"),
                                (4, 7, "neither 32 nor 64"), (5, 9, "neither byte order")):
            data = bytearray(self.data)
            struct.pack_into("<Q" if at == 32 else "<B", data, at, value)
            self.bad(self.write("c", data), "a damaged ELF file", part)


if __name__ == "__main__":
    unittest.main()
