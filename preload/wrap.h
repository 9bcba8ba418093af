/* What wrappers have in common: time the real call, then record it, and leave errno alone. */
#ifndef IOT_PRELOAD_WRAP_H
#define IOT_PRELOAD_WRAP_H

#include <errno.h>
#include <time.h>

#include "preload/descriptors.h"
#include "preload/readable.h"
#include "preload/record.h"

/* A call that has been made. */
struct iot_timed {
    uint64_t t0, t1;
    int err; /* errno, of a call that failed */
};

static inline int iot_failed(int64_t result)
{
    return result == -1;
}

/* `was_read`: the kernel has. Else the call may have failed before it looked. */
static inline uint32_t iot_path_if(struct iot_thread *t, struct iot_timed call, int dir,
                                   const char *path, int was_read)
{
    __asm__("" : "+r"(path)); /* libc's headers promise the compiler that it is not NULL */
    if (!path || call.err == EFAULT || (!was_read && !iot_readable_name(path)))
        return 0;
    return iot_path(t, dir, path);
}

/* The name that a call was made with; some take none beside a descriptor. That there is no such
 * file the kernel knows when it has read the name: programs ask for many, and this has to be cheap.
 */
static inline uint32_t iot_path_of(struct iot_thread *t, struct iot_timed call, int dir,
                                   const char *path)
{
    return iot_path_if(t, call, dir, path, !call.err || call.err == ENOENT);
}

/* The second name of two: the first may have been the one that is not there. */
static inline uint32_t iot_second_path_of(struct iot_thread *t, struct iot_timed call, int dir,
                                          const char *path)
{
    return iot_path_if(t, call, dir, path, !call.err);
}

/* A timeout as the row of a poll has it. */
static inline int64_t iot_ms_of(const struct timespec *timeout)
{
    return timeout ? timeout->tv_sec * 1000 + timeout->tv_nsec / 1000000 : -1;
}

/* Makes the call; declares `result` and `call`. */
#define IOT_TIMED(ret, sym, args)                                                                  \
    struct iot_timed call;                                                                         \
    call.t0 = iot_now();                                                                           \
    ret result = iot_real.sym args;                                                                \
    call.t1 = iot_now();                                                                           \
    call.err = iot_failed((int64_t)result) ? errno : 0;

/* The same for calls that return the number of their error. */
#define IOT_TIMED_NUMBER(sym, args)                                                                \
    struct iot_timed call;                                                                         \
    call.t0 = iot_now();                                                                           \
    int result = iot_real.sym args;                                                                \
    call.t1 = iot_now();                                                                           \
    call.err = result;

/* Records the row with the call's times and error; gives the row's result. */
static inline int64_t iot_timed_event(struct iot_thread *t, struct iot_timed call,
                                      struct iot_row *row)
{
    row->t0 = call.t0;
    row->t1 = call.t1;
    row->err = (uint16_t)call.err;
    iot_event(t, row);
    return row->result;
}

/* The end of a wrapper that is no more than its row in the table. */
#define IOT_RETURN_EVENT(operation, ...)                                                           \
    iot_timed_event(                                                                               \
        t, call,                                                                                   \
        &(struct iot_row){.result = (int64_t)result, .op = IOT_OP_##operation, __VA_ARGS__});      \
    return result;

/* A wrapper of a call on the descriptor `fd`. After it come the fields that its row has besides;
 * they may use `result`. */
#define IOT_ON_DESCRIPTOR(ret, sym, operation, params, args, fd, ...)                              \
    ret sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        uint32_t obj = iot_descriptor(t, fd);                                                      \
        IOT_TIMED(ret, sym, args)                                                                  \
        IOT_RETURN_EVENT(operation, .obj = obj, __VA_ARGS__)                                       \
    }

#endif
