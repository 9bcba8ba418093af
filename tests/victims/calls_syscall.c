/* calls_syscall FOLDER: what programs do by system call number, without libc's function of that
 * name. */
#include <linux/openat2.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "tests/victims/calls.h"

static char text[64];

static void bytes(int fd)
{
    struct iovec iov = {text, 10};
    MOVE("write", syscall(SYS_write, fd, text, 10), 10);
    MOVE("pwrite", syscall(SYS_pwrite64, fd, text, 10, 10), 10);
    MOVE("writev", syscall(SYS_writev, fd, &iov, 1), 10);
    MOVE("pwritev", syscall(SYS_pwritev, fd, &iov, 1, 20, 0), 10);
    MOVE("pwritev2", syscall(SYS_pwritev2, fd, &iov, 1, 30, 0, 0), 10);
    DO("lseek", syscall(SYS_lseek, fd, 0, SEEK_SET) == 0);
    MOVE("read", syscall(SYS_read, fd, text, 10), 10);
    MOVE("pread", syscall(SYS_pread64, fd, text, 10, 10), 10);
    MOVE("readv", syscall(SYS_readv, fd, &iov, 1), 10);
    MOVE("preadv", syscall(SYS_preadv, fd, &iov, 1, 20, 0), 10);
    MOVE("preadv2", syscall(SYS_preadv2, fd, &iov, 1, 30, 0, 0), 10);
    DO("fsync", syscall(SYS_fsync, fd) == 0);
    DO("fdatasync", syscall(SYS_fdatasync, fd) == 0);
    DO("ftruncate", syscall(SYS_ftruncate, fd, 100) == 0);
    DO("fallocate", syscall(SYS_fallocate, fd, 0, 0, 4096) == 0);
}

static void between(int from, int to)
{
    off64_t at = 0;
    int ends[2], others[2];
    CHECK(pipe(ends) == 0 && pipe(others) == 0);
    MOVE("sendfile", syscall(SYS_sendfile, to, from, &at, 100), 100);
    at = 0;
    MOVE("copy_file_range", syscall(SYS_copy_file_range, from, &at, to, NULL, 100, 0), 100);
    at = 0;
    MOVE("splice", syscall(SYS_splice, from, &at, ends[1], NULL, 50, 0), 50);
    MOVE("tee", syscall(SYS_tee, ends[0], others[1], 50, 0), 50);
    struct iovec iov = {text, 10};
    MOVE("vmsplice", syscall(SYS_vmsplice, ends[1], &iov, 1, 0), 10);
    MOVE("vmsplice_in", syscall(SYS_vmsplice, ends[0], &iov, 1, 0), 10);
}

static void messages(void)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    struct iovec iov = {text, 10};
    struct mmsghdr one = {.msg_hdr = {.msg_iov = &iov, .msg_iovlen = 1}};
    MOVE("sendto", syscall(SYS_sendto, ends[0], text, 10, 0, NULL, 0), 10);
    MOVE("recvfrom", syscall(SYS_recvfrom, ends[1], text, 10, 0, NULL, NULL), 10);
    MOVE("sendmsg", syscall(SYS_sendmsg, ends[0], &one.msg_hdr, 0), 10);
    MOVE("recvmsg", syscall(SYS_recvmsg, ends[1], &one.msg_hdr, 0), 10);
    CHECK(syscall(SYS_sendmmsg, ends[0], &one, 1, 0) == 1);
    say("sendmmsg", 10);
    CHECK(syscall(SYS_recvmmsg, ends[1], &one, 1, 0, NULL) == 1);
    say("recvmmsg", 10);
}

static void descriptors(int dir)
{
    struct open_how how = {.flags = O_RDONLY};
    struct statx stx;
    struct stat st;
    int fd = (int)syscall(SYS_openat2, dir, "data", &how, sizeof how);
    DO("openat", fd >= 0);
    int copy = (int)syscall(SYS_dup, fd);
    DO("dup", copy >= 0);
    DO("dup3", syscall(SYS_dup3, fd, copy, O_CLOEXEC) == copy);
    MOVE("read", read(copy, text, 10), 10);
    dprintf(1, "named read /data 20\n"); /* with the one by number */
    DO("close", syscall(SYS_close, copy) == 0);
    DO("close_range", syscall(SYS_close_range, fd, fd, 0) == 0);
    DO("memfd_create", syscall(SYS_memfd_create, "number", 0) >= 0);
    DO("eventfd", syscall(SYS_eventfd2, 0, 0) >= 0);
    DO("statx", syscall(SYS_statx, dir, "data", 0, STATX_SIZE, &stx) == 0);
    DO("fstatat", syscall(SYS_newfstatat, dir, "data", &st, 0) == 0);
    DO("mkdirat", syscall(SYS_mkdirat, dir, "sub", 0755) == 0);
    DO("renameat2", syscall(SYS_renameat2, dir, "sub", dir, "other", 0) == 0);
    DO("unlinkat", syscall(SYS_unlinkat, dir, "other", AT_REMOVEDIR) == 0);
    char room[4096];
    DO("readdir", syscall(SYS_getdents64, dir, room, sizeof room) > 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 && chdir(argv[1]) == 0);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "data", O_RDWR | O_CREAT, 0644);
    DO("openat", fd >= 0);
    int to = open_in(argv[1], "copy"), dir = open(".", O_RDONLY | O_DIRECTORY);
    CHECK(to >= 0 && dir >= 0 && fcntl(to, F_SETFL, 0) == 0);
    bytes(fd);
    between(fd, to);
    messages();
    descriptors(dir);
    say_all();
    return 0;
}
