/* Asynchronous requests: joined to events, and what the path says of them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analyzer/model.h"
#include "analyzer/trace.h"
#include "tests/unit/trace_writer.h"

enum { START = 1000000, RING = 16, AIO = 0 };

static struct iot_half_rows *rows;

static void setup(void)
{
    rows = calloc(1, sizeof *rows);
    iot_rows_string(rows, 1, "/data/a");
    iot_rows_desc(rows, 1, 1, 3, S_IFREG, 0, 1, 2, 4096);
}

static void teardown(void)
{
    free(rows);
}

static void made(unsigned op, unsigned queue, uint64_t token, uint64_t t)
{
    iot_rows_add(rows, (struct iot_row){.op = (uint16_t)op,
                                        .t0 = START + t,
                                        .t1 = START + t,
                                        .offset = 512,
                                        .addr = token,
                                        .obj = 1,
                                        .err = (uint16_t)queue});
}

static void done(unsigned queue, uint64_t token, int64_t result, int more, uint64_t since,
                 uint64_t seen)
{
    iot_rows_add(rows, (struct iot_row){.op = IOT_OP_ASYNC_DONE,
                                        .t0 = START + since,
                                        .t1 = START + seen,
                                        .result = result,
                                        .offset = more,
                                        .addr = token,
                                        .err = (uint16_t)queue});
}

static void call(unsigned op, uint64_t t0, uint64_t t1, int64_t least)
{
    iot_rows_add(rows, (struct iot_row){.op = (uint16_t)op,
                                        .t0 = START + t0,
                                        .t1 = START + t1,
                                        .result = 1,
                                        .offset = least,
                                        .addr = RING});
}

static void ends(uint64_t t)
{
    iot_rows_add(rows, (struct iot_row){.op = IOT_OP_EXIT, .t0 = START + t, .t1 = START + t});
}

static struct iot_trace *read_rows(void)
{
    char error[512] = "", *folder = iot_folder_new();
    struct iot_written file = iot_written_new(100, 1, START);
    iot_written_header(&file)->root = 1;
    iot_written_header(&file)->end = IOT_END_EXIT;
    iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, 0), 0, 0, 100, 1, rows);
    iot_written_save(&file, folder, "1.iot");
    iot_written_free(&file);
    struct iot_trace *t = iot_trace_read(folder, error);
    cr_assert_not_null(t, "%s", error);
    iot_folder_remove(folder);
    return t;
}

static void check(const struct iot_trace *t, size_t request, int64_t t0, int64_t t1, int64_t bytes,
                  int found)
{
    size_t i = t->requests[request].event;
    cr_expect_eq(t->events.t0_ns[i], t0, "request %zu begins at %ld", request, t->events.t0_ns[i]);
    cr_expect_eq(t->events.t1_ns[i], t1, "request %zu ends at %ld", request, t->events.t1_ns[i]);
    cr_expect_eq(t->events.bytes[i], bytes, "request %zu moved %ld", request, t->events.bytes[i]);
    cr_expect_eq(t->requests[request].found, found, "request %zu", request);
}

TestSuite(requests, .init = setup, .fini = teardown);

Test(requests, with_one_token_are_done_in_the_order_they_were_made_in)
{
    made(IOT_OP_ASYNC_READ, RING, 7, 100);
    made(IOT_OP_ASYNC_READ, RING, 7, 200);
    done(RING, 7, 10, 0, 250, 300);
    made(IOT_OP_ASYNC_WRITE, RING, 8, 310);
    done(RING, 7, 20, 0, 300, 400);
    done(RING, 8, -5, 0, 300, 400);
    ends(1000);
    struct iot_trace *t = read_rows();
    cr_assert_eq(t->n_requests, 3u);
    cr_assert_eq(t->events.n, 4u, "rows of requests are no events");
    /* In the first lane the first and the third, for they do not overlap. */
    check(t, 0, 100, 300, 10, 1);
    check(t, 1, 310, 400, 0, 1);
    check(t, 2, 200, 400, 20, 1);
    cr_expect_eq(t->events.err[t->requests[1].event], 5);
    cr_expect_eq(t->events.result[t->requests[1].event], -1);
    cr_expect_eq(t->events.offset[t->requests[0].event], 512);
    cr_expect_eq(t->events.fd[t->requests[0].event], 3);
    cr_expect_str_eq(t->files[t->events.file[t->requests[0].event]].name, "/data/a");
    cr_expect_eq(t->requests[0].not_before_ns, 250);
    cr_expect_eq(t->requests[1].not_before_ns, 310, "not before it was made");
    cr_assert_eq(t->n_lanes, 3u);
    cr_expect_eq(t->lanes[1].kind, IOT_LANE_RING);
    cr_expect_eq(t->lanes[1].n_events, 2u);
    cr_expect_eq(t->processes[0].n_lanes, 3u);
    iot_trace_free(t);
}

Test(requests, more_is_to_come)
{
    made(IOT_OP_ASYNC_READ, RING, 7, 100);
    done(RING, 7, 10, 1, 100, 200);
    done(RING, 7, 10, 1, 200, 300);
    done(RING, 7, 5, 0, 300, 400);
    done(RING, 7, 99, 0, 400, 500); /* found twice, or made out of sight */
    ends(1000);
    struct iot_trace *t = read_rows();
    cr_assert_eq(t->n_requests, 1u);
    check(t, 0, 100, 400, 25, 1);
    iot_trace_free(t);
}

Test(requests, of_other_queues_and_moments_are_others)
{
    made(IOT_OP_ASYNC_READ, RING, 7, 100);
    done(RING + 1, 7, 10, 0, 100, 200); /* another ring */
    done(RING, 7, 11, 0, 50, 100);      /* found as the call began */
    made(IOT_OP_ASYNC_SYNC, AIO, 7, 150);
    done(AIO, 7, 0, 0, 150, 300);
    ends(1000);
    struct iot_trace *t = read_rows();
    cr_assert_eq(t->n_requests, 2u);
    check(t, 0, 150, 300, 0, 1);
    check(t, 1, 100, 100, 0, 0);
    cr_expect_eq(t->lanes[1].kind, IOT_LANE_AIO);
    cr_expect_eq(t->lanes[2].kind, IOT_LANE_RING);
    iot_trace_free(t);
}

static void check_model(int64_t exposed, int64_t service, int64_t compute)
{
    struct iot_trace *t = read_rows();
    struct iot_model *m = iot_model_build(t);
    int64_t all = 0;
    for (size_t i = 0; i < t->events.n; i++)
        all += m->service_ns[i];
    cr_expect_eq(m->path.io_ns, exposed, "%ld exposed", m->path.io_ns);
    cr_expect_eq(all, service, "%ld service", all);
    cr_expect_eq(m->path.compute_ns, compute, "%ld computing", m->path.compute_ns);
    cr_expect_eq(m->replay_error_ns, 0);
    cr_expect_eq(m->unmatched_waits, 0u);
    cr_expect_eq(m->cut_edges, 0u);
    iot_model_free(m);
    iot_trace_free(t);
}

/* Handed over at 100, 400 of work, done at 1100 when it had been waited for. */
Test(requests, exposed_is_what_work_does_not_cover)
{
    made(IOT_OP_ASYNC_READ, RING, 1, 100);
    call(IOT_OP_IO_URING_ENTER, 100, 110, 0);
    done(RING, 1, 4096, 0, 510, 1100);
    call(IOT_OP_IO_URING_ENTER, 510, 1100, 1);
    ends(1500);
    check_model(590, 1000, 910);
}

Test(requests, found_late_are_hidden)
{
    made(IOT_OP_ASYNC_READ, RING, 1, 100);
    call(IOT_OP_IO_URING_ENTER, 100, 110, 0);
    done(RING, 1, 4096, 0, 110, 900); /* as the call that takes it begins */
    call(IOT_OP_IO_URING_ENTER, 900, 910, 0);
    ends(1500);
    check_model(0, 800, 1500);
}

/* The kernel did it in the call that handed it over. */
Test(requests, done_at_once_block_their_call)
{
    made(IOT_OP_ASYNC_READ, RING, 1, 100);
    done(RING, 1, 4096, 0, 100, 700);
    call(IOT_OP_IO_SUBMIT, 100, 700, 0);
    ends(1500);
    check_model(600, 600, 900);
}

/* What is found at the end of a call that only hands over another one did not block it. */
Test(requests, found_by_the_way_do_not_block)
{
    made(IOT_OP_ASYNC_READ, RING, 1, 100);
    call(IOT_OP_IO_URING_ENTER, 100, 110, 0);
    made(IOT_OP_ASYNC_READ, RING, 2, 600);
    done(RING, 1, 4096, 0, 600, 700);
    call(IOT_OP_IO_URING_ENTER, 600, 700, 0);
    done(RING, 2, 4096, 0, 700, 1000);
    call(IOT_OP_IO_URING_ENTER, 800, 1000, 1);
    ends(1500);
    check_model(200, 600 + 400, 1300);
}

/* Two at a time: that another one was in its lane before means nothing to a request. */
Test(requests, stand_alone_in_their_lane)
{
    made(IOT_OP_ASYNC_READ, RING, 1, 100);
    call(IOT_OP_IO_URING_ENTER, 100, 110, 0);
    done(RING, 1, 4096, 0, 110, 300);
    call(IOT_OP_IO_URING_ENTER, 110, 300, 1);
    made(IOT_OP_ASYNC_READ, RING, 1, 1000);
    call(IOT_OP_IO_URING_ENTER, 1000, 1010, 0);
    done(RING, 1, 4096, 0, 1010, 1200);
    call(IOT_OP_IO_URING_ENTER, 1010, 1200, 1);
    ends(1500);
    check_model(190 + 190, 200 + 200, 1500 - 380);
}

Test(requests, a_wait_that_times_out_is_a_sleep)
{
    iot_rows_add(rows, (struct iot_row){.op = IOT_OP_IO_GETEVENTS,
                                        .t0 = START + 100,
                                        .t1 = START + 600,
                                        .offset = 1,
                                        .addr = 1});
    ends(1500);
    struct iot_trace *t = read_rows();
    struct iot_model *m = iot_model_build(t);
    cr_expect_eq(m->path.sleep_ns, 500);
    cr_expect_eq(m->unmatched_waits, 0u);
    iot_model_free(m);
    iot_trace_free(t);
}

/* Rows that tell of page faults are taken out, which moves what comes behind them. */
Test(requests, faults_leave_requests_where_they_are)
{
    for (uint64_t k = 0; k < 20; k++)
        iot_rows_add(rows, (struct iot_row){.op = IOT_OP_FAULTS,
                                            .t0 = START + 10 + k,
                                            .t1 = START + 10 + k,
                                            .addr = 1});
    made(IOT_OP_ASYNC_READ, RING, 7, 100);
    call(IOT_OP_IO_URING_ENTER, 100, 900, 1);
    done(RING, 7, 512, 0, 100, 900);
    ends(1000);
    struct iot_trace *t = read_rows();
    cr_assert_eq(t->n_requests, 1);
    const struct iot_request *q = &t->requests[0];
    cr_assert_lt(q->event, t->events.n);
    cr_expect_eq(t->events.op[q->event], IOT_OP_ASYNC_READ);
    cr_expect_eq(t->events.t1_ns[q->event], 900);
    cr_expect_lt(q->made_in, t->lanes[0].n_events);
    cr_expect_lt(q->found_in, t->lanes[0].n_events);
    iot_trace_free(t);
}
