/* signals FOLDER WAY: handlers that do I/O, in the middle of whatever is going on. */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "tests/victims/hazard.h"

enum { CALLS = 60000, JUMPS = 3000 };

static int handler_fd;
static volatile long handled;
static sigjmp_buf back;

static void writes(int unused)
{
    (void)unused;
    int before = errno;
    if (write(handler_fd, "h", 1) == 1)
        handled++;
    errno = before;
}

static void jumps(int unused)
{
    (void)unused;
    if (write(handler_fd, "h", 1) == 1)
        handled++;
    siglongjmp(back, 1);
}

static void on_signal(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    CHECK(sigaction(number, &action, NULL) == 0);
}

static timer_t timer(int number, long us)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec every = {{0, us * 1000}, {0, us * 1000}};
    timer_t made;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &made) == 0);
    CHECK(timer_settime(made, 0, &every, NULL) == 0);
    return made;
}

static void calls_meanwhile(const char *folder, long count)
{
    int fd = open_in(folder, "data");
    char byte;
    for (long i = 0; i < count; i++) {
        CHECK(write(fd, "x", 1) == 1);
        CHECK(pread(fd, &byte, 1, i) == 1);
    }
    did("write", "data", count);
    did("pread", "data", count);
}

static void at_10_khz(const char *folder)
{
    on_signal(SIGRTMIN, writes, SA_RESTART);
    timer_t t = timer(SIGRTMIN, 100);
    calls_meanwhile(folder, CALLS);
    CHECK(timer_delete(t) == 0);
    CHECK(handled > 0);
    did("write", "handler", handled);
}

/* Each jump leaves a call, or the recording of one. What was written before is known exactly; what
 * was left may have been made or not. */
static void jumping(const char *folder)
{
    int fd = open_in(folder, "data");
    volatile long made = 0;
    on_signal(SIGRTMIN, jumps, SA_NODEFER);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    timer_t t;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &t) == 0);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGRTMIN);
    for (volatile int i = 0; i < JUMPS; i++) {
        struct itimerspec once = {{0, 0}, {0, 20000 + i % 64 * 500}};
        if (sigsetjmp(back, 1) == 0) {
            CHECK(timer_settime(t, 0, &once, NULL) == 0);
            for (;;) {
                if (write(fd, "x", 1) == 1)
                    made++;
            }
        }
    }
    CHECK(handled > 0);
    long before = made;
    write_in(folder, "after", 20000);
    did("at_least:write", "data", before * 9 / 10);
    did("write", "after", 20000);
}

/* A small alternate stack, as crash handlers and profilers have it. */
static void storm(const char *folder)
{
    enum { GUARD = 4096 };
    size_t bytes = (size_t)sysconf(_SC_MINSIGSTKSZ) + 4096;
    char *place =
        mmap(NULL, bytes + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(place != MAP_FAILED && mprotect(place, GUARD, PROT_NONE) == 0);
    stack_t alternate = {.ss_sp = place + GUARD, .ss_size = bytes};
    CHECK(sigaltstack(&alternate, NULL) == 0);
    on_signal(SIGPROF, writes, SA_RESTART | SA_ONSTACK);
    handler_fd = (int)syscall(SYS_dup, handler_fd); /* one that nobody has named yet */
    struct itimerval every = {{0, 1000}, {0, 1000}};
    timer_t t = timer(SIGPROF, 100);
    CHECK(setitimer(ITIMER_PROF, &every, NULL) == 0);
    calls_meanwhile(folder, CALLS);
    /* With nothing but the handler at it, its own records are what fills the buffers. */
    while (handled < 5000)
        pause();
    struct itimerval off = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_PROF, &off, NULL) == 0);
    CHECK(timer_delete(t) == 0);
    did("write", "handler", handled);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    handler_fd = open_in(argv[1], "handler");
    if (strcmp(argv[2], "timer") == 0)
        at_10_khz(argv[1]);
    else if (strcmp(argv[2], "jump") == 0)
        jumping(argv[1]);
    else if (strcmp(argv[2], "storm") == 0)
        storm(argv[1]);
    else
        return 2;
    return 0;
}
