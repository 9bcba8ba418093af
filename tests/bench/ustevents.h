/* The one LTTng-UST event of ustpreload.c. LTTng's headers include this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER iotrace_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/ustevents.h"

#if !defined(IOT_TESTS_BENCH_USTEVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define IOT_TESTS_BENCH_USTEVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>
#include <sys/types.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(iotrace_bench, call,
    LTTNG_UST_TP_ARGS(int, fd, ssize_t, bytes, uint64_t, ns),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int, fd, fd)
        lttng_ust_field_integer(int64_t, bytes, bytes)
        lttng_ust_field_integer(uint64_t, ns, ns)
    )
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
