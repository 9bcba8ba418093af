#include "analyzer/clock.h"

#include <stdlib.h>

/* Nearer anchors say more about how long it took to read two clocks than about the rate. */
static const uint64_t NEAR_NS = 10 * 1000 * 1000;

/* Reading two clocks may be interrupted between them, so of two threads that do it at the same time
 * either can seem to be the first. */
static const uint64_t READING_NS = 1000 * 1000;

/* A clock outside these is no TSC: 10 MHz to 20 GHz. */
static int rate_is_possible(uint64_t ticks, uint64_t ns)
{
    return ticks / 20 <= ns && ns / 100 <= ticks;
}

static int by_ticks(const void *a, const void *b)
{
    const struct iot_anchor *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    return x->mono_ns < y->mono_ns ? -1 : x->mono_ns > y->mono_ns;
}

size_t iot_clock_init(struct iot_clock_map *map, enum iot_clock kind, struct iot_anchor *anchors,
                      size_t n)
{
    *map = (struct iot_clock_map){.anchors = anchors, .n = n, .kind = (uint8_t)kind};
    if (kind == IOT_CLOCK_MONOTONIC)
        return 0;

    qsort(anchors, n, sizeof *anchors, by_ticks);
    size_t kept = 1, wrong = 0;
    struct iot_anchor latest = anchors[0]; /* of those that agree, kept or too near */
    for (size_t i = 1; i < n; i++) {
        struct iot_anchor a = anchors[i], *last = &anchors[kept - 1];
        if (a.mono_ns <= latest.mono_ns && latest.mono_ns - a.mono_ns < READING_NS)
            continue;
        if (a.ticks == latest.ticks || a.mono_ns < latest.mono_ns ||
            !rate_is_possible(a.ticks - last->ticks, a.mono_ns - last->mono_ns)) {
            wrong++;
            continue;
        }
        latest = a;
        if (a.mono_ns - last->mono_ns >= NEAR_NS)
            anchors[kept++] = a;
    }
    /* What is known of the end is kept, in place of the one that it is too near to. */
    if (latest.ticks != anchors[kept - 1].ticks) {
        if (kept > 1)
            kept--;
        anchors[kept++] = latest;
    }
    map->n = kept;
    return wrong;
}

struct iot_rate iot_clock_rate(const struct iot_clock_map *map)
{
    const struct iot_anchor *first = &map->anchors[0], *last = &map->anchors[map->n - 1];
    if (map->kind != IOT_CLOCK_TSC || map->n < 2 || last->mono_ns == first->mono_ns)
        return (struct iot_rate){0, 0};
    return (struct iot_rate){last->ticks - first->ticks, last->mono_ns - first->mono_ns};
}

/* floor(ticks * rate), at most IOT_CLOCK_MAX. */
static uint64_t scale(uint64_t ticks, struct iot_rate rate)
{
    unsigned __int128 product = (unsigned __int128)ticks * rate.ns;
    if (!rate.ticks)
        return ticks < IOT_CLOCK_MAX ? ticks : IOT_CLOCK_MAX;
    if (product >> 64 == 0)
        product = (uint64_t)product / rate.ticks;
    else
        product /= rate.ticks;
    return product < IOT_CLOCK_MAX ? (uint64_t)product : IOT_CLOCK_MAX;
}

static uint64_t later(uint64_t mono_ns, uint64_t by)
{
    return mono_ns >= IOT_CLOCK_MAX || by > IOT_CLOCK_MAX - mono_ns ? IOT_CLOCK_MAX : mono_ns + by;
}

uint64_t iot_clock_mono(struct iot_clock_map *map, uint64_t ticks)
{
    const struct iot_anchor *a = map->anchors;
    if (map->kind == IOT_CLOCK_MONOTONIC)
        return ticks < IOT_CLOCK_MAX ? ticks : IOT_CLOCK_MAX;
    if (ticks < a[0].ticks) {
        uint64_t before = scale(a[0].ticks - ticks, map->beyond);
        return later(before < a[0].mono_ns ? a[0].mono_ns - before : 0, 0);
    }
    if (ticks >= a[map->n - 1].ticks)
        return later(a[map->n - 1].mono_ns, scale(ticks - a[map->n - 1].ticks, map->beyond));

    /* Mostly the same piece as last time. */
    size_t low = 0, high = map->n - 1; /* a[low].ticks <= ticks < a[high].ticks */
    if (a[map->at].ticks <= ticks && ticks < a[map->at + 1].ticks)
        low = map->at, high = low + 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (a[middle].ticks <= ticks)
            low = middle;
        else
            high = middle;
    }
    map->at = low;
    struct iot_rate rate = {a[high].ticks - a[low].ticks, a[high].mono_ns - a[low].mono_ns};
    return later(a[low].mono_ns, scale(ticks - a[low].ticks, rate));
}
