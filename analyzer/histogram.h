/* A histogram of times in the buckets of latency.h of which only those that hold something take
 * room. Adding up is associative and commutative to the bit. */
#ifndef IOT_ANALYZER_HISTOGRAM_H
#define IOT_ANALYZER_HISTOGRAM_H

#include "analyzer/latency.h"

/* A count that is above stays at it. */
#define IOT_COUNT_MAX (INT64_C(1) << 50)

struct iot_bar {
    uint64_t bucket : 12, count : 52;
};
_Static_assert(IOT_LATENCY_BUCKETS <= 1 << 12, "a bucket has room");

/* All zero: empty. */
struct iot_histogram {
    struct iot_bar *bars; /* by bucket, ascending */
    size_t n, room;
};

/* Both return 0, -1 without memory. count: 0 to IOT_COUNT_MAX. */
int iot_histogram_add(struct iot_histogram *to, unsigned bucket, int64_t count);
int iot_histogram_join(struct iot_histogram *to, const struct iot_histogram *from);
void iot_histogram_free(struct iot_histogram *histogram);

int64_t iot_histogram_count(const struct iot_histogram *histogram);
/* All zero but for max_ns of an empty one. */
struct iot_latency iot_histogram_latency(const struct iot_histogram *histogram, int64_t max_ns);

#endif
