/* A preload library whose clock, the time of day at a thread's first reading, goes on with each
 * reading: by the durations of a fixed sequence that looks like those of short calls. What a tracer
 * then does is the same in every run, down to the bytes that it compresses, and its instructions
 * can be held to a number. */
#include <stdint.h>
#include <time.h>

enum { SHORTEST_NS = 150, SPREAD_NS = 256, SECOND_NS = 1000000000 };

int clock_gettime(clockid_t which, struct timespec *t)
{
    static __thread uint64_t now_ns __attribute__((tls_model("initial-exec")));
    static __thread uint32_t state __attribute__((tls_model("initial-exec")));

    (void)which;
    if (!now_ns) {
        timespec_get(t, TIME_UTC); /* inside libc, past this library */
        now_ns = (uint64_t)t->tv_sec * SECOND_NS + (uint64_t)t->tv_nsec;
    }
    state = state * 1664525u + 1013904223u;
    now_ns += SHORTEST_NS + (state >> 24) % SPREAD_NS;
    t->tv_sec = (time_t)(now_ns / SECOND_NS);
    t->tv_nsec = (long)(now_ns % SECOND_NS);
    return 0;
}
