/* What the program says it does: its named ranges and marks (include/iotrace.h, NVTX). */
#ifndef IOT_ANALYZER_RANGES_H
#define IOT_ANALYZER_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct iot_report;

/* Ranges of one name, or of names that differ in their numbers alone: those are "#" then. A range
 * that was never ended ends with its thread. Figures are of the calls in the range's own thread,
 * also where it lies within another range; of a range that ends in another thread, 0. */
struct iot_range {
    const char *name;
    uint64_t n;
    int64_t total_ns, p50_ns, p95_ns; /* of their lengths */
    int64_t ops, bytes, service_ns, exposed_ns;
    const uint16_t *buckets; /* of their n lengths, as latency.h has them */
};

struct iot_named_mark {
    const char *name;
    uint64_t n;
    int64_t first_ns, last_ns;
};

/* Fills report->ranges (most exposed first, then longest) and report->marks (by time). Returns 0,
 * -1 without memory. */
int iot_report_ranges(struct iot_report *report);

#endif
