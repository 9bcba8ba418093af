/* Reads by asynchronous requests: async HOW WHEN FOLDER ITEMS MS
 *   HOW   aio, libaio, uring
 *   WHEN  waited  hand over, wait, work
 *         ahead   hand over the next one, work on this one, wait
 *         pairs   two at a time, wait for both, work
 */
#include <aio.h>
#include <errno.h>
#include <linux/aio_abi.h>

#include "tests/cases/programs/measure.h"
#include "tests/victims/ring.h"

enum { BYTES = 1 << 15, AT_ONCE = 2 };

static char data[AT_ONCE][BYTES] __attribute__((aligned(4096)));
static struct aiocb blocks[AT_ONCE];
static aio_context_t context;
static struct iocb iocbs[AT_ONCE];
static struct ring ring;
static int fds[SPANS_MAX];
static ns_t handed[SPANS_MAX];
static struct spans opens, requests, waits;

static void aio_hand(int k, int slot)
{
    blocks[slot] = (struct aiocb){.aio_fildes = fds[k], .aio_buf = data[slot], .aio_nbytes = BYTES};
    need(aio_read(&blocks[slot]) == 0, "aio_read");
}

static void aio_wait(int slot)
{
    const struct aiocb *one[] = {&blocks[slot]};
    while (aio_error(&blocks[slot]) == EINPROGRESS)
        need(aio_suspend(one, 1, NULL) == 0 || errno == EINTR, "aio_suspend");
    need(aio_return(&blocks[slot]) > 0, "aio_return");
}

static void libaio_hand(int k, int slot)
{
    struct iocb *one[] = {&iocbs[slot]};
    iocbs[slot] = (struct iocb){.aio_lio_opcode = IOCB_CMD_PREAD,
                                .aio_fildes = (uint32_t)fds[k],
                                .aio_buf = (uint64_t)(uintptr_t)data[slot],
                                .aio_nbytes = BYTES};
    need(syscall(SYS_io_submit, context, 1L, one) == 1, "io_submit");
}

static void libaio_wait(int slot)
{
    struct io_event event;
    (void)slot;
    need(syscall(SYS_io_getevents, context, 1L, 1L, &event, NULL) == 1 && event.res > 0,
         "io_getevents");
}

static void uring_hand(int k, int slot)
{
    ring_request(&ring, IORING_OP_READ, fds[k], data[slot], BYTES, 0, (uint64_t)slot);
    need(ring_enter(&ring, 1, 0) == 1, "io_uring_enter");
}

static void uring_wait(int slot)
{
    (void)slot;
    need(ring_enter(&ring, 0, 1) >= 0 && ring_take(&ring, NULL) > 0, "io_uring_enter");
}

static const struct {
    const char *name;
    void (*hand)(int k, int slot);
    void (*wait)(int slot);
} ways[] = {{"aio", aio_hand, aio_wait},
            {"libaio", libaio_hand, libaio_wait},
            {"uring", uring_hand, uring_wait}};
static int way;

static void hand(int k)
{
    handed[k] = now();
    ways[way].hand(k, k % AT_ONCE);
}

static void wait_for(int k)
{
    ns_t from = now();
    ways[way].wait(k % AT_ONCE);
    span(&waits, from, now());
    span(&requests, handed[k], now());
}

int main(int argc, char **argv)
{
    need(argc == 6, "async HOW WHEN FOLDER ITEMS MS");
    const char *when = argv[2];
    int items = atoi(argv[4]), ms = atoi(argv[5]);
    while (strcmp(ways[way].name, argv[1]) != 0)
        way++;
    if (!strcmp(argv[1], "libaio"))
        need(syscall(SYS_io_setup, 8, &context) == 0, "io_setup");
    if (!strcmp(argv[1], "uring"))
        need(ring_make(&ring, 8, 0) == 0, "io_uring_setup");
    for (int k = 0; k < items; k++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/part%03d.bin", argv[3], k);
        ns_t from = now();
        fds[k] = open(path, O_RDONLY | O_DIRECT);
        need(fds[k] >= 0, path);
        span(&opens, from, now());
    }
    if (!strcmp(when, "ahead"))
        hand(0);
    for (int k = 0; k < items; k++) {
        if (!strcmp(when, "waited"))
            hand(k);
        if (!strcmp(when, "pairs")) {
            hand(k);
            hand(k + 1);
            wait_for(k++);
        }
        wait_for(k);
        if (!strcmp(when, "ahead") && k + 1 < items)
            hand(k + 1);
        work_ms(ms);
    }
    ns_t whole = total(&opens);
    truth("input", total(&requests) + whole, total(&waits) + whole, total(&waits));
}
