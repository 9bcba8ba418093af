/* Waits and wakes between threads, and between processes through shared memory.
 *
 * A lock that was free and that nobody waits for leaves no row: it is taken with the trying form,
 * which does the same as the waiting one where the lock is free. Two things make a release worth a
 * row: somebody waits for it, or the mutex guards a condition, for then it orders the messages that
 * pass under it. Semaphores are messages themselves.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdarg.h>

#include "preload/process.h"
#include "preload/real.h"
#include "preload/record.h"
#include "preload/shared.h"
#include "preload/wrap.h"

/* What is known of the locks at a place. Like `held` not forgotten by a forked child: there they are
 * what they were. */
static uintptr_t guards[IOT_LOCK_PLACES]; /* the mutex there that was seen with a condition */
/* Whether there may be any of the two, which is all that the way of a free lock asks: hence so many
 * that their index is 16 bits of the address. The pages that no lock falls on stay zero and cost
 * nothing. */
static uint8_t watched[1 << 16];
/* The mutex this thread took last and still holds: what it signals under. */
static __thread pthread_mutex_t *held __attribute__((tls_model("initial-exec")));

static uint32_t place(const void *address)
{
    uintptr_t a = (uintptr_t)address;
    return (uint32_t)((a >> 3) ^ (a >> 13)) % IOT_LOCK_PLACES;
}

static uint8_t *watch(const void *address)
{
    return &watched[(uint16_t)((uintptr_t)address >> 3)];
}

static int is_guard(const void *mutex)
{
    return guards[place(mutex)] == (uintptr_t)mutex;
}

static void make_guard(const void *mutex)
{
    guards[place(mutex)] = (uintptr_t)mutex;
    *watch(mutex) = 1;
}

static int is_watched(const void *lock)
{
    return __builtin_expect(*watch(lock) != 0, 0) != 0;
}

static int waited_for(const void *lock)
{
    return iot_process &&
           __atomic_load_n(&iot_process->lock_waiters[place(lock)], __ATOMIC_RELAXED) != 0;
}

static void begin_waiting(const void *lock)
{
    if (iot_process)
        __atomic_fetch_add(&iot_process->lock_waiters[place(lock)], 1, __ATOMIC_RELAXED);
    *watch(lock) = 1; /* once contended, it is likely to be again */
}

/* Not below nothing: a child that was forked inside a wait counts anew. */
static void end_waiting(const void *lock)
{
    uint32_t *waiters = iot_process ? &iot_process->lock_waiters[place(lock)] : NULL;
    uint32_t n = waiters ? __atomic_load_n(waiters, __ATOMIC_RELAXED) : 0;
    while (n && !__atomic_compare_exchange_n(waiters, &n, n - 1, 0, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
        ;
}

static void record(struct iot_thread *t, uint16_t op, struct iot_timed call, int64_t result,
                   const void *address, const void *mutex)
{
    struct iot_place at = iot_place_of(t, address);
    int64_t offset = mutex ? (int64_t)iot_place_of(t, mutex).addr : 0;
    iot_timed_event(t, call,
                    &(struct iot_row){
                        .result = result, .offset = offset, .addr = at.addr, .obj = at.name, .op = op});
}

/* Out of line, like all that a free lock does not come to: that keeps its registers free. */
static __attribute__((noinline)) void record_moment(uint16_t op, const void *address)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return;
    uint64_t now = iot_now();
    record(t, op, (struct iot_timed){now, now, 0}, 0, address, NULL);
}

/* `mutex`: under which it is sent; NULL: none that is known. */
static __attribute__((noinline)) void record_signal(uint16_t op, const void *cond, const void *mutex)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return;
    uint64_t now = iot_now();
    record(t, op, (struct iot_timed){now, now, 0}, 0, cond, mutex);
}

/* A call that may wait for the lock at `address` and returns an error number. */
#define WAIT_FOR(operation, address, expression)                                                   \
    ({                                                                                             \
        struct iot_thread *t = iot_enter();                                                        \
        begin_waiting(address);                                                                    \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        int waited = expression;                                                                   \
        call.t1 = iot_now();                                                                       \
        call.err = waited;                                                                         \
        end_waiting(address);                                                                      \
        if (t)                                                                                     \
            record(t, IOT_OP_##operation, call, waited, address, NULL);                            \
        waited;                                                                                    \
    })

/* --- mutexes --- */

static int has_it(int result)
{
    return result == 0 || result == EOWNERDEAD;
}

static __attribute__((noinline)) int took_watched(pthread_mutex_t *mutex, int result)
{
    if (is_guard(mutex))
        record_moment(IOT_OP_MUTEX_LOCK, mutex);
    return result;
}

static int took(pthread_mutex_t *mutex, int result)
{
    held = mutex;
    return is_watched(mutex) ? took_watched(mutex, result) : result;
}

#define MUTEX_LOCK(sym, params, args)                                                              \
    static __attribute__((noinline)) int sym##_not_free params                                     \
    {                                                                                              \
        int result = WAIT_FOR(MUTEX_LOCK, mutex, iot_real.sym args);                               \
        if (has_it(result))                                                                        \
            held = mutex;                                                                          \
        return result;                                                                             \
    }                                                                                              \
    int sym params                                                                                 \
    {                                                                                              \
        int result = iot_real.pthread_mutex_trylock(mutex);                                        \
        if (__builtin_expect(result == 0, 1))                                                      \
            return took(mutex, 0);                                                                 \
        if (result == EBUSY)                                                                       \
            return sym##_not_free args;                                                            \
        return has_it(result) ? took(mutex, result) : result;                                      \
    }

MUTEX_LOCK(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
MUTEX_LOCK(pthread_mutex_timedlock,
           (pthread_mutex_t *restrict mutex, const struct timespec *restrict until), (mutex, until))
MUTEX_LOCK(pthread_mutex_clocklock,
           (pthread_mutex_t *restrict mutex, clockid_t clock, const struct timespec *restrict until),
           (mutex, clock, until))

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    int result = iot_real.pthread_mutex_trylock(mutex);
    return has_it(result) ? took(mutex, result) : result;
}

static __attribute__((noinline)) int unlock_watched(pthread_mutex_t *mutex)
{
    if (is_guard(mutex) || waited_for(mutex))
        record_moment(IOT_OP_MUTEX_UNLOCK, mutex);
    return iot_real.pthread_mutex_unlock(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (held == mutex)
        held = NULL;
    return is_watched(mutex) ? unlock_watched(mutex) : iot_real.pthread_mutex_unlock(mutex);
}

/* --- conditions --- */

#define COND_WAIT(sym, params, args)                                                               \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        make_guard(mutex);                                                                         \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        int result = iot_real.sym args;                                                            \
        call.t1 = iot_now();                                                                       \
        call.err = result;                                                                         \
        held = mutex;                                                                              \
        if (t)                                                                                     \
            record(t, IOT_OP_COND_WAIT, call, result, cond, mutex);                                \
        return result;                                                                             \
    }

COND_WAIT(pthread_cond_wait, (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex),
          (cond, mutex))
COND_WAIT(pthread_cond_timedwait,
          (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
           const struct timespec *restrict until),
          (cond, mutex, until))
COND_WAIT(pthread_cond_clockwait,
          (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex, clockid_t clock,
           const struct timespec *restrict until),
          (cond, mutex, clock, until))

/* A signal under a mutex tells that it guards the condition, before anybody has waited. */
static void signals(uint16_t op, pthread_cond_t *cond)
{
    if (held && !is_guard(held)) {
        make_guard(held);
        record_moment(IOT_OP_MUTEX_LOCK, held); /* its order begins here */
    }
    record_signal(op, cond, held);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    signals(IOT_OP_COND_SIGNAL, cond);
    return iot_real.pthread_cond_signal(cond);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    signals(IOT_OP_COND_BROADCAST, cond);
    return iot_real.pthread_cond_broadcast(cond);
}

/* --- semaphores --- */

#define SEM_WAIT(sym, params, args)                                                                \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        record(t, IOT_OP_SEM_WAIT, call, result, sem, NULL);                                       \
        return result;                                                                             \
    }

SEM_WAIT(sem_wait, (sem_t * sem), (sem))
SEM_WAIT(sem_timedwait, (sem_t *restrict sem, const struct timespec *restrict until), (sem, until))
SEM_WAIT(sem_clockwait,
         (sem_t *restrict sem, clockid_t clock, const struct timespec *restrict until),
         (sem, clock, until))

/* One that did not get it is no message. */
int sem_trywait(sem_t *sem)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.sem_trywait(sem);
    IOT_TIMED(int, sem_trywait, (sem))
    if (result == 0)
        record(t, IOT_OP_SEM_WAIT, call, result, sem, NULL);
    return result;
}

int sem_post(sem_t *sem)
{
    record_moment(IOT_OP_SEM_POST, sem);
    return iot_real.sem_post(sem);
}

static void record_value(const sem_t *sem, unsigned value)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return;
    struct iot_place at = iot_place_of(t, sem);
    uint64_t now = iot_now();
    iot_timed_event(t, (struct iot_timed){now, now, 0},
                    &(struct iot_row){
                        .offset = value, .addr = at.addr, .obj = at.name, .op = IOT_OP_SEM_INIT});
}

int sem_init(sem_t *sem, int shared, unsigned value)
{
    int result = iot_real.sem_init(sem, shared, value);
    if (result == 0)
        record_value(sem, value);
    return result;
}

sem_t *sem_open(const char *name, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    unsigned value = flags & O_CREAT ? va_arg(ap, unsigned) : 0;
    va_end(ap);
    sem_t *sem = iot_real.sem_open(name, flags, mode, value);
    if (sem != SEM_FAILED)
        iot_shared_semaphore(sem, name);
    if (sem != SEM_FAILED && flags & O_CREAT && flags & O_EXCL)
        record_value(sem, value);
    return sem;
}

/* --- the other locks: recorded where they waited --- */

#define LOCK(sym, try, operation, params, args)                                                    \
    static __attribute__((noinline)) int sym##_waits params                                        \
    {                                                                                              \
        return WAIT_FOR(operation, (const void *)lock, iot_real.sym args);                         \
    }                                                                                              \
    int sym params                                                                                 \
    {                                                                                              \
        int tried = iot_real.try args;                                                             \
        return __builtin_expect(tried != EBUSY, 1) ? tried : sym##_waits args;                     \
    }

#define UNLOCK(sym, operation, params)                                                             \
    int sym params                                                                                 \
    {                                                                                              \
        if (is_watched((const void *)lock) && waited_for((const void *)lock))                      \
            record_moment(IOT_OP_##operation, (const void *)lock);                                 \
        return iot_real.sym(lock);                                                                 \
    }

LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, RWLOCK_LOCK, (pthread_rwlock_t * lock), (lock))
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, RWLOCK_LOCK, (pthread_rwlock_t * lock), (lock))
LOCK(pthread_spin_lock, pthread_spin_trylock, SPIN_LOCK, (pthread_spinlock_t * lock), (lock))
UNLOCK(pthread_rwlock_unlock, RWLOCK_UNLOCK, (pthread_rwlock_t * lock))
UNLOCK(pthread_spin_unlock, SPIN_UNLOCK, (pthread_spinlock_t * lock))

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct iot_thread *t = iot_enter();
    struct iot_timed call = {.t0 = iot_now()};
    int result = iot_real.pthread_barrier_wait(barrier);
    call.t1 = iot_now();
    call.err = 0;
    if (t)
        record(t, IOT_OP_BARRIER_WAIT, call, result, barrier, NULL);
    return result;
}
