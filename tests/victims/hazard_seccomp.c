/* seccomp FOLDER WAY: after the start nothing but a few calls is allowed, and everything else
 * kills. WAY is how the filter comes: prctl, or the system call of its own; or `open`: one that
 * lets files be opened, but knows nothing of what else is asked of them. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/victims/hazard.h"

enum { CALLS = 6000 };

int main(int argc, char **argv)
{
    CHECK(argc == 3);
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
