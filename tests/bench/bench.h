/* What the benchmark programs and their preload libraries agree on. */
#ifndef IOT_TESTS_BENCH_BENCH_H
#define IOT_TESTS_BENCH_BENCH_H

#include <stdint.h>
#include <time.h>

/* The programs move the file they work on to this number, so that the stub knows its calls
 * without asking. It is a real, open descriptor: a tracer finds a path behind it. */
#define BENCH_FD 100

/* One block, in bytes: what pread and write move in one call. */
#define BENCH_BLOCK 4096

/* Now, in nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t bench_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
