#include "preload/confine.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "preload/faults.h"
#include "preload/process.h"
#include "preload/record.h"
#include "preload/residency.h"
#include "preload/sys.h"

int iot_confines(long number, const long a[6])
{
    return (number == SYS_seccomp &&
            (a[0] == SECCOMP_SET_MODE_STRICT || a[0] == SECCOMP_SET_MODE_FILTER)) ||
           (number == SYS_prctl && a[0] == PR_SET_SECCOMP);
}

/* What is asked of the kernel once recording has begun, in a form that does nothing. */
static const struct {
    long number, a, b, c;
} ours[] = {
    {SYS_madvise, 0, 0, 0},        {SYS_rt_sigprocmask, 0, 0, 0}, {SYS_sigaltstack, 0, 0, 0},
    {SYS_fstat, -1, 0, 0},         {SYS_readlinkat, -1, 0, 0},    {SYS_fcntl, -1, F_GETFL, 0},
    {SYS_openat, -1, 0, 0},        {SYS_read, -1, 0, 0},          {SYS_close, -1, 0, 0},
    {SYS_mmap, 0, 0, 0},           {SYS_munmap, 0, 0, 0},         {SYS_truncate, 0, 0, 0},
    {SYS_ftruncate, -1, 0, 0},     {SYS_unlinkat, -1, 0, 0},      {SYS_faccessat, -1, 0, 0},
    {SYS_sched_yield, 0, 0, 0},    {SYS_getcwd, 0, 0, 0},         {SYS_prlimit64, 0, 0, 0},
    {SYS_getpid, 0, 0, 0},         {SYS_getppid, 0, 0, 0},        {SYS_gettid, 0, 0, 0},
    {SYS_clock_gettime, -1, 0, 0}, {SYS_getsockname, -1, 0, 0},   {SYS_getpeername, -1, 0, 0},
    {SYS_getsockopt, -1, 0, 0},
};

/* A child that gives no SIGCHLD, and that no wait of the program's finds, puts the filter in place
 * for itself and tries. With every signal held back the program's handler of SIGSYS does not run.
 */
static int is_deadly(long number, const long a[6])
{
    enum { WAIT_FOR_ALL_KINDS = 0x40000000 }; /* __WALL */
    if (number == SYS_seccomp && (unsigned long)a[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER)
        return 1; /* it would wait for an answer */
    int status = -1;
    uint64_t signals = iot_signals_hold();
    long child = iot_sys(SYS_clone, 0);
    if (child == 0) {
        iot_sys(SYS_prctl, PR_SET_DUMPABLE, 0); /* no core */
        if (iot_sys6(number, a[0], a[1], a[2], a[3], a[4], a[5]) >= 0)
            for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
                iot_sys(ours[i].number, ours[i].a, ours[i].b, ours[i].c);
        iot_sys(SYS_exit_group, 0);
    }
    iot_signals_release(signals);
    if (child < 0)
        return 1;
    while (iot_sys(SYS_wait4, child, &status, WAIT_FOR_ALL_KINDS, 0) == -EINTR)
        continue;
    return status != 0;
}

int iot_confine_before(long number, const long a[6])
{
    struct iot_thread *t = iot_enter_always();
    iot_residency_stop();
    iot_faults_stop();
    if (!t || iot_confined || !is_deadly(number, a))
        return 0;
    iot_process_confine(t);
    return 1;
}

void iot_confine_after(int confined, long result)
{
    if (confined && result < 0)
        iot_process_free();
}
