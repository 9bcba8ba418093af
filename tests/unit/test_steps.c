#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/behaviour.h"
#include "analyzer/classify.h"
#include "analyzer/steps.h"
#include "tests/unit/runs.h"

#define MS INT64_C(1000000)

static struct iot_steps steps;
static uint64_t state;

static int64_t below(int64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 33) % (uint64_t)n);
}

static void find(struct iot_test_run *run)
{
    cr_assert_eq(iot_steps_find(&steps, &run->trace, &run->model), 0);
}

static void done(struct iot_test_run *run)
{
    iot_steps_free(&steps);
    iot_test_run_free(run);
}

static void expect_starts(const int64_t *want, size_t n)
{
    cr_assert_eq(steps.n, n, "%zu steps, expected %zu", steps.n, n);
    for (size_t i = 0; i < n; i++)
        cr_expect_leq(llabs(steps.starts_ns[i] - want[i]), MS / 10, "step %zu: %lld, not %lld", i,
                      (long long)steps.starts_ns[i], (long long)want[i]);
}

static uint32_t numbered(struct iot_test_run *run, const char *format, int i)
{
    char name[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(name, sizeof name, format, i);
#pragma GCC diagnostic pop
    return iot_test_run_regular(run, name);
}

Test(steps, marks_come_first)
{
    struct iot_test_run *run = iot_test_run_new(100 * MS);
    uint32_t log = iot_test_run_regular(run, "/d/train.log");
    for (int i = 0; i < 20; i++)
        iot_test_run_event(run, IOT_OP_WRITE, log, 10, 3 * i * MS);
    int64_t want[4];
    for (int i = 0; i < 4; i++) {
        size_t e = iot_test_run_event(run, IOT_OP_MARK, 0, 0, want[i] = (60 + 5 * i) * MS);
        run->result[e] = 1;
    }
    find(run);
    cr_expect_eq(steps.source, IOT_STEPS_MARKS);
    expect_starts(want, 4);
    cr_expect_eq(steps.end_ns, 80 * MS, "the last step lasts as long as the others");
    done(run);
}

Test(steps, a_named_mark_is_no_step)
{
    struct iot_test_run *run = iot_test_run_new(100 * MS);
    for (int i = 0; i < 3; i++)
        run->result[iot_test_run_event(run, IOT_OP_MARK, 0, 0, i * MS)] = 0;
    find(run);
    cr_expect_eq(steps.n, 0);
    cr_expect_eq(steps.source, IOT_STEPS_NONE);
    done(run);
}

Test(steps, an_event_belongs_to_the_step_in_which_it_ends)
{
    int64_t starts[3] = {10, 20, 30};
    struct iot_steps s = {.starts_ns = starts, .n = 3, .end_ns = 40};
    cr_expect_eq(iot_steps_at(&s, 10), SIZE_MAX);
    cr_expect_eq(iot_steps_at(&s, 11), 0);
    cr_expect_eq(iot_steps_at(&s, 20), 0);
    cr_expect_eq(iot_steps_at(&s, 21), 1);
    cr_expect_eq(iot_steps_at(&s, 40), 2);
    cr_expect_eq(iot_steps_at(&s, 41), SIZE_MAX);
}

/* Reads a sample, computes for a varying time, logs; a checkpoint every fifth step. */
static size_t trainer(struct iot_test_run *run, int64_t *want, int n, int64_t jitter)
{
    uint32_t log = iot_test_run_regular(run, "/d/train.log"),
             part = iot_test_run_regular(run, "/d/checkpoint.tmp");
    int64_t t = 20 * MS;
    for (int i = 0; i < n; i++) {
        uint32_t sample = numbered(run, "/d/sample-%d.raw", i);
        want[i] = t;
        iot_test_run_event(run, IOT_OP_OPEN, sample, 0, t);
        iot_test_run_event(run, IOT_OP_READ, sample, 5000, t + 1000);
        iot_test_run_event(run, IOT_OP_CLOSE, sample, 0, t + 8000);
        t += 4 * MS + (jitter ? below(jitter) : 0);
        iot_test_run_event(run, IOT_OP_WRITE, log, 20, t - 1000);
        if (i % 5 == 4) {
            iot_test_run_event(run, IOT_OP_OPEN, part, 0, t);
            iot_test_run_event(run, IOT_OP_WRITE, part, 2 * MS, t + 30 * MS);
            iot_test_run_event(run, IOT_OP_CLOSE, part, 0, t + 33 * MS);
            t += 34 * MS;
        }
    }
    iot_test_run_event(run, IOT_OP_CLOSE, log, 0, t);
    return (size_t)n;
}

Test(steps, found_beside_checkpoints_and_jitter)
{
    static const int64_t jitters[] = {0, MS, 6 * MS};
    for (int k = 0; k < 3; k++) {
        int64_t want[60];
        struct iot_test_run *run = iot_test_run_new(1000 * MS);
        state = 7;
        size_t n = trainer(run, want, 60, jitters[k]);
        find(run);
        cr_expect_eq(steps.source, IOT_STEPS_PERIOD);
        expect_starts(want, n);
        done(run);
    }
}

Test(steps, what_is_written_after_computing_ends_a_step)
{
    struct iot_test_run *run = iot_test_run_new(230 * MS);
    uint32_t out = iot_test_run_regular(run, "/d/tokens.out");
    int64_t want[40];
    iot_test_run_event(run, IOT_OP_OPEN, out, 0, 0);
    for (int i = 0; i < 40; i++) {
        want[i] = (20 + 5 * i) * MS;
        iot_test_run_event(run, IOT_OP_WRITE, out, 6, want[i] + 4 * MS);
        iot_test_run_event(run, IOT_OP_FSYNC, out, MS - 30, want[i] + 4 * MS + 20);
    }
    iot_test_run_event(run, IOT_OP_CLOSE, out, 0, 220 * MS);
    find(run);
    expect_starts(want, 40);
    done(run);
}

Test(steps, bursts_are_one_step_each_even_if_interrupted)
{
    struct iot_test_run *run = iot_test_run_new(420 * MS);
    int64_t want[40];
    for (int i = 0; i < 40; i++) {
        want[i] = (10 + 10 * i) * MS;
        for (int k = 0; k < 4; k++) /* every seventh burst is held up in its middle */
            iot_test_run_event(run, IOT_OP_READ, numbered(run, "/d/%d.raw", 4 * i + k), 1000,
                               want[i] + k * MS / 10 + (i % 7 == 3 && k > 1 ? 4 * MS : 0));
    }
    find(run);
    expect_starts(want, 40);
    done(run);
}

Test(steps, waiting_between_the_pieces_of_a_message_ends_no_step)
{
    struct iot_test_run *run = iot_test_run_new(600 * MS);
    uint32_t from = iot_test_run_file(run, "pipe:[7]", IOT_FILE_PIPE);
    int64_t want[40], t = 10 * MS;
    state = 3;
    for (int i = 0; i < 40; i++) {
        want[i] = t;
        for (int k = 0; k < 3; k++) {
            int64_t waited = k ? below(3 * MS) : below(8 * MS);
            iot_test_run_event(run, IOT_OP_READ, from, waited, t);
            t += waited + 1000;
        }
        t += 5 * MS;
    }
    find(run);
    expect_starts(want, 40);
    done(run);
}

static void expect_none(struct iot_test_run *run, const char *what)
{
    find(run);
    cr_expect_eq(steps.n, 0, "%s: %zu steps", what, steps.n);
    done(run);
}

Test(steps, none_are_invented)
{
    struct iot_test_run *run = iot_test_run_new(400 * MS);
    uint32_t file = iot_test_run_regular(run, "/d/weights.dat");
    for (int i = 0; i < 60; i++)
        iot_test_run_event(run, IOT_OP_READ, file, 100000, 6 * i * MS);
    expect_none(run, "one file from one end to the other");

    run = iot_test_run_new(400 * MS);
    for (int i = 0; i < 60; i++)
        iot_test_run_event(run, IOT_OP_READ, numbered(run, "/d/blob-%d", i / 6), 100000,
                           6 * i * MS);
    expect_none(run, "files in pieces, one after another");

    run = iot_test_run_new(400 * MS);
    for (int i = 0; i < 60; i++)
        iot_test_run_event(run, IOT_OP_READ, numbered(run, "/d/part-%d.safetensors", i), 100000,
                           6 * i * MS);
    expect_none(run, "artifacts");

    run = iot_test_run_new(400 * MS);
    for (int i = 0; i < 60; i++)
        iot_test_run_event(run, IOT_OP_OPEN, numbered(run, "/usr/lib/python3/m%d.py", i), 0,
                           6 * i * MS);
    expect_none(run, "start-up files");

    run = iot_test_run_new(400 * MS);
    state = 11;
    for (int64_t t = 0, i = 0; i < 40; i++, t += (i % 5 ? below(MS) : 1) * (1 + below(20)))
        iot_test_run_event(run, IOT_OP_READ, numbered(run, "/d/%d.raw", (int)below(400)), 100, t);
    expect_none(run, "calls at irregular times");

    run = iot_test_run_new(400 * MS);
    for (int i = 0; i < 5; i++)
        iot_test_run_event(run, IOT_OP_READ, numbered(run, "/d/%d.raw", i), 100, 80 * i * MS);
    expect_none(run, "too few");
}

Test(steps, what_comes_back_to_its_files_does_not_load)
{
    struct iot_test_run *run = iot_test_run_new(400 * MS);
    for (int i = 0; i < 60; i++) {
        size_t e = iot_test_run_event(run, IOT_OP_PREAD, numbered(run, "/d/blob-%d", i % 10),
                                      100000, 6 * i * MS);
        run->offset[e] = (i * 7 % 60) * 100000;
    }
    find(run);
    cr_expect_eq(steps.n, 60, "%zu steps", steps.n);
    done(run);
}

static void hand_over(struct iot_test_run *run, int n)
{
    for (int i = 0; i < n; i++) { /* takes, and says so; the lock's address is the object's */
        run->addr[iot_test_run_event(run, IOT_OP_COND_SIGNAL, 0, 0, (10 + 5 * i) * MS)] = 64;
        run->addr[iot_test_run_event(run, IOT_OP_MUTEX_UNLOCK, 0, 0, (10 + 5 * i) * MS + 20)] = 8;
    }
}

Test(steps, locks_tell_them_where_nothing_else_does)
{
    struct iot_test_run *run = iot_test_run_new(250 * MS);
    hand_over(run, 40);
    find(run);
    cr_expect_eq(steps.n, 40);
    done(run);

    run = iot_test_run_new(300 * MS); /* an artifact's pieces make no steps, nor what is around */
    for (int i = 0; i < 40; i++)
        iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/w.pt.gz"), 10, i * 1000);
    hand_over(run, 40);
    expect_none(run, "locks beside I/O");

    run = iot_test_run_new(110 * MS);
    hand_over(run, 19);
    expect_none(run, "few locks");

    run = iot_test_run_new(400 * MS);
    hand_over(run, 40);
    expect_none(run, "locks in half of the run");
}

Test(steps, only_the_carrying_lane_counts)
{
    struct iot_test_run *run = iot_test_run_new(300 * MS);
    for (int i = 0; i < 40; i++)
        run->waited[iot_test_run_event(run, IOT_OP_READ, numbered(run, "/d/%d.raw", i), 1000,
                                       7 * i * MS)] = 1;
    expect_none(run, "another lane");
}

Test(steps, say_what_is_input)
{
    struct iot_test_run *run = iot_test_run_new(1000 * MS);
    struct iot_classes classes;
    uint32_t shard = iot_test_run_regular(run, "/d/corpus");
    for (int i = 0; i < 10; i++) {
        run->result[iot_test_run_event(run, IOT_OP_MARK, 0, 0, (10 + 10 * i) * MS)] = 1;
        iot_test_run_event(run, IOT_OP_READ, shard, 2 * MS, (11 + 10 * i) * MS);
    }
    find(run);
    cr_assert_eq(iot_classify(&classes, &run->trace, NULL, &steps), 0);
    cr_expect_eq(classes.files[shard].object[IOT_READING], IOT_INPUT);
    cr_expect_str_eq(classes.files[shard].why[IOT_READING], "read in many steps");
    iot_classes_free(&classes);
    done(run);
}
