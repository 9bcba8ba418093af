/* A preload library that stands behind the one being measured and answers the benchmark's calls at
 * once: what remains is the cost of the library in front, without the kernel's noise. */
#include "tests/bench/calls.h"

#include "tests/bench/bench.h"

BENCH_CALLS(BENCH_SLOT)

#define STUB(name, params, args)                                                                   \
    ssize_t name params                                                                            \
    {                                                                                              \
        if (fd == BENCH_FD)                                                                        \
            return (ssize_t)count;                                                                 \
        return BENCH_NEXT(name) args;                                                              \
    }

BENCH_CALLS(STUB)
