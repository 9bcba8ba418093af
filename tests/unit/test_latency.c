#include <criterion/criterion.h>
#include <stdlib.h>

#include "analyzer/latency.h"

static uint64_t seed = 42;

static int64_t any(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> 11 >> (seed >> 59)); /* all magnitudes up to 2^53 */
}

Test(latency, a_bucket_is_near_what_is_in_it)
{
    cr_expect_eq(iot_latency_bucket(0), 0);
    cr_expect_eq(iot_latency_value(127), 127);
    cr_expect_lt(iot_latency_bucket(INT64_MAX), IOT_LATENCY_BUCKETS);
    for (int i = 0; i < 100000; i++) {
        int64_t ns = any();
        int64_t value = iot_latency_value(iot_latency_bucket(ns));
        cr_assert_leq(llabs(value - ns) * 125, ns, "%ld is shown as %ld", ns, value);
    }
}

Test(latency, buckets_are_in_the_order_of_time)
{
    for (unsigned b = 1; b < IOT_LATENCY_BUCKETS - 64; b++) {
        cr_assert_gt(iot_latency_value(b), iot_latency_value(b - 1));
        cr_assert_eq(iot_latency_bucket(iot_latency_value(b)), b);
    }
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void expect_near(int64_t got, int64_t want)
{
    cr_expect_leq(llabs(got - want) * 100, want, "expected %ld, got %ld", want, got);
}

Test(latency, percentiles_are_the_nearest_rank)
{
    enum { MOST = 2 * IOT_LATENCY_BUCKETS };
    static int64_t times[MOST];
    static uint16_t buckets[MOST];
    for (size_t n = 1; n < MOST; n += 1 + n / 8) {
        uint64_t *counts = calloc(IOT_LATENCY_BUCKETS, sizeof *counts);
        for (size_t i = 0; i < n; i++) {
            times[i] = any();
            buckets[i] = (uint16_t)iot_latency_bucket(times[i]);
            counts[buckets[i]]++;
        }
        qsort(times, n, sizeof *times, by_time);
        struct iot_latency a = iot_latency_of_counts(counts, n, times[n - 1]);
        struct iot_latency b = iot_latency_of_buckets(buckets, n, times[n - 1]);
        expect_near(a.p50_ns, times[(n * 50 + 99) / 100 - 1]);
        expect_near(a.p95_ns, times[(n * 95 + 99) / 100 - 1]);
        expect_near(a.p99_ns, times[(n * 99 + 99) / 100 - 1]);
        cr_expect_eq(a.max_ns, times[n - 1]);
        cr_expect_leq(a.p99_ns, a.max_ns);
        cr_expect_arr_eq(&a, &b, sizeof a, "both ways are one");
        free(counts);
    }
}
