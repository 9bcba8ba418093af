/* errno FOLDER [requests]: prints what each call leaves in errno: 7777 where it leaves it alone. */
#include <dirent.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "tests/victims/hazard.h"

#define TRY(call)                                                                                  \
    do {                                                                                           \
        errno = 7777;                                                                              \
        long result = (long)(call);                                                                \
        int left = errno;                                                                          \
        printf("%-40.40s %s %d\n", #call, result == -1 ? "fails" : "works", left);                 \
    } while (0)

/* What the kernel finds out about a list of requests: a bad pointer to it, or in it, or to the
 * ring. */
static void submits(int fd, char *nowhere)
{
    char byte;
    aio_context_t context = 0;
    struct iocb good = {.aio_lio_opcode = IOCB_CMD_PREAD,
                        .aio_fildes = (uint32_t)fd,
                        .aio_buf = (uint64_t)(uintptr_t)&byte,
                        .aio_nbytes = 1};
    struct iocb *list[] = {&good, (struct iocb *)nowhere, &good};
    struct io_event events[3];
    CHECK(syscall(SYS_io_setup, 4, &context) == 0);
    TRY(syscall(SYS_io_submit, context, 1L, nowhere));
    TRY(syscall(SYS_io_submit, context, 1L, list + 1));
    TRY(syscall(SYS_io_submit, context, -1L, list));
    TRY(syscall(SYS_io_submit, nowhere, 1L, list));
    TRY(syscall(SYS_io_getevents, nowhere, 1L, 1L, events, NULL));
    CHECK(syscall(SYS_io_submit, context, 3L, list) == 1);
    CHECK(syscall(SYS_io_getevents, context, 1L, 3L, events, NULL) == 1 && events[0].res == 1);
    TRY(syscall(SYS_io_destroy, nowhere));
    CHECK(syscall(SYS_io_destroy, context) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2 && chdir(argv[1]) == 0);
    static char out[65536];
    setvbuf(stdout, out, _IOFBF, sizeof out);
    char buffer[64] = "0123456789";
    struct iovec iov = {buffer, 4};
    struct stat st;
    struct statx stx;
    int fd = -1, pair[2], status;
    const char *volatile absent = NULL;
    char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    TRY(fd = open("data", O_RDWR | O_CREAT, 0644));
    CHECK(fd >= 0);
    TRY(write(fd, buffer, 10));
    TRY(pread(fd, buffer, 4, 0));
    TRY(pwrite(fd, buffer, 4, 0));
    TRY(readv(fd, &iov, 1));
    TRY(writev(fd, &iov, 1));
    TRY(lseek(fd, 0, SEEK_SET));
    TRY(read(fd, buffer, 4));
    TRY(fstat(fd, &st));
    TRY(fsync(fd));
    TRY(ftruncate(fd, 4));
    TRY(fcntl(fd, F_GETFL));
    TRY(stat("data", &st));
    TRY(access("data", F_OK));
    TRY(mkdir("folder", 0755));
    TRY(rmdir("folder"));
    TRY(pipe(pair));
    TRY(dup(fd) >= 0);
    TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    TRY(send(pair[0], "x", 1, 0));
    TRY(recv(pair[1], buffer, 4, 0));
    TRY(usleep(1));

    TRY(open("absent", O_RDONLY));
    TRY(open(nowhere, O_RDONLY));
    TRY(open(nowhere, O_RDONLY | O_TMPFILE, 0));
    TRY(openat(-7, "absent", O_RDONLY));
    TRY(read(-1, buffer, 4));
    TRY(read(fd, nowhere, 4));
    TRY(write(4000, buffer, 4));
    TRY(pread(fd, buffer, 4, -1));
    TRY(lseek(pair[0], 0, SEEK_SET));
    TRY(close(4000));
    TRY(stat("absent", &st));
    TRY(stat(nowhere, &st));
    TRY(fstatat(AT_FDCWD, nowhere, &st, 0x4000000));
    TRY(fstatat(fd, absent, &st, AT_EMPTY_PATH) * 0); /* works since Linux 6.11 */
    TRY(statx(AT_FDCWD, nowhere, 0x4000000, 0, &stx));
    TRY(faccessat(AT_FDCWD, nowhere, 0x4000, 0));
    TRY(unlink("absent"));
    TRY(unlinkat(AT_FDCWD, nowhere, 0x4000000));
    TRY(renameat2(AT_FDCWD, nowhere, AT_FDCWD, nowhere, 0x4000000));
    TRY(linkat(AT_FDCWD, nowhere, AT_FDCWD, nowhere, 0x4000000));
    TRY(readlink(nowhere, buffer, 0));
    TRY(rename("absent", "data"));
    TRY(rename("data", nowhere));
    TRY(chdir("absent"));
    TRY(opendir("absent") ? 0 : -1);
    TRY(recv(pair[1], buffer, 4, MSG_DONTWAIT));
    TRY(execve("absent", argv, NULL));
    TRY(execve(nowhere, argv, NULL));
    TRY(waitpid(-1, &status, 0));
    TRY(fcntl(4000, F_GETFL));
    TRY(dup2(4000, 5));
    TRY(mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0));
    TRY(poll((struct pollfd *)nowhere, 1, 0));
    TRY(syscall(-1L));
    TRY(syscall(SYS_openat2, AT_FDCWD, nowhere, nowhere, 1L << 20));
    TRY(clock_nanosleep(99, 0, (struct timespec *)nowhere, NULL) * -1);
    TRY(fopen(nowhere, "q") ? 0 : -1);
    TRY(closedir((DIR *)(uintptr_t)absent));
    if (argc > 2)
        submits(fd, nowhere);

    /* The end of a directory is told by errno alone. */
    DIR *dir = opendir(".");
    CHECK(dir);
    errno = 7777;
    while (readdir(dir))
        ;
    printf("end of directory %d\n", errno);
    TRY(closedir(dir));
    TRY(close(fd));
    CHECK(fflush(stdout) == 0);
    did("write", "data", 1);
    return 0;
}
