/* What is known of locks, and the rows they leave: for waits.c, and for those that C11 gave other names.
 * Inline, as a lock that is free must cost next to nothing. */
#ifndef IOT_PRELOAD_LOCKS_H
#define IOT_PRELOAD_LOCKS_H

#include <errno.h>
#include <pthread.h>

#include "preload/process.h"
#include "preload/real.h"
#include "preload/record.h"
#include "preload/shared.h"
#include "preload/wrap.h"

/* What is known of the locks at a place. Like `iot_lock_held` not forgotten by a forked child: there they are
 * what they were. */
extern uintptr_t iot_lock_guards[IOT_LOCK_PLACES]; /* the mutex there that was seen with a condition */
/* Whether there is any of the two, which is all that the way of a free lock asks. */
extern uint8_t iot_lock_watched[IOT_LOCK_PLACES];
/* The mutex this thread took last and still holds: what it signals under. */
extern __thread const void *iot_lock_held __attribute__((tls_model("initial-exec")));

static inline uint32_t iot_lock_place(const void *address)
{
    uintptr_t a = (uintptr_t)address;
    return (uint32_t)((a >> 3) ^ (a >> 13)) % IOT_LOCK_PLACES;
}

static inline int iot_lock_is_guard(const void *mutex)
{
    return iot_lock_guards[iot_lock_place(mutex)] == (uintptr_t)mutex;
}

static inline void iot_lock_make_guard(const void *mutex)
{
    iot_lock_guards[iot_lock_place(mutex)] = (uintptr_t)mutex;
    iot_lock_watched[iot_lock_place(mutex)] = 1;
}

static inline int iot_lock_is_watched(const void *lock)
{
    return iot_lock_watched[iot_lock_place(lock)];
}

static inline int iot_lock_waited_for(const void *lock)
{
    return iot_process &&
           __atomic_load_n(&iot_process->lock_waiters[iot_lock_place(lock)], __ATOMIC_RELAXED) != 0;
}

static inline void iot_lock_begin_waiting(const void *lock)
{
    if (iot_process)
        __atomic_fetch_add(&iot_process->lock_waiters[iot_lock_place(lock)], 1, __ATOMIC_RELAXED);
    iot_lock_watched[iot_lock_place(lock)] = 1; /* once contended, it is likely to be again */
}

/* Not below nothing: a child that was forked inside a wait counts anew. */
static inline void iot_lock_end_waiting(const void *lock)
{
    uint32_t *waiters = iot_process ? &iot_process->lock_waiters[iot_lock_place(lock)] : NULL;
    uint32_t n = waiters ? __atomic_load_n(waiters, __ATOMIC_RELAXED) : 0;
    while (n && !__atomic_compare_exchange_n(waiters, &n, n - 1, 0, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
        ;
}

/* A row of a lock or condition; `mutex`: that goes with the condition, or NULL. */
void iot_lock_record(struct iot_thread *t, uint16_t op, struct iot_timed call, int64_t result,
                     const void *address, const void *mutex);
/* Rows without length, now. Out of line, like all that a free lock does not need: it keeps the registers
 * free. */
void iot_lock_moment(uint16_t op, const void *address);
/* `mutex`: under which it is sent; NULL: none that is known. */
void iot_lock_signal(uint16_t op, const void *cond, const void *mutex);

/* A call that may wait for the lock at `address`. `error`: the error number that its result `waited`
 * stands for. */
#define IOT_WAIT_FOR(operation, address, expression, error)                                            \
    ({                                                                                             \
        struct iot_thread *t = iot_enter();                                                        \
        iot_lock_begin_waiting(address);                                                                    \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        int waited = expression;                                                                   \
        call.t1 = iot_now();                                                                       \
        call.err = error;                                                                          \
        iot_lock_end_waiting(address);                                                                      \
        if (t)                                                                                     \
            iot_lock_record(t, IOT_OP_##operation, call, waited, address, NULL);                            \
        waited;                                                                                    \
    })

/* A mutex that was taken, or not: then `result` is not 0. */
static inline int iot_lock_took(const void *mutex, int result)
{
    if (result == 0 || result == EOWNERDEAD) {
        iot_lock_held = mutex;
        if (iot_lock_is_watched(mutex) && iot_lock_is_guard(mutex))
            iot_lock_moment(IOT_OP_MUTEX_LOCK, mutex);
    }
    return result;
}

/* Before a mutex is let go. */
static inline void iot_lock_lets_go(const void *mutex)
{
    if (iot_lock_held == mutex)
        iot_lock_held = NULL;
    if (iot_lock_is_watched(mutex) && (iot_lock_is_guard(mutex) || iot_lock_waited_for(mutex)))
        iot_lock_moment(IOT_OP_MUTEX_UNLOCK, mutex);
}

/* Before a condition is signalled: one that is sent under a mutex tells that it guards the condition, before
 * anybody has waited. */
void iot_lock_signals(uint16_t op, const void *cond);

#endif
