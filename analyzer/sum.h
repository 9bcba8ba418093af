/* Sums of what a file says: however many of its numbers are hostile, none of them wraps. */
#ifndef IOT_ANALYZER_SUM_H
#define IOT_ANALYZER_SUM_H

#include <stdint.h>

/* A sum that is above stays at it: the order of adding does not matter, and what is computed of
 * sums has room. */
#define IOT_SUM_MAX (INT64_C(1) << 61)

/* `a` is between 0 and IOT_SUM_MAX, `b` at least 0. */
static inline int64_t iot_sum(int64_t a, int64_t b)
{
    return a > IOT_SUM_MAX - b ? IOT_SUM_MAX : a + b;
}

static inline uint64_t iot_sum_unsigned(uint64_t a, uint64_t b)
{
    const uint64_t most = (uint64_t)IOT_SUM_MAX;
    return b > most || a > most - b ? most : a + b;
}

#endif
