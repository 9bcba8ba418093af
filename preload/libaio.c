#include "preload/libaio.h"

#include <errno.h>
#include <sys/syscall.h>

#include "preload/descriptors.h"
#include "preload/foreign.h"
#include "preload/lineage.h"
#include "preload/process.h"
#include "preload/readable.h"
#include "preload/real.h"
#include "preload/requests.h"

/* What a context's number points to: how the kernel hands over completions. An entry stays in place
 * after it was taken, until the ring has come round. */
struct completions {
    uint32_t id, n;
    uint32_t head, tail; /* entries, from 0 to n - 1 */
    uint32_t magic, compatible, incompatible, header_bytes;
    struct io_event events[];
};
enum { COMPLETIONS_MAGIC = 0xa10a10a1u };

static const struct completions *ring_of(aio_context_t id)
{
    const struct completions *ring = (const struct completions *)(uintptr_t)id;
    return ring && ring->magic == COMPLETIONS_MAGIC && !ring->incompatible && ring->n ? ring : NULL;
}

/* A number that is new here may be none of the kernel's. */
static const struct completions *new_ring(aio_context_t id)
{
    const void *ring = (const void *)(uintptr_t)id;
    return iot_readable(ring, sizeof(struct completions)) == sizeof(struct completions)
               ? ring_of(id)
               : NULL;
}

static struct iot_context *context_of(aio_context_t id)
{
    if (!id)
        return NULL;
    struct iot_context *all = iot_process->contexts;
    for (int k = 0; k < IOT_CONTEXTS_MAX; k++)
        if (__atomic_load_n(&all[k].id, __ATOMIC_ACQUIRE) == id)
            return &all[k];
    const struct completions *ring = new_ring(id);
    for (int k = 0; ring && k < IOT_CONTEXTS_MAX; k++) {
        uint64_t none = 0;
        if (!__atomic_compare_exchange_n(&all[k].id, &none, id, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        all[k].seen = ring->head;
        all[k].last = iot_process->file->start.ticks;
        all[k].busy = 0;
        return &all[k];
    }
    return NULL;
}

static void done(struct iot_thread *t, const struct io_event *event, uint64_t since, uint64_t now)
{
    iot_request_done(t, IOT_QUEUE_LIBAIO, event->obj, event->res, 0, since, now);
}

/* Whoever comes while another looks leaves it to that one. */
static void look(struct iot_thread *t, struct iot_context *c, uint64_t now)
{
    const struct completions *ring = ring_of(c->id);
    if (!ring || __atomic_exchange_n(&c->busy, 1, __ATOMIC_ACQUIRE))
        return;
    uint32_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
    if (c->seen >= ring->n) /* another context came to lie where one was */
        c->seen = ring->head;
    for (; c->seen != tail && tail < ring->n; c->seen = (c->seen + 1) % ring->n)
        done(t, &ring->events[c->seen], c->last, now);
    c->last = now;
    __atomic_store_n(&c->busy, 0, __ATOMIC_RELEASE);
}

static const uint16_t asked[] = {
    [IOCB_CMD_PREAD] = IOT_OP_ASYNC_READ,   [IOCB_CMD_PWRITE] = IOT_OP_ASYNC_WRITE,
    [IOCB_CMD_FSYNC] = IOT_OP_ASYNC_SYNC,   [IOCB_CMD_FDSYNC] = IOT_OP_ASYNC_SYNC,
    [IOCB_CMD_POLL] = IOT_OP_ASYNC_WAIT,    [IOCB_CMD_NOOP] = IOT_OP_ASYNC_OTHER,
    [IOCB_CMD_PREADV] = IOT_OP_ASYNC_READ,  [IOCB_CMD_PWRITEV] = IOT_OP_ASYNC_WRITE,
};

static void tell_buffers(struct iot_thread *t, const struct iocb *r, uint32_t obj, uint64_t now)
{
    unsigned command = r->aio_lio_opcode;
    int is_in = command == IOCB_CMD_PREAD || command == IOCB_CMD_PREADV;
    struct iot_pieces of = {obj, is_in, now};
    if (command == IOCB_CMD_PREAD || command == IOCB_CMD_PWRITE)
        iot_piece_tell(t, &of, r->aio_buf, r->aio_nbytes);
    else if (command == IOCB_CMD_PREADV || command == IOCB_CMD_PWRITEV)
        iot_pieces_ask(t, &of, (const struct iovec *)(uintptr_t)r->aio_buf, r->aio_nbytes);
}

static void made(struct iot_thread *t, const struct iocb *r, uint64_t now)
{
    unsigned command = r->aio_lio_opcode;
    uint32_t obj = iot_descriptor(t, (int)r->aio_fildes);
    uint16_t op = command < sizeof asked / sizeof *asked ? asked[command] : 0;
    int moves = command == IOCB_CMD_PREAD || command == IOCB_CMD_PWRITE;
    int positioned = op == IOT_OP_ASYNC_READ || op == IOT_OP_ASYNC_WRITE;
    if (iot_lineage)
        tell_buffers(t, r, obj, now);
    iot_request_made(t, now,
                     &(struct iot_request){.token = (uint64_t)(uintptr_t)r,
                                           .bytes = moves ? (int64_t)r->aio_nbytes : 0,
                                           .offset = positioned ? r->aio_offset : -1,
                                           .obj = obj,
                                           .op = op ? op : IOT_OP_ASYNC_OTHER,
                                           .queue = IOT_QUEUE_LIBAIO});
}

/* A call's two ends. `result` is the kernel's: -errno on failure. */
struct call {
    struct iot_thread *t;
    struct iot_context *context;
    aio_context_t id;
    uint64_t t0;
    long there; /* completions that were there and not taken yet */
    long made;  /* requests that were handed over */
};

static struct call begin(struct iot_thread *t, aio_context_t id)
{
    struct call c = {t, context_of(id), id, iot_now(), 0, 0};
    if (!c.context)
        return c;
    look(t, c.context, c.t0);
    const struct completions *ring = ring_of(id);
    if (ring)
        c.there = (c.context->seen + ring->n - ring->head) % ring->n;
    return c;
}

static void end(const struct call *c, uint16_t op, long result, long least)
{
    uint64_t t1 = iot_now();
    long waited = least > c->there ? least - c->there : 0;
    if (c->context)
        look(c->t, c->context, t1);
    iot_request_call(c->t,
                     &(struct iot_row){.result = result < 0 ? -1 : result,
                                       .offset = waited,
                                       .addr = IOT_QUEUE_LIBAIO,
                                       .op = op},
                     c->t0, t1, result < 0 ? (int)-result : 0);
}

/* As far as the kernel can read them: it takes no more than the ring has room for, and none behind
 * one that it can't read. */
static struct call begin_submit(struct iot_thread *t, aio_context_t id, long n, struct iocb **list)
{
    struct call c = begin(t, id);
    const struct completions *ring = c.context ? ring_of(id) : NULL;
    if (!ring || n <= 0)
        return c;
    size_t most = (size_t)n < ring->n ? (size_t)n : ring->n;
    long there = (long)(iot_readable(list, most * sizeof *list) / sizeof *list);
    uintptr_t known = 0;
    for (; c.made < there; c.made++) {
        const struct iocb *request = list[c.made];
        if (!iot_readable_near(&known, request, sizeof *request))
            break;
        made(t, request, c.t0);
    }
    return c;
}

/* Those that the kernel did not take are done, by that. */
static void end_submit(const struct call *c, struct iocb **list, long result)
{
    uint64_t now = iot_now();
    long refused = result < 0 ? result : -EAGAIN;
    for (long k = result < 0 ? 0 : result; k < c->made; k++)
        iot_request_done(c->t, IOT_QUEUE_LIBAIO, (uint64_t)(uintptr_t)list[k], refused, 0, c->t0,
                         now);
    end(c, IOT_OP_IO_SUBMIT, result, 0);
}

/* Where the ring can't be read the events that were handed out say what is done. */
static void end_wait(const struct call *c, long result, long least, const struct io_event *events)
{
    uint64_t now = iot_now();
    for (long k = 0; !c->context && k < result; k++)
        done(c->t, &events[k], c->t0, now);
    if (!least && !result) /* programs may spin */
        return;
    end(c, IOT_OP_IO_GETEVENTS, result, least);
}

static void forget(struct iot_thread *t, aio_context_t id)
{
    struct iot_context *context = context_of(id);
    if (!context)
        return;
    look(t, context, iot_now());
    __atomic_store_n(&context->id, 0, __ATOMIC_RELEASE);
}

/* --- libaio --- */

int io_setup(int n, aio_context_t *context)
{
    return IOT_FOREIGN(io_setup)(n, context);
}

int io_destroy(aio_context_t context)
{
    struct iot_thread *t = iot_foreign_enter();
    if (t)
        forget(t, context);
    return IOT_FOREIGN(io_destroy)(context);
}

int io_submit(aio_context_t context, long n, struct iocb *requests[])
{
    struct iot_thread *t = iot_foreign_enter();
    if (!t)
        return IOT_FOREIGN(io_submit)(context, n, requests);
    struct call call = begin_submit(t, context, n, requests);
    IOT_FOREIGN_CALL(int, io_submit, (context, n, requests))
    end_submit(&call, requests, result);
    return result;
}

int io_cancel(aio_context_t context, struct iocb *request, struct io_event *event)
{
    return IOT_FOREIGN(io_cancel)(context, request, event);
}

int io_getevents(aio_context_t context, long least, long n, struct io_event *events,
                 struct timespec *timeout)
{
    struct iot_thread *t = iot_foreign_enter();
    if (!t)
        return IOT_FOREIGN(io_getevents)(context, least, n, events, timeout);
    struct call call = begin(t, context);
    IOT_FOREIGN_CALL(int, io_getevents, (context, least, n, events, timeout))
    end_wait(&call, result, least, events);
    return result;
}

int io_pgetevents(aio_context_t context, long least, long n, struct io_event *events,
                  struct timespec *timeout, sigset_t *mask)
{
    struct iot_thread *t = iot_foreign_enter();
    if (!t)
        return IOT_FOREIGN(io_pgetevents)(context, least, n, events, timeout, mask);
    struct call call = begin(t, context);
    IOT_FOREIGN_CALL(int, io_pgetevents, (context, least, n, events, timeout, mask))
    end_wait(&call, result, least, events);
    return result;
}

/* --- by number --- */

int iot_libaio_number(long number)
{
    return number == SYS_io_submit || number == SYS_io_getevents || number == SYS_io_pgetevents ||
           number == SYS_io_destroy;
}

long iot_libaio_syscall(struct iot_thread *t, long number, const long a[6])
{
    aio_context_t context = (aio_context_t)a[0];
    struct iocb **requests = (struct iocb **)a[2];
    struct call call = {0};
    if (number == SYS_io_destroy)
        forget(t, context);
    else if (number == SYS_io_submit)
        call = begin_submit(t, context, a[1], requests);
    else
        call = begin(t, context);
    long result = iot_real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    int saved = errno;
    long kernel = result < 0 ? -(long)saved : result;
    if (number == SYS_io_submit)
        end_submit(&call, requests, kernel);
    else if (number != SYS_io_destroy)
        end_wait(&call, kernel, a[1], (const struct io_event *)a[3]);
    errno = saved;
    return result;
}
