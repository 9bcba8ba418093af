/* unreadable FOLDER: names memory to the kernel that is not there, or that it refuses to look at,
 * and prints what comes of it: each call fails, or does what it can, and none dies. */
#include <aio.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <linux/openat2.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/victims/hazard.h"

#define TRY(call)                                                                                  \
    do {                                                                                           \
        errno = 7777;                                                                              \
        long result = (long)(call);                                                                \
        int left = errno;                                                                          \
        printf("%-50.50s %ld %d\n", #call, result, left);                                          \
    } while (0)

static void asynchronous(int fd, char *nowhere)
{
    static char byte[8];
    struct iocb request = {.aio_lio_opcode = IOCB_CMD_PREAD,
                           .aio_fildes = (unsigned)fd,
                           .aio_buf = (uint64_t)(uintptr_t)byte,
                           .aio_nbytes = 1};
    struct iocb *list[] = {&request, (struct iocb *)nowhere, NULL};
    struct io_event events[4];
    aio_context_t context = 0;
    struct aiocb *volatile none = NULL;
    struct aiocb **volatile nothing = NULL;

    TRY(aio_fsync(12345, none));
    TRY(lio_listio(77, nothing, 3, NULL));
    TRY(syscall(SYS_io_submit, nowhere, 1L, list));
    TRY(syscall(SYS_io_submit, byte + 1, 1L, list));
    TRY(syscall(SYS_io_getevents, nowhere, 0L, 1L, events, NULL));
    TRY(syscall(SYS_io_destroy, nowhere));
    if (syscall(SYS_io_setup, 8, &context))
        return;
    TRY(syscall(SYS_io_submit, context, 1L, nowhere));
    TRY(syscall(SYS_io_submit, context, 1L, list + 1));
    TRY(syscall(SYS_io_submit, context, -1L, list));
    TRY(syscall(SYS_io_submit, context, 3L, list));
    TRY(syscall(SYS_io_submit, context, LONG_MAX, list));
    TRY(syscall(SYS_io_getevents, context, 2L, 4L, events, NULL));
    TRY(syscall(SYS_io_destroy, context));
    TRY(syscall(SYS_io_getevents, context, 0L, 1L, events, NULL));
}

static void programs(char *nowhere)
{
    char *arguments[] = {"true", NULL}, *bad[] = {"A=1", nowhere, NULL};
    char *const *list = (char *const *)nowhere;
    pid_t pid;

    TRY(execve(nowhere, list, list));
    TRY(execve("/bin/true", list, list));
    TRY(execve("/bin/true", arguments, list));
    TRY(execve("/bin/true", arguments, bad));
    TRY(execve("/bin/true", bad, arguments));
    TRY(execve("/absent", arguments, list));
    TRY(fexecve(-1, arguments, list));
    TRY(execveat(AT_FDCWD, nowhere, list, list, -1));
    TRY(posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, list));
    TRY(posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, bad));
}

int main(int argc, char **argv)
{
    static char out[65536];
    CHECK(argc == 2 && chdir(argv[1]) == 0);
    setvbuf(stdout, out, _IOFBF, sizeof out);
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && munmap(memory + 4096, 4096) == 0);
    char *nowhere = memory + 4096;
    int fd = open_in(argv[1], "data");
    write_to(fd, 1);
    struct open_how *volatile how = NULL;
    const struct timespec *volatile when = NULL;
    memory[4095] = '/'; /* a name that has no end */

    TRY(syscall(SYS_openat2, AT_FDCWD, "data", how, 8192L));
    TRY(syscall(SYS_openat2, AT_FDCWD, "data", nowhere, sizeof *how));
    TRY(link("/absent", nowhere));
    TRY(link("/absent", memory + 4095));
    TRY(syscall(SYS_linkat, AT_FDCWD, "/absent", AT_FDCWD, nowhere, 0));
    TRY(truncate(nowhere, -1));
    TRY(access(memory + 4095, 0xff));
    TRY(open(memory + 4095, O_RDONLY));
    TRY(clock_nanosleep(999, 0, when, NULL));
    asynchronous(fd, nowhere);
    programs(nowhere);
    CHECK(fflush(stdout) == 0);
    did("write", "data", 1);
    return 0;
}
