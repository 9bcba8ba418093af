#include <criterion/criterion.h>

#include "analyzer/clock.h"

enum { MS = 1000 * 1000 };

static struct iot_clock_map map_of(struct iot_anchor *anchors, size_t n, size_t wrong)
{
    struct iot_clock_map map;
    cr_assert_eq(iot_clock_init(&map, IOT_CLOCK_TSC, anchors, n), wrong);
    return map;
}

Test(clock, monotonic_ticks_are_ns)
{
    struct iot_anchor anchors[] = {{1000, 1000}};
    struct iot_clock_map map;
    cr_assert_eq(iot_clock_init(&map, IOT_CLOCK_MONOTONIC, anchors, 1), 0u);
    cr_assert_eq(iot_clock_mono(&map, 0), 0u);
    cr_assert_eq(iot_clock_mono(&map, 123456789), 123456789u);
    cr_assert_eq(iot_clock_mono(&map, UINT64_MAX), IOT_CLOCK_MAX);
    cr_assert_eq(iot_clock_rate(&map).ticks, 0u);
}

Test(clock, between_anchors_it_is_linear_and_rounded_down)
{
    /* 3 ticks a ns, then 2. */
    struct iot_anchor anchors[] = {{600 * MS, 1200 * MS}, {0, 1000 * MS}, {1000 * MS, 1400 * MS}};
    struct iot_clock_map map = map_of(anchors, 3, 0);
    cr_assert_eq(iot_clock_mono(&map, 0), 1000u * MS);
    cr_assert_eq(iot_clock_mono(&map, 3), 1000u * MS + 1);
    cr_assert_eq(iot_clock_mono(&map, 5), 1000u * MS + 1);
    cr_assert_eq(iot_clock_mono(&map, 600u * MS), 1200u * MS);
    cr_assert_eq(iot_clock_mono(&map, 600u * MS + 200), 1200u * MS + 100);
    cr_assert_eq(iot_clock_mono(&map, 2), 1000u * MS);
    struct iot_rate rate = iot_clock_rate(&map);
    cr_assert_eq(rate.ticks, 1000u * MS);
    cr_assert_eq(rate.ns, 400u * MS);
}

Test(clock, beyond_the_anchors_the_rate_of_the_run_counts)
{
    struct iot_anchor anchors[] = {{1000, 5000}};
    struct iot_clock_map map = map_of(anchors, 1, 0);
    map.beyond = (struct iot_rate){5, 2};
    cr_assert_eq(iot_clock_mono(&map, 1000), 5000u);
    cr_assert_eq(iot_clock_mono(&map, 1050), 5020u);
    cr_assert_eq(iot_clock_mono(&map, 950), 4980u);
    cr_assert_eq(iot_clock_mono(&map, 0), 4600u);
    cr_assert_eq(iot_clock_mono(&map, UINT64_MAX), IOT_CLOCK_MAX);
    map.beyond = (struct iot_rate){0, 0};
    cr_assert_eq(iot_clock_mono(&map, 1050), 5050u);
}

Test(clock, near_anchors_are_thinned_and_the_last_one_kept)
{
    struct iot_anchor anchors[100];
    for (uint64_t i = 0; i < 100; i++)
        anchors[i] = (struct iot_anchor){2 * MS * i, MS * i};
    struct iot_clock_map map = map_of(anchors, 100, 0);
    cr_assert_eq(map.n, 10u); /* 0, 10, …, 80, 99 */
    cr_assert_eq(map.anchors[8].mono_ns, 80u * MS);
    cr_assert_eq(map.anchors[9].mono_ns, 99u * MS);
}

Test(clock, what_contradicts_the_others_is_left_out)
{
    struct iot_anchor back[] = {
        {0, 0}, {100 * MS, 50 * MS}, {200 * MS, 40 * MS}, {300 * MS, 150 * MS}};
    struct iot_clock_map map = map_of(back, 4, 1);
    cr_assert_eq(map.n, 3u);
    struct iot_anchor fast[] = {{0, 0}, {100 * MS, 50 * MS}, {UINT64_MAX, 51 * MS}};
    map = map_of(fast, 3, 1);
    struct iot_anchor slow[] = {{0, 0}, {100, 50 * MS}};
    map = map_of(slow, 2, 1);
    cr_assert_eq(map.n, 1u);
    /* Two threads at once, each interrupted between its two readings. */
    struct iot_anchor crossed[] = {{0, 0}, {100 * MS, 50 * MS}, {100 * MS + 20, 50 * MS - 500}};
    map = map_of(crossed, 3, 0);
    cr_assert_eq(map.n, 2u);
    struct iot_anchor same[] = {{7, 7}, {7, 7}, {7, 7}};
    map = map_of(same, 3, 0);
    cr_assert_eq(map.n, 1u);
}

Test(clock, time_never_falls_whatever_the_anchors)
{
    uint64_t x = 1;
    for (int round = 0; round < 200; round++) {
        struct iot_anchor anchors[20];
        for (int i = 0; i < 20; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            anchors[i].ticks = x >> (round % 50);
            x = x * 6364136223846793005u + 1442695040888963407u;
            anchors[i].mono_ns = x >> (2 + round % 50);
        }
        struct iot_clock_map map;
        iot_clock_init(&map, IOT_CLOCK_TSC, anchors, 20);
        map.beyond = iot_clock_rate(&map);
        uint64_t before = 0, step = UINT64_MAX / 997 >> (round % 50);
        for (uint64_t k = 0, ticks = 0; k < 997; k++, ticks += step) {
            uint64_t now = iot_clock_mono(&map, ticks);
            cr_assert_geq(now, before);
            cr_assert_leq(now, IOT_CLOCK_MAX);
            before = now;
        }
    }
}
