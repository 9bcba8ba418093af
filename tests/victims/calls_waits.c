/* calls_waits FOLDER: every way to wait for a thread or a signal. What is free leaves no row; so
 * each lock is held by another thread when it is asked for. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>

#include "tests/victims/calls.h"

enum { HELD_NS = 20000000 };

static void pass(long ns)
{
    struct timespec t = {0, ns};
    CHECK(nanosleep(&t, NULL) == 0);
}

static struct timespec later(clockid_t clock)
{
    struct timespec t;
    CHECK(clock_gettime(clock, &t) == 0);
    t.tv_sec += 20;
    return t;
}

/* --- locks: a holder takes one, and gives it back while the main thread waits for it --- */

struct holding {
    void (*take)(void);
    void (*give)(void);
    sem_t taken;
};

static void *holder(void *argument)
{
    struct holding *h = argument;
    h->take();
    CHECK(sem_post(&h->taken) == 0);
    pass(HELD_NS);
    h->give();
    return NULL;
}

static void contend(void (*take)(void), void (*give)(void), void (*wait)(void))
{
    struct holding h = {.take = take, .give = give};
    pthread_t thread;
    CHECK(sem_init(&h.taken, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, holder, &h) == 0);
    CHECK(sem_wait(&h.taken) == 0);
    wait();
    give();
    CHECK(pthread_join(thread, NULL) == 0);
    say("sem_init", 0);
    say("sem_wait", 0);
    say("sem_post", 0);
    say("join", 0);
    say("thread_create", 0);
    say("sleep", 0);
}

#define WAIT(name, what)                                                                           \
    static void name(void)                                                                         \
    {                                                                                              \
        CHECK((what) == 0);                                                                        \
    }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t c11;
static struct timespec until, until_monotonic;

WAIT(take_mutex, pthread_mutex_lock(&mutex))
WAIT(give_mutex, pthread_mutex_unlock(&mutex))
WAIT(give_mutex_twin, CALL(int, __pthread_mutex_unlock, (pthread_mutex_t *), (&mutex)))
WAIT(take_mutex_twin, CALL(int, __pthread_mutex_lock, (pthread_mutex_t *), (&mutex)))
WAIT(take_mutex_timed, pthread_mutex_timedlock(&mutex, &until))
WAIT(take_mutex_clock, pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until_monotonic))
WAIT(write_rwlock, pthread_rwlock_wrlock(&rwlock))
WAIT(give_rwlock, pthread_rwlock_unlock(&rwlock))
WAIT(give_rwlock_twin, CALL(int, __pthread_rwlock_unlock, (pthread_rwlock_t *), (&rwlock)))
WAIT(read_rwlock, pthread_rwlock_rdlock(&rwlock))
WAIT(read_rwlock_twin, CALL(int, __pthread_rwlock_rdlock, (pthread_rwlock_t *), (&rwlock)))
WAIT(write_rwlock_twin, CALL(int, __pthread_rwlock_wrlock, (pthread_rwlock_t *), (&rwlock)))
WAIT(read_rwlock_timed, pthread_rwlock_timedrdlock(&rwlock, &until))
WAIT(write_rwlock_timed, pthread_rwlock_timedwrlock(&rwlock, &until))
WAIT(read_rwlock_clock, pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &until_monotonic))
WAIT(write_rwlock_clock, pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &until_monotonic))
WAIT(take_spin, pthread_spin_lock(&spin))
WAIT(give_spin, pthread_spin_unlock(&spin))
WAIT(take_c11, mtx_lock(&c11))
WAIT(take_c11_timed, mtx_timedlock(&c11, &until))
WAIT(give_c11, mtx_unlock(&c11))

static void locks(void)
{
    static const struct {
        const char *op;
        void (*take)(void), (*give)(void), (*wait)(void);
    } ways[] = {
        {"mutex_lock", take_mutex, give_mutex, take_mutex},
        {"mutex_lock", take_mutex, give_mutex_twin, take_mutex_twin},
        {"mutex_lock", take_mutex, give_mutex, take_mutex_timed},
        {"mutex_lock", take_mutex, give_mutex, take_mutex_clock},
        {"mutex_lock", take_c11, give_c11, take_c11},
        {"mutex_lock", take_c11, give_c11, take_c11_timed},
        {"rwlock_lock", write_rwlock, give_rwlock, write_rwlock},
        {"rwlock_lock", write_rwlock, give_rwlock, read_rwlock},
        {"rwlock_lock", write_rwlock, give_rwlock_twin, read_rwlock_twin},
        {"rwlock_lock", write_rwlock, give_rwlock, write_rwlock_twin},
        {"rwlock_lock", write_rwlock, give_rwlock, read_rwlock_timed},
        {"rwlock_lock", write_rwlock, give_rwlock, write_rwlock_timed},
        {"rwlock_lock", write_rwlock, give_rwlock, read_rwlock_clock},
        {"rwlock_lock", write_rwlock, give_rwlock, write_rwlock_clock},
        {"spin_lock", take_spin, give_spin, take_spin},
    };
    CHECK(mtx_init(&c11, mtx_timed) == thrd_success && pthread_spin_init(&spin, 0) == 0);
    until = later(CLOCK_REALTIME);
    until_monotonic = later(CLOCK_MONOTONIC);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        contend(ways[k].take, ways[k].give, ways[k].wait);
        say(ways[k].op, 0);
    }
    CHECK(mtx_trylock(&c11) == thrd_success && mtx_unlock(&c11) == thrd_success);
    CHECK(pthread_mutex_trylock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
    CHECK(CALL(int, __pthread_mutex_trylock, (pthread_mutex_t *), (&mutex)) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

/* --- conditions: each waits once, and is signalled once --- */

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static mtx_t c11_guard;
static cnd_t c11_changed;
static int step;

static int signaller(void *argument)
{
    int *done = argument;
    for (int k = 0; k < 3; k++) {
        CHECK(pthread_mutex_lock(&guard) == 0);
        step++;
        CHECK((k ? pthread_cond_signal(&changed) : pthread_cond_broadcast(&changed)) == 0);
        CHECK(pthread_mutex_unlock(&guard) == 0);
        while (__atomic_load_n(done, __ATOMIC_ACQUIRE) <= k)
            pass(1000000);
    }
    for (int k = 3; k < 5; k++) {
        CHECK(mtx_lock(&c11_guard) == thrd_success);
        step++;
        CHECK((k == 3 ? cnd_signal(&c11_changed) : cnd_broadcast(&c11_changed)) == thrd_success);
        CHECK(mtx_unlock(&c11_guard) == thrd_success);
        while (__atomic_load_n(done, __ATOMIC_ACQUIRE) <= k)
            pass(1000000);
    }
    return 7;
}

static void conditions(void)
{
    struct timespec real = later(CLOCK_REALTIME), monotonic = later(CLOCK_MONOTONIC);
    thrd_t thread;
    int done = 0, result = 0;
    CHECK(mtx_init(&c11_guard, mtx_plain) == thrd_success);
    CHECK(cnd_init(&c11_changed) == thrd_success);
    CHECK(pthread_mutex_lock(&guard) == 0);
    DO("thread_create", thrd_create(&thread, signaller, &done) == thrd_success);
    for (int k = 0; k < 3; k++) {
        while (step <= k)
            CHECK((k == 0   ? pthread_cond_wait(&changed, &guard)
                   : k == 1 ? pthread_cond_timedwait(&changed, &guard, &real)
                            : pthread_cond_clockwait(&changed, &guard, CLOCK_MONOTONIC,
                                                     &monotonic)) == 0);
        if (k == 2) { /* before the signaller goes on to the others */
            CHECK(pthread_mutex_unlock(&guard) == 0);
            CHECK(mtx_lock(&c11_guard) == thrd_success);
        }
        __atomic_store_n(&done, k + 1, __ATOMIC_RELEASE);
    }
    for (int k = 3; k < 5; k++) {
        while (step <= k)
            CHECK((k == 3 ? cnd_wait(&c11_changed, &c11_guard)
                          : cnd_timedwait(&c11_changed, &c11_guard, &real)) == thrd_success);
        __atomic_store_n(&done, k + 1, __ATOMIC_RELEASE);
    }
    CHECK(mtx_unlock(&c11_guard) == thrd_success);
    DO("join", thrd_join(thread, &result) == thrd_success && result == 7);
    for (int k = 0; k < 5; k++) {
        say("cond_wait", 0);
        say(k == 0 || k == 4 ? "cond_broadcast" : "cond_signal", 0);
    }
}

/* --- semaphores, joins, sleeps --- */

static void *nothing(void *argument)
{
    return argument;
}

static void others(void)
{
    sem_t sem;
    struct timespec real = later(CLOCK_REALTIME), monotonic = later(CLOCK_MONOTONIC);
    DO("sem_init", sem_init(&sem, 0, 4) == 0);
    DO("sem_wait", sem_trywait(&sem) == 0);
    DO("sem_wait", sem_timedwait(&sem, &real) == 0);
    DO("sem_wait", sem_clockwait(&sem, CLOCK_MONOTONIC, &monotonic) == 0);
    DO("sem_post", sem_post(&sem) == 0);
    char name[32];
    snprintf(name, sizeof name, "/iotrace-%d", (int)getpid());
    sem_t *named = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    DO("sem_init", named != SEM_FAILED);
    CHECK(sem_unlink(name) == 0);
    pthread_t thread;
    DO("thread_create", pthread_create(&thread, NULL, nothing, NULL) == 0);
    DO("join", pthread_timedjoin_np(thread, NULL, &real) == 0);
    DO("thread_create", pthread_create(&thread, NULL, nothing, NULL) == 0);
    DO("join", pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &monotonic) == 0);
    DO("thread_create", pthread_create(&thread, NULL, nothing, NULL) == 0);
    pass(HELD_NS);
    say("sleep", 0);
    DO("join", pthread_tryjoin_np(thread, NULL) == 0);
    struct timespec soon = {0, 1000}, at;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &at) == 0);
    DO("sleep",
       CALL(int, __nanosleep, (const struct timespec *, struct timespec *), (&soon, NULL)) == 0);
    DO("sleep", thrd_sleep(&soon, NULL) == 0);
    DO("sleep", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == 0);
    DO("sleep", sleep(0) == 0);
}

/* --- once: the second waits for the first --- */

static pthread_once_t once = PTHREAD_ONCE_INIT, twin = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;

static void slowly(void)
{
    pass(HELD_NS);
}

static int first(void *argument)
{
    CHECK(pthread_once(&once, slowly) == 0);
    CHECK(CALL(int, __pthread_once, (pthread_once_t *, void (*)(void)), (&twin, slowly)) == 0);
    call_once(&flag, slowly);
    return argument != NULL;
}

static void onces(void)
{
    thrd_t a, b;
    CHECK(thrd_create(&a, first, NULL) == thrd_success);
    CHECK(thrd_create(&b, first, NULL) == thrd_success);
    CHECK(thrd_join(a, NULL) == thrd_success && thrd_join(b, NULL) == thrd_success);
    for (int k = 0; k < 3; k++) {
        say("once", 0);
        say("once_done", 0);
        say("sleep", 0);
    }
    for (int k = 0; k < 2; k++) {
        say("thread_create", 0);
        say("join", 0);
    }
}

/* --- signals --- */

static void handled(int number)
{
    (void)number;
}

static void *sends(void *main_thread)
{
    pthread_t to = *(pthread_t *)main_thread;
    union sigval value = {0};
    pass(HELD_NS);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    pass(HELD_NS);
    CHECK(sigqueue(getpid(), SIGUSR1, value) == 0);
    pass(HELD_NS);
    CHECK(pthread_kill(to, SIGUSR1) == 0);
    pass(HELD_NS);
    CHECK(pthread_sigqueue(to, SIGUSR2, value) == 0);
    pass(HELD_NS);
    CHECK(tgkill(getpid(), getpid(), SIGUSR2) == 0);
    pass(HELD_NS);
    CHECK(pthread_kill(to, SIGUSR2) == 0);
    return NULL;
}

static void signals(void)
{
    sigset_t blocked, open;
    struct timespec long_time = {20, 0};
    pthread_t thread, self = pthread_self();
    int number = 0;
    struct sigaction action = {.sa_handler = handled};
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &blocked, &open) == 0);
    sigdelset(&blocked, SIGUSR2);
    DO("thread_create", pthread_create(&thread, NULL, sends, &self) == 0);
    DO("sigwait", sigwait(&blocked, &number) == 0 && number == SIGUSR1);
    DO("sigwait", sigwaitinfo(&blocked, NULL) == SIGUSR1);
    DO("sigwait", sigtimedwait(&blocked, NULL, &long_time) == SIGUSR1);
    CHECK(sigsuspend(&open) == -1 && errno == EINTR);
    CHECK(CALL(int, __sigsuspend, (const sigset_t *), (&open)) == -1);
    CHECK(pthread_sigmask(SIG_SETMASK, &open, NULL) == 0);
    CHECK(pause() == -1);
    DO("join", pthread_join(thread, NULL) == 0);
    for (int k = 0; k < 6; k++) {
        say(k < 2 ? "kill" : "thread_kill", 0);
        say("sleep", 0);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 && argv[1]);
    locks();
    conditions();
    others();
    onces();
    signals();
    /* Which locks were waited for depends on the order of threads, and of a condition's guard all
     * are rows. */
    for (size_t k = 0; said[k].op; k++) {
        int depends = !strcmp(said[k].op, "mutex_lock") || !strcmp(said[k].op, "sleep") ||
                      !strcmp(said[k].op, "cond_wait") || !strcmp(said[k].op, "sem_init");
        dprintf(1, depends ? "did_at_least %s * %ld\n" : "did %s * %ld\n", said[k].op,
                said[k].count);
    }
    return 0;
}
