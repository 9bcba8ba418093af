/* edges FOLDER WAY: what lasts while the recording pauses, or begins or ends then.
 *   aio, ring         a request handed over before the pause and done after it; within it and after
 * it; before it and within it counter           waits for an eventfd that begin and end so sigwait,
 * signalfd likewise for a signal Each says what moved where nothing of it is in doubt: "moved OP
 * FILE BYTES". */
#include <aio.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "include/iotrace.h"
#include "tests/victims/hazard.h"
#include "tests/victims/ring.h"

enum { PASS_US = 30000 };

static char data[64];
static int fifo;

static void said(const char *op, long n)
{
    dprintf(1, "moved %s fifo %ld\n", op, n);
}

static void comes(size_t n, int is_seen)
{
    CHECK(write(fifo, data, n) == (ssize_t)n);
    if (is_seen)
        said("write", (long)n);
}

/* --- requests --- */

struct way {
    void (*begin)(void);
    void (*end)(long n);
};

static struct aiocb block;
static struct ring queue;

static void aio_begin(void)
{
    block = (struct aiocb){.aio_fildes = fifo, .aio_buf = data, .aio_nbytes = sizeof data};
    CHECK(aio_read(&block) == 0);
}

static void aio_end(long n)
{
    const struct aiocb *all[] = {&block};
    while (aio_error(&block) == EINPROGRESS)
        CHECK(aio_suspend(all, 1, NULL) == 0 || errno == EINTR);
    CHECK(aio_return(&block) == n);
}

static void ring_begin(void)
{
    ring_request(&queue, IORING_OP_READ, fifo, data, sizeof data, 0, 7);
    CHECK(ring_enter(&queue, 1, 0) == 1);
}

static void ring_awaits(long n)
{
    int result;
    while ((result = ring_take(&queue, NULL)) == -4096)
        CHECK(ring_enter(&queue, 0, 1) >= 0);
    CHECK(result == n);
}

static void requests(const struct way *way)
{
    way->begin();
    iot_pause();
    iot_resume();
    comes(11, 1);
    way->end(11);
    iot_pause();
    way->begin();
    iot_resume();
    comes(22, 1);
    way->end(22);
    way->begin();
    iot_pause();
    comes(33, 0);
    way->end(33);
    iot_resume();
    way->begin();
    comes(44, 1);
    way->end(44);
    said("async_read", 44);
}

static void aio(void)
{
    requests(&(struct way){aio_begin, aio_end});
}

static void ring(void)
{
    if (ring_make(&queue, 4, 0)) {
        dprintf(1, "none\n");
        return;
    }
    requests(&(struct way){ring_begin, ring_awaits});
}

/* --- waits --- */

/* Wakes are counted, signals queue: on a busy machine two may come before the waiter is back. */
static int waits_on;
static pthread_t waiter;
static void (*await)(void);

static void *waits(void *argument)
{
    for (int k = 0; k < 4; k++)
        await();
    return argument;
}

static void await_counter(void)
{
    uint64_t n;
    CHECK(read(waits_on, &n, sizeof n) == sizeof n);
}

static void await_signal(void)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    CHECK(sigwait(&set, &number) == 0 && number == SIGRTMIN);
}

static void await_descriptor(void)
{
    struct signalfd_siginfo told;
    CHECK(read(waits_on, &told, sizeof told) == sizeof told);
}

static void wake_counter(void)
{
    CHECK(eventfd_write(waits_on, 1) == 0);
}

static void wake_signal(void)
{
    CHECK(pthread_kill(waiter, SIGRTMIN) == 0);
}

/* Of the four waits the second ends in a pause, the third begins in it and ends behind it, and the
 * fourth is seen whole. */
static void wait_each(void (*wake)(void))
{
    CHECK(pthread_create(&waiter, NULL, waits, NULL) == 0);
    usleep(PASS_US);
    wake();
    usleep(PASS_US);
    iot_pause();
    wake();
    usleep(PASS_US);
    iot_resume();
    usleep(PASS_US);
    wake();
    usleep(PASS_US);
    wake();
    CHECK(pthread_join(waiter, NULL) == 0);
}

static void counter(void)
{
    waits_on = eventfd(0, EFD_SEMAPHORE);
    await = await_counter;
    wait_each(wake_counter);
}

static void by_signal(void (*how)(void))
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    waits_on = signalfd(-1, &set, 0);
    await = how;
    wait_each(wake_signal);
}

static void sigwaits(void)
{
    by_signal(await_signal);
}

static void descriptor(void)
{
    by_signal(await_descriptor);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {{"aio", aio},
            {"ring", ring},
            {"counter", counter},
            {"sigwait", sigwaits},
            {"signalfd", descriptor}};

int main(int argc, char **argv)
{
    CHECK(argc == 3 && chdir(argv[1]) == 0);
    CHECK(mkfifo("fifo", 0600) == 0 && (fifo = open("fifo", O_RDWR)) >= 0);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        if (!strcmp(ways[k].name, argv[2])) {
            ways[k].run();
            return 0;
        }
    return 2;
}
