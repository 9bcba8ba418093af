/* What is known of locks, and the rows they leave: for waits.c, and for those that C11 gave other
 * names. Inline, as a lock that is free must cost next to nothing. */
#ifndef IOT_PRELOAD_LOCKS_H
#define IOT_PRELOAD_LOCKS_H

#include <errno.h>
#include <pthread.h>

#include "preload/process.h"
#include "preload/real.h"
#include "preload/record.h"
#include "preload/shared.h"
#include "preload/wrap.h"

/* What is known of the locks at a place. Like `iot_lock_held` not forgotten by a forked child:
 * there they are what they were. */
extern IOT_OURS uintptr_t
    iot_lock_guards[IOT_LOCK_PLACES]; /* the mutex there that was seen with a condition */
/* Whether there may be any of the two, which is all that the way of a free lock asks: hence so many
 * that their index is 16 bits of the address. The pages that no lock falls on stay zero and cost
 * nothing. */
extern IOT_OURS uint8_t iot_lock_watched[1 << 16];
/* The mutex this thread took last and still holds: what it signals under. */
extern IOT_OURS __thread const void *iot_lock_held __attribute__((tls_model("initial-exec")));

static inline uint32_t iot_lock_place(const void *address)
{
    uintptr_t a = (uintptr_t)address;
    return (uint32_t)((a >> 3) ^ (a >> 13)) % IOT_LOCK_PLACES;
}

static inline uint8_t *iot_lock_watch(const void *address)
{
    return &iot_lock_watched[(uint16_t)((uintptr_t)address >> 3)];
}

static inline int iot_lock_is_guard(const void *mutex)
{
    return iot_lock_guards[iot_lock_place(mutex)] == (uintptr_t)mutex;
}

static inline void iot_lock_make_guard(const void *mutex)
{
    iot_lock_guards[iot_lock_place(mutex)] = (uintptr_t)mutex;
    *iot_lock_watch(mutex) = 1;
}

static inline int iot_lock_is_watched(const void *lock)
{
    return __builtin_expect(*iot_lock_watch(lock) != 0, 0) != 0;
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
    *iot_lock_watch(lock) = 1; /* once contended, it is likely to be again */
}

/* Not below nothing: a child that was forked inside a wait counts anew. */
static inline void iot_lock_end_waiting(const void *lock)
{
    uint32_t *waiters = iot_process ? &iot_process->lock_waiters[iot_lock_place(lock)] : NULL;
    uint32_t n = waiters ? __atomic_load_n(waiters, __ATOMIC_RELAXED) : 0;
    while (n &&
           !__atomic_compare_exchange_n(waiters, &n, n - 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* A row of a lock or condition; `mutex`: that goes with the condition, or NULL. */
void iot_lock_record(struct iot_thread *t, uint16_t op, struct iot_timed call, int64_t result,
                     const void *address, const void *mutex);
/* Rows without length, now. Out of line, like all that a free lock does not come to: that keeps its
 * registers free. */
void iot_lock_moment(uint16_t op, const void *address);
/* `mutex`: under which it is sent; NULL: none that is known. */
void iot_lock_signal(uint16_t op, const void *cond, const void *mutex);

/* A call that may wait for the lock at `address`. `error`: the error number that its result
 * `waited` stands for. */
#define IOT_WAIT_FOR(operation, address, expression, error)                                        \
    ({                                                                                             \
        struct iot_thread *t = iot_enter_wait();                                                   \
        iot_lock_begin_waiting(address);                                                           \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        int waited = expression;                                                                   \
        call.t1 = iot_now();                                                                       \
        call.err = error;                                                                          \
        iot_lock_end_waiting(address);                                                             \
        if (t)                                                                                     \
            iot_lock_record(t, IOT_OP_##operation, call, waited, address, NULL);                   \
        waited;                                                                                    \
    })

/* A mutex that was taken, or may be, and what is to be recorded of it where it is watched. */
static inline int iot_lock_has_it(int result)
{
    return result == 0 || result == EOWNERDEAD;
}

int iot_lock_took_watched(const void *mutex, int result);

static inline int iot_lock_took(const void *mutex, int result)
{
    iot_lock_held = mutex;
    return iot_lock_is_watched(mutex) ? iot_lock_took_watched(mutex, result) : result;
}

/* Before a mutex is let go: whether it is watched, and then for iot_lock_lets_go_watched. */
static inline int iot_lock_lets_go(const void *mutex)
{
    if (iot_lock_held == mutex)
        iot_lock_held = NULL;
    return iot_lock_is_watched(mutex);
}

void iot_lock_lets_go_watched(const void *mutex);

/* Before a condition is signalled: one that is sent under a mutex tells that it guards the
 * condition, before anybody has waited. */
void iot_lock_signals(uint16_t op, const void *cond);

#endif
