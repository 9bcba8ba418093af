/* Calls that put files into memory, and say what is to come of it. */
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "preload/descriptors.h"
#include "preload/faults.h"
#include "preload/mappings.h"
#include "preload/readable.h"
#include "preload/real.h"
#include "preload/shared.h"
#include "preload/uring.h"
#include "preload/wrap.h"

/* Only those of a file: the others are memory. */
#define MMAP(sym, offset_type)                                                                     \
    void *sym(void *at, size_t n, int protection, int flags, int fd, offset_type offset)           \
    {                                                                                              \
        int of_file = fd >= 0 && !(flags & MAP_ANONYMOUS), shared = flags & MAP_SHARED;            \
        struct iot_thread *t = shared    ? iot_enter_always()                                      \
                               : of_file ? iot_enter()                                             \
                                         : NULL;                                                   \
        if (!t)                                                                                    \
            return iot_real.sym(at, n, protection, flags, fd, offset);                             \
        if (!of_file) {                                                                            \
            void *memory = iot_real.sym(at, n, protection, flags, fd, offset);                     \
            if (memory != MAP_FAILED)                                                              \
                iot_shared_anonymous(memory, n);                                                   \
            return memory;                                                                         \
        }                                                                                          \
        uint32_t obj = iot_descriptor(t, fd);                                                      \
        if (flags & MAP_FIXED)                                                                     \
            iot_mappings_ending(t, at, n);                                                         \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        void *result = iot_real.sym(at, n, protection, flags, fd, offset);                         \
        call.t1 = iot_now();                                                                       \
        call.err = result == MAP_FAILED ? errno : 0;                                               \
        if (shared && protection & PROT_WRITE && result != MAP_FAILED)                             \
            iot_shared_file(result, n, fd, offset);                                                \
        if (iot_process->rings_made && result != MAP_FAILED)                                       \
            iot_ring_mapped(fd, (uint64_t)offset, result);                                         \
        iot_timed_event(t, call,                                                                   \
                        &(struct iot_row){.result = (int64_t)(intptr_t)result,                     \
                                          .offset = offset,                                        \
                                          .addr = n,                                               \
                                          .obj = obj,                                              \
                                          .obj2 = shared && protection & PROT_WRITE,               \
                                          .op = IOT_OP_MMAP});                                     \
        if (result != MAP_FAILED && !t->vfork_pid)                                                 \
            iot_mappings_add(result, n, protection, fd, offset);                                   \
        return result;                                                                             \
    }

MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

int munmap(void *at, size_t n)
{
    iot_readable_ending();
    struct iot_thread *t = iot_enter();
    iot_shared_forget(at, n);
    iot_ring_unmapping(t, at, n);
    if (iot_mappings_has(at)) {
        struct iot_thread *tells = t ? t : iot_enter_always();
        if (tells) {
            iot_faults_look(tells);
            iot_mappings_ending(tells, at, n);
        }
    }
    if (!t)
        return iot_real.munmap(at, n);
    IOT_TIMED(int, munmap, (at, n))
    return (int)iot_timed_event(t, call,
                                &(struct iot_row){.result = result,
                                                  .offset = (int64_t)n,
                                                  .addr = (uint64_t)(uintptr_t)at,
                                                  .op = IOT_OP_MUNMAP});
}

/* Of memory, allocators make many of the following: no rows. */

void *mremap(void *at, size_t n, size_t wanted, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    void *to = va_arg(ap, void *); /* read as libc does; there need not be one */
    va_end(ap);
    iot_readable_ending();
    int followed = iot_mappings_has(at);
    struct iot_thread *t = followed ? iot_enter() : NULL;
    struct iot_timed call = {.t0 = t ? iot_now() : 0};
    void *result = iot_real.mremap(at, n, wanted, flags, to);
    if (result != MAP_FAILED)
        iot_shared_moved(at, n, result, wanted); /* what was shared there is so at the new place */
    if (result != MAP_FAILED && followed && !(t && t->vfork_pid))
        iot_mappings_moved(at, n, result, wanted);
    if (!t)
        return result;
    call.t1 = iot_now();
    call.err = result == MAP_FAILED ? errno : 0;
    iot_timed_event(t, call,
                    &(struct iot_row){.result = (int64_t)(intptr_t)result,
                                      .offset = (int64_t)wanted,
                                      .addr = (uint64_t)(uintptr_t)at,
                                      .op = IOT_OP_MREMAP});
    return result;
}

#define OF_MAPPING(sym, operation, params, args, number)                                           \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_mappings_has(at) ? iot_enter() : NULL;                          \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        return (int)iot_timed_event(t, call,                                                       \
                                    &(struct iot_row){.result = result,                            \
                                                      .offset = (int64_t)(number),                 \
                                                      .addr = (uint64_t)(uintptr_t)at,             \
                                                      .op = IOT_OP_##operation});                  \
    }

OF_MAPPING(madvise, MADVISE, (void *at, size_t n, int advice), (at, n, advice), advice)
OF_MAPPING(mlock, MLOCK, (const void *at, size_t n), (at, n), n)
OF_MAPPING(mlock2, MLOCK, (const void *at, size_t n, unsigned flags), (at, n, flags), n)

/* It returns the error. */
int posix_madvise(void *at, size_t n, int advice)
{
    struct iot_thread *t = iot_mappings_has(at) ? iot_enter() : NULL;
    if (!t)
        return iot_real.posix_madvise(at, n, advice);
    IOT_TIMED_NUMBER(posix_madvise, (at, n, advice))
    iot_timed_event(t, call,
                    &(struct iot_row){.result = result ? -1 : 0,
                                      .offset = advice,
                                      .addr = (uint64_t)(uintptr_t)at,
                                      .op = IOT_OP_MADVISE});
    return result;
}
