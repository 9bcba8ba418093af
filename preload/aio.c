/* POSIX's asynchronous I/O. libc makes it of threads of its own, whose calls do not come by here,
 * so that nothing counts twice. A request's control block says when it is done: it is looked at
 * whenever the program asks. */
#include <aio.h>
#include <errno.h>

#include "preload/descriptors.h"
#include "preload/lineage.h"
#include "preload/process.h"
#include "preload/readable.h"
#include "preload/real.h"
#include "preload/requests.h"
#include "preload/wrap.h"

/* The two have one layout, and one implementation. */
_Static_assert(sizeof(struct aiocb) == sizeof(struct aiocb64), "64-bit offsets");

static struct iot_aio_look *look_of(const void *request)
{
    uint64_t hash = (uint64_t)(uintptr_t)request * UINT64_C(0x9e3779b97f4a7c15);
    return &iot_process->aio_looks[hash >> 32 & (IOT_AIO_LOOKS - 1)];
}

static int state_of(const struct aiocb64 *request)
{
    return __atomic_load_n(&request->__error_code, __ATOMIC_ACQUIRE);
}

static void made(struct iot_thread *t, uint64_t when, const struct aiocb64 *request, uint16_t op)
{
    int sync = op == IOT_OP_ASYNC_SYNC;
    uint32_t obj = iot_descriptor(t, request->aio_fildes);
    if (iot_lineage && !sync)
        iot_piece_tell(t, &(struct iot_pieces){obj, op == IOT_OP_ASYNC_READ, when},
                       (uint64_t)(uintptr_t)request->aio_buf, request->aio_nbytes);
    *look_of(request) = (struct iot_aio_look){(uint64_t)(uintptr_t)request, when, 1};
    iot_request_made(t, when,
                     &(struct iot_request){.token = (uint64_t)(uintptr_t)request,
                                           .bytes = sync ? 0 : (int64_t)request->aio_nbytes,
                                           .offset = sync ? -1 : request->aio_offset,
                                           .obj = obj,
                                           .op = op,
                                           .queue = IOT_QUEUE_POSIX});
}

/* Says that it is done where it is, once. Whether it is. */
static int look(struct iot_thread *t, const struct aiocb64 *request, uint64_t now)
{
    struct iot_aio_look *known = look_of(request);
    int here = known->request == (uint64_t)(uintptr_t)request, state = state_of(request);
    if (state == EINPROGRESS) {
        if (here)
            known->last = now;
        return 0;
    }
    if (here && !known->pending)
        return 1;
    iot_request_done(t, IOT_QUEUE_POSIX, (uint64_t)(uintptr_t)request,
                     state ? -(int64_t)state : request->__return_value, 0,
                     here ? known->last : iot_process->file->start.ticks, now);
    if (here)
        known->pending = 0;
    return 1;
}

static int look_at_all(struct iot_thread *t, const struct aiocb64 *const list[], int n,
                       uint64_t now)
{
    int done = 0;
    for (int k = 0; k < n; k++)
        done += list[k] && look(t, list[k], now);
    return done;
}

static uint16_t listed(const struct aiocb64 *request)
{
    switch (request->aio_lio_opcode) {
    case LIO_READ:
        return IOT_OP_ASYNC_READ;
    case LIO_WRITE:
        return IOT_OP_ASYNC_WRITE;
    default:
        return 0;
    }
}

/* A request that was refused is done at once: the row of its making is there already, for another
 * thread may find it done, and free it, before the call has returned. */
static void refused(struct iot_thread *t, const void *request, int failure, uint64_t t0,
                    uint64_t t1)
{
    look_of(request)->pending = 0;
    iot_request_done(t, IOT_QUEUE_POSIX, (uint64_t)(uintptr_t)request, -(int64_t)failure, 0, t0,
                     t1);
}

#define SUBMIT(sym, operation, asked, params, args, block)                                         \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t || t->vfork_pid || iot_readable(block, sizeof *block) < sizeof *block)              \
            return iot_real.sym args;                                                              \
        const struct aiocb64 *request = (const struct aiocb64 *)block;                             \
        uint32_t obj = iot_descriptor(t, request->aio_fildes);                                     \
        uint64_t t0 = iot_now();                                                                   \
        made(t, t0, request, asked);                                                               \
        int result = iot_real.sym args;                                                            \
        uint64_t t1 = iot_now();                                                                   \
        int failure = result ? errno : 0;                                                          \
        if (failure)                                                                               \
            refused(t, request, failure, t0, t1);                                                  \
        iot_request_call(                                                                          \
            t, &(struct iot_row){.result = result, .obj = obj, .op = IOT_OP_##operation}, t0, t1,  \
            failure);                                                                              \
        return result;                                                                             \
    }

#define ASKS(type, sym, params, block)                                                             \
    type sym params                                                                                \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (t && !t->vfork_pid)                                                                    \
            look(t, (const struct aiocb64 *)block, iot_now());                                     \
        return iot_real.sym(block);                                                                \
    }

#define SUSPEND(sym, block)                                                                        \
    int sym(const struct block *const list[], int n, const struct timespec *restrict timeout)      \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t || t->vfork_pid)                                                                    \
            return iot_real.sym(list, n, timeout);                                                 \
        const struct aiocb64 *const *all = (const struct aiocb64 *const *)list;                    \
        uint64_t t0 = iot_now();                                                                   \
        int there = look_at_all(t, all, n, t0);                                                    \
        int result = iot_real.sym(list, n, timeout);                                               \
        uint64_t t1 = iot_now();                                                                   \
        int failure = result ? errno : 0;                                                          \
        if (there) /* no wait: who waits for several like that spins */                            \
            return result;                                                                         \
        look_at_all(t, all, n, t1);                                                                \
        iot_request_call(t,                                                                        \
                         &(struct iot_row){.result = result,                                       \
                                           .offset = 1,                                            \
                                           .addr = IOT_QUEUE_POSIX,                                \
                                           .op = IOT_OP_AIO_SUSPEND},                              \
                         t0, t1, failure);                                                         \
        return result;                                                                             \
    }

#define CANCEL(sym, block)                                                                         \
    int sym(int fd, struct block *request)                                                         \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t || t->vfork_pid)                                                                    \
            return iot_real.sym(fd, request);                                                      \
        IOT_TIMED(int, sym, (fd, request))                                                         \
        iot_request_call(t,                                                                        \
                         &(struct iot_row){                                                        \
                             .result = result, .addr = IOT_QUEUE_POSIX, .op = IOT_OP_AIO_CANCEL},  \
                         call.t0, call.t1, call.err);                                              \
        return result;                                                                             \
    }

/* Of those that a failed call did not take, their blocks say so. */
#define LIST(sym, block)                                                                           \
    int sym(int mode, struct block *const list[restrict], int n,                          \
            struct sigevent *restrict notice)                                                      \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t || t->vfork_pid || (mode != LIO_WAIT && mode != LIO_NOWAIT))                        \
            return iot_real.sym(mode, list, n, notice);                                            \
        const struct aiocb64 *const *all = (const struct aiocb64 *const *)(uintptr_t)list;         \
        if (mode != LIO_WAIT && mode != LIO_NOWAIT) /* libc does not look at the list */           \
            return iot_real.sym(mode, list, n, notice);                                            \
        uint64_t t0 = iot_now();                                                                   \
        for (int k = 0; k < n; k++)                                                                \
            if (all[k] && listed(all[k]))                                                          \
                made(t, t0, all[k], listed(all[k]));                                               \
        int result = iot_real.sym(mode, list, n, notice);                                          \
        uint64_t t1 = iot_now();                                                                   \
        int failure = result ? errno : 0;                                                          \
        for (int k = 0; (mode == LIO_WAIT || failure) && k < n; k++)                               \
            if (all[k] && listed(all[k]))                                                          \
                look(t, all[k], t1);                                                               \
        iot_request_call(t,                                                                        \
                         &(struct iot_row){.result = result,                                       \
                                           .offset = mode == LIO_WAIT,                             \
                                           .addr = IOT_QUEUE_POSIX,                                \
                                           .op = IOT_OP_LIO_LISTIO},                               \
                         t0, t1, failure);                                                         \
        return result;                                                                             \
    }

SUBMIT(aio_read, AIO_READ, IOT_OP_ASYNC_READ, (struct aiocb * request_), (request_), request_)
SUBMIT(aio_read64, AIO_READ, IOT_OP_ASYNC_READ, (struct aiocb64 * request_), (request_), request_)
SUBMIT(aio_write, AIO_WRITE, IOT_OP_ASYNC_WRITE, (struct aiocb * request_), (request_), request_)
SUBMIT(aio_write64, AIO_WRITE, IOT_OP_ASYNC_WRITE, (struct aiocb64 * request_), (request_),
       request_)
SUBMIT(aio_fsync, AIO_FSYNC, IOT_OP_ASYNC_SYNC, (int operation, struct aiocb *request_),
       (operation, request_), request_)
SUBMIT(aio_fsync64, AIO_FSYNC, IOT_OP_ASYNC_SYNC, (int operation, struct aiocb64 *request_),
       (operation, request_), request_)
ASKS(int, aio_error, (const struct aiocb *request), request)
ASKS(int, aio_error64, (const struct aiocb64 *request), request)
ASKS(ssize_t, aio_return, (struct aiocb * request), request)
ASKS(ssize_t, aio_return64, (struct aiocb64 * request), request)
SUSPEND(aio_suspend, aiocb)
SUSPEND(aio_suspend64, aiocb64)
CANCEL(aio_cancel, aiocb)
CANCEL(aio_cancel64, aiocb64)
LIST(lio_listio, aiocb)
LIST(lio_listio64, aiocb64)
