#!/usr/bin/env python3
"""Proves the packages that scripts/packages.sh makes, as TAP.

check_packages.py [--system FILE] [FOLDER]

Of the packages in FOLDER, or, without it, of those that are made of the last commit for this: the
tarball builds and passes its tests with neither network nor git; the wheel, in a fresh virtual
environment of each Python that is there, and the Debian packages, on a clean Debian 12, pass the
README's first example, have one version, and leave nothing behind. FILE is that clean system as a
tar file; debootstrap makes it where it is missing. What a tool, the network or root is missing for
is skipped, with the reason.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copy, which

sys.dont_write_bytecode = True
from tap import Tap

TOP = Path(__file__).resolve().parent.parent
EXAMPLE = ["scripts/first_example.sh", "README.md"]
# Of a tarball with its tests; without git, and without the network that a namespace would have.
OFFLINE = """set -e
if git=$(command -v git); then mount --bind /dev/null "$git"; fi
meson setup build && ninja -C build
meson test -C build --no-rebuild --print-errorlogs --suite unit --suite house"""
# A job of two ranks, whose report two ranks of MPI make as well.
JOB = """cd /tmp
for rank in 0 1; do IOTRACE_RANK=$rank iotrace run -o job -- cat /etc/passwd >/dev/null 2>&1; done
iotrace report job -o one
mpirun --allow-run-as-root --oversubscribe -n 2 iotrace-mpi job -o many 2>said || { cat said; exit 1; }
diff one many"""
# What a package manager keeps for itself, whatever is installed, and adding users and groups.
KEPT = re.compile(r"(proc|sys|dev|run|tmp|var/(cache|log|tmp|lib/apt|lib/dpkg/(triggers|[^/]*-old|lock.*))"
                  r"|etc/(passwd|group|shadow|gshadow)-)(/|$)")
HARMLESS = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class Skipped(Exception):
    """It cannot be tried here; the message says why."""


def run(*argv, cwd=None, env=None):
    """Standard output; raises with the end of what was said if it failed."""
    done = subprocess.run([str(a) for a in argv], cwd=cwd, env={**os.environ, **(env or {})},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, argv))[:200]}: status {done.returncode}\n"
                           + "\n".join(done.stdout.splitlines()[-15:]))
    return done.stdout


def need(*tools, root=False):
    for tool in tools:
        if not which(tool):
            raise Skipped(f"{tool} is not installed")
    if root and os.geteuid():
        raise Skipped("only root can do this")


def only(folder, pattern):
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise Skipped(f"{len(found)} files {pattern} in {folder}")
    return found[0]


def paths(top, kept=re.compile(r"(?!)")):
    """All below a folder, without what is kept anyway."""
    found = set()
    for folder, folders, files in os.walk(top):
        here = Path(folder).relative_to(top)
        folders[:] = [f for f in folders if not kept.match(str(here / f))]
        found.update(str(here / name) for name in [*folders, *files])
    return {name for name in found if not kept.match(name)}


def left(before, after):
    return [f"left behind: {name}" for name in sorted(after - before)] + [
        f"gone: {name}" for name in sorted(before - after)]


def version():
    """The one that everything must have."""
    return re.search(r"^  version : '(.*)',$", (TOP / "meson.build").read_text(), re.M)[1]


# --- the tarball ---

def check_contents(folder):
    """The tarball has what git has, less what is only for a clone, and nothing else."""
    need("git")
    if not (TOP / ".git").exists():
        raise Skipped("this tree is no clone")
    names = run("tar", "-tf", only(folder, "iotrace-*.tar.xz")).splitlines()
    inside = {n.partition("/")[2] for n in names if not n.endswith("/")}
    known = {n for n in run("git", "-C", TOP, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
             if not n.startswith(("tests/fuzz/corpus/", "debian/"))}
    return left(known, inside)


def check_offline(folder, place):
    need("unshare", "meson", root=True)
    run("tar", "-xf", only(folder, "iotrace-*.tar.xz"), "-C", place)
    try:
        run("unshare", "--net", "--mount", "true")
    except RuntimeError as e:
        raise Skipped(f"no namespaces here: {e}".splitlines()[0])
    run("unshare", "--net", "--mount", "sh", "-c", OFFLINE, cwd=only(place, "iotrace-*"))


# --- the wheel ---

def pythons():
    """Each Python that starts, python3 first."""
    names = ["python3"] + [f"python3.{minor}" for minor in range(9, 20)]
    found = {}
    for name in names:
        done = subprocess.run([name, "-c", "import sys, venv; print(sys.version_info[:2] >= (3, 9), sys.base_prefix)"],
                              capture_output=True, text=True) if which(name) else None
        if done and done.returncode == 0 and done.stdout.startswith("True"):
            found.setdefault(done.stdout, name)
    return list(found.values())


def check_wheel(folder, place, python):
    wheel = only(folder, "iotrace-*.whl")
    venv = place / f"venv-{python}"
    try:
        run(python, "-m", "venv", venv)
    except RuntimeError as e:
        raise Skipped(f"{python} makes no virtual environment: {str(e).splitlines()[-1]}")
    clean = re.compile(r".*/(pip|setuptools|pkg_resources)[^/]*(/|$)")
    before = paths(venv, clean)
    run(venv / "bin/pip", "install", "--no-index", wheel, env=HARMLESS)
    path = {"PATH": f"{venv / 'bin'}:{os.environ['PATH']}"}
    bad = []
    for argv in (["iotrace", "--version"], ["python", "-m", "iotrace", "--version"]):
        said = run(venv / "bin" / argv[0], *argv[1:], env=HARMLESS).strip()
        if said != f"iotrace {version()}":
            bad.append(f"{argv}: {said}")
    if f"Version: {version()}\n" not in run(venv / "bin/pip", "show", "iotrace", env=HARMLESS):
        bad.append("pip show: another version")
    library = Path(run(venv / "bin/python", "-m", "iotrace", "--library", env=HARMLESS).strip())
    if library != venv.resolve() / "lib/iotrace/libiotrace.so":
        bad.append(f"the library is {library}")
    run(venv / "bin/iotrace", "doctor")
    run(TOP / "scripts/first_example.sh", env=path)
    run(venv / "bin/python", TOP / "tests/e2e/test_module.py", "--installed",
        env={**HARMLESS, **path, "IOTRACE": str(venv / "bin/iotrace"), "LIBIOTRACE": str(library)})
    run(venv / "bin/pip", "uninstall", "-y", "iotrace", env=HARMLESS)
    return bad + left(before, paths(venv, clean))


def check_needs(folder, place):
    """The wheel asks for libc alone, and brings the licences of what is linked into it."""
    need("readelf")
    wheel = only(folder, "iotrace-*.whl")
    run(sys.executable, "-m", "zipfile", "-e", wheel, place / "wheel")
    data = only(place / "wheel", "*.data")
    bad = [] if "-manylinux_2_" in wheel.name else [f"{wheel.name} is for this system alone"]
    for name, allowed in (("scripts/iotrace", {"libc.so.6", "libm.so.6"}),
                          ("data/lib/iotrace/libiotrace.so", {"libc.so.6"}),
                          ("data/lib/iotrace/libiotrace-cupti.so", {"libc.so.6"})):
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", data / name)))
        bad += [f"{name} needs {library}" for library in needed - allowed]
    if len(list(data.glob("purelib/iotrace/licences/*.txt"))) < 6:
        bad.append("licences of libraries are missing")
    return bad


# --- the Debian packages ---

def check_lintian(folder):
    need("lintian")
    said = run("lintian", "--fail-on", "none", "-I", only(folder, "*.changes"))
    return [line for line in said.splitlines() if line[:2] in ("E:", "W:")]


def mirror():
    """Where this machine's apt gets Debian 12 from."""
    said = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Identifier: Packages",
               "Codename: bookworm", "Component: main").split()
    if not said:
        raise Skipped("this machine's apt has no Debian 12")
    return said[0]


def clean_system(place, system):
    """A folder with a clean Debian 12."""
    need("debootstrap", "unshare", "chroot", root=True)
    root = place / "root"
    root.mkdir()
    if system and system.exists():
        run("tar", "--numeric-owner", "-xpf", system, "-C", root)
        return root
    try:
        run("debootstrap", "--variant=minbase", "bookworm", root, mirror())
    except RuntimeError as e:
        raise Skipped(f"debootstrap: {str(e).splitlines()[-1]}")
    if system:
        system.parent.mkdir(parents=True, exist_ok=True)
        run("tar", "--numeric-owner", "-cf", system, "-C", root, ".")
    return root


def check_debian(folder, place, system):
    debs = [only(folder, pattern) for pattern in ("iotrace_*.deb", "iotrace-mpi_*.deb", "libiotrace-dev_*.deb",
                                                  "python3-iotrace_*.deb")]
    root = clean_system(place, system)
    inside = root / "tmp/packages"

    def chroot(*argv):
        return run("unshare", "--mount", "--pid", "--fork", f"--mount-proc={root / 'proc'}", "chroot",
                   root, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
                   "DEBIAN_FRONTEND=noninteractive", "PYTHONDONTWRITEBYTECODE=1", *argv)

    (inside / "scripts").mkdir(parents=True)
    for name in EXAMPLE:
        copy(TOP / name, inside / name)
    for deb in debs:
        copy(deb, inside)
    proxies = [line for line in run("apt-config", "dump").splitlines() if "::proxy" in line.lower()]
    (root / "etc/apt/apt.conf.d/99proxy").write_text("\n".join(proxies) + "\n")
    copy("/etc/resolv.conf", root / "etc/resolv.conf")
    chroot("apt-get", "update", "-q")
    before = paths(root, KEPT)

    chroot("sh", "-c", "apt-get install -q -y /tmp/packages/iotrace_*.deb")
    chroot("/tmp/packages/scripts/first_example.sh")
    bad = []
    if chroot("iotrace", "--version").strip() != f"iotrace {version()}":
        bad.append("iotrace --version: another version")
    library = chroot("iotrace", "--library").strip()
    if not re.fullmatch(r"/usr/lib/[\w-]+/iotrace/libiotrace.so", library):
        bad.append(f"the library is {library}")
    chroot("iotrace", "doctor")
    chroot("sh", "-c", "apt-get install -q -y --no-install-recommends openmpi-bin /tmp/packages/*.deb")
    chroot("sh", "-ec", JOB)
    if chroot("python3", "-m", "iotrace", "--library").strip() != library:
        bad.append("python3 -m iotrace --library: another library")
    pc = only(root / "usr/lib", "*/pkgconfig/iotrace.pc").read_text()
    if f"Version: {version()}\n" not in pc or "/iotrace/libiotrace.so" not in pc:
        bad.append(f"iotrace.pc: {pc}")
    packages = [deb.name.partition("_")[0] for deb in debs]
    chroot("apt-get", "purge", "-q", "-y", "--auto-remove", "openmpi-bin", *packages)
    return bad + left(before, paths(root, KEPT))


# --- all ---

def check_versions(folder):
    want = version()
    found = {path.name: path.name.split("-", 1)[1].split("-py3")[0].removesuffix(".tar.xz")
             for pattern in ("iotrace-*.tar.xz", "iotrace-*.whl") for path in folder.glob(pattern)}
    found |= {path.name: path.name.split("_")[1].rpartition("-")[0] for path in folder.glob("*.deb")}
    return [f"{name} is of {got}, not of {want}" for name, got in found.items() if got != want]


def make(folder):
    need("git", "dpkg-buildpackage", "dh", "lintian")
    if run("git", "-C", TOP, "status", "--porcelain", "-uno"):
        raise Skipped("the tree has changes that are not committed; a tarball is made of a commit")
    try:
        run("dpkg-checkbuilddeps", cwd=TOP)
    except RuntimeError as e:
        raise Skipped(str(e).splitlines()[-1])
    run(TOP / "scripts/packages.sh", folder, env={"DEB_BUILD_OPTIONS": "nocheck parallel=2"})


def main():
    parser = argparse.ArgumentParser(description="Proves the packages that scripts/packages.sh makes.")
    parser.add_argument("--system", type=Path, metavar="FILE", help="a clean Debian 12 as a tar file")
    parser.add_argument("folder", nargs="?", type=Path, help="where the packages are")
    chosen = parser.parse_args()
    out = Tap()

    def point(name, check, *arguments):
        try:
            complaints = check(*arguments)
            out.point(not complaints, name, complaints or ())
        except Skipped as reason:
            out.skip(name, str(reason))
        except Exception as e:  # whatever a broken package brings about
            out.point(False, name, f"{type(e).__name__}: {e}")

    with tempfile.TemporaryDirectory(prefix="iotrace-packages-") as made:
        place = Path(made)
        folder = chosen.folder or place / "packages"
        if not chosen.folder:
            point("the packages are made", make, folder)
        point("the tarball has what people write", check_contents, folder)
        point("the tarball builds with neither network nor git", check_offline, folder, place)
        point("the wheel needs libc alone", check_needs, folder, place)
        for python in pythons():
            point(f"the wheel, in {python}", check_wheel, folder, place, python)
        point("lintian has nothing to say", check_lintian, folder)
        point("the Debian packages, on a clean system", check_debian, folder, place, chosen.system)
        point("all have one version", check_versions, folder)
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
