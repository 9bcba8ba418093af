/* calls_files FOLDER: every call on names, attributes and descriptors that the other victims leave
 * out. */
#include <dirent.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <utime.h>

#include "tests/victims/calls.h"

static char text[64] = "0123456789abcdef";

static void bytes(int fd)
{
    MOVE("write", CALL(ssize_t, __write, (int, const void *, size_t), (fd, text, 16)), 16);
    MOVE("pwrite",
         CALL(ssize_t, __pwrite64, (int, const void *, size_t, off64_t), (fd, text, 16, 16)), 16);
    DO("lseek", CALL(off_t, __lseek, (int, off_t, int), (fd, 0, SEEK_SET)) == 0);
    DO("lseek", CALL(off_t, llseek, (int, off_t, int), (fd, 0, SEEK_SET)) == 0);
    MOVE("read", CALL(ssize_t, __read, (int, void *, size_t), (fd, text, 8)), 8);
    MOVE("pread", CALL(ssize_t, __pread64, (int, void *, size_t, off64_t), (fd, text, 8, 8)), 8);
    DO("fallocate", fallocate(fd, 0, 0, 4096) == 0);
    DO("fallocate", fallocate64(fd, 0, 0, 4096) == 0);
    DO("fallocate", posix_fallocate(fd, 0, 4096) == 0);
    DO("fallocate", posix_fallocate64(fd, 0, 4096) == 0);
    DO("fadvise", posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL) == 0);
    DO("fadvise", posix_fadvise64(fd, 0, 0, POSIX_FADV_WILLNEED) == 0);
    DO("readahead", readahead(fd, 0, 4096) == 0);
    DO("fdatasync", fdatasync(fd) == 0);
    DO("sync_file_range", sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) == 0);
    DO("syncfs", syncfs(fd) == 0);
    sync();
    say("sync", 0);
    DO("flock", flock(fd, LOCK_EX) == 0);
    DO("flock", flock(fd, LOCK_UN) == 0);
    DO("lockf", lockf(fd, F_LOCK, 1) == 0);
    DO("lockf", lockf64(fd, F_ULOCK, 1) == 0);
}

static void between(int from, const char *folder)
{
    int to = open_in(folder, "copy"), ends[2], others[2];
    CHECK(fcntl(to, F_SETFL, 0) == 0);
    off_t at = 0;
    off64_t at64 = 0;
    say("fcntl", 0);
    MOVE("sendfile", sendfile(to, from, &at, 100), 100);
    MOVE("sendfile", sendfile64(to, from, &at64, 100), 100);
    at64 = 0;
    MOVE("copy_file_range", copy_file_range(from, &at64, to, NULL, 1000, 0), 1000);
    DO("pipe2", pipe2(ends, O_CLOEXEC) == 0);
    DO("pipe", CALL(int, __pipe, (int *), (others)) == 0);
    at64 = 0;
    MOVE("splice", splice(from, &at64, ends[1], NULL, 200, 0), 200);
    MOVE("tee", tee(ends[0], others[1], 200, 0), 200);
    struct iovec iov = {text, 10};
    MOVE("vmsplice", vmsplice(ends[1], &iov, 1, 0), 10);
    iov.iov_len = 5;
    MOVE("vmsplice_in", vmsplice(ends[0], &iov, 1, 0), 5);
    DO("close", CALL(int, __close, (int), (to)) == 0);
    DO("dup2", CALL(int, __dup2, (int, int), (ends[0], others[0])) == others[0]);
    DO("fcntl", CALL(int, __fcntl, (int, int, ...), (ends[0], F_GETFL)) >= 0);
}

static void attributes(int fd, const char *path, int dir)
{
    struct stat st;
    struct stat64 st64;
    struct statfs fs;
    struct statfs64 fs64;
    struct statvfs vfs;
    struct statvfs64 vfs64;
    const struct timespec now[2] = {{1, 0}, {1, 0}};
    const struct timeval then[2] = {{1, 0}, {1, 0}};
    const struct utimbuf when = {1, 1};
    uid_t me = getuid();
    gid_t us = getgid();
    DO("stat", stat64(path, &st64) == 0);
    DO("lstat", lstat64(path, &st64) == 0);
    DO("fstat", fstat64(fd, &st64) == 0);
    DO("fstatat", fstatat64(dir, "data", &st64, 0) == 0);
    DO("statfs", statfs(path, &fs) == 0);
    DO("statfs", CALL(int, __statfs, (const char *, struct statfs *), (path, &fs)) == 0);
    DO("statfs", statfs64(path, &fs64) == 0);
    DO("statfs", statvfs(path, &vfs) == 0);
    DO("statfs", statvfs64(path, &vfs64) == 0);
    DO("fstatfs", fstatfs(fd, &fs) == 0);
    DO("fstatfs", fstatfs64(fd, &fs64) == 0);
    DO("fstatfs", fstatvfs(fd, &vfs) == 0);
    DO("fstatfs", fstatvfs64(fd, &vfs64) == 0);
    DO("access", eaccess(path, R_OK) == 0);
    DO("access", euidaccess(path, R_OK) == 0);
    DO("chmod", chmod(path, 0600) == 0);
    DO("chmod", fchmodat(dir, "data", 0600, 0) == 0);
    if (lchmod(path, 0600) == 0) /* not to be had everywhere */
        say("chmod", 0);
    DO("fchmod", fchmod(fd, 0644) == 0);
    DO("chown", chown(path, me, us) == 0);
    DO("chown", lchown(path, me, us) == 0);
    DO("chown", fchownat(dir, "data", me, us, 0) == 0);
    DO("fchown", fchown(fd, me, us) == 0);
    DO("utimens", utimensat(dir, "data", now, 0) == 0);
    DO("utimens", futimesat(dir, "data", then) == 0);
    DO("utimens", utime(path, &when) == 0);
    DO("utimens", utimes(path, then) == 0);
    DO("utimens", lutimes(path, then) == 0);
    DO("futimens", futimens(fd, now) == 0);
    DO("futimens", futimes(fd, then) == 0);
    CHECK(fstat(fd, &st) == 0 && st.st_mtime == 1);
    say("fstat", 0);
}

/* A file system without them says so; the calls are made all the same. */
static void extended(int fd, const char *path)
{
    char value[64];
    int has = setxattr(path, "user.a", "1", 1, 0) == 0;
    CHECK(has || errno == ENOTSUP);
    if (has)
        say("setxattr", 0);
    if (lsetxattr(path, "user.b", "2", 1, 0) == 0)
        say("setxattr", 0);
    if (fsetxattr(fd, "user.c", "3", 1, 0) == 0)
        say("fsetxattr", 0);
    if (getxattr(path, "user.a", value, sizeof value) == 1)
        say("getxattr", 0);
    if (lgetxattr(path, "user.b", value, sizeof value) == 1)
        say("getxattr", 0);
    if (fgetxattr(fd, "user.c", value, sizeof value) == 1)
        say("fgetxattr", 0);
    if (listxattr(path, value, sizeof value) >= 0)
        say("listxattr", 0);
    if (llistxattr(path, value, sizeof value) >= 0)
        say("listxattr", 0);
    if (flistxattr(fd, value, sizeof value) >= 0)
        say("flistxattr", 0);
    if (removexattr(path, "user.a") == 0)
        say("removexattr", 0);
    if (lremovexattr(path, "user.b") == 0)
        say("removexattr", 0);
    if (fremovexattr(fd, "user.c") == 0)
        say("fremovexattr", 0);
}

static void names(int dir)
{
    char name[4096];
    dev_t none = 0;
    DO("mkdirat", mkdirat(dir, "sub", 0755) == 0);
    DO("mknod", mkfifo("fifo", 0600) == 0);
    DO("mknod", mkfifoat(dir, "fifo2", 0600) == 0);
    DO("mknod", mknod("node", S_IFREG | 0600, 0) == 0);
    DO("mknod", mknodat(dir, "node2", S_IFREG | 0600, 0) == 0);
    DO("mknod", CALL(int, __xmknod, (int, const char *, mode_t, dev_t *),
                     (0, "node3", S_IFREG | 0600, &none)) == 0);
    DO("mknod", CALL(int, __xmknodat, (int, int, const char *, mode_t, dev_t *),
                     (0, dir, "node4", S_IFREG | 0600, &none)) == 0);
    DO("link", link("node", "linked") == 0);
    DO("symlink", symlinkat("node", dir, "symbolic") == 0);
    DO("readlink", readlinkat(dir, "symbolic", name, sizeof name) == 4);
    DO("renameat", renameat(dir, "linked", dir, "renamed") == 0);
    DO("remove", remove("renamed") == 0);
    DO("realpath", realpath("symbolic", name) == name);
    DO("realpath", CALL(char *, __realpath_chk, (const char *, char *, size_t),
                        ("node", name, sizeof name)) == name);
    char *whole = canonicalize_file_name("node");
    DO("realpath", whole);
    free(whole);
    DO("fchdir", fchdir(dir) == 0);
}

static void born(void)
{
    char pattern[9][32];
    for (int k = 0; k < 9; k++)
        strcpy(pattern[k], k < 5 ? "tempXXXXXX" : "tempXXXXXX.end");
    DO("mkstemp", mkstemp(pattern[0]) >= 0);
    DO("mkstemp", mkstemp64(pattern[1]) >= 0);
    DO("mkstemp", mkostemp(pattern[2], O_CLOEXEC) >= 0);
    DO("mkstemp", mkostemp64(pattern[3], O_CLOEXEC) >= 0);
    DO("mkstemp", mkstemps(pattern[5], 4) >= 0);
    DO("mkstemp", mkstemps64(pattern[6], 4) >= 0);
    DO("mkstemp", mkostemps(pattern[7], 4, O_CLOEXEC) >= 0);
    int last = mkostemps64(pattern[8], 4, O_CLOEXEC);
    DO("mkstemp", last >= 0);
    MOVE("write", write(last, text, 7), 7);
    dprintf(1, "named write %s 7\n", pattern[8]);
    DO("mkdtemp", mkdtemp(pattern[4]) == pattern[4]);
    int fd = shm_open("/iotrace-calls", O_RDWR | O_CREAT, 0600);
    DO("shm_open", fd >= 0);
    DO("shm_unlink", shm_unlink("/iotrace-calls") == 0);
    fd = memfd_create("calls", 0);
    DO("memfd_create", fd >= 0);
    MOVE("write", write(fd, text, 3), 3);
    dprintf(1, "named write /memfd:calls 3\n");
    fd = CALL(int, __open, (const char *, int, ...), ("data", O_RDONLY));
    DO("open", fd >= 0);
    DO("open", CALL(int, __open64, (const char *, int, ...), ("data", O_RDONLY)) >= 0);
    FILE *unnamed = tmpfile(), *other = tmpfile64();
    DO("tmpfile", unnamed);
    DO("tmpfile", other);
}

static int all(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int all64(const struct dirent64 *entry)
{
    return entry->d_name[0] != '.';
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void folders(int dir)
{
    struct dirent **list, entry, *found;
    struct dirent64 **list64, entry64, *found64;
    char room[4096];
    off_t base;
    off64_t base64;
    int copy = dup(dir);
    DO("dup", copy >= 0);
    DIR *folder = fdopendir(copy);
    DO("opendir", folder);
    DO("readdir", readdir64(folder));
    DO("readdir", readdir_r(folder, &entry, &found) == 0 && found);
    DO("readdir", readdir64_r(folder, &entry64, &found64) == 0 && found64);
    DO("scandir", scandir(".", &list, all, alphasort) > 0);
    DO("scandir", scandir64(".", &list64, all64, alphasort64) > 0);
    DO("scandir", scandirat(dir, ".", &list, all, alphasort) > 0);
    DO("scandir", scandirat64(dir, ".", &list64, all64, alphasort64) > 0);
    CHECK(lseek(dir, 0, SEEK_SET) == 0);
    say("lseek", 0);
    DO("readdir", getdents64(dir, room, sizeof room) > 0);
    DO("readdir", getdirentries(dir, room, sizeof room, &base) >= 0);
    DO("readdir", getdirentries64(dir, room, sizeof room, &base64) >= 0);
}

static void memory(int fd)
{
    char *at = mmap64(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    DO("mmap", at != MAP_FAILED);
    DO("madvise", madvise(at, 4096, MADV_WILLNEED) == 0);
    DO("madvise", posix_madvise(at, 8192, POSIX_MADV_SEQUENTIAL) == 0);
    DO("mlock", mlock(at, 4096) == 0);
    DO("mlock", mlock2(at, 4096, MLOCK_ONFAULT) == 0);
    CHECK(munlock(at, 4096) == 0);
    DO("msync", msync(at, 4096, MS_SYNC) == 0);
    void *to = mremap(at, 8192, 16384, MREMAP_MAYMOVE);
    DO("mremap", to != MAP_FAILED);
    DO("munmap", munmap(to, 16384) == 0);
    struct rlimit limit;
    struct rlimit64 limit64;
    CHECK(prlimit(0, RLIMIT_CORE, NULL, &limit) == 0);
    CHECK(prlimit64(0, RLIMIT_CORE, NULL, &limit64) == 0);
    CHECK(setrlimit64(RLIMIT_CORE, &limit64) == 0);

    /* The old one cannot be linked with any more. */
    char *(*old)(const char *);
    *(void **)&old = dlsym(RTLD_DEFAULT, "__secure_getenv");
    const char *path = getenv("PATH");
    CHECK(path && secure_getenv("PATH") == path && (!old || old("PATH") == path));
    CHECK(!getenv("CUDA_INJECTION64_PATH"));
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 && chdir(argv[1]) == 0);
    int fd = open_in(argv[1], "data"), dir = open(".", O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0 && dir >= 0 && fcntl(fd, F_SETFL, 0) == 0);
    say("open", 0);
    say("open", 0);
    say("open", 0); /* the copy's */
    say("fcntl", 0);
    bytes(fd);
    between(fd, argv[1]);
    attributes(fd, "data", dir);
    extended(fd, "data");
    names(dir);
    born();
    folders(dir);
    memory(fd);
    say_all();
    return 0;
}
