/* Threads that begin in a tracer's code (CUPTI's worker): none of the program's, so they have no
 * lane and record nothing. */
#ifndef IOT_PRELOAD_OWN_THREADS_H
#define IOT_PRELOAD_OWN_THREADS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/ours.h"

extern IOT_OURS struct iot_own_code {
    uintptr_t begin;
    size_t bytes; /* 0: there is none */
} iot_own_code;

void iot_own_code_is(const void *begin, size_t bytes);

static inline int iot_own_code_has(uintptr_t routine)
{
    size_t bytes = __atomic_load_n(&iot_own_code.bytes, __ATOMIC_ACQUIRE);
    return __builtin_expect(bytes != 0, 0) && routine - iot_own_code.begin < bytes;
}

/* As pthread_create. */
int iot_own_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*routine)(void *), void *argument);

#endif
