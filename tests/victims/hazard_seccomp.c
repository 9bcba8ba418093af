/* seccomp FOLDER WAY: after the start nothing but a few calls is allowed, and everything else
 * kills. WAY is how the filter comes: prctl, or the system call of its own; or `open`: one that
 * lets files be opened, but knows nothing of what else is asked of them; or `few`: one that kills
 * only for a few calls that this program never makes. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/victims/hazard.h"

enum { CALLS = 6000 };

#define LOAD BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define IS(number, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, skip, 0)

/* Reads by a mapping, and writes now and then. */
static int kills_for_few(const char *folder)
{
    struct sock_filter filter[] = {
        LOAD,
        IS(SYS_getrusage, 6),
        IS(SYS_fstatfs, 5),
        IS(SYS_mincore, 4),
        IS(SYS_wait4, 3),
        IS(SYS_clone, 2),
        IS(SYS_process_vm_readv, 1),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    int fd = open_in(folder, "data");
    CHECK(ftruncate(fd, 1 << 20) == 0);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    volatile char *before = mmap(NULL, 1 << 20, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    volatile char *after = mmap(NULL, 1 << 20, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(before != MAP_FAILED && after != MAP_FAILED);
    for (int i = 0; i < 200; i++) {
        CHECK(before[i * 4096] == 0 && after[i * 4096] == 0);
        usleep(200);
        CHECK(lseek(fd, 0, SEEK_SET) == 0);
    }
    CHECK(munmap((void *)before, 1 << 20) == 0);
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    if (!strcmp(argv[2], "few"))
        return kills_for_few(argv[1]);
    static const long allowed[] = {SYS_read,         SYS_write,  SYS_exit_group, SYS_futex,
                                   SYS_rt_sigreturn, SYS_openat, SYS_close};
    int opens = strcmp(argv[2], "open") == 0;
    enum { N = sizeof allowed / sizeof *allowed };
    struct sock_filter filter[N + 3] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (size_t i = 0; i < N; i++)
        filter[1 + i] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(i < N - 2 || opens ? allowed[i] : allowed[0]),
            (unsigned char)(N - i), 0);
    filter[N + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    filter[N + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {N + 3, filter};

    int fd = open_in(argv[1], "data");
    char text[64];
    int n = snprintf(text, sizeof text, "did write data %d\n%s", CALLS,
                     opens ? "did write later 10\n" : "");
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (strcmp(argv[2], "syscall"))
        CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    else
        CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
    for (int i = 0; i < CALLS; i++)
        if (write(fd, "x", 1) != 1)
            _exit(1);
    if (opens)
        write_in(argv[1], "later", 10);
    if (write(1, text, (size_t)n) != n)
        _exit(1);
    return 0;
}
