/* From the ticks of a process's clock to CLOCK_MONOTONIC: FORMAT.md, "Clock". */
#ifndef IOT_ANALYZER_CLOCK_H
#define IOT_ANALYZER_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "format/file.h"

/* How fast ticks go by; ticks 0: not known. */
struct iot_rate {
    uint64_t ticks, ns;
};

/* Anchors of one process, thinned and increasing, and where the last look-up was. */
struct iot_clock_map {
    const struct iot_anchor *anchors;
    size_t n;
    struct iot_rate beyond; /* before the first anchor and behind the last */
    size_t at;
    uint8_t kind; /* enum iot_clock */
};

/* Sorts and thins n >= 1 anchors in place and makes a map of them, which keeps pointing to
 * them. Returns how many contradicted the others and were left out. */
size_t iot_clock_init(struct iot_clock_map *map, enum iot_clock kind, struct iot_anchor *anchors,
                      size_t n);

/* The rate between its first and last anchor; {0, 0} if there is only one. */
struct iot_rate iot_clock_rate(const struct iot_clock_map *map);

/* CLOCK_MONOTONIC in ns at these ticks, at most IOT_CLOCK_MAX. Never falls as ticks grow. */
uint64_t iot_clock_mono(struct iot_clock_map *map, uint64_t ticks);

/* Far beyond any real time, and far enough from INT64_MAX that sums do not overflow. */
#define IOT_CLOCK_MAX (UINT64_C(1) << 61)

#endif
