/* A peer: the same wrappers with LTTng-UST as the recorder, one event (descriptor, bytes, duration)
 * when the call returns. It records while an LTTng session has `iotrace_bench:call` enabled. */
#include "tests/bench/calls.h"

#include "tests/bench/bench.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/bench/ustevents.h"

BENCH_CALLS(BENCH_SLOT)

/* The recorder itself calls write; its calls are no events. */
static __thread int inside __attribute__((tls_model("initial-exec")));

#define UST(name, params, args)                                                                    \
    ssize_t name params                                                                            \
    {                                                                                              \
        if (inside)                                                                                \
            return BENCH_NEXT(name) args;                                                          \
        uint64_t start = bench_now();                                                              \
        ssize_t result = BENCH_NEXT(name) args;                                                    \
        uint64_t end = bench_now();                                                                \
        inside = 1;                                                                                \
        lttng_ust_tracepoint(iotrace_bench, call, fd, result, end - start);                        \
        inside = 0;                                                                                \
        return result;                                                                             \
    }

BENCH_CALLS(UST)
