#include "preload/own_threads.h"

#include "preload/real.h"
#include "preload/record.h"

enum { STARTING = 16 }; /* between a thread's creation and its first instruction */

struct iot_own_code iot_own_code;

static struct start {
    uint32_t busy;
    void *(*routine)(void *);
    void *argument;
} starts[STARTING];

void iot_own_code_is(const void *begin, size_t bytes)
{
    iot_own_code.begin = (uintptr_t)begin;
    __atomic_store_n(&iot_own_code.bytes, bytes, __ATOMIC_RELEASE);
}

static void release(struct start *s)
{
    __atomic_store_n(&s->busy, 0, __ATOMIC_RELEASE);
}

static void *begins(void *user)
{
    struct start *s = user;
    void *(*routine)(void *) = s->routine;
    void *argument = s->argument;
    release(s);
    iot_silence();
    return routine(argument);
}

/* Without room the thread is as any other. */
int iot_own_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*routine)(void *), void *argument)
{
    for (int k = 0; k < STARTING; k++) {
        struct start *s = &starts[k];
        if (__atomic_exchange_n(&s->busy, 1, __ATOMIC_ACQUIRE))
            continue;
        s->routine = routine;
        s->argument = argument;
        int failure = iot_real.pthread_create(thread, attributes, begins, s);
        if (failure)
            release(s);
        return failure;
    }
    return iot_real.pthread_create(thread, attributes, routine, argument);
}
