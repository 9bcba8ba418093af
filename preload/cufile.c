/* cuFile's functions. A handle is known by the descriptor that it was registered with. Calls that
 * wait are calls; those of a batch are requests; what a stream reads or writes when it comes to it
 * (…Async) is a request whose end nobody looks for. */
#include "preload/cufile.h"

#include "preload/descriptors.h"
#include "preload/foreign.h"
#include "preload/process.h"
#include "preload/requests.h"
#include "preload/wrap.h"

static uint32_t *place_of(const void *file)
{
    struct iot_cufile_handle *all = iot_process->cufile_handles;
    for (int k = 0; k < IOT_CUFILE_HANDLES; k++)
        if (all[k].file == (uint64_t)(uintptr_t)file)
            return &all[k].obj;
    return NULL;
}

static uint32_t object_of(const void *file)
{
    const uint32_t *place = file ? place_of(file) : NULL;
    return place ? *place : 0;
}

static void registered(struct iot_thread *t, void *file, int fd)
{
    struct iot_cufile_handle *all = iot_process->cufile_handles;
    for (int k = 0; file && k < IOT_CUFILE_HANDLES; k++) {
        uint64_t none = 0;
        if (!__atomic_compare_exchange_n(&all[k].file, &none, (uint64_t)(uintptr_t)file, 0,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        all[k].obj = iot_descriptor(t, fd);
        return;
    }
}

struct iot_cufile_error cuFileHandleRegister(void **file, struct iot_cufile_descr *descr)
{
    struct iot_thread *t = iot_foreign_enter();
    if (!t)
        return IOT_FOREIGN(cuFileHandleRegister)(file, descr);
    IOT_FOREIGN_CALL(struct iot_cufile_error, cuFileHandleRegister, (file, descr))
    if (result.error == 0 && descr->type == IOT_CUFILE_DESCRIPTOR)
        registered(t, *file, descr->of.fd);
    return result;
}

void cuFileHandleDeregister(void *file)
{
    struct iot_thread *t = iot_foreign_enter();
    struct iot_cufile_handle *all = iot_process ? iot_process->cufile_handles : NULL;
    for (int k = 0; t && file && k < IOT_CUFILE_HANDLES; k++)
        if (all[k].file == (uint64_t)(uintptr_t)file)
            all[k].file = 0;
    IOT_FOREIGN(cuFileHandleDeregister)(file);
}

/* What it does to the file by libc's calls, where there is no GPUDirect, is not recorded again: the
 * bytes are this call's. So the thread has no buffers meanwhile. */
#define MOVES(sym, operation, buffer)                                                              \
    ssize_t sym(void *file, buffer memory, size_t n, off_t at, off_t memory_at)                    \
    {                                                                                              \
        struct iot_thread *t = iot_foreign_enter();                                                \
        if (!t)                                                                                    \
            return IOT_FOREIGN(sym)(file, memory, n, at, memory_at);                               \
        uint32_t obj = object_of(file);                                                            \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        iot_silence();                                                                             \
        ssize_t result = IOT_FOREIGN(sym)(file, memory, n, at, memory_at);                         \
        iot_speak(t);                                                                              \
        call.t1 = iot_now();                                                                       \
        call.err = result == -1 ? errno : result < 0 ? EIO : 0;                                    \
        iot_timed_event(                                                                           \
            t, call,                                                                               \
            &(struct iot_row){.result = result,                                                    \
                              .bytes = result > 0 ? result : 0,                                    \
                              .offset = at,                                                        \
                              .addr = (uint64_t)(uintptr_t)memory + (uint64_t)memory_at,           \
                              .obj = obj,                                                          \
                              .op = IOT_OP_##operation});                                          \
        return result;                                                                             \
    }

MOVES(cuFileRead, CUFILE_READ, void *)
MOVES(cuFileWrite, CUFILE_WRITE, const void *)

#define ASYNC(sym, operation, buffer)                                                              \
    struct iot_cufile_error sym(void *file, buffer memory, size_t *n, off_t *at, off_t *memory_at, \
                                ssize_t *moved, void *stream)                                      \
    {                                                                                              \
        struct iot_thread *t = iot_foreign_enter();                                                \
        if (t)                                                                                     \
            iot_request_made(t, iot_now(),                                                         \
                             &(struct iot_request){.token = (uint64_t)(uintptr_t)moved,            \
                                                   .bytes = (int64_t)*n,                           \
                                                   .offset = *at,                                  \
                                                   .obj = object_of(file),                         \
                                                   .op = operation,                                \
                                                   .queue = IOT_QUEUE_CUFILE});                    \
        return IOT_FOREIGN(sym)(file, memory, n, at, memory_at, moved, stream);                    \
    }

ASYNC(cuFileReadAsync, IOT_OP_ASYNC_READ, void *)
ASYNC(cuFileWriteAsync, IOT_OP_ASYNC_WRITE, void *)

static void asked(struct iot_thread *t, const struct iot_cufile_request *r, uint64_t now)
{
    iot_request_made(t, now,
                     &(struct iot_request){.token = (uint64_t)(uintptr_t)r->cookie,
                                           .bytes = (int64_t)r->batch.bytes,
                                           .offset = r->batch.offset,
                                           .obj = object_of(r->file),
                                           .op = r->operation == IOT_CUFILE_WRITE
                                                     ? IOT_OP_ASYNC_WRITE
                                                     : IOT_OP_ASYNC_READ,
                                           .queue = IOT_QUEUE_CUFILE});
}

struct iot_cufile_error cuFileBatchIOSubmit(void *batch, unsigned n,
                                            struct iot_cufile_request *requests, unsigned flags)
{
    struct iot_thread *t = iot_foreign_enter();
    if (!t)
        return IOT_FOREIGN(cuFileBatchIOSubmit)(batch, n, requests, flags);
    uint64_t t0 = iot_now();
    for (unsigned k = 0; k < n; k++)
        asked(t, &requests[k], t0);
    IOT_FOREIGN_CALL(struct iot_cufile_error, cuFileBatchIOSubmit, (batch, n, requests, flags))
    uint64_t t1 = iot_now();
    for (unsigned k = 0; result.error && k < n; k++)
        iot_request_done(t, IOT_QUEUE_CUFILE, (uint64_t)(uintptr_t)requests[k].cookie, -EIO, 0, t0,
                         t1);
    iot_request_call(t,
                     &(struct iot_row){.result = result.error ? -1 : (int64_t)n,
                                       .addr = IOT_QUEUE_CUFILE,
                                       .op = IOT_OP_IO_SUBMIT},
                     t0, t1, result.error ? EIO : 0);
    return result;
}

struct iot_cufile_error cuFileBatchIOGetStatus(void *batch, unsigned least, unsigned *n,
                                               struct iot_cufile_event *events,
                                               struct timespec *timeout)
{
    struct iot_thread *t = iot_foreign_enter();
    if (!t)
        return IOT_FOREIGN(cuFileBatchIOGetStatus)(batch, least, n, events, timeout);
    uint64_t t0 = iot_now();
    IOT_FOREIGN_CALL(struct iot_cufile_error, cuFileBatchIOGetStatus,
                     (batch, least, n, events, timeout))
    uint64_t t1 = iot_now();
    unsigned found = result.error ? 0 : *n;
    for (unsigned k = 0; k < found; k++)
        if (events[k].status != IOT_CUFILE_WAITING && events[k].status != IOT_CUFILE_PENDING)
            iot_request_done(t, IOT_QUEUE_CUFILE, (uint64_t)(uintptr_t)events[k].cookie,
                             events[k].status == IOT_CUFILE_COMPLETE ? (int64_t)events[k].result
                                                                     : -EIO,
                             0, t0, t1);
    if (least || found)
        iot_request_call(t,
                         &(struct iot_row){.result = result.error ? -1 : (int64_t)found,
                                           .offset = least,
                                           .addr = IOT_QUEUE_CUFILE,
                                           .op = IOT_OP_IO_GETEVENTS},
                         t0, t1, result.error ? EIO : 0);
    return result;
}
