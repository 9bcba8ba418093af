/* The reference: a preload library that reads the clock before and after each call, and nothing
 * more. No tracer that knows how long a call took can cost less.
 *
 * BENCH_CLOCK=tsc reads the time stamp counter, anything else CLOCK_MONOTONIC through the vDSO. */
#include "tests/bench/calls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "tests/bench/bench.h"

BENCH_CALLS(BENCH_SLOT)

static bool use_tsc;

/* Volatile, so that the compiler can drop neither the readings nor the difference. */
static __thread volatile uint64_t last __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void choose_clock(void)
{
    const char *clock = getenv("BENCH_CLOCK");

    use_tsc = clock != NULL && strcmp(clock, "tsc") == 0;
}

static inline uint64_t read_clock(void)
{
#if defined(__x86_64__)
    if (use_tsc)
        return __rdtsc();
#endif
    return bench_now();
}

#define TWOCLOCK(name, params, args)                                                               \
    ssize_t name params                                                                            \
    {                                                                                              \
        uint64_t start = read_clock();                                                             \
        ssize_t result = BENCH_NEXT(name) args;                                                    \
        last = read_clock() - start;                                                               \
        return result;                                                                             \
    }

BENCH_CALLS(TWOCLOCK)
