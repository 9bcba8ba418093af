/* The trace's clock. The TSC where the processor says it is invariant and the kernel itself
 * keeps time by it; else, or when IOTRACE_CLOCK says so, the kernel's monotonic clock. */
#ifndef IOT_PRELOAD_CLOCK_H
#define IOT_PRELOAD_CLOCK_H

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "format/file.h"
#include "preload/ours.h"

extern IOT_OURS enum iot_clock iot_clock_kind;

/* Chooses the clock; IOTRACE_CLOCK=tsc|monotonic in `wanted` forces one (NULL: none asked). */
void iot_clock_start(const char *wanted);

static inline uint64_t iot_clock_read(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* In line: it is read twice a call. */
static inline uint64_t iot_clock_monotonic(void)
{
    return iot_clock_read(CLOCK_MONOTONIC);
}
uint64_t iot_clock_coarse(void); /* the monotonic one, some milliseconds behind, and cheaper */
uint64_t iot_clock_realtime(void);

static inline uint64_t iot_now(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(iot_clock_kind == IOT_CLOCK_TSC, 1))
        return __rdtsc();
#endif
    return iot_clock_monotonic();
}

static inline struct iot_anchor iot_anchor_now(void)
{
    /* The reading between two of the other kind is at most half their distance off: of a few, the
     * one that was interrupted least. */
    struct iot_anchor best = {0, 0};
    uint64_t nearest = UINT64_MAX;
    for (int i = 0; i < 4 && nearest > 2000; i++) {
        uint64_t before = iot_now();
        uint64_t mono = iot_clock_monotonic();
        uint64_t distance = iot_now() - before;
        if (distance < nearest) {
            nearest = distance;
            best = (struct iot_anchor){before + distance / 2, mono};
        }
    }
    return best;
}

#endif
