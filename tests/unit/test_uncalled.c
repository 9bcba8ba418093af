/* What the kernel counted beside what recorded calls moved. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "analyzer/arena.h"
#include "analyzer/report_parts.h"
#include "tests/unit/runs.h"

#define WALL INT64_C(1000000000)

static struct iot_report made(struct iot_test_run *run)
{
    struct iot_report report = {.trace = &run->trace, .model = &run->model};
    cr_assert_eq(iot_report_uncalled(&report), 0);
    return report;
}

static void done(struct iot_test_run *run, struct iot_report *report)
{
    free(report->run.uncalled);
    iot_test_run_free(run);
}

/* A process that the kernel says to have read and written so much while it was recorded. */
static void counted(struct iot_process *p, uint64_t before, uint64_t read, uint64_t written)
{
    p->called_start = (struct iot_called){before, 0};
    p->called_end = (struct iot_called){before + read, written};
}

Test(uncalled, what_calls_moved_is_seen)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t file = iot_test_run_regular(run, "/d/a");
    uint32_t socket = iot_test_run_file(run, "socket:[1]", IOT_FILE_SOCKET);
    iot_test_run_event(run, IOT_OP_READ, file, 1000, 0);
    iot_test_run_event(run, IOT_OP_FWRITE, file, 300, 2000);
    iot_test_run_event(run, IOT_OP_SENDFILE, file, 50, 3000);
    iot_test_run_event(run, IOT_OP_RECV, socket, 7777, 4000);    /* the kernel does not count it */
    iot_test_run_event(run, IOT_OP_EXIT_FLUSH, file, 20, 20000); /* comes when it was asked */
    counted(&run->processes[0], 4000, 1000 + 50 + 130, 350);
    run->processes[0].own_read_bytes = 130;
    struct iot_report report = made(run);
    cr_expect_eq(report.run.n_uncalled, 0);
    done(run, &report);
}

Test(uncalled, the_rest_is_told)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t file = iot_test_run_regular(run, "/d/a");
    iot_test_run_event(run, IOT_OP_READ, file, 1000, 0);
    counted(&run->processes[0], 4000, 1500, 9);
    struct iot_report report = made(run);
    cr_assert_eq(report.run.n_uncalled, 1);
    cr_expect_eq(report.run.uncalled[0].pid, 100);
    cr_expect_str_eq(report.run.uncalled[0].exe, "/usr/bin/program");
    cr_expect_eq(report.run.uncalled_read_bytes, 500);
    cr_expect_eq(report.run.uncalled_write_bytes, 9);
    done(run, &report);
}

Test(uncalled, children_count_once)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t file = iot_test_run_regular(run, "/d/a");
    run->result[iot_test_run_event(run, IOT_OP_WAITPID, 0, 0, 500)] = 101;
    run->result[iot_test_run_event(run, IOT_OP_WAITPID, 0, 0, 600)] =
        102; /* of which there is no trace */
    run->result[iot_test_run_event(run, IOT_OP_WAITPID, 0, 0, 700)] = 103;
    iot_test_run_event(run, IOT_OP_SYSTEM, 0, 300, 800);
    /* Its own 40, all that its three children ever moved, and the 8000 of the one without a trace.
     */
    counted(&run->processes[0], 0, 40 + (600 + 900) + 8000 + 70 + 200, 0);
    iot_test_run_process(run, 101, 100);
    iot_test_run_event(run, IOT_OP_READ, file, 850, 100);
    counted(&run->processes[1], 600, 900, 0);
    run->processes[1].start_ns = 10;
    iot_test_run_process(run, 103, 100); /* killed: at least what was seen of it */
    iot_test_run_event(run, IOT_OP_READ, file, 70, 100);
    run->processes[2].end = IOT_END_OPEN;
    run->processes[2].start_ns = 20;
    iot_test_run_process(run, 104, 100); /* by system() */
    iot_test_run_event(run, IOT_OP_READ, file, 200, 900);
    counted(&run->processes[3], 0, 200, 0);
    run->processes[3].start_ns = 850;
    struct iot_report report = made(run);
    cr_assert_eq(report.run.n_uncalled, 2);
    cr_expect_eq(report.run.uncalled[0].pid, 100);
    cr_expect_eq(report.run.uncalled[0].read_bytes, 8040);
    cr_expect_eq(report.run.uncalled[1].pid, 101);
    cr_expect_eq(report.run.uncalled[1].read_bytes, 50);
    cr_expect_eq(report.run.uncalled_read_bytes, 8090);
    done(run, &report);
}

Test(uncalled, images_of_one_process)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t file = iot_test_run_regular(run, "/d/a");
    run->result[iot_test_run_event(run, IOT_OP_WAIT, 0, 0, 500)] = 101;
    counted(&run->processes[0], 0, 5000, 0);
    iot_test_run_process(run, 101, 100);
    iot_test_run_event(run, IOT_OP_READ, file, 100, 100);
    counted(&run->processes[1], 0, 100, 0);
    run->processes[1].end = IOT_END_EXEC;
    run->processes[1].start_ns = 10;
    iot_test_run_process(run, 101, 100); /* its loader read 900 before we came */
    counted(&run->processes[2], 1000, 4000, 0);
    run->processes[2].start_ns = 20;
    struct iot_report report = made(run);
    cr_assert_eq(report.run.n_uncalled, 1);
    cr_expect_eq(report.run.uncalled[0].pid, 101);
    cr_expect_eq(report.run.uncalled[0].read_bytes, 4000);
    done(run, &report);
}

Test(uncalled, nothing_is_known)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/a"), 100, 100);
    struct iot_report report = made(run);
    cr_expect_eq(report.run.n_uncalled, 0);
    done(run, &report);
}
