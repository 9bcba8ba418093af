/* How threads and processes begin, end, and are waited for. */
#include "preload/life.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "preload/environment.h"
#include "preload/faults.h"
#include "preload/mappings.h"
#include "preload/own_threads.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/sys.h"
#include "preload/uring.h"
#include "preload/wrap.h"

/* --- beginning and end of a thread --- */

static pthread_key_t key; /* its destructor runs when a thread ends, however it does */

static void moment(struct iot_thread *t, const struct iot_row *of)
{
    struct iot_row row = *of;
    row.t0 = row.t1 = iot_now();
    iot_event(t, &row);
}

/* Other keys' destructors may do I/O after ours: come last, as far as libc lets us. */
static void thread_ends(void *user)
{
    struct iot_thread *t = user;
    if (!iot_is_here(t))
        return;
    t->depth = 0; /* a thread may be cancelled in the middle of a record */
    if (++t->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(key, t);
        return;
    }
    iot_faults_look(t);
    char name[16] = "";
    iot_sys(SYS_prctl, PR_GET_NAME, name);
    struct iot_row row = {.op = IOT_OP_THREAD_EXIT};
    memcpy(&row.offset, name, 8);
    memcpy(&row.addr, name + 8, 8);
    moment(t, &row);
    iot_local.attaching = 1; /* what still comes is dropped and counted */
    iot_local.thread = NULL;
    iot_thread_give_back(t);
}

int iot_life_start(void)
{
    return pthread_key_create(&key, thread_ends) ? -1 : 0;
}

void iot_life_began(struct iot_thread *t, uint32_t parent_lane)
{
    pthread_setspecific(key, t);
    if (t->lane == 0)
        moment(t, &(struct iot_row){.obj = iot_process->file->parent_lane,
                                    .result = iot_process->file->ppid,
                                    .op = IOT_OP_START});
    else
        moment(t,
               &(struct iot_row){.obj = parent_lane, .result = t->tid, .op = IOT_OP_THREAD_START});
}

/* Lanes of threads by their pthread_t, the latest, for who waits for one that has not begun yet. */
static struct {
    pthread_t thread;
    uint32_t lane_plus_1;
} started[256];

static void remember(pthread_t thread, uint32_t lane)
{
    size_t k = (thread >> 12) % (sizeof started / sizeof *started);
    started[k].lane_plus_1 = 0;
    __atomic_store_n(&started[k].thread, thread, __ATOMIC_RELEASE);
    __atomic_store_n(&started[k].lane_plus_1, lane + 1, __ATOMIC_RELEASE);
}

static uint32_t remembered(pthread_t thread)
{
    size_t k = (thread >> 12) % (sizeof started / sizeof *started);
    if (__atomic_load_n(&started[k].thread, __ATOMIC_ACQUIRE) != thread)
        return UINT32_MAX;
    return __atomic_load_n(&started[k].lane_plus_1, __ATOMIC_ACQUIRE) - 1;
}

/* A thread's storage lies at the same distance from its pthread_t as ours from our own, and stays
 * until the thread has been joined. One that has not begun has none yet. */
static uint32_t lane_of(pthread_t thread)
{
    ptrdiff_t distance = (char *)&iot_local - (char *)pthread_self();
    const struct iot_local *its = (const struct iot_local *)((char *)thread + distance);
    return __atomic_load_n(&its->lane_plus_1, __ATOMIC_ACQUIRE) - 1;
}

uint32_t iot_life_tid(pthread_t thread)
{
    ptrdiff_t distance = (char *)&iot_local - (char *)pthread_self();
    const struct iot_local *its = (const struct iot_local *)((char *)thread + distance);
    const struct iot_thread *t = __atomic_load_n(&its->thread, __ATOMIC_ACQUIRE);
    return t ? t->tid : 0;
}

static void *thread_begins(void *user)
{
    struct iot_thread *t = user;
    void *(*routine)(void *) = t->routine;
    void *argument = t->argument;
    iot_thread_adopt(t, t->parent_lane);
    remember(pthread_self(), t->lane);
    return routine(argument);
}

static int c11_thread_begins(void *user)
{
    struct iot_thread *t = user;
    thrd_start_t routine = (thrd_start_t)(void (*)(void))t->routine;
    void *argument = t->argument;
    iot_thread_adopt(t, t->parent_lane);
    remember(pthread_self(), t->lane);
    return routine(argument);
}

/* The thread's buffers and lane are made before it: it may have come and gone when the call
 * returns. `ours`: the arguments with our routine in the place of theirs; `of_tracer`: what makes a
 * thread that is none of the program's. */
#define CREATE(sym, params, args, ours, failed, of_tracer)                                         \
    int sym params                                                                                 \
    {                                                                                              \
        if (iot_own_code_has((uintptr_t)routine))                                                  \
            return of_tracer;                                                                      \
        struct iot_thread *t = iot_enter();                                                        \
        struct iot_thread *child = t ? iot_thread_take() : NULL;                                   \
        if (!child)                                                                                \
            return iot_real.sym args;                                                              \
        child->routine = (void *(*)(void *))(void (*)(void))routine;                               \
        child->argument = argument;                                                                \
        child->parent_lane = t->lane;                                                              \
        uint32_t lane = child->lane;                                                               \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        int result = iot_real.sym ours;                                                            \
        call.t1 = iot_now();                                                                       \
        call.err = failed;                                                                         \
        if (result)                                                                                \
            iot_thread_give_back(child);                                                           \
        return (int)iot_timed_event(                                                               \
            t, call,                                                                               \
            &(struct iot_row){.result = result, .obj = lane, .op = IOT_OP_THREAD_CREATE});         \
    }

CREATE(pthread_create,
       (pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
        void *(*routine)(void *), void *restrict argument),
       (thread, attributes, routine, argument), (thread, attributes, thread_begins, child), result,
       iot_own_thread_create(thread, attributes, routine, argument))
CREATE(thrd_create, (thrd_t * thread, thrd_start_t routine, void *argument),
       (thread, routine, argument), (thread, c11_thread_begins, child),
       result == thrd_success ? 0 : EAGAIN, iot_real.thrd_create(thread, routine, argument))

#define JOIN(sym, params, args)                                                                    \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        uint32_t lane = lane_of(thread);                                                           \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        int joined = iot_real.sym args;                                                            \
        call.t1 = iot_now();                                                                       \
        call.err = joined;                                                                         \
        if (lane == UINT32_MAX && !joined)                                                         \
            lane = remembered(thread);                                                             \
        return (int)iot_timed_event(                                                               \
            t, call, &(struct iot_row){.result = joined, .obj = lane, .op = IOT_OP_JOIN});         \
    }

JOIN(pthread_join, (pthread_t thread, void **result), (thread, result))
JOIN(pthread_tryjoin_np, (pthread_t thread, void **result), (thread, result))
JOIN(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until),
     (thread, result, until))
JOIN(pthread_clockjoin_np,
     (pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
     (thread, result, clock, until))
JOIN(thrd_join, (thrd_t thread, int *result), (thread, result))

/* --- children --- */

#define FORK(sym)                                                                                  \
    pid_t sym(void)                                                                                \
    {                                                                                              \
        struct iot_thread *t = iot_enter_always();                                                 \
        if (!t)                                                                                    \
            return iot_real.sym();                                                                 \
        IOT_TIMED(pid_t, sym, ())                                                                  \
        if (result == 0) {                                                                         \
            iot_enter_always(); /* a trace of its own, from the first moment */                    \
            return 0;                                                                              \
        }                                                                                          \
        return (pid_t)iot_timed_event(t, call,                                                     \
                                      &(struct iot_row){.result = result, .op = IOT_OP_FORK});     \
    }

FORK(fork)
FORK(__fork)
FORK(_Fork)

/* As libc has it, by calls that are seen: the parent ends in it. */
int daemon(int stay, int keep)
{
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child > 0)
        _exit(0);
    if (setsid() < 0)
        return -1;
    if (!stay)
        (void)!chdir("/");
    if (keep)
        return 0;
    struct stat st;
    int null = open("/dev/null", O_RDWR);
    if (null < 0)
        return -1;
    if (iot_sys(SYS_fstat, null, &st) || !S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3)) {
        close(null);
        errno = ENODEV;
        return -1;
    }
    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
    return 0;
}

/* Called by vfork (vfork.S) before the child is made; the child and then the parent call the
 * second. While the child lives its parent's thread stands still, so that it can use its buffers.
 */
void iot_vfork_before(void);
pid_t iot_vfork_after(long result);

/* The vforks that have not come back, of children within children: all of them run in this thread.
 */
enum { VFORKS_MAX = 4 };
static __thread struct {
    uint32_t pid; /* vfork_pid of who called it */
    uint64_t t0;
} vforks[VFORKS_MAX] __attribute__((tls_model("initial-exec")));
static __thread unsigned n_vforks __attribute__((tls_model("initial-exec")));

void iot_vfork_before(void)
{
    const struct iot_thread *t = iot_enter_always();
    uint32_t pid = t ? t->vfork_pid : 0;
    if (!pid)
        n_vforks = 0; /* what a child has left that was killed */
    if (n_vforks == VFORKS_MAX)
        return;
    vforks[n_vforks].pid = pid;
    vforks[n_vforks++].t0 = iot_now();
}

/* When the caller's vfork began; of one within too many others: now. */
static uint64_t vfork_began(uint32_t pid)
{
    while (n_vforks > 0)
        if (vforks[--n_vforks].pid == pid)
            return vforks[n_vforks].t0;
    return iot_now();
}

pid_t iot_vfork_after(long result)
{
    if (result < 0)
        errno = (int)-result;
    struct iot_thread *t = iot_enter_always();
    if (t && result == 0) {
        long pid = iot_sys(SYS_getpid);
        uint32_t parent = t->vfork_pid ? t->vfork_pid : iot_process->pid;
        t->vfork_pid = pid > 0 ? (uint32_t)pid : UINT32_MAX; /* behind a filter it is not known */
        if (pid > 0)
            moment(t, &(struct iot_row){.result = parent,
                                    .offset = t->vfork_pid,
                                    .obj2 = 1,
                                    .obj = t->lane,
                                    .op = IOT_OP_START});
    } else if (t) {
        long pid = iot_sys(SYS_getpid);
        int child = pid > 0 && (uint32_t)pid != iot_process->pid; /* a child can be a parent */
        t->vfork_pid = child ? (uint32_t)pid : 0;
        iot_environment_done(t);
        iot_event(t, &(struct iot_row){.t0 = vfork_began(t->vfork_pid),
                                       .t1 = iot_now(),
                                       .result = result < 0 ? -1 : result,
                                       .err = (uint16_t)(result < 0 ? -result : 0),
                                       .op = IOT_OP_VFORK});
    }
    return result < 0 ? -1 : (pid_t)result;
}

/* clone in the shape of vfork, as those use it who want another stack for the child. */
struct cloned {
    int (*run)(void *);
    void *argument;
};

static int clone_begins(void *user)
{
    struct cloned c = *(struct cloned *)user;
    iot_vfork_after(0);
    int status = c.run(c.argument);
    iot_life_exit(status);
    return status;
}

#define CLONE(sym)                                                                                 \
    int sym(int (*run)(void *), void *stack, int flags, void *argument, ...)                       \
    {                                                                                              \
        va_list ap;                                                                                \
        va_start(ap, argument);                                                                    \
        void *parent_tid = va_arg(ap, void *), *tls = va_arg(ap, void *),                          \
             *child_tid = va_arg(ap, void *);                                                      \
        va_end(ap);                                                                                \
        struct cloned c = {run, argument};                                                         \
        if (!run || (flags & (CLONE_VM | CLONE_VFORK | CLONE_THREAD)) != (CLONE_VM | CLONE_VFORK)) \
            return iot_real.sym(run, stack, flags, argument, parent_tid, tls, child_tid);          \
        iot_vfork_before();                                                                        \
        int pid = iot_real.sym(clone_begins, stack, flags, &c, parent_tid, tls, child_tid);        \
        return iot_vfork_after(pid < 0 ? -errno : pid);                                            \
    }

CLONE(clone)
CLONE(__clone)

#define SPAWN(sym)                                                                                 \
    int sym(pid_t *restrict pid, const char *restrict path,                                        \
            const posix_spawn_file_actions_t *actions,                                             \
            const posix_spawnattr_t *restrict attributes, char *const argv[restrict],              \
            char *const envp[restrict])                                                            \
    {                                                                                              \
        struct iot_thread *t = iot_enter_always();                                                 \
        if (!t)                                                                                    \
            return iot_real.sym(pid, path, actions, attributes, argv, envp);                       \
        pid_t child = -1;                                                                          \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        int failed = iot_real.sym(&child, path, actions, attributes, argv,                         \
                                  iot_environment_for_child(t, envp));                             \
        call.t1 = iot_now();                                                                       \
        iot_environment_done(t);                                                                   \
        call.err = failed;                                                                         \
        if (!failed && pid)                                                                        \
            *pid = child;                                                                          \
        iot_timed_event(t, call, &(struct iot_row){.result = child, .op = IOT_OP_SPAWN});          \
        return failed;                                                                             \
    }

SPAWN(posix_spawn)
SPAWN(posix_spawnp)

/* libc starts the child from inside, and waits for it: the wait covers the child's whole life. */
int system(const char *command)
{
    struct iot_thread *t = iot_enter_always();
    if (!t)
        return iot_real.system(command);
    iot_environment_extend();
    IOT_TIMED(int, system, (command))
    iot_timed_event(t, call, &(struct iot_row){.offset = result, .op = IOT_OP_SYSTEM});
    return result;
}

/* --- waiting for children --- */

#define WAIT(sym, operation, params, args)                                                         \
    pid_t sym params                                                                               \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        int unasked = 0;                                                                           \
        if (!status)                                                                               \
            status = &unasked;                                                                     \
        IOT_TIMED(pid_t, sym, args)                                                                \
        return (pid_t)iot_timed_event(t, call,                                                     \
                                      &(struct iot_row){.result = result,                          \
                                                        .offset = result > 0 ? *status : 0,        \
                                                        .op = IOT_OP_##operation});                \
    }

WAIT(wait, WAIT, (int *status), (status))
WAIT(__wait, WAIT, (int *status), (status))
WAIT(waitpid, WAITPID, (pid_t pid, int *status, int options), (pid, status, options))
WAIT(__waitpid, WAITPID, (pid_t pid, int *status, int options), (pid, status, options))
WAIT(wait3, WAIT, (int *status, int options, struct rusage *usage), (status, options, usage))
WAIT(wait4, WAITPID, (pid_t pid, int *status, int options, struct rusage *usage),
     (pid, status, options, usage))

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.waitid(type, id, info, options);
    siginfo_t unasked = {0};
    if (!info)
        info = &unasked;
    IOT_TIMED(int, waitid, (type, id, info, options))
    int64_t reaped = result == 0 ? info->si_pid : result;
    iot_timed_event(t, call,
                    &(struct iot_row){.result = reaped,
                                      .offset = reaped > 0 ? info->si_status : 0,
                                      .op = IOT_OP_WAITID});
    return result;
}

/* --- the end of a process --- */

void iot_life_again(void)
{
    if (!iot_local.thread)
        iot_local.attaching = 0;
}

void iot_life_exit(int64_t status)
{
    iot_life_again();
    struct iot_thread *t = iot_enter_always();
    if (!t)
        return;
    iot_mappings_end(t);
    if (!t->vfork_pid)
        iot_rings_settle(t);
    moment(t, &(struct iot_row){.result = status, .op = IOT_OP_EXIT});
    if (!t->vfork_pid)
        iot_process_end(t, IOT_END_EXIT);
}

#define EXIT(sym)                                                                                  \
    void sym(int status)                                                                           \
    {                                                                                              \
        iot_life_exit(status);                                                                     \
        iot_real.sym(status);                                                                      \
        __builtin_unreachable();                                                                   \
    }

EXIT(_exit)
EXIT(_Exit)

/* Its handlers are still to come, and the end of the process behind them is libc's own. */
EXIT(quick_exit)
