/* What is done once: by one thread, while the others that want it wait. */
#include "preload/locks.h"

/* What the call under way in this thread is to do, and whether it was the one to do it. */
struct doing {
    void (*routine)(void);
    const void *once;
    int done;
};
static __thread struct doing *doing __attribute__((tls_model("initial-exec")));

/* In the others the wait is over when this ends: whatever it did has its own rows. */
static void do_it(void)
{
    struct doing *mine = doing;
    mine->done = 1;
    mine->routine();
    iot_lock_moment(IOT_OP_ONCE_DONE, mine->once);
}

/* The value that libc leaves when it has been done; then the call returns at once. */
enum { DONE = 2 };

static int is_done(const void *once)
{
    return __atomic_load_n((const int *)once, __ATOMIC_ACQUIRE) == DONE;
}

/* A routine may be left by an exception, and then `doing` still points to what was on the stack:
 * nothing looks there, as each call sets it anew. */
#define ONCE(sym, once_type, give)                                                                 \
    static __attribute__((noinline)) int sym##_slow(once_type *once, void (*routine)(void))        \
    {                                                                                              \
        struct iot_thread *t = iot_enter_wait();                                                   \
        struct doing mine = {.routine = routine, .once = once}, *outer = doing;                    \
        doing = &mine;                                                                             \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        int result = give(iot_real.sym(once, do_it));                                              \
        call.t1 = iot_now();                                                                       \
        call.err = result;                                                                         \
        doing = outer;                                                                             \
        if (t && !mine.done)                                                                       \
            iot_lock_record(t, IOT_OP_ONCE, call, result, once, NULL);                             \
        return result;                                                                             \
    }

#define GIVE(expression) expression
#define GIVE_NOTHING(expression) ((expression), 0)

ONCE(pthread_once, pthread_once_t, GIVE)
ONCE(__pthread_once, pthread_once_t, GIVE)
ONCE(call_once, once_flag, GIVE_NOTHING)

int pthread_once(pthread_once_t *once, void (*routine)(void))
{
    return is_done(once) ? 0 : pthread_once_slow(once, routine);
}

int __pthread_once(pthread_once_t *once, void (*routine)(void))
{
    return is_done(once) ? 0 : __pthread_once_slow(once, routine);
}

void call_once(once_flag *once, void (*routine)(void))
{
    if (!is_done(once))
        call_once_slow(once, routine);
}
