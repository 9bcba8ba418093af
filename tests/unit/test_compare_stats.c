/* Against counting all arrangements one by one, and against published tables. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "analyzer/compare_stats.h"

enum { ROUNDS = 300, SIDE_MAX = 7 };

static unsigned next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*state >> 40);
}

/* Few values, so that many are tied. */
static size_t sample(double *values, unsigned spread, uint64_t *state)
{
    size_t n = 1 + next(state) % SIDE_MAX;
    for (size_t i = 0; i < n; i++)
        values[i] = (double)(next(state) % spread) / 4;
    return n;
}

static double pairs(const double *a, size_t n_a, const double *b, size_t n_b)
{
    double u = 0;
    for (size_t i = 0; i < n_a; i++)
        for (size_t k = 0; k < n_b; k++)
            u += b[k] > a[i] ? 1 : b[k] == a[i] ? 0.5 : 0;
    return u;
}

/* Every choice of n_b of the pooled values. */
static double brute_p(const double *a, size_t n_a, const double *b, size_t n_b)
{
    double pooled[2 * SIDE_MAX], u = pairs(a, n_a, b, n_b), below = 0, above = 0, all = 0;
    size_t n = n_a + n_b;
    for (size_t i = 0; i < n; i++)
        pooled[i] = i < n_a ? a[i] : b[i - n_a];
    for (unsigned chosen = 0; chosen < 1u << n; chosen++) {
        double x[2 * SIDE_MAX], y[2 * SIDE_MAX];
        size_t n_x = 0, n_y = 0;
        if ((size_t)__builtin_popcount(chosen) != n_b)
            continue;
        for (size_t i = 0; i < n; i++)
            if (chosen >> i & 1)
                y[n_y++] = pooled[i];
            else
                x[n_x++] = pooled[i];
        double other = pairs(x, n_x, y, n_y);
        all++;
        below += other <= u;
        above += other >= u;
    }
    return fmin(1, 2 * fmin(below, above) / all);
}

Test(compare_stats, p_of_every_arrangement)
{
    uint64_t state = 1;
    double a[SIDE_MAX], b[SIDE_MAX];
    for (int round = 0; round < ROUNDS; round++) {
        struct iot_mann_whitney got;
        unsigned spread = round % 3 ? 6 : 100000;
        size_t n_a = sample(a, spread, &state), n_b = sample(b, spread, &state);
        cr_assert_eq(iot_mann_whitney(a, n_a, b, n_b, &got), 0);
        cr_assert_eq(got.u, pairs(a, n_a, b, n_b));
        cr_assert(fabs(got.p - brute_p(a, n_a, b, n_b)) < 1e-12, "%g, not %g", got.p,
                  brute_p(a, n_a, b, n_b));
    }
}

/* The permeability of a membrane, from Hollander and Wolfe: one-sided p is 0.1272. */
Test(compare_stats, p_of_a_textbook)
{
    const double a[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
    const double b[] = {1.15, 0.88, 0.90, 0.74, 1.21};
    struct iot_mann_whitney got;
    cr_assert_eq(iot_mann_whitney(a, 10, b, 5, &got), 0);
    cr_assert_eq(got.u, 50 - 35);
    cr_assert(fabs(got.p / 2 - 0.1272) < 5e-5, "%g", got.p);
}

/* Two samples whose U is as given: n values each, no ties. */
static double p_of_u(size_t n, size_t u)
{
    double a[IOT_RUNS_MAX], b[IOT_RUNS_MAX];
    struct iot_mann_whitney got;
    for (size_t i = 0; i < n; i++) {
        a[i] = 1000 + (double)i;
        b[i] = (double)i;
    }
    /* A value of b above k of a's adds k. */
    for (size_t i = n; i-- && u;) {
        size_t k = u < n ? u : n;
        b[i] = 1000 + (double)k - 0.5 + (double)i / 1000;
        u -= k;
    }
    cr_assert_eq(iot_mann_whitney(a, n, b, n, &got), 0);
    return got.p;
}

/* The largest U of published tables that is significant, two-sided. */
Test(compare_stats, critical_values)
{
    static const struct {
        size_t n, at_5_percent, at_1_percent;
    } rows[] = {{5, 2, 0},   {6, 5, 2},    {7, 8, 4},     {8, 13, 7},
                {9, 17, 11}, {10, 23, 16}, {20, 127, 105}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_assert(p_of_u(rows[i].n, rows[i].at_5_percent) <= 0.05);
        cr_assert(p_of_u(rows[i].n, rows[i].at_5_percent + 1) > 0.05);
        cr_assert(p_of_u(rows[i].n, rows[i].at_1_percent) <= 0.01);
        cr_assert(p_of_u(rows[i].n, rows[i].at_1_percent + 1) > 0.01);
    }
}

Test(compare_stats, the_most_runs)
{
    double a[IOT_RUNS_MAX], b[IOT_RUNS_MAX];
    struct iot_mann_whitney got;
    for (size_t i = 0; i < IOT_RUNS_MAX; i++) {
        a[i] = (double)i;
        b[i] = (double)(i + IOT_RUNS_MAX);
    }
    cr_assert_eq(iot_mann_whitney(a, IOT_RUNS_MAX, b, IOT_RUNS_MAX, &got), 0);
    cr_assert(got.p > 0 && got.p < 1e-36);
    cr_assert(fabs(got.p / iot_mann_whitney_least(IOT_RUNS_MAX, IOT_RUNS_MAX) - 1) < 1e-12);
    cr_assert_eq(iot_mann_whitney(a, IOT_RUNS_MAX, a, IOT_RUNS_MAX, &got), 0);
    cr_assert_eq(got.p, 1);
}

/* How often the true shift is in the interval is counted by how samples may be arranged: of all
 * choices of n_b of the numbers 1 to n, those in which so many pairs are outside. */
Test(compare_stats, the_interval_covers)
{
    for (size_t n_a = 2; n_a <= SIDE_MAX; n_a++)
        for (size_t n_b = 2; n_b <= SIDE_MAX; n_b++) {
            long bound = iot_shift_bound(n_a, n_b, 0.05);
            double all = 0, outside = 0, one_more = 0;
            for (unsigned chosen = 0; chosen < 1u << (n_a + n_b); chosen++) {
                double a[2 * SIDE_MAX], b[2 * SIDE_MAX];
                size_t x = 0, y = 0;
                if ((size_t)__builtin_popcount(chosen) != n_b)
                    continue;
                for (size_t i = 0; i < n_a + n_b; i++)
                    if (chosen >> i & 1)
                        b[y++] = (double)i;
                    else
                        a[x++] = (double)i;
                struct iot_shift shift;
                cr_assert_eq(iot_shift(a, n_a, b, n_b, bound, &shift), 0);
                all++;
                /* No shift is the truth here. */
                outside += shift.bounded && (shift.low > 0 || shift.high < 0);
                cr_assert_eq(iot_shift(a, n_a, b, n_b, bound + 1, &shift), 0);
                one_more += shift.low > 0 || shift.high < 0;
            }
            cr_assert(outside / all <= 0.05, "%zu, %zu: %g", n_a, n_b, outside / all);
            cr_assert(one_more / all > 0.05, "%zu, %zu is wider than need be", n_a, n_b);
        }
}

Test(compare_stats, shift_of_moved_values)
{
    const double a[] = {1, 4, 9, 16, 25, 36};
    double b[6];
    struct iot_shift shift;
    for (int i = 0; i < 6; i++)
        b[i] = a[i] + 100;
    cr_assert_eq(iot_shift(a, 6, b, 6, iot_shift_bound(6, 6, 0.02), &shift), 0);
    cr_assert_eq(shift.median, 100);
    cr_assert(shift.bounded && shift.low < 100 && shift.high > 100);
    cr_assert_eq(shift.low + shift.high, 200);
    cr_assert_eq(iot_shift(a, 1, b, 1, iot_shift_bound(1, 1, 0.02), &shift), 0);
    cr_assert(!shift.bounded && shift.median == 100);
}

/* Holm's own way: the smallest p times n, the next times n - 1, never below one before. */
Test(compare_stats, several_tests)
{
    double p[] = {0.01, 0.04, 0.03, 0.005};
    const double want[] = {0.03, 0.06, 0.06, 0.02};
    iot_holm(p, 4);
    for (int i = 0; i < 4; i++)
        cr_assert(fabs(p[i] - want[i]) < 1e-12, "%d: %g", i, p[i]);
    double large[] = {0.9, 0.8};
    iot_holm(large, 2);
    cr_assert(large[0] == 1 && large[1] == 1);
}

Test(compare_stats, runs_that_can_decide)
{
    cr_assert_eq(iot_runs_for_tests(1, 0.05), 4);
    cr_assert_eq(iot_runs_for_tests(6, 0.02), 6);
    cr_assert_eq(iot_runs_for_tests(12, 0.02), 7);
    cr_assert_eq(iot_runs_for_tests(12, 1e-300), IOT_RUNS_MAX + 1);
}

Test(compare_stats, medians)
{
    const double values[] = {5, 1, 4, 2};
    cr_assert_eq(iot_sample_median(values, 4), 3);
    cr_assert_eq(iot_sample_median(values, 3), 4);
    cr_assert_eq(iot_sample_median(values, 1), 5);
}
