#include "analyzer/latency.h"

#include <stdlib.h>

enum { LINEAR = 128, PER_OCTAVE_BITS = 6, PER_OCTAVE = 1 << PER_OCTAVE_BITS };

unsigned iot_latency_bucket(int64_t ns)
{
    if (ns < LINEAR)
        return ns < 0 ? 0 : (unsigned)ns;
    unsigned top = 63 - (unsigned)__builtin_clzll((uint64_t)ns); /* 7 and above */
    unsigned within = (unsigned)((uint64_t)ns >> (top - PER_OCTAVE_BITS)) & (PER_OCTAVE - 1);
    return LINEAR + (top - PER_OCTAVE_BITS - 1) * PER_OCTAVE + within;
}

int64_t iot_latency_value(unsigned bucket)
{
    if (bucket < LINEAR)
        return bucket;
    unsigned shift = (bucket - LINEAR) / PER_OCTAVE + 1;
    uint64_t low = (uint64_t)(PER_OCTAVE + (bucket - LINEAR) % PER_OCTAVE) << shift;
    return (int64_t)(low + ((uint64_t)1 << shift) / 2);
}

/* Nearest rank: the smallest that at least this share of the calls does not exceed. */
static uint64_t rank_of(uint64_t n, unsigned percent)
{
    uint64_t rank = (uint64_t)(((unsigned __int128)n * percent + 99) / 100);
    return rank ? rank : 1;
}

static int64_t clamp(int64_t value, int64_t max)
{
    return value < max ? value : max;
}

struct iot_latency iot_latency_of_counts(const uint64_t counts[IOT_LATENCY_BUCKETS], uint64_t n,
                                         int64_t max_ns)
{
    static const unsigned percents[3] = {50, 95, 99};
    int64_t values[3] = {max_ns, max_ns, max_ns};
    uint64_t seen = 0;
    unsigned k = 0;

    for (unsigned b = 0; b < IOT_LATENCY_BUCKETS && k < 3; b++) {
        seen += counts[b];
        while (k < 3 && seen >= rank_of(n, percents[k]))
            values[k++] = clamp(iot_latency_value(b), max_ns);
    }
    return (struct iot_latency){values[0], values[1], values[2], max_ns};
}

static int by_bucket(const void *a, const void *b)
{
    uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;
    return (x > y) - (x < y);
}

static int64_t at(const uint16_t *buckets, size_t n, unsigned percent, int64_t max_ns)
{
    return clamp(iot_latency_value(buckets[rank_of(n, percent) - 1]), max_ns);
}

struct iot_latency iot_latency_of_buckets(uint16_t *buckets, size_t n, int64_t max_ns)
{
    qsort(buckets, n, sizeof *buckets, by_bucket);
    return (struct iot_latency){at(buckets, n, 50, max_ns), at(buckets, n, 95, max_ns),
                                at(buckets, n, 99, max_ns), max_ns};
}
