/* A fixed log-linear histogram of times: below 128 ns each its own bucket, above 64 to each power
 * of two, so that what a bucket stands for is within 0.8 % of what is in it. Percentiles are the
 * nearest rank in it: those of merged runs are exactly those of their merged counts. */
#ifndef IOT_ANALYZER_LATENCY_H
#define IOT_ANALYZER_LATENCY_H

#include <stddef.h>
#include <stdint.h>

enum { IOT_LATENCY_BUCKETS = 128 + 64 * 56 };

struct iot_latency {
    int64_t p50_ns, p95_ns, p99_ns, max_ns; /* max: as measured, not its bucket's */
};

/* ns >= 0. */
unsigned iot_latency_bucket(int64_t ns);
/* The middle of a bucket. */
int64_t iot_latency_value(unsigned bucket);

/* n: the sum of the counts, not 0. */
struct iot_latency iot_latency_of_counts(const uint64_t counts[IOT_LATENCY_BUCKETS], uint64_t n,
                                         int64_t max_ns);
/* The same from the buckets of n calls, n not 0; they come out sorted. */
struct iot_latency iot_latency_of_buckets(uint16_t *buckets, size_t n, int64_t max_ns);

#endif
