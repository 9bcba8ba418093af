#include "analyzer/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/room.h"

/* The first bar that is not below it. */
static size_t place_of(const struct iot_histogram *h, unsigned bucket)
{
    size_t low = 0, high = h->n;
    if (h->n && h->bars[h->n - 1].bucket < bucket)
        return h->n; /* as they come from a file */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->bars[middle].bucket < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int iot_histogram_add(struct iot_histogram *h, unsigned bucket, int64_t count)
{
    size_t k = place_of(h, bucket);
    if (!count)
        return 0;
    if (k < h->n && h->bars[k].bucket == bucket) {
        int64_t sum = (int64_t)h->bars[k].count + count;
        h->bars[k].count =
            (uint64_t)(sum < IOT_COUNT_MAX ? sum : IOT_COUNT_MAX) & (IOT_COUNT_MAX * 4 - 1);
        return 0;
    }
    if (IOT_ROOM(h->bars, h->n + 1, h->room))
        return -1;
    memmove(&h->bars[k + 1], &h->bars[k], (h->n++ - k) * sizeof *h->bars);
    h->bars[k].bucket = bucket & 0xfff;
    h->bars[k].count = (uint64_t)count & (IOT_COUNT_MAX * 4 - 1);
    return 0;
}

int iot_histogram_join(struct iot_histogram *to, const struct iot_histogram *from)
{
    int failed = 0;
    for (size_t k = 0; k < from->n && !failed; k++)
        failed =
            iot_histogram_add(to, (unsigned)from->bars[k].bucket, (int64_t)from->bars[k].count);
    return failed;
}

void iot_histogram_free(struct iot_histogram *h)
{
    free(h->bars);
    *h = (struct iot_histogram){0};
}

int64_t iot_histogram_count(const struct iot_histogram *h)
{
    int64_t n = 0;
    for (size_t k = 0; k < h->n; k++)
        n += (int64_t)h->bars[k].count;
    return n;
}

struct iot_latency iot_histogram_latency(const struct iot_histogram *h, int64_t max_ns)
{
    uint64_t counts[IOT_LATENCY_BUCKETS] = {0}, n = 0;
    for (size_t k = 0; k < h->n; k++) {
        counts[h->bars[k].bucket] = h->bars[k].count;
        n += h->bars[k].count;
    }
    return n ? iot_latency_of_counts(counts, n, max_ns) : (struct iot_latency){.max_ns = max_ns};
}
