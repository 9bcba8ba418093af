/* Advice on runs of which it is known what a change would win, with the real model and replay. */
#include <criterion/criterion.h>
#include <string.h>

#include "analyzer/advice.h"
#include "analyzer/phases.h"
#include "analyzer/report_words.h"
#include "analyzer/verdict.h"
#include "tests/unit/runs.h"

#define MS INT64_C(1000000)

static struct iot_model *model;
static struct iot_classes classes;
static struct iot_steps steps;
static struct iot_report report;

static void make(struct iot_test_run *run)
{
    run->processes[0].end_ns = run->lanes[0].end_ns = run->trace.wall_ns;
    cr_assert_not_null(model = iot_model_build(&run->trace));
    cr_assert_eq(iot_steps_find(&steps, &run->trace, model), 0);
    cr_assert_eq(iot_classify(&classes, &run->trace, NULL, &steps), 0);
    cr_assert_eq(iot_report_make(&report, &run->trace, model, &classes, &steps, SIZE_MAX), 0);
    for (size_t i = 0; i < report.advice->n; i++) {
        cr_expect_geq(report.advice->advice[i].gain_ns, run->trace.wall_ns / 100);
        if (i)
            cr_expect_leq(report.advice->advice[i].gain_ns, report.advice->advice[i - 1].gain_ns);
    }
}

static void done(struct iot_test_run *run)
{
    iot_report_free(&report);
    iot_classes_free(&classes);
    iot_steps_free(&steps);
    iot_model_free(model);
    iot_test_run_free(run);
}

static const struct iot_advice *advice(int object, const char *words)
{
    for (size_t i = 0; i < report.advice->n; i++) {
        const struct iot_advice *a = &report.advice->advice[i];
        if (a->object == object && strstr(a->finding, words))
            return a;
    }
    return NULL;
}

static void expect_gain(int object, const char *words, int64_t gain_ns, int64_t within_ns)
{
    const struct iot_advice *a = advice(object, words);
    cr_assert_not_null(a, "nothing found with '%s'", words);
    cr_expect_leq(llabs(a->gain_ns - gain_ns), within_ns, "'%s' wins %lld, not %lld", a->finding,
                  (long long)a->gain_ns, (long long)gain_ns);
}

Test(advice, blocking_reads)
{
    struct iot_test_run *run = iot_test_run_new(200 * MS);
    uint32_t file = iot_test_run_regular(run, "/d/a.jpg");
    for (int i = 0; i < 5; i++)
        iot_test_run_event(run, IOT_OP_READ, file, 10 * MS, 20 * i * MS);
    make(run);
    expect_gain(IOT_INPUT, "the run waits for its own", 50 * MS, 100);
    cr_expect_eq(report.advice->n, 1, "and nothing else");
    done(run);
}

Test(advice, small_calls_lose_their_fixed_cost)
{
    struct iot_test_run *run = iot_test_run_new(200 * MS);
    uint32_t file = iot_test_run_regular(run, "/d/results.out");
    for (int i = 0; i < 200; i++) {
        size_t e = iot_test_run_event(run, IOT_OP_WRITE, file, 64, i * MS);
        run->t1[e] = run->t0[e] + MS / 4;
    }
    make(run);
    expect_gain(IOT_OUTPUT, "less than 4 KiB", 199 * MS / 4, MS); /* 200 calls become one */
    done(run);
}

Test(advice, small_calls_at_random_places_stay)
{
    struct iot_test_run *run = iot_test_run_new(200 * MS);
    uint32_t file = iot_test_run_regular(run, "/d/records.jpg");
    for (int i = 0; i < 200; i++) {
        size_t e = iot_test_run_event(run, IOT_OP_PREAD, file, 64, i * MS);
        run->t1[e] = run->t0[e] + MS / 4;
        run->offset[e] = i * 7919 % 1000 * 4096;
    }
    make(run);
    cr_expect_null(advice(IOT_INPUT, "less than 4 KiB"));
    done(run);
}

Test(advice, a_sync_for_each_token)
{
    struct iot_test_run *run = iot_test_run_new(400 * MS);
    uint32_t file = iot_test_run_regular(run, "/d/tokens.out");
    for (int i = 0; i < 100; i++) {
        iot_test_run_event(run, IOT_OP_WRITE, file, 6, 4 * i * MS);
        size_t e = iot_test_run_event(run, IOT_OP_FSYNC, file, 0, 4 * i * MS + 100);
        run->t1[e] = run->t0[e] + MS;
    }
    make(run);
    expect_gain(IOT_OUTPUT, "syncs of output", 90 * MS, MS / 100); /* every tenth stays */
    done(run);
}

/* Ten reads of 1 ms with 9 ms of decoding behind each, but for the last. */
static void read_and_decode(struct iot_test_run *run, int64_t from)
{
    uint32_t file = iot_test_run_regular(run, "/m/weights.safetensors");
    run->files[file].size = 10 * MS;
    for (int i = 0; i < 10; i++)
        run->fd[iot_test_run_event(run, IOT_OP_READ, file, MS - 10, from + 10 * i * MS)] = 3;
}

Test(advice, decoding_that_the_run_waits_for)
{
    struct iot_test_run *run = iot_test_run_new(200 * MS);
    read_and_decode(run, 0);
    make(run);
    cr_expect_eq(report.objects[IOT_ARTIFACT].figures.serialization_ns, 81 * MS);
    expect_gain(IOT_ARTIFACT, "decoding artifact takes 81.0 ms beside its I/O of 10.0 ms",
                81 * MS / 4 * 3, 100);
    cr_expect_not_null(strstr(advice(IOT_ARTIFACT, "decoding")->action, "another codec"));
    done(run);
}

/* In a thread of its own, beside a sleep that takes as long: nothing is won. */
Test(advice, decoding_that_is_hidden)
{
    struct iot_test_run *run = iot_test_run_new(200 * MS);
    run->result[iot_test_run_event(run, IOT_OP_FORK, 0, 0, 0)] = 101;
    run->t1[iot_test_run_event(run, IOT_OP_SLEEP, 0, 0, MS)] = 150 * MS;
    size_t e = iot_test_run_event(run, IOT_OP_WAITPID, 0, 0, 151 * MS);
    run->result[e] = 101;
    iot_test_run_process(run, 101, 100);
    run->processes[1].start_ns = run->lanes[1].start_ns = MS / 2;
    run->processes[1].end_ns = run->lanes[1].end_ns = 120 * MS;
    read_and_decode(run, MS);
    make(run);
    cr_expect_eq(report.objects[IOT_ARTIFACT].figures.serialization_ns, 81 * MS);
    cr_expect_null(advice(IOT_ARTIFACT, "decoding"));
    done(run);
}

static struct iot_test_run *reads_with_tail(int slow)
{
    struct iot_test_run *run = iot_test_run_new(1000 * MS);
    uint32_t file = iot_test_run_regular(run, "/d/a.jpg");
    int64_t now = 0;
    for (int i = 0; i < 100; i++) {
        size_t e = iot_test_run_event(run, IOT_OP_READ, file, 5000, now);
        run->t1[e] = run->t0[e] + (i % 25 < slow ? 30 * MS : MS);
        now = run->t1[e] + MS;
    }
    return run;
}

Test(advice, a_tail)
{
    struct iot_test_run *run = reads_with_tail(1);
    make(run);
    expect_gain(IOT_INPUT, "the slowest 4 calls on input", 4 * 29 * MS, MS);
    done(run);
}

/* Eight in a hundred are no tail that a median tells: P95 is one of them. */
Test(advice, slow_calls_that_are_no_tail)
{
    struct iot_test_run *run = reads_with_tail(2);
    make(run);
    cr_expect_null(advice(IOT_INPUT, "the slowest"));
    done(run);
}

/* Large calls take longer than small ones, and are no tail of them. */
Test(advice, large_calls_are_no_tail)
{
    struct iot_test_run *run = iot_test_run_new(1000 * MS);
    uint32_t file = iot_test_run_regular(run, "/d/a.jpg");
    for (int i = 0; i < 100; i++)
        iot_test_run_event(run, IOT_OP_READ, file, i % 25 ? MS : 30 * MS, 35 * i * MS / 4);
    make(run);
    cr_expect_null(advice(IOT_INPUT, "the slowest"));
    done(run);
}

Test(advice, names_and_opens)
{
    struct iot_test_run *run = iot_test_run_new(400 * MS);
    uint32_t file = iot_test_run_regular(run, "/d/a.jpg");
    for (int i = 0; i < 50; i++) {
        size_t open = iot_test_run_event(run, IOT_OP_OPEN, file, 0, 8 * i * MS);
        run->t1[open] = run->t0[open] + MS;
        iot_test_run_event(run, IOT_OP_READ, file, 100, 8 * i * MS + 2 * MS);
        iot_test_run_event(run, IOT_OP_CLOSE, file, 0, 8 * i * MS + 3 * MS);
    }
    make(run);
    expect_gain(IOT_INPUT, "50 opens of 1 file of input", 49 * MS, MS / 100);
    expect_gain(IOT_INPUT, "move no bytes", 50 * MS, MS / 100);
    done(run);
}

/* Neither fewer files nor fewer look-ups would spare what is done with the pages and locks of one.
 */
Test(advice, no_names_in_hints_and_locks)
{
    static const enum iot_op ops[] = {IOT_OP_FADVISE, IOT_OP_MMAP, IOT_OP_MUNMAP, IOT_OP_FCNTL};
    struct iot_test_run *run = iot_test_run_new(1000 * MS);
    uint32_t file = iot_test_run_regular(run, "/d/model.safetensors");
    for (int i = 0; i < 200; i++) {
        size_t e = iot_test_run_event(run, ops[i % 4], file, 0, 4 * i * MS);
        run->t1[e] = run->t0[e] + MS;
    }
    make(run);
    cr_expect_null(advice(IOT_ARTIFACT, "move no bytes"));
    cr_expect_not_null(advice(IOT_ARTIFACT, "the run waits for its own 200 calls"));
    done(run);
}

Test(advice, when_it_is_not_io)
{
    struct iot_test_run *run = iot_test_run_new(1000 * MS);
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/a.jpg"), MS, 0);
    size_t e = iot_test_run_event(run, IOT_OP_SLEEP, 0, 0, 100 * MS);
    run->t1[e] = 800 * MS;
    run->processes[0].usage_end.runqueue_ns = (uint64_t)(60 * MS);
    make(run);
    cr_assert_eq(report.advice->n, 2);
    expect_gain(-1, "70 % of which is sleep", 700 * MS, 100);
    expect_gain(-1, "waited for a CPU for at most 60.0 ms", 60 * MS, 0);
    done(run);
}

/* What is exposed of it is not said to be hidden. */
Test(advice, what_may_stay)
{
    struct iot_test_run *run = iot_test_run_new(1000 * MS);
    char words[IOT_SENTENCE_BYTES];
    make(run);
    struct iot_figures *f = &report.objects[IOT_STATE].figures;
    f->service_ns = 100 * MS;
    f->exposed_ns = f->recoverable_ns = 5 * MS;
    cr_assert(iot_words_leave(&report, IOT_STATE, words));
    cr_expect_str_eq(words, "Leave state: its 100 ms of I/O are hidden behind other work.");
    f->exposed_ns = f->recoverable_ns = 9 * MS;
    cr_assert(iot_words_leave(&report, IOT_STATE, words));
    cr_expect_str_eq(words, "Leave state: of its 100 ms of I/O 9.00 ms make the run longer, less "
                            "than 1 % of it.");
    f->exposed_ns = f->recoverable_ns = 10 * MS;
    cr_expect_not(iot_words_leave(&report, IOT_STATE, words));
    done(run);
}

/* The advice, the evidence and the verdict speak of one figure, however little is computed. */
Test(advice, a_busy_machine)
{
    struct iot_test_run *run = iot_test_run_new(1000 * MS);
    char verdict[IOT_VERDICT_BYTES], words[IOT_SENTENCE_BYTES];
    size_t e = iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/a.jpg"), MS, 0);
    run->t1[e] = 900 * MS;
    run->processes[0].usage_end.runqueue_ns = (uint64_t)(300 * MS);
    iot_test_run_process(run, 101, 100); /* nothing waits for it */
    run->processes[1].end_ns = run->lanes[1].end_ns = 900 * MS;
    run->processes[1].usage_end.runqueue_ns = (uint64_t)(500 * MS);
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/b.jpg"), MS, MS);
    make(run);
    expect_gain(-1, "waited for a CPU for at most 300 ms", 300 * MS, 0);
    int said = 0;
    for (size_t i = 0; i < report.n_evidence; i++)
        said += strstr(report.evidence[i],
                       "waited 800 ms for a CPU, the run's main thread 300 ms of it") != NULL;
    cr_expect_eq(said, 1);
    iot_verdict(&report, verdict);
    cr_expect_not_null(strstr(verdict, "busy: for 30 % of the run"), "%s", verdict);
    iot_words_composition(&report, words);
    cr_expect_not_null(strstr(words, " of computing and of waiting for a CPU ("), "%s", words);
    done(run);
}

/* Of two that carry the run in turn, each counts for its turn at most: the parent waits for its
 * child from 100 to 900 ms. */
Test(advice, a_busy_machine_and_two_processes)
{
    struct iot_test_run *run = iot_test_run_new(1000 * MS);
    run->result[iot_test_run_event(run, IOT_OP_FORK, 0, 0, 100 * MS - 10)] = 101;
    size_t e = iot_test_run_event(run, IOT_OP_WAITPID, 0, 0, 100 * MS);
    run->result[e] = 101;
    run->t1[e] = 900 * MS;
    run->processes[0].usage_end.runqueue_ns = (uint64_t)(700 * MS);
    iot_test_run_process(run, 101, 100);
    run->processes[1].start_ns = run->lanes[1].start_ns = 100 * MS;
    run->processes[1].end_ns = run->lanes[1].end_ns = 900 * MS;
    run->processes[1].usage_end.runqueue_ns = (uint64_t)(600 * MS);
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/b.jpg"), MS, 200 * MS);
    make(run);
    expect_gain(-1, "waited for a CPU for at most 800 ms", 800 * MS, MS);
    done(run);
}

Test(advice, a_machine_that_is_not_busy)
{
    struct iot_test_run *run = iot_test_run_new(1000 * MS);
    char verdict[IOT_VERDICT_BYTES];
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/a.jpg"), 400 * MS, 0);
    run->processes[0].usage_end.runqueue_ns = (uint64_t)(9 * MS);
    make(run);
    cr_expect_null(advice(-1, "CPU"));
    for (size_t i = 0; i < report.n_evidence; i++)
        cr_expect_null(strstr(report.evidence[i], "for a CPU"));
    iot_verdict(&report, verdict);
    cr_expect_null(strstr(verdict, "busy"), "%s", verdict);
    done(run);
}

Test(advice, an_output_queue_that_grows)
{
    struct iot_test_run *run = iot_test_run_new(400 * MS);
    uint32_t queue = iot_test_run_file(run, "pipe:[7]", IOT_FILE_PIPE),
             out = iot_test_run_regular(run, "/d/tokens.out");
    run->result[iot_test_run_event(run, IOT_OP_FORK, 0, 0, 0)] = 101;
    for (int i = 0; i < 90; i++)
        iot_test_run_event(run, IOT_OP_WRITE, queue, 100, (1 + 4 * i) * MS);
    size_t e = iot_test_run_event(run, IOT_OP_WAITPID, 0, 0, 362 * MS);
    run->result[e] = 101;
    run->t1[e] = 390 * MS;
    iot_test_run_process(run, 101, 100);
    run->processes[1].start_ns = run->lanes[1].start_ns = MS / 2;
    run->processes[1].end_ns = run->lanes[1].end_ns = 389 * MS;
    for (int i = 0; i < 60; i++) {
        iot_test_run_event(run, IOT_OP_READ, queue, 100, (2 + 6 * i) * MS);
        iot_test_run_event(run, IOT_OP_WRITE, out, 5 * MS, (2 + 6 * i) * MS + 1000);
    }
    make(run);
    cr_assert_eq(report.n_queues, 1);
    expect_gain(IOT_OUTPUT, "grows, to", report.objects[IOT_OUTPUT].figures.recoverable_ns, 0);
    cr_expect_geq(advice(IOT_OUTPUT, "grows, to")->gain_ns, 5 * MS);
    done(run);
}

Test(phases, the_steps_and_what_is_around_them)
{
    struct iot_test_run *run = iot_test_run_new(130 * MS);
    uint32_t model_file = iot_test_run_regular(run, "/d/m.gguf"),
             file = iot_test_run_regular(run, "/d/a.jpg"),
             out = iot_test_run_regular(run, "/d/end.log");
    iot_test_run_event(run, IOT_OP_READ, model_file, 8 * MS, 0);
    for (int i = 0; i < 10; i++) {
        run->result[iot_test_run_event(run, IOT_OP_MARK, 0, 0, (10 + 10 * i) * MS)] = 1;
        iot_test_run_event(run, IOT_OP_READ, file, (i + 1) * MS / 4 - 10,
                           (10 + 10 * i) * MS + 10); /* after the mark */
    }
    iot_test_run_event(run, IOT_OP_WRITE, out, 5 * MS, 115 * MS);
    make(run);
    const struct iot_phase *p = report.phases->phases;
    cr_assert_eq(report.phases->n, 3);
    cr_expect_str_eq(p[0].name, "cold_start");
    cr_expect_str_eq(p[1].name, "steady");
    cr_expect_str_eq(p[2].name, "shutdown");
    cr_expect_eq(p[0].end_ns, 10 * MS);
    cr_expect_eq(p[2].start_ns, 110 * MS);
    cr_expect_eq(p[1].steps, 10);
    cr_expect_eq(p[0].objects[IOT_ARTIFACT].figures.bytes, 8 * MS);
    cr_expect_eq(p[0].objects[IOT_ARTIFACT].files, 1);
    cr_expect_eq(p[1].objects[IOT_INPUT].figures.data_ops, 10);
    cr_expect_eq(p[1].objects[IOT_INPUT].figures.service_ns, 55 * MS / 4);
    cr_expect_eq(p[1].objects[IOT_INPUT].figures.recoverable_ns, 55 * MS / 4);
    cr_expect_eq(p[2].objects[IOT_OUTPUT].figures.exposed_ns, 5 * MS + 10);
    cr_expect_leq(llabs(p[1].length.p50_ns - 10 * MS), MS / 100 + 10 * MS / 100);
    cr_expect_leq(llabs(p[1].objects[IOT_INPUT].exposed.p50_ns - 5 * MS / 4), 5 * MS / 400);
    cr_expect_leq(llabs(p[1].exposed.p95_ns - 10 * MS / 4), 10 * MS / 400);
    done(run);
}

Test(phases, a_run_without_steps_is_one)
{
    struct iot_test_run *run = iot_test_run_new(100 * MS);
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/a.jpg"), MS, 0);
    make(run);
    cr_assert_eq(report.phases->n, 1);
    cr_expect_str_eq(report.phases->phases[0].name, "run");
    cr_expect_eq(report.phases->phases[0].end_ns, 100 * MS);
    cr_expect_eq(report.phases->phases[0].objects[IOT_INPUT].figures.bytes, MS);
    done(run);
}
