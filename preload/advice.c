/* Calls that give an error number instead of setting errno, and mremap. */
#include "preload/real.h"

#include <sys/mman.h>

#include "preload/shared.h"
#include "preload/wrap.h"

#define ERROR_NUMBER(sym, args)                                                                    \
    struct iot_timed call = {.t0 = iot_now()};                                                     \
    int result = iot_real.sym args;                                                                \
    call.t1 = iot_now();                                                                           \
    call.err = result;

#define BY_FD(sym, operation, params, args, at)                                                    \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        uint32_t obj = iot_descriptor(t, fd);                                                      \
        ERROR_NUMBER(sym, args)                                                                    \
        return (int)iot_timed_event(                                                               \
            t, call,                                                                               \
            &(struct iot_row){                                                                     \
                .result = result, .offset = at, .obj = obj, .op = IOT_OP_##operation});            \
    }

BY_FD(posix_fadvise, FADVISE, (int fd, off_t at, off_t n, int advice), (fd, at, n, advice), at)
BY_FD(posix_fadvise64, FADVISE, (int fd, off64_t at, off64_t n, int advice), (fd, at, n, advice),
      at)
BY_FD(posix_fallocate, FALLOCATE, (int fd, off_t at, off_t n), (fd, at, n), n)
BY_FD(posix_fallocate64, FALLOCATE, (int fd, off64_t at, off64_t n), (fd, at, n), n)

int posix_madvise(void *at, size_t n, int advice)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.posix_madvise(at, n, advice);
    ERROR_NUMBER(posix_madvise, (at, n, advice))
    return (int)iot_timed_event(t, call,
                                &(struct iot_row){.result = result,
                                                  .offset = (int64_t)n,
                                                  .addr = (uint64_t)(uintptr_t)at,
                                                  .op = IOT_OP_MADVISE});
}

/* What was shared at the old place is so at the new one. */
void *mremap(void *at, size_t n, size_t wanted, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    void *place = flags & MREMAP_FIXED ? va_arg(ap, void *) : NULL;
    va_end(ap);
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.mremap(at, n, wanted, flags, place);
    struct iot_timed call = {.t0 = iot_now()};
    void *result = iot_real.mremap(at, n, wanted, flags, place);
    call.t1 = iot_now();
    call.err = result == MAP_FAILED ? errno : 0;
    if (result != MAP_FAILED)
        iot_shared_moved(at, n, result, wanted);
    iot_timed_event(t, call,
                    &(struct iot_row){.result = (int64_t)(intptr_t)result,
                                      .offset = (int64_t)wanted,
                                      .addr = (uint64_t)(uintptr_t)at,
                                      .op = IOT_OP_MREMAP});
    return result;
}
