/* What a job's report says of its hosts, and of rows with names. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/job.h"

enum { HOSTS = 5 };
static const char *const hosts[HOSTS] = {"a", "b", "c", "d", "e"};

/* A unit a host, with calls of two sizes on input; each takes so long. */
struct calls {
    int64_t small, small_ns, large, large_ns;
};

static void add_unit(struct iot_partial *p, int k, const struct calls *c)
{
    struct iot_unit *u = iot_partial_unit(p);
    u->host = hosts[k];
    u->identity.rank = k;
    u->numbers[IOT_UNIT_wall_ns] = INT64_C(1000000000);
    u->calls = iot_arena_take(p->arena, 2 * sizeof *u->calls);
    if (c->small)
        u->calls[u->n_calls++] = (struct iot_unit_calls){IOT_INPUT, 12, c->small, c->small_ns};
    if (c->large)
        u->calls[u->n_calls++] = (struct iot_unit_calls){IOT_INPUT, 20, c->large, c->large_ns};
}

/* Which host is slow: a bit each. */
static unsigned slow_of(const struct calls calls[HOSTS], int64_t *excess_ns)
{
    struct iot_partial p;
    struct iot_job job;
    unsigned slow = 0;
    cr_assert_eq(iot_partial_init(&p), 0);
    for (int k = 0; k < HOSTS; k++)
        add_unit(&p, k, &calls[k]);
    cr_assert_eq(iot_partial_order(&p), 0);
    cr_assert_eq(iot_job_make(&job, &p), 0);
    cr_assert_eq(job.n_hosts, HOSTS);
    for (int k = 0; k < HOSTS; k++)
        if (job.hosts[k].slow_object == IOT_INPUT) {
            slow |= 1u << k;
            *excess_ns = job.hosts[k].excess_ns;
        }
    cr_expect_eq(job.slow.n, (size_t)__builtin_popcount(slow));
    iot_job_free(&job);
    iot_partial_free(&p);
    return slow;
}

Test(job, a_host_whose_calls_take_twice_as_long_is_slow)
{
    int64_t excess = 0;
    const struct calls calls[HOSTS] = {{100, 1000000, 10, 10000000},
                                       {100, 1000000, 10, 10000000},
                                       {100, 2000000, 10, 20000000},
                                       {100, 1100000, 10, 9000000},
                                       {100, 900000, 10, 11000000}};
    cr_expect_eq(slow_of(calls, &excess), 1u << 2);
    cr_expect_eq(excess, 200000000);
}

/* More bytes a call, more calls, or fewer and larger ones: no host is slow for what it was asked.
 */
Test(job, other_work_is_not_slow)
{
    int64_t excess = 0;
    const struct calls calls[HOSTS] = {{100, 1000000, 10, 10000000},
                                       {100, 1000000, 10, 10000000},
                                       {0, 0, 100, 10000000},
                                       {1000, 1000000, 0, 0},
                                       {1, 1000000, 1000, 10000000}};
    cr_expect_eq(slow_of(calls, &excess), 0);
}

/* What is slow by less than a hundredth of the job is not said. */
Test(job, a_slow_host_of_no_weight_is_not_said)
{
    int64_t excess = 0;
    const struct calls calls[HOSTS] = {{10, 100000, 0, 0},
                                       {10, 100000, 0, 0},
                                       {10, 500000, 0, 0},
                                       {10, 100000, 0, 0},
                                       {10, 100000, 0, 0}};
    cr_expect_eq(slow_of(calls, &excess), 0);
}

static struct iot_named_row range(const char *name, int64_t total_ns)
{
    return (struct iot_named_row){
        .texts = {name},
        .numbers = {[IOT_ROW_ranges_units] = 1, [IOT_ROW_ranges_total_ns] = total_ns}};
}

Test(named_rows, names_that_differ_in_numbers_are_one_whatever_comes_first)
{
    const char *const names[] = {"epoch 1", "epoch 12", "epoch #", "load", "epoch 1"};
    for (int first = 0; first < 5; first++) {
        struct iot_named_rows rows = {0};
        struct iot_arena *arena = iot_arena_new();
        for (int k = 0; k < 5; k++) {
            struct iot_named_row row = range(names[(first + k) % 5], 1 + (first + k) % 5);
            cr_assert_eq(iot_named_rows_add(&rows, IOT_ROWS_ranges, &row, arena), 0);
        }
        cr_assert_eq(iot_named_rows_order(&rows, IOT_ROWS_ranges), 0);
        cr_assert_eq(rows.n, 2);
        cr_expect_str_eq(rows.rows[0].texts[0], "epoch #");
        cr_expect_eq(rows.rows[0].numbers[IOT_ROW_ranges_total_ns], 11);
        cr_expect_eq(rows.rows[0].numbers[IOT_ROW_ranges_units], 4);
        cr_expect_str_eq(rows.rows[1].texts[0], "load");
        iot_named_rows_free(&rows);
        iot_arena_free(arena);
    }
}

Test(named_rows, a_name_that_is_the_same_everywhere_keeps_its_numbers)
{
    struct iot_named_rows rows = {0};
    struct iot_arena *arena = iot_arena_new();
    for (int k = 0; k < 2; k++) {
        struct iot_named_row row = range("layer 7", 5);
        cr_assert_eq(iot_named_rows_add(&rows, IOT_ROWS_ranges, &row, arena), 0);
    }
    cr_assert_eq(rows.n, 1);
    cr_expect_str_eq(rows.rows[0].texts[0], "layer 7");
    iot_named_rows_free(&rows);
    iot_arena_free(arena);
}

Test(named_rows, a_finding_is_that_of_the_unit_that_would_win_most)
{
    const struct {
        const char *finding;
        int64_t gain_ns;
    } units[] = {{"b", 7}, {"a", 7}, {"c", 3}};
    for (int first = 0; first < 3; first++) {
        struct iot_named_rows rows = {0};
        struct iot_arena *arena = iot_arena_new();
        for (int k = 0; k < 3; k++) {
            int u = (first + k) % 3;
            struct iot_named_row row = {.texts = {"cache it"},
                                        .shown = units[u].finding,
                                        .object = IOT_INPUT,
                                        .numbers = {1, units[u].gain_ns, units[u].gain_ns}};
            cr_assert_eq(iot_named_rows_add(&rows, IOT_ROWS_advice, &row, arena), 0);
        }
        cr_assert_eq(rows.n, 1);
        cr_expect_str_eq(rows.rows[0].shown, "a");
        cr_expect_eq(rows.rows[0].numbers[IOT_ROW_advice_gain_ns], 17);
        cr_expect_eq(rows.rows[0].numbers[IOT_ROW_advice_most_ns], 7);
        iot_named_rows_free(&rows);
        iot_arena_free(arena);
    }
}

Test(named_rows, a_sentence_has_the_least_and_the_most_of_its_numbers)
{
    static const struct {
        const char *sentences[3], *said;
    } cases[] = {
        {{"waited 9.50 ms, 12 of them", "waited 80.0 ms, 3 of them", "waited 12.1 ms, 7 of them"},
         "waited 9.50 to 80.0 ms, 3 to 12 of them"},
        {{"moved by gpu0 (pid 70)", "moved by gpu10 (pid 8)", "moved by gpu2 (pid 900)"},
         "moved by gpu# (pid 8 to 900)"},
        {{"of 007", "of 7", "of 7.0"}, "of 7 to 7.0"},
        {{"all of 3", "all of 3", "all of 3"}, "all of 3"},
        {{"a#b 1", "a2b #", "a0#b 5.5.5"}, NULL}, /* two families */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int first = 0; first < 3; first++) {
            struct iot_named_rows rows = {0};
            struct iot_arena *arena = iot_arena_new();
            for (int k = 0; k < 3; k++) {
                const char *text = cases[c].sentences[(first + k * (1 + first % 2)) % 3];
                struct iot_named_row row = {.texts = {text}, .shown = text, .numbers = {1}};
                cr_assert_eq(iot_named_rows_add(&rows, IOT_ROWS_evidence, &row, arena), 0);
            }
            cr_expect_eq(rows.n, cases[c].said ? 1 : 2);
            char *said = iot_named_row_span(&rows.rows[0]);
            if (cases[c].said)
                cr_expect_str_eq(said, cases[c].said);
            free(said);
            iot_named_rows_free(&rows);
            iot_arena_free(arena);
        }
}

Test(histogram, adds_up_in_any_order_and_stays_at_the_largest)
{
    static const unsigned buckets[] = {3, 1, 3, 700, 2, 1};
    struct iot_histogram x = {0}, y = {0};
    for (int k = 0; k < 6; k++) {
        cr_assert_eq(iot_histogram_add(&x, buckets[k], k + 1), 0);
        cr_assert_eq(iot_histogram_add(&y, buckets[5 - k], 6 - k), 0);
    }
    cr_assert_eq(x.n, 4);
    cr_assert_eq(y.n, 4);
    for (size_t k = 0; k < 4; k++) {
        cr_expect_eq(x.bars[k].bucket, y.bars[k].bucket);
        cr_expect_eq(x.bars[k].count, y.bars[k].count);
    }
    cr_expect_eq(iot_histogram_count(&x), 21);
    cr_expect_eq(iot_histogram_latency(&x, 1000000).p50_ns, 2);
    cr_assert_eq(iot_histogram_add(&x, 1, IOT_COUNT_MAX), 0);
    cr_expect_eq((int64_t)x.bars[0].count, IOT_COUNT_MAX);
    iot_histogram_free(&x);
    iot_histogram_free(&y);
}
