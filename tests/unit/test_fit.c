#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/fit.h"

static uint64_t state;

static double uniform(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-53;
}

static struct iot_fit_sample sample;

struct made {
    double latency_ns, gbps, noise; /* noise: relative, to both sides */
    int calls, outliers;            /* every so many-th call is one; 0 none */
    double slow, fast;              /* by what an outlier's time is multiplied, in turn */
    const int64_t *sizes;
    int n_sizes;
};

static struct iot_fit fit(const struct made *m)
{
    iot_fit_begin(&sample);
    for (int i = 0; i < m->calls; i++) {
        int64_t bytes = m->sizes[(int)(uniform() * m->n_sizes)];
        double ns =
            (m->latency_ns + (double)bytes / m->gbps) * (1 + m->noise * (2 * uniform() - 1));
        if (m->outliers && i % m->outliers == 0)
            ns *= i / m->outliers % 2 ? m->fast : m->slow;
        iot_fit_add(&sample, bytes, (int64_t)ns);
    }
    return iot_fit_line(&sample);
}

static void expect(const struct made *m, double share)
{
    for (state = 1; state <= 20; state++) {
        struct iot_fit f = fit(m);
        cr_assert(f.known);
        cr_expect_leq(fabs(f.latency_ns - m->latency_ns), share * m->latency_ns, "%g for %g",
                      f.latency_ns, m->latency_ns);
        cr_assert_gt(f.ns_per_byte, 0);
        cr_expect_leq(fabs(1 / f.ns_per_byte - m->gbps), share * m->gbps, "%g for %g",
                      1 / f.ns_per_byte, m->gbps);
    }
}

static const int64_t many[] = {4096, 20000, 65536, 131072, 262144, 500000, 1 << 20};
static const int64_t two[] = {65536, 1 << 20};

Test(fit, exact)
{
    expect(&(struct made){100000, 2.0, 0, 200, 0, 1, 1, many, 7}, 0.001);
    expect(&(struct made){12e6, 0.2, 0, 100000, 0, 1, 1, two, 2}, 0.001);
    expect(&(struct made){100000, 2.0, 0, 8, 0, 1, 1, many, 7}, 0.001);
}

Test(fit, a_tenth_of_outliers_moves_nothing)
{
    expect(&(struct made){100000, 2.0, 0, 200, 10, 10, 10, many, 7}, 0.001);
    expect(&(struct made){100000, 2.0, 0, 200, 10, 100, 0.01, many, 7}, 0.001);
    expect(&(struct made){100000, 2.0, 0, 1000, 10, 3, 3, two, 2}, 0.001);
    expect(&(struct made){100000, 2.0, 0.05, 2000, 10, 10, 10, many, 7}, 0.05);
    expect(&(struct made){100000, 2.0, 0.05, 2000, 10, 0.1, 0.1, many, 7}, 0.05);
    expect(&(struct made){300000, 5.0, 0.05, 500, 10, 20, 20, two, 2}, 0.05);
}

Test(fit, without_latency_it_is_zero)
{
    state = 1;
    struct iot_fit f = fit(&(struct made){0, 1.0, 0.02, 1000, 10, 10, 10, many, 7});
    cr_expect(f.known);
    cr_expect_geq(f.latency_ns, 0);
    cr_expect_lt(f.latency_ns, 500);
    cr_expect_leq(fabs(f.ns_per_byte - 1), 0.02);
    iot_fit_begin(&sample); /* less than proportional: a line would begin below zero */
    for (int i = 1; i <= 100; i++)
        iot_fit_add(&sample, i * 1000, i * i * 100);
    f = iot_fit_line(&sample);
    cr_expect_eq(f.latency_ns, 0);
    cr_expect_gt(f.ns_per_byte, 0);
}

Test(fit, bytes_that_make_no_difference)
{
    state = 3;
    struct iot_fit f = fit(&(struct made){50000, 1e9, 0.3, 1000, 0, 1, 1, many, 7});
    cr_expect(f.known);
    cr_expect_eq(f.ns_per_byte, 0);
    cr_expect_leq(fabs(f.latency_ns - 50000), 5000);
}

Test(fit, unknown_where_sizes_do_not_differ)
{
    static const int64_t one[] = {4096}, near[] = {4096, 4097, 4500};
    state = 1;
    cr_expect_not(fit(&(struct made){100000, 2.0, 0.1, 1000, 0, 1, 1, one, 1}).known);
    cr_expect_not(fit(&(struct made){100000, 2.0, 0.1, 1000, 0, 1, 1, near, 3}).known);
    cr_expect_not(fit(&(struct made){100000, 2.0, 0.1, 5, 0, 1, 1, many, 7}).known);
    iot_fit_begin(&sample);
    cr_expect_not(iot_fit_line(&sample).known);
    for (int i = 0; i < 1000; i++)
        iot_fit_add(&sample, 524288, 1000000);
    iot_fit_add(&sample, 300, 10); /* the rest of a file */
    for (int i = 0; i < 100; i++)
        iot_fit_add(&sample, i % 2 ? 0 : -1, 200); /* its end, and failures */
    cr_expect_not(iot_fit_line(&sample).known);
}

Test(fit, rare_sizes_are_not_lost)
{
    state = 1;
    iot_fit_begin(&sample);
    for (int i = 0; i < 100000; i++) {
        int64_t bytes = i % 1000 == 7 ? 1 << 20 : 4096;
        iot_fit_add(&sample, bytes, 20000 + bytes / 2);
    }
    struct iot_fit f = iot_fit_line(&sample);
    cr_assert(f.known);
    cr_expect_leq(fabs(f.latency_ns - 20000), 20);
    cr_expect_leq(fabs(f.ns_per_byte - 0.5), 0.001);
}

Test(fit, whatever_is_added)
{
    state = 5;
    for (int round = 0; round < 200; round++) {
        iot_fit_begin(&sample);
        for (int n = (int)(uniform() * 300), i = 0; i < n; i++)
            iot_fit_add(&sample, (int64_t)exp2(uniform() * 62.9),
                        (int64_t)exp2(uniform() * 52) - 1);
        struct iot_fit f = iot_fit_line(&sample);
        cr_expect(isfinite(f.latency_ns) && f.latency_ns >= 0);
        cr_expect(isfinite(f.ns_per_byte) && f.ns_per_byte >= 0);
    }
}
