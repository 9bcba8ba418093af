/* Waits and wakes between threads, and between processes through shared memory.
 *
 * A lock that was free and that nobody waits for leaves no row: it is taken with the trying form,
 * which does the same as the waiting one where the lock is free. Two things make a release worth a
 * row: somebody waits for it, or the mutex guards a condition, for then it orders the messages that
 * pass under it. Semaphores are messages themselves.
 */
#include "preload/locks.h"

uintptr_t iot_lock_guards[IOT_LOCK_PLACES];
uint8_t iot_lock_watched[1 << 16];
__thread const void *iot_lock_held __attribute__((tls_model("initial-exec")));

void iot_lock_record(struct iot_thread *t, uint16_t op, struct iot_timed call, int64_t result,
                     const void *address, const void *mutex)
{
    struct iot_place at = iot_place_of(t, address);
    int64_t offset = mutex ? (int64_t)iot_place_of(t, mutex).addr : 0;
    iot_timed_event(
        t, call,
        &(struct iot_row){
            .result = result, .offset = offset, .addr = at.addr, .obj = at.name, .op = op});
}

__attribute__((noinline)) void iot_lock_moment(uint16_t op, const void *address)
{
    struct iot_thread *t = iot_enter_wait();
    if (!t)
        return;
    uint64_t now = iot_now();
    iot_lock_record(t, op, (struct iot_timed){now, now, 0}, 0, address, NULL);
}

__attribute__((noinline)) void iot_lock_signal(uint16_t op, const void *cond, const void *mutex)
{
    struct iot_thread *t = iot_enter_wait();
    if (!t)
        return;
    uint64_t now = iot_now();
    iot_lock_record(t, op, (struct iot_timed){now, now, 0}, 0, cond, mutex);
}

/* --- mutexes --- */

__attribute__((noinline)) int iot_lock_took_watched(const void *mutex, int result)
{
    if (iot_lock_is_guard(mutex))
        iot_lock_moment(IOT_OP_MUTEX_LOCK, mutex);
    return result;
}

__attribute__((noinline)) void iot_lock_lets_go_watched(const void *mutex)
{
    if (iot_lock_is_guard(mutex) || iot_lock_waited_for(mutex))
        iot_lock_moment(IOT_OP_MUTEX_UNLOCK, mutex);
}

#define MUTEX_LOCK(sym, params, args)                                                              \
    static __attribute__((noinline)) int sym##_not_free params                                     \
    {                                                                                              \
        int result = IOT_WAIT_FOR(MUTEX_LOCK, mutex, iot_real.sym args, waited);                   \
        if (iot_lock_has_it(result))                                                               \
            iot_lock_held = mutex;                                                                 \
        return result;                                                                             \
    }                                                                                              \
    int sym params                                                                                 \
    {                                                                                              \
        int result = iot_real.pthread_mutex_trylock(mutex);                                        \
        if (__builtin_expect(result == 0, 1))                                                      \
            return iot_lock_took(mutex, 0);                                                        \
        if (result == EBUSY)                                                                       \
            return sym##_not_free args;                                                            \
        return iot_lock_has_it(result) ? iot_lock_took(mutex, result) : result;                    \
    }

MUTEX_LOCK(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
MUTEX_LOCK(__pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
MUTEX_LOCK(pthread_mutex_timedlock,
           (pthread_mutex_t *restrict mutex, const struct timespec *restrict until), (mutex, until))
MUTEX_LOCK(pthread_mutex_clocklock,
           (pthread_mutex_t *restrict mutex, clockid_t clock,
            const struct timespec *restrict until),
           (mutex, clock, until))

#define MUTEX_TRYLOCK(sym)                                                                         \
    int sym(pthread_mutex_t *mutex)                                                                \
    {                                                                                              \
        int result = iot_real.sym(mutex);                                                          \
        return iot_lock_has_it(result) ? iot_lock_took(mutex, result) : result;                    \
    }

MUTEX_TRYLOCK(pthread_mutex_trylock)
MUTEX_TRYLOCK(__pthread_mutex_trylock)

#define MUTEX_UNLOCK(sym)                                                                          \
    static __attribute__((noinline)) int sym##_watched(pthread_mutex_t *mutex)                     \
    {                                                                                              \
        iot_lock_lets_go_watched(mutex);                                                           \
        return iot_real.sym(mutex);                                                                \
    }                                                                                              \
    int sym(pthread_mutex_t *mutex)                                                                \
    {                                                                                              \
        return iot_lock_lets_go(mutex) ? sym##_watched(mutex) : iot_real.sym(mutex);               \
    }

MUTEX_UNLOCK(pthread_mutex_unlock)
MUTEX_UNLOCK(__pthread_mutex_unlock)

/* --- conditions --- */

/* A wait for a condition that is under way. */
struct cond_wait {
    struct iot_thread *t;
    struct iot_timed call;
    const void *cond, *mutex;
};

static void cond_waited(struct cond_wait *w, int result)
{
    w->call.t1 = iot_now();
    w->call.err = result;
    iot_lock_held = w->mutex;
    if (w->t)
        iot_lock_record(w->t, IOT_OP_COND_WAIT, w->call, result, w->cond, w->mutex);
}

/* The older of libc's two ways to be told of a cancellation, which its own wait uses: longjmp knows
 * what it leaves behind, too. */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*routine)(void *),
                           void *argument);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute);

/* The thread is cancelled, or left the wait by longjmp, and has its mutex again. */
static void cond_cancelled(void *user)
{
    cond_waited(user, ECANCELED);
}

#define COND_WAIT(sym, params, args)                                                               \
    int sym params                                                                                 \
    {                                                                                              \
        struct _pthread_cleanup_buffer left;                                                       \
        struct cond_wait w = {.t = iot_enter_wait(), .cond = cond, .mutex = mutex};                \
        iot_lock_make_guard(mutex);                                                                \
        w.call.t0 = iot_now();                                                                     \
        _pthread_cleanup_push(&left, cond_cancelled, &w);                                          \
        int result = iot_real.sym args;                                                            \
        _pthread_cleanup_pop(&left, 0);                                                            \
        cond_waited(&w, result);                                                                   \
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

void iot_lock_signals(uint16_t op, const void *cond)
{
    const void *mutex = iot_lock_held;
    if (mutex && !iot_lock_is_guard(mutex)) {
        iot_lock_make_guard(mutex);
        iot_lock_moment(IOT_OP_MUTEX_LOCK, mutex); /* its order begins here */
    }
    iot_lock_signal(op, cond, mutex);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    iot_lock_signals(IOT_OP_COND_SIGNAL, cond);
    return iot_real.pthread_cond_signal(cond);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    iot_lock_signals(IOT_OP_COND_BROADCAST, cond);
    return iot_real.pthread_cond_broadcast(cond);
}

/* --- semaphores --- */

#define SEM_WAIT(sym, params, args)                                                                \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter_wait();                                                   \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        iot_lock_record(t, IOT_OP_SEM_WAIT, call, result, sem, NULL);                              \
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
    struct iot_thread *t = iot_enter_wait();
    if (!t)
        return iot_real.sem_trywait(sem);
    IOT_TIMED(int, sem_trywait, (sem))
    if (result == 0)
        iot_lock_record(t, IOT_OP_SEM_WAIT, call, result, sem, NULL);
    return result;
}

int sem_post(sem_t *sem)
{
    iot_lock_moment(IOT_OP_SEM_POST, sem);
    return iot_real.sem_post(sem);
}

static void record_value(const sem_t *sem, unsigned value)
{
    struct iot_thread *t = iot_enter_wait();
    if (!t)
        return;
    struct iot_place at = iot_place_of(t, sem);
    uint64_t now = iot_now();
    iot_timed_event(
        t, (struct iot_timed){now, now, 0},
        &(struct iot_row){.offset = value, .addr = at.addr, .obj = at.name, .op = IOT_OP_SEM_INIT});
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
        return IOT_WAIT_FOR(operation, (const void *)lock, iot_real.sym args, waited);             \
    }                                                                                              \
    int sym params                                                                                 \
    {                                                                                              \
        int tried = iot_real.try(lock);                                                            \
        return __builtin_expect(tried != EBUSY, 1) ? tried : sym##_waits args;                     \
    }

#define UNLOCK(sym, operation, params)                                                             \
    int sym params                                                                                 \
    {                                                                                              \
        if (iot_lock_is_watched((const void *)lock) && iot_lock_waited_for((const void *)lock))    \
            iot_lock_moment(IOT_OP_##operation, (const void *)lock);                               \
        return iot_real.sym(lock);                                                                 \
    }

LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, RWLOCK_LOCK, (pthread_rwlock_t * lock),
     (lock))
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, RWLOCK_LOCK, (pthread_rwlock_t * lock),
     (lock))
LOCK(__pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, RWLOCK_LOCK, (pthread_rwlock_t * lock),
     (lock))
LOCK(__pthread_rwlock_wrlock, pthread_rwlock_trywrlock, RWLOCK_LOCK, (pthread_rwlock_t * lock),
     (lock))
LOCK(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, RWLOCK_LOCK,
     (pthread_rwlock_t *restrict lock, const struct timespec *restrict until), (lock, until))
LOCK(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, RWLOCK_LOCK,
     (pthread_rwlock_t *restrict lock, const struct timespec *restrict until), (lock, until))
LOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, RWLOCK_LOCK,
     (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict until),
     (lock, clock, until))
LOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, RWLOCK_LOCK,
     (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict until),
     (lock, clock, until))
LOCK(pthread_spin_lock, pthread_spin_trylock, SPIN_LOCK, (pthread_spinlock_t * lock), (lock))
UNLOCK(pthread_rwlock_unlock, RWLOCK_UNLOCK, (pthread_rwlock_t * lock))
UNLOCK(__pthread_rwlock_unlock, RWLOCK_UNLOCK, (pthread_rwlock_t * lock))
UNLOCK(pthread_spin_unlock, SPIN_UNLOCK, (pthread_spinlock_t * lock))

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct iot_thread *t = iot_enter_wait();
    struct iot_timed call = {.t0 = iot_now()};
    int result = iot_real.pthread_barrier_wait(barrier);
    call.t1 = iot_now();
    call.err = 0;
    if (t)
        iot_lock_record(t, IOT_OP_BARRIER_WAIT, call, result, barrier, NULL);
    return result;
}
