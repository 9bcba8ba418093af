/* wakers FOLDER WAY: the main thread waits, somebody who sleeps NS before lets it go on: by each
 * way there is. So all but nothing of the run is sleep, and none of it a wait that nobody is known
 * to have ended. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>

#include "tests/victims/hazard.h"

enum { NS = 80000000 };

static pthread_t main_thread;
static int fd, ends[2];
static const char *folder;

static void pass(void)
{
    struct timespec t = {0, NS};
    CHECK(nanosleep(&t, NULL) == 0);
}

static void *counts(void *argument)
{
    pass();
    CHECK(eventfd_write(fd, 1) == 0);
    return argument;
}

static pthread_t start(void *(*routine)(void *))
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, routine, NULL) == 0);
    return thread;
}

static void end(pthread_t thread)
{
    CHECK(pthread_join(thread, NULL) == 0);
}

/* --- counters --- */

static void counter(void)
{
    uint64_t value;
    fd = eventfd(0, 0);
    pthread_t thread = start(counts);
    CHECK(read(fd, &value, sizeof value) == sizeof value);
    end(thread);
}

static void counter_semaphore(void)
{
    eventfd_t value;
    fd = eventfd(2, EFD_SEMAPHORE);
    pthread_t thread = start(counts);
    for (int k = 0; k < 3; k++)
        CHECK(eventfd_read(fd, &value) == 0 && value == 1);
    end(thread);
}

static void counter_poll(void)
{
    eventfd_t value;
    fd = eventfd(0, 0);
    pthread_t thread = start(counts);
    struct pollfd one = {.fd = fd, .events = POLLIN};
    CHECK(poll(&one, 1, -1) == 1);
    CHECK(eventfd_read(fd, &value) == 0);
    end(thread);
}

/* Nothing is read behind it: what was ready says it all. */
static void counter_epoll(void)
{
    fd = eventfd(0, 0);
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = &fd}};
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
    pthread_t thread = start(counts);
    CHECK(epoll_pwait2(epoll, &event, 1, NULL, NULL) == 1 && event.data.ptr == &fd);
    end(thread);
}

static void *writes(void *argument)
{
    pass();
    CHECK(write(ends[1], "x", 1) == 1);
    return argument;
}

static void pipe_epoll(void)
{
    CHECK(pipe(ends) == 0);
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data = {.u32 = 7}};
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
    pthread_t thread = start(writes);
    CHECK(epoll_wait(epoll, &event, 1, -1) == 1);
    end(thread);
}

static void *drains(void *argument)
{
    static char text[65536];
    pass();
    CHECK(read(ends[0], text, sizeof text) == sizeof text);
    return argument;
}

/* A pipe that was made larger is full later. */
static void pipe_size(void)
{
    static char text[262144];
    CHECK(pipe(ends) == 0 && fcntl(ends[1], F_SETPIPE_SZ, 262144) == 262144);
    CHECK(write(ends[1], text, 262144) == 262144);
    pthread_t thread = start(drains);
    CHECK(write(ends[1], text, 4096) == 4096);
    end(thread);
}

/* --- signals --- */

static void handled(int number)
{
    (void)number;
}

static sigset_t block(int number)
{
    sigset_t set, before;
    struct sigaction action = {.sa_handler = handled};
    CHECK(sigaction(number, &action, NULL) == 0);
    sigemptyset(&set);
    sigaddset(&set, number);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, &before) == 0);
    return set;
}

static void *sends(void *argument)
{
    pass();
    CHECK(kill(getpid(), SIGUSR1) == 0);
    return argument;
}

static void *sends_thread(void *argument)
{
    pass();
    CHECK(pthread_kill(main_thread, SIGUSR1) == 0);
    return argument;
}

static void signal_wait(void)
{
    int number;
    sigset_t set = block(SIGUSR1);
    pthread_t thread = start(sends);
    CHECK(sigwait(&set, &number) == 0);
    end(thread);
}

static void signal_thread(void)
{
    sigset_t all;
    block(SIGUSR1);
    sigemptyset(&all);
    pthread_t thread = start(sends_thread);
    CHECK(sigsuspend(&all) == -1);
    end(thread);
}

static void signal_descriptor(void)
{
    struct signalfd_siginfo info;
    sigset_t set = block(SIGUSR1);
    int signals = signalfd(-1, &set, 0);
    pthread_t thread = start(sends);
    CHECK(read(signals, &info, sizeof info) == sizeof info);
    end(thread);
}

static void signal_child(void)
{
    sigset_t all;
    block(SIGCHLD);
    sigemptyset(&all);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        pass();
        _exit(0);
    }
    CHECK(ppoll(NULL, 0, NULL, &all) == -1 && errno == EINTR);
    ended_well(child);
}

/* --- once, threads of C11 --- */

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *does_it(void *argument)
{
    CHECK(pthread_once(&once, pass) == 0);
    return argument;
}

static void once_waits(void)
{
    pthread_t thread = start(does_it);
    struct timespec soon = {0, 20000000};
    CHECK(nanosleep(&soon, NULL) == 0); /* the other has begun */
    CHECK(pthread_once(&once, pass) == 0);
    end(thread);
}

static mtx_t mutex;
static cnd_t cond;
static int done;

static int c11(void *argument)
{
    pass();
    CHECK(mtx_lock(&mutex) == thrd_success);
    done = 1;
    CHECK(cnd_signal(&cond) == thrd_success && mtx_unlock(&mutex) == thrd_success);
    pass();
    return argument != NULL;
}

static void c11_threads(void)
{
    thrd_t thread;
    CHECK(mtx_init(&mutex, mtx_plain) == thrd_success && cnd_init(&cond) == thrd_success);
    CHECK(thrd_create(&thread, c11, NULL) == thrd_success);
    CHECK(mtx_lock(&mutex) == thrd_success);
    while (!done)
        CHECK(cnd_wait(&cond, &mutex) == thrd_success);
    CHECK(mtx_unlock(&mutex) == thrd_success && thrd_join(thread, NULL) == thrd_success);
}

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *holds(void *argument)
{
    CHECK(pthread_rwlock_wrlock(&lock) == 0);
    pass();
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    return argument;
}

static void rwlock_timed(void)
{
    pthread_t thread = start(holds);
    struct timespec soon = {0, 20000000}, until;
    CHECK(nanosleep(&soon, NULL) == 0 && clock_gettime(CLOCK_REALTIME, &until) == 0);
    until.tv_sec += 20;
    CHECK(pthread_rwlock_timedrdlock(&lock, &until) == 0);
    end(thread);
}

static void *sleeps(void *argument)
{
    pass();
    return argument;
}

static void clock_join(void)
{
    pthread_t thread = start(sleeps);
    struct timespec until;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &until) == 0);
    until.tv_sec += 20;
    CHECK(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) == 0);
}

/* --- locks on files: a child has it, and lets it go at the end of its sleep --- */

static int lock_records(int descriptor, int command, short kind)
{
    struct flock all = {.l_type = kind, .l_whence = SEEK_SET};
    return fcntl(descriptor, command, &all);
}

static int take_flock(int descriptor)
{
    return flock(descriptor, LOCK_EX);
}

static int take_lockf(int descriptor)
{
    return lockf(descriptor, F_LOCK, 0);
}

static int take_records(int descriptor)
{
    return lock_records(descriptor, F_SETLKW, F_WRLCK);
}

static int take_shared(int descriptor)
{
    return lock_records(descriptor, F_SETLKW, F_RDLCK);
}

static int take_open_file(int descriptor)
{
    return lock_records(descriptor, F_OFD_SETLKW, F_WRLCK);
}

static int let_go_flock(int descriptor)
{
    return flock(descriptor, LOCK_UN);
}

static int let_go_lockf(int descriptor)
{
    return lockf(descriptor, F_ULOCK, 0);
}

static int let_go_records(int descriptor)
{
    return lock_records(descriptor, F_SETLK, F_UNLCK);
}

static int let_go_open_file(int descriptor)
{
    return lock_records(descriptor, F_OFD_SETLK, F_UNLCK);
}

static int let_go_by_end(int descriptor)
{
    (void)descriptor;
    _exit(0);
}

/* It sleeps on after it let go: waiting for its end would show the same. */
static void file_lock(int (*first)(int), int (*second)(int), int (*lets_go)(int))
{
    char byte = 0;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    int mine = open_in(folder, "lock");
    if (!child) {
        CHECK(first(mine) == 0 && write(ends[1], &byte, 1) == 1);
        pass();
        CHECK(lets_go(mine) == 0);
        pass();
        _exit(0);
    }
    CHECK(read(ends[0], &byte, 1) == 1 && second(mine) == 0);
    _exit(0);
}

static void file_flock(void)
{
    file_lock(take_flock, take_flock, let_go_flock);
}

static void file_flock_close(void)
{
    file_lock(take_flock, take_flock, close);
}

static void file_flock_end(void)
{
    file_lock(take_flock, take_flock, let_go_by_end);
}

static void file_lockf(void)
{
    file_lock(take_lockf, take_lockf, let_go_lockf);
}

static void file_records(void)
{
    file_lock(take_records, take_shared, let_go_records);
}

static void file_records_close(void)
{
    file_lock(take_shared, take_records, close);
}

static void file_open_file(void)
{
    file_lock(take_open_file, take_records, let_go_open_file);
}

/* --- timers: nobody wakes it --- */

static void timer(void)
{
    uint64_t times;
    int timers = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec in = {{0, 0}, {0, NS}};
    CHECK(timerfd_settime(timers, 0, &in, NULL) == 0);
    CHECK(read(timers, &times, sizeof times) == sizeof times);
}

static void absolute(void)
{
    struct timespec until;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &until) == 0);
    until.tv_nsec += NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    {"counter", counter},
    {"counter_semaphore", counter_semaphore},
    {"counter_poll", counter_poll},
    {"counter_epoll", counter_epoll},
    {"pipe_epoll", pipe_epoll},
    {"pipe_size", pipe_size},
    {"signal_wait", signal_wait},
    {"signal_thread", signal_thread},
    {"signal_descriptor", signal_descriptor},
    {"signal_child", signal_child},
    {"once", once_waits},
    {"c11", c11_threads},
    {"rwlock_timed", rwlock_timed},
    {"clock_join", clock_join},
    {"file_flock", file_flock},
    {"file_flock_close", file_flock_close},
    {"file_flock_end", file_flock_end},
    {"file_lockf", file_lockf},
    {"file_records", file_records},
    {"file_records_close", file_records_close},
    {"file_open_file", file_open_file},
    {"timer", timer},
    {"absolute", absolute},
};

int main(int argc, char **argv)
{
    main_thread = pthread_self();
    folder = argc > 1 ? argv[1] : ".";
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        if (argc < 3)
            puts(ways[k].name);
        else if (!strcmp(ways[k].name, argv[2]))
            ways[k].run();
    }
    return 0;
}
