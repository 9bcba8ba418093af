/* The whole way from a trace to a report, on runs that no program made: waits without wakers, locks
 * taken twice, children that are their own parents, times that contradict each other. The input is
 * a list of events, eight bytes each, for three processes of three lanes. What a report must
 * conserve is checked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/ops.h"
#include "tests/fuzz/check_report.h"
#include "tests/unit/trace_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROCESSES = 3, LANES = 3, NAMES = 8, FIRST_PID = 100 };

struct event {
    uint8_t lane, op, before, took, obj, obj2, offset;
    int8_t result;
};

static struct iot_half_rows halves[PROCESSES][LANES];
static uint64_t now[PROCESSES][LANES];

/* Descriptors 1 to 7, of all kinds that waits are looked for on. */
static void define(struct iot_half_rows *rows)
{
    static const struct {
        const char *name;
        uint32_t mode;
        uint64_t flags, ino;
        int64_t size;
    } files[NAMES] = {
        {"/data/a.bin", S_IFREG, 0, 1, 100},
        {"pipe:[2]", S_IFIFO, 0, 2, 4096},
        {"pipe:[3]", S_IFIFO, 0, 3, 65536},
        {"socket:[4]", S_IFSOCK, IOT_DESC_PEER, 4, 5},
        {"socket:[5]", S_IFSOCK, IOT_DESC_PEER, 5, 4},
        {"socket:[6]", S_IFSOCK, 0, 6, 0},
        {"/dev/pts/0", S_IFCHR, IOT_DESC_ADOPTED, 7, 0},
        {"/out/b.log", S_IFREG, 0, 8, 0},
    };
    for (uint32_t n = 0; n < NAMES; n++) {
        iot_rows_string(rows, n + 1, files[n].name);
        iot_rows_desc(rows, n + 1, n + 1, (int)n, files[n].mode, files[n].flags, 1, files[n].ino,
                      files[n].size);
    }
}

/* What waits, wakes and lives; the other operations are reached by numbers of their own. */
static const uint8_t chosen[] = {
    IOT_OP_READ,           IOT_OP_WRITE,         IOT_OP_SENDFILE,     IOT_OP_CLOSE,
    IOT_OP_CONNECT,        IOT_OP_ACCEPT,        IOT_OP_POLL,         IOT_OP_SLEEP,
    IOT_OP_JOIN,           IOT_OP_WAITPID,       IOT_OP_MUTEX_LOCK,   IOT_OP_MUTEX_UNLOCK,
    IOT_OP_COND_WAIT,      IOT_OP_SEM_WAIT,      IOT_OP_SEM_POST,     IOT_OP_COND_SIGNAL,
    IOT_OP_COND_BROADCAST, IOT_OP_BARRIER_WAIT,  IOT_OP_FORK,         IOT_OP_VFORK,
    IOT_OP_START,          IOT_OP_EXEC,          IOT_OP_EXIT,         IOT_OP_SYSTEM,
    IOT_OP_SPAWN,          IOT_OP_THREAD_CREATE, IOT_OP_THREAD_START, IOT_OP_THREAD_EXIT,
    IOT_OP_MMAP,           IOT_OP_MSYNC,         IOT_OP_RENAME,       IOT_OP_SYNCFS,
};

/* Behind those, by the numbers from CHOSEN on: what waits and wakes out of sight of the two calls.
 */
enum { CHOSEN = 208 };
static const uint16_t further[] = {
    IOT_OP_ASYNC_READ, IOT_OP_ASYNC_WRITE,  IOT_OP_ASYNC_SYNC,     IOT_OP_ASYNC_SPLICE,
    IOT_OP_ASYNC_WAIT, IOT_OP_ASYNC_OTHER,  IOT_OP_ASYNC_DONE,     IOT_OP_ASYNC_UNSEEN,
    IOT_OP_IO_SUBMIT,  IOT_OP_IO_GETEVENTS, IOT_OP_IO_URING_ENTER, IOT_OP_AIO_SUSPEND,
    IOT_OP_RESIDENT,   IOT_OP_FAULTS,       IOT_OP_MUNMAP,         IOT_OP_MREMAP,
    IOT_OP_MADVISE,    IOT_OP_ONCE,         IOT_OP_ONCE_DONE,      IOT_OP_SIGWAIT,
    IOT_OP_KILL,       IOT_OP_THREAD_KILL,  IOT_OP_FUTEX_WAIT,     IOT_OP_FUTEX_WAKE,
};
enum { FURTHER = sizeof further / sizeof *further };

static uint16_t op_of(const struct event *e)
{
    if (e->op < CHOSEN)
        return chosen[e->op % sizeof chosen];
    return e->op < CHOSEN + FURTHER ? further[e->op - CHOSEN] : (uint16_t)(e->before ^ e->took);
}

/* Requests have the number of their queue in the place of an error. */
static int has_queue(uint16_t op)
{
    return op >= IOT_OP_ASYNC_READ && op <= IOT_OP_ASYNC_DONE;
}

/* Small values that mean something: pids of the run, lanes, byte counts, errors. */
static void add(const struct event *e)
{
    unsigned p = e->lane % PROCESSES, l = e->lane / PROCESSES % LANES;
    struct iot_half_rows *rows = &halves[p][l];
    struct iot_row row = {.op = op_of(e),
                          .obj = e->obj & 15,
                          .obj2 = e->obj2 & 15,
                          .offset = e->offset,
                          .addr = e->obj >> 4,
                          .result = e->result,
                          .bytes = e->result};
    if (rows->n == IOT_HALF_ROWS || !row.op)
        return;
    fuzz_times(&row, &now[p][l], e->lane & 64, e->before, e->took);
    if (e->lane & 128)
        row.result = FIRST_PID + (e->result & 3);
    if (e->result < -100)
        row.err = (uint16_t)(e->result + 240); /* ETIMEDOUT is 110 */
    if (has_queue(row.op))
        row.err = e->obj2 & 3;
    iot_rows_add(rows, row);
}

static void save(unsigned p, uint32_t end)
{
    char name[] = "0.iot";
    struct iot_written file = iot_written_new(FIRST_PID + p, p ? FIRST_PID : 1, 1000 * p);
    iot_written_header(&file)->root = !p;
    iot_written_header(&file)->end = end;
    for (uint32_t l = 0; l < LANES; l++)
        if (halves[p][l].n)
            iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, l), 0, l, 200 + l,
                             1, &halves[p][l]);
    name[0] = (char)('0' + p);
    iot_written_save(&file, fuzz_folder(), name);
    iot_written_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return -1;
    for (unsigned p = 0; p < PROCESSES; p++)
        for (unsigned l = 0; l < LANES; l++) {
            halves[p][l].n = 0;
            now[p][l] = 1000 + 10 * l;
        }
    for (unsigned p = 0; p < PROCESSES; p++)
        define(&halves[p][0]);
    for (size_t at = 1; at + sizeof(struct event) <= size; at += sizeof(struct event)) {
        struct event e;
        memcpy(&e, data + at, sizeof e);
        add(&e);
    }
    for (unsigned p = 0; p < PROCESSES; p++)
        save(p, data[0] >> 2 * p & 3);
    fuzz_report();
    return 0;
}
