/* What a comparison of two samples rests on. Exact, for up to IOT_RUNS_MAX values a side; what is
 * compared are runs, which are independent of each other, never the steps inside one.
 *
 * Mann and Whitney (1947), with the distribution of the ranks as they are tied (a permutation
 * test); Hodges and Lehmann (1963) for the shift and its interval; Holm (1979) for several tests.
 */
#ifndef IOT_ANALYZER_COMPARE_STATS_H
#define IOT_ANALYZER_COMPARE_STATS_H

#include <stdbool.h>
#include <stddef.h>

#define IOT_RUNS_MAX 64

struct iot_mann_whitney {
    double u; /* pairs in which the second sample's value is larger; a tie is half a pair */
    double p; /* two-sided: twice the smaller tail, at most 1 */
};

/* Of samples of 1 to IOT_RUNS_MAX finite values. Returns 0, -1 without memory. */
int iot_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b,
                     struct iot_mann_whitney *result);

/* The smallest p that samples of these sizes can give. */
double iot_mann_whitney_least(size_t n_a, size_t n_b);

struct iot_shift {
    double median; /* of all differences b - a */
    bool bounded;  /* there are enough values for an interval of that confidence */
    double low, high;
};

/* Which difference from either end bounds an interval that covers the shift with at least
 * 1 - alpha, from 1; 0: so few values have none. Ties only make it wider than need be. Negative
 * without memory. */
long iot_shift_bound(size_t n_a, size_t n_b, double alpha);

/* Returns 0, -1 without memory. */
int iot_shift(const double *a, size_t n_a, const double *b, size_t n_b, long bound,
              struct iot_shift *result);

/* p of n tests, in place, adjusted so that 1 - alpha holds for all of them together. At most
 * IOT_TESTS_MAX. */
#define IOT_TESTS_MAX 12
void iot_holm(double *p, size_t n);

/* The mean of the middle two of an even number; n is 1 to IOT_RUNS_MAX. */
double iot_sample_median(const double *values, size_t n);

/* The fewest runs a side with which one of that many tests can come below alpha; IOT_RUNS_MAX + 1:
 * more than are read. */
size_t iot_runs_for_tests(size_t tests, double alpha);

#endif
