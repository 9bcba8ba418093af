#include "analyzer/compare_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double iot_sample_median(const double *values, size_t n)
{
    double sorted[IOT_RUNS_MAX];
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    return n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] + (sorted[n / 2] - sorted[n / 2 - 1]) / 2;
}

/* --- the distribution of rank sums --- */

/* Twice the ranks, so that ties at half ranks are integers. */
struct ranks {
    size_t of[2 * IOT_RUNS_MAX];
    size_t n;
};

/* In how many ways `take` of the ranks add up to each sum, 0 to sum of all. Counts up to
 * C(128, 64) keep all but their last digits in a double. NULL: out of memory. */
static double *ways(const struct ranks *ranks, size_t take, size_t *n_sums)
{
    size_t all = 0;
    for (size_t i = 0; i < ranks->n; i++)
        all += ranks->of[i];
    *n_sums = all + 1;
    double *table = calloc((take + 1) * *n_sums, sizeof *table);
    if (!table)
        return NULL;
    table[0] = 1;
    for (size_t i = 0; i < ranks->n; i++)
        for (size_t k = i + 1 < take ? i + 1 : take; k >= 1; k--) {
            double *to = table + k * *n_sums + ranks->of[i], *from = table + (k - 1) * *n_sums;
            for (size_t s = 0; s + ranks->of[i] <= all; s++)
                to[s] += from[s];
        }
    memmove(table, table + take * *n_sums, *n_sums * sizeof *table);
    return table;
}

static double choose(size_t n, size_t k)
{
    double product = 1;
    for (size_t i = 1; i <= k; i++)
        product = product * (double)(n - k + i) / (double)i;
    return product;
}

double iot_mann_whitney_least(size_t n_a, size_t n_b)
{
    return fmin(1, 2 / choose(n_a + n_b, n_a));
}

static void rank(const double *a, size_t n_a, const double *b, size_t n_b, struct ranks *ranks)
{
    double pooled[2 * IOT_RUNS_MAX];
    ranks->n = n_a + n_b;
    memcpy(pooled, a, n_a * sizeof *a);
    memcpy(pooled + n_a, b, n_b * sizeof *b);
    for (size_t i = 0; i < ranks->n; i++) {
        size_t twice = 1;
        for (size_t k = 0; k < ranks->n; k++)
            twice += pooled[k] < pooled[i] ? 2 : pooled[k] == pooled[i];
        ranks->of[i] = twice;
    }
}

int iot_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b,
                     struct iot_mann_whitney *result)
{
    struct ranks ranks;
    size_t sum = 0, n_sums;
    double below = 0, above = 0, all = choose(n_a + n_b, n_b);

    rank(a, n_a, b, n_b, &ranks);
    for (size_t i = n_a; i < ranks.n; i++)
        sum += ranks.of[i];
    double *table = ways(&ranks, n_b, &n_sums);
    if (!table)
        return -1;
    for (size_t s = 0; s < n_sums; s++) {
        below += s <= sum ? table[s] : 0;
        above += s >= sum ? table[s] : 0;
    }
    free(table);
    result->u = (double)sum / 2 - (double)n_b * (double)(n_b + 1) / 2;
    result->p = fmin(1, 2 * fmin(below, above) / all);
    return 0;
}

/* --- the shift --- */

long iot_shift_bound(size_t n_a, size_t n_b, double alpha)
{
    struct ranks ranks = {.n = n_a + n_b};
    size_t n_sums, least = n_b * (n_b + 1);
    double sum = 0, all = choose(n_a + n_b, n_b);
    long k = 0;

    for (size_t i = 0; i < ranks.n; i++)
        ranks.of[i] = 2 * (i + 1);
    double *table = ways(&ranks, n_b, &n_sums);
    if (!table)
        return -1;
    for (size_t s = least; s < n_sums; s += 2, k++) {
        sum += table[s];
        if (sum / all > alpha / 2)
            break;
    }
    free(table);
    return k;
}

int iot_shift(const double *a, size_t n_a, const double *b, size_t n_b, long bound,
              struct iot_shift *result)
{
    size_t n = n_a * n_b;
    double *differences = malloc(n * sizeof *differences);

    if (!differences)
        return -1;
    for (size_t i = 0; i < n; i++)
        differences[i] = b[i % n_b] - a[i / n_b];
    qsort(differences, n, sizeof *differences, by_value);
    *result = (struct iot_shift){
        .median = n % 2 ? differences[n / 2] : (differences[n / 2 - 1] + differences[n / 2]) / 2,
        .bounded = bound > 0};
    if (bound > 0) {
        result->low = differences[bound - 1];
        result->high = differences[n - (size_t)bound];
    }
    free(differences);
    return 0;
}

/* --- several tests --- */

void iot_holm(double *p, size_t n)
{
    bool done[IOT_TESTS_MAX] = {false};
    double largest = 0;

    for (size_t left = n; left; left--) {
        size_t least = n;
        for (size_t i = 0; i < n; i++)
            if (!done[i] && (least == n || p[i] < p[least]))
                least = i;
        largest = fmax(largest, fmin(1, p[least] * (double)left));
        p[least] = largest;
        done[least] = true;
    }
}

size_t iot_runs_for_tests(size_t tests, double alpha)
{
    size_t n = 1;
    while (n <= IOT_RUNS_MAX && iot_mann_whitney_least(n, n) * (double)tests > alpha)
        n++;
    return n;
}
