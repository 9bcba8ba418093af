#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/ranges.h"
#include "analyzer/report.h"
#include "analyzer/steps.h"
#include "format/mark.h"
#include "tests/unit/runs.h"

#define MS INT64_C(1000000)

static struct iot_test_run *run;
static struct iot_report report;

static void begin_test(void)
{
    run = iot_test_run_new(1000 * MS);
}

static void mark(enum iot_mark_kind kind, const char *name, int64_t id, int64_t t0)
{
    uint32_t file = name ? iot_test_run_file(run, name, IOT_FILE_UNKNOWN) : 0;
    size_t i = iot_test_run_event(run, IOT_OP_MARK, file, 0, t0);
    run->result[i] = kind;
    run->offset[i] = id;
}

static void read_some(int64_t bytes, int64_t t0)
{
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/a"), bytes, t0);
}

static void find(void)
{
    report =
        (struct iot_report){.trace = &run->trace, .model = &run->model, .arena = iot_arena_new()};
    cr_assert_eq(iot_report_ranges(&report), 0);
}

static const struct iot_range *range(const char *name)
{
    for (size_t i = 0; i < report.n_ranges; i++)
        if (!strcmp(report.ranges[i].name, name))
            return &report.ranges[i];
    cr_assert(0, "no range %s", name);
    return NULL;
}

static void end_test(void)
{
    free(report.ranges);
    free(report.marks);
    iot_arena_free(report.arena);
    iot_test_run_free(run);
}

Test(ranges, nest, .init = begin_test, .fini = end_test)
{
    mark(IOT_MARK_BEGIN, "outer", 0, 10 * MS);
    read_some(100, 11 * MS);
    mark(IOT_MARK_BEGIN, "inner", 0, 20 * MS);
    read_some(1000, 21 * MS);
    mark(IOT_MARK_END, NULL, 0, 30 * MS);
    mark(IOT_MARK_END, NULL, 0, 50 * MS);
    mark(IOT_MARK_END, NULL, 0, 60 * MS);
    find();
    cr_expect_eq(report.n_ranges, 2);
    cr_expect_eq(range("outer")->bytes, 1100);
    cr_expect_eq(range("outer")->ops, 2);
    cr_expect_eq(range("outer")->total_ns, 40 * MS);
    cr_expect_eq(range("inner")->bytes, 1000);
    cr_expect_eq(range("inner")->service_ns, 1010);
    cr_expect_eq(range("inner")->total_ns, 10 * MS);
}

Test(ranges, domains_cross, .init = begin_test, .fini = end_test)
{
    mark(IOT_MARK_BEGIN, "a", 0, 10 * MS);
    mark(IOT_MARK_BEGIN, "b", 7, 20 * MS);
    mark(IOT_MARK_END, NULL, 0, 30 * MS);
    mark(IOT_MARK_END, NULL, 7, 50 * MS);
    find();
    cr_expect_eq(range("a")->total_ns, 20 * MS);
    cr_expect_eq(range("b")->total_ns, 30 * MS);
}

Test(ranges, names_that_differ_in_numbers_are_one_row, .init = begin_test, .fini = end_test)
{
    const char *names[] = {"layer 1", "layer 12", "conv2d", "conv2d"};
    for (int i = 0; i < 4; i++) {
        mark(IOT_MARK_BEGIN, names[i], 0, (10 + 10 * i) * MS);
        mark(IOT_MARK_END, NULL, 0, (12 + 11 * i) * MS);
    }
    find();
    cr_expect_eq(report.n_ranges, 2);
    cr_expect_eq(range("layer #")->n, 2);
    cr_expect_eq(range("conv2d")->n, 2);
}

Test(ranges, stop_in_another_lane_even_an_earlier_one, .init = begin_test, .fini = end_test)
{
    read_some(5, 30 * MS);
    mark(IOT_MARK_STOP, NULL, 3, 50 * MS);
    mark(IOT_MARK_STOP, NULL, 3, 55 * MS);
    mark(IOT_MARK_STOP, NULL, 4, 60 * MS);
    iot_test_run_process(run, 101, 100);
    mark(IOT_MARK_START, "its own", 3, 20 * MS);
    read_some(700, 21 * MS);
    mark(IOT_MARK_STOP, NULL, 3, 45 * MS);
    find();
    cr_expect_eq(report.n_ranges, 1, "numbers are those of one process");
    cr_expect_eq(range("its own")->total_ns, 25 * MS);
    cr_expect_eq(range("its own")->bytes, 700);
}

Test(ranges, one_that_is_not_ended_ends_with_its_lane, .init = begin_test, .fini = end_test)
{
    mark(IOT_MARK_BEGIN, "endless", 0, 10 * MS);
    mark(IOT_MARK_START, "never stopped", 1, 20 * MS);
    read_some(50, 90 * MS);
    int64_t end = run->lanes[0].end_ns = 200 * MS;
    find();
    cr_expect_eq(range("endless")->total_ns, end - 10 * MS);
    cr_expect_eq(range("endless")->bytes, 50);
    cr_expect_eq(range("never stopped")->total_ns, end - 20 * MS);
}

Test(ranges, marks_are_in_order_of_time, .init = begin_test, .fini = end_test)
{
    mark(IOT_MARK_NAMED, "epoch 1", 0, 20 * MS);
    mark(IOT_MARK_NAMED, "loaded", 0, 10 * MS);
    mark(IOT_MARK_NAMED, "epoch 2", 0, 90 * MS);
    find();
    cr_assert_eq(report.n_marks, 2);
    cr_expect_str_eq(report.marks[0].name, "loaded");
    cr_expect_str_eq(report.marks[1].name, "epoch #");
    cr_expect_eq(report.marks[1].n, 2);
    cr_expect_eq(report.marks[1].first_ns, 20 * MS);
    cr_expect_eq(report.marks[1].last_ns, 90 * MS);
}

Test(ranges, that_are_called_steps_are_steps, .init = begin_test, .fini = end_test)
{
    struct iot_steps steps;
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "train_batch %d", i);
        mark(IOT_MARK_BEGIN, "load", 0, (20 + 50 * i) * MS);
        mark(IOT_MARK_END, NULL, 0, (25 + 50 * i) * MS);
        mark(IOT_MARK_BEGIN, name, 0, (30 + 50 * i) * MS);
        mark(IOT_MARK_BEGIN, "optimizer_step", 0, (40 + 50 * i) * MS);
        mark(IOT_MARK_END, NULL, 0, (50 + 50 * i) * MS);
        mark(IOT_MARK_END, NULL, 0, (60 + 50 * i) * MS);
    }
    find();
    cr_assert_eq(iot_steps_find(&steps, &run->trace, &run->model), 0);
    cr_expect_eq(steps.source, IOT_STEPS_MARKS);
    cr_assert_eq(steps.n, 4);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(steps.starts_ns[i], (30 + 50 * i) * MS);
    iot_steps_free(&steps);
}
