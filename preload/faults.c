#include "preload/faults.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>

#include "preload/mappings.h"
#include "preload/process.h"
#include "preload/sys.h"
#include "preload/text.h"

enum {
    LOOK_NS = 1000 * 1000, /* from one look to the next */
    /* a call that may have waited: looked at behind it, whenever the last was */
    LONG_NS = 100 * 1000,
    /* less is not told from what a switch to another thread and back costs */
    LEAST_NS = 20 * 1000,
    /* How often the run queue is asked for at most: that takes 2 us in a program of one thread, 20
     * us and more in others. */
    RUNQUEUE_NS = 10 * 1000 * 1000,
    RUNQUEUE_CHILD_NS = 100 * 1000 * 1000,
    FEW_TIMES = 4,
};
static uint64_t look_ticks, long_ticks;

/* --- the time on the run queue --- */

static uint64_t second_number(const char *p)
{
    uint64_t n = 0;
    while (*p && *p != ' ')
        p++;
    for (p += *p == ' '; *p >= '0' && *p <= '9'; p++)
        n = n * 10 + (uint64_t)(*p - '0');
    return n;
}

static __attribute__((always_inline)) inline void read_into(const char *path, char *text, long size)
{
    long fd = iot_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    long n = iot_sys(SYS_read, fd, text, size - 1);
    iot_sys(SYS_close, fd);
    text[n > 0 ? n : 0] = '\0';
    if (n > 0 && iot_process->file) /* the kernel counts it as the program's */
        __atomic_fetch_add(&iot_process->file->own_read_bytes, (uint64_t)n, __ATOMIC_RELAXED);
}

/* Children may be told to live in another space of process numbers (unshare, setns). The first one
 * there is its init, and with that the space ends: it must be one of the program's. */
static int children_live_here(void)
{
    char here[32], there[32];
    long n = iot_sys(SYS_readlinkat, AT_FDCWD, "/proc/thread-self/ns/pid", here, sizeof here);
    return n > 0 &&
           iot_sys(SYS_readlinkat, AT_FDCWD, "/proc/thread-self/ns/pid_for_children", there,
                   sizeof there) == n &&
           !memcmp(here, there, (size_t)n);
}

/* Another thread could meet the descriptor that this needs, and close it or get the next number: so
 * a child in our memory with descriptors of its own does it, as a child of vfork would. It gives no
 * SIGCHLD, and no wait of the program's finds it. */
static __attribute__((noinline)) void read_by_child(const char *path, char *text, long size)
{
    enum { WAIT_FOR_ALL_KINDS = 0x40000000 }; /* __WALL */
    volatile long child;
#if defined(__x86_64__)
    child = iot_sys(SYS_clone, CLONE_VM | CLONE_VFORK);
    if (child == 0) {
        read_into(path, text, size);
        iot_sys(SYS_exit, 0);
        __builtin_unreachable();
    }
#else
    child = -1;
#endif
    while (child > 0 && iot_sys(SYS_wait4, child, 0, WAIT_FOR_ALL_KINDS, 0) == -EINTR)
        continue;
}

/* 0: not known. */
static uint64_t runqueue_ns(const struct iot_thread *t)
{
    char path[64], text[96];
    text[0] = '\0';
    char *p = iot_text_number(iot_text_put(path, "/proc/"), iot_process->pid);
    *iot_text_put(iot_text_number(iot_text_put(p, "/task/"), t->tid), "/schedstat") = '\0';
    uint64_t signals = iot_signals_hold();
    if (__libc_single_threaded)
        read_into(path, text, sizeof text);
    else if (children_live_here())
        read_by_child(path, text, sizeof text);
    iot_signals_release(signals);
    return second_number(text);
}

static void ask(struct iot_look *last, const struct iot_thread *t, const struct iot_look *now)
{
    uint64_t waited = runqueue_ns(t);
    uint32_t times = now->switches - last->asked_switches;
    if (waited > last->runqueue_ns && times)
        last->waited_each = (waited - last->runqueue_ns) / times;
    last->runqueue_ns = waited;
    last->asked_switches = now->switches;
    last->asked_ns = now->mono_ns;
}

static int may_ask(const struct iot_look *last, const struct iot_look *now)
{
    uint64_t every = __libc_single_threaded ? RUNQUEUE_NS : RUNQUEUE_CHILD_NS;
    return now->mono_ns - last->asked_ns >= every;
}

/* What the thread waited for a CPU since the last look: each time it had none, because it waited
 * for something else or had to make room, as long as at those between the two latest answers. */
static uint64_t waited_ns(struct iot_look *last, const struct iot_thread *t,
                          const struct iot_look *now)
{
    if (may_ask(last, now))
        ask(last, t, now);
    return last->waited_each * (now->switches - last->switches);
}

/* --- looks --- */

static int measure(struct iot_look *now)
{
    struct timespec cpu;
    struct rusage usage;
    if (iot_sys(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &cpu) ||
        iot_sys(SYS_getrusage, RUSAGE_THREAD, &usage))
        return -1;
    now->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
    now->mono_ns = iot_clock_monotonic();
    now->major = (uint32_t)usage.ru_majflt;
    now->minor = (uint32_t)usage.ru_minflt;
    now->switches = (uint32_t)(usage.ru_nvcsw + usage.ru_nivcsw);
    now->ticks = iot_now();
    return 0;
}

/* How many ticks so long is, by what the process has lived. */
static void find_rate(const struct iot_look *now)
{
    struct iot_anchor start = iot_process->file->start;
    uint64_t ns = now->mono_ns - start.mono_ns, ticks = now->ticks - start.ticks;
    double rate = ns ? (double)ticks / (double)ns : 1;
    long_ticks = (uint64_t)(rate * LONG_NS);
    look_ticks = (uint64_t)(rate * LOOK_NS);
}

/* What was before is none of what is to be told. Of a thread that hardly ever had to wait for a
 * CPU, as a new one, that is little. */
static void begin_looking(struct iot_thread *t, const struct iot_look *now)
{
    find_rate(now);
    if (now->switches - t->look.asked_switches >= FEW_TIMES && may_ask(&t->look, now))
        ask(&t->look, t, now);
}

static void take(struct iot_look *last, const struct iot_look *now)
{
    last->ticks = now->ticks;
    last->mono_ns = now->mono_ns;
    last->cpu_ns = now->cpu_ns;
    last->major = now->major;
    last->minor = now->minor;
    last->switches = now->switches;
}

static void tell(struct iot_thread *t, const struct iot_look *now)
{
    struct iot_look *last = &t->look;
    uint64_t window = now->mono_ns - last->mono_ns, ran = now->cpu_ns - last->cpu_ns;
    uint32_t major = now->major - last->major, minor = now->minor - last->minor;
    if (ran + LEAST_NS > window || !(major || minor))
        return;
    if (!major && !iot_mappings_growing(now->mono_ns))
        return;
    uint64_t idle = window - ran, waited = waited_ns(last, t, now);
    if (waited + LEAST_NS > idle)
        return;
    idle -= waited;
    uint64_t at = iot_now();
    iot_event(t, &(struct iot_row){.t0 = at,
                                   .t1 = at,
                                   .result = (int64_t)idle,
                                   .offset = (int64_t)window,
                                   .addr = (uint64_t)major << 32 | minor,
                                   .op = IOT_OP_FAULTS});
}

/* A signal handler's calls are not looked at while a look is under way that it came into; unless
 * that look was left by longjmp. */
static int begin_look(struct iot_thread *t)
{
    uintptr_t stack = iot_stack_at();
    if (t->vfork_pid || (t->looking && stack < t->looking))
        return 0;
    t->looking = stack;
    __asm__ volatile("" : : : "memory");
    return 1;
}

static void end_look(struct iot_thread *t)
{
    __asm__ volatile("" : : : "memory");
    t->looking = 0;
}

static int stopped;

void iot_faults_stop(void)
{
    __atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
}

int iot_faults_stopped(void)
{
    return __atomic_load_n(&stopped, __ATOMIC_RELAXED);
}

static void look(struct iot_thread *t)
{
    struct iot_look now;
    int watched = (*iot_generation & IOT_GENERATION_WATCHED) != 0;
    if (iot_faults_stopped() || !begin_look(t))
        return;
    if (measure(&now) == 0) {
        if (t->generation & IOT_GENERATION_LOOKING) {
            __atomic_fetch_add(&iot_process->faults_looked_at, now.major - t->look.major,
                               __ATOMIC_RELAXED);
            tell(t, &now);
        } else {
            begin_looking(t, &now);
        }
        take(&t->look, &now);
    }
    if (watched)
        t->generation |= IOT_GENERATION_LOOKING;
    else
        t->generation &= ~IOT_GENERATION_LOOKING;
    end_look(t);
}

void iot_faults_entering(struct iot_thread *t)
{
    int watched = (*iot_generation & IOT_GENERATION_WATCHED) != 0;
    int looking = (t->generation & IOT_GENERATION_LOOKING) != 0;
    if (watched && looking && iot_now() - t->look.ticks < look_ticks)
        return;
    if (watched || looking)
        look(t);
}

void iot_faults_left(struct iot_thread *t, uint64_t t0, uint64_t t1)
{
    if (!iot_is_here(t))
        return;
    int watched = (*iot_generation & IOT_GENERATION_WATCHED) != 0;
    int looking = (t->generation & IOT_GENERATION_LOOKING) != 0;
    if (watched && (!looking || t1 - t0 >= long_ticks))
        look(t);
}

static uint32_t faults_of_process(void)
{
    struct rusage usage;
    return iot_sys(SYS_getrusage, RUSAGE_SELF, &usage) ? 0 : (uint32_t)usage.ru_majflt;
}

void iot_faults_begin(void)
{
    uint32_t none = 0, now = faults_of_process() + 1;
    __atomic_compare_exchange_n(&iot_process->faults_before, &none, now, 0, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

void iot_faults_end(struct iot_thread *t)
{
    uint32_t before = __atomic_load_n(&iot_process->faults_before, __ATOMIC_RELAXED);
    if (!before || iot_faults_stopped())
        return;
    uint32_t since = faults_of_process() + 1 - before;
    uint32_t seen = __atomic_load_n(&iot_process->faults_looked_at, __ATOMIC_RELAXED);
    if (since <= seen || since > INT32_MAX)
        return;
    __atomic_fetch_add(&iot_process->faults_looked_at, since - seen, __ATOMIC_RELAXED);
    uint64_t at = iot_now();
    iot_event(t, &(struct iot_row){
                     .t0 = at, .t1 = at, .result = since - seen, .op = IOT_OP_FAULTS_UNSEEN});
}

void iot_faults_look(struct iot_thread *t)
{
    if (t->generation & IOT_GENERATION_LOOKING && iot_is_here(t))
        look(t);
}
