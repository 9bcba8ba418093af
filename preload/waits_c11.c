/* C11's locks and conditions: those of pthreads by other names and with other results, called
 * inside libc where nobody sees it. */
#include "preload/locks.h"

/* The error number that a result stands for. */
static int error_of(int result)
{
    switch (result) {
    case thrd_success:
        return 0;
    case thrd_timedout:
        return ETIMEDOUT;
    case thrd_busy:
        return EBUSY;
    case thrd_nomem:
        return ENOMEM;
    default:
        return EINVAL;
    }
}

static int took(const mtx_t *mutex, int result)
{
    if (result == thrd_success)
        iot_lock_took(mutex, 0);
    return result;
}

#define MUTEX_LOCK(sym, params, args)                                                              \
    static __attribute__((noinline)) int sym##_waits params                                        \
    {                                                                                              \
        int result = IOT_WAIT_FOR(MUTEX_LOCK, mutex, iot_real.sym args, error_of(waited));         \
        if (result == thrd_success)                                                                \
            iot_lock_held = mutex;                                                                 \
        return result;                                                                             \
    }                                                                                              \
    int sym params                                                                                 \
    {                                                                                              \
        int result = iot_real.mtx_trylock(mutex);                                                  \
        return __builtin_expect(result != thrd_busy, 1) ? took(mutex, result) : sym##_waits args;  \
    }

MUTEX_LOCK(mtx_lock, (mtx_t * mutex), (mutex))
MUTEX_LOCK(mtx_timedlock, (mtx_t *restrict mutex, const struct timespec *restrict until),
           (mutex, until))

int mtx_trylock(mtx_t *mutex)
{
    return took(mutex, iot_real.mtx_trylock(mutex));
}

int mtx_unlock(mtx_t *mutex)
{
    if (iot_lock_lets_go(mutex))
        iot_lock_lets_go_watched(mutex);
    return iot_real.mtx_unlock(mutex);
}

#define COND_WAIT(sym, params, args)                                                               \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter_wait();                                                   \
        iot_lock_make_guard(mutex);                                                                \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        int result = iot_real.sym args;                                                            \
        call.t1 = iot_now();                                                                       \
        call.err = error_of(result);                                                               \
        iot_lock_held = mutex;                                                                     \
        if (t)                                                                                     \
            iot_lock_record(t, IOT_OP_COND_WAIT, call, result, cond, mutex);                       \
        return result;                                                                             \
    }

COND_WAIT(cnd_wait, (cnd_t * cond, mtx_t *mutex), (cond, mutex))
COND_WAIT(cnd_timedwait,
          (cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until),
          (cond, mutex, until))

int cnd_signal(cnd_t *cond)
{
    iot_lock_signals(IOT_OP_COND_SIGNAL, cond);
    return iot_real.cnd_signal(cond);
}

int cnd_broadcast(cnd_t *cond)
{
    iot_lock_signals(IOT_OP_COND_BROADCAST, cond);
    return iot_real.cnd_broadcast(cond);
}
