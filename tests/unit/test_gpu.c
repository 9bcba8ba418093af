/* What reports say of GPUs: why they idled, and what ranks waited for each other, on traces whose
 * answer is known. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/collectives.h"
#include "analyzer/gpu.h"
#include "analyzer/model.h"
#include "analyzer/report.h"
#include "analyzer/report_gpu.h"
#include "tests/unit/trace_writer.h"

enum { START = 1000000, RANKS = 3, LANES = 2, STREAM = 1 };

static struct iot_half_rows *rows; /* by rank and lane */
static uint64_t next;

static struct iot_half_rows *of(unsigned rank, unsigned lane)
{
    return &rows[rank * LANES + lane];
}

static void setup(void)
{
    rows = calloc(RANKS * LANES, sizeof *rows);
    next = 0;
    for (unsigned r = 0; r < RANKS; r++) {
        iot_rows_string(of(r, 0), 1, "/d/x.jpg");
        iot_rows_string(of(r, 0), 2, "ncclDevKernel_AllReduce");
        iot_rows_string(of(r, 0), 3, "ncclDevKernel_AllGather");
        iot_rows_string(of(r, 0), 4, r == 2 ? "pair b" : "pair a");
        iot_rows_desc(of(r, 0), 1, 1, 3, S_IFREG, 0, 1, 2, 4096);
        iot_rows_add(
            of(r, 0),
            (struct iot_row){.op = IOT_OP_START, .t0 = START, .t1 = START, .obj = UINT32_MAX});
    }
}

static void teardown(void)
{
    free(rows);
}

static void reads(unsigned rank, uint64_t t0, uint64_t t1)
{
    iot_rows_add(of(rank, 0), (struct iot_row){.op = IOT_OP_READ,
                                               .t0 = START + t0,
                                               .t1 = START + t1,
                                               .result = 100,
                                               .bytes = 100,
                                               .obj = 1});
}

/* The launch takes 2 ns from `launched` on. */
static void runs(unsigned rank, unsigned op, uint32_t name, uint64_t launched, uint64_t t0,
                 uint64_t t1)
{
    uint64_t correlation = ++next;
    iot_rows_add(of(rank, 0), (struct iot_row){.op = IOT_OP_GPU_LAUNCH,
                                               .t0 = START + launched,
                                               .t1 = START + launched + 2,
                                               .offset = (int64_t)correlation});
    iot_rows_add(of(rank, STREAM), (struct iot_row){.op = (uint16_t)op,
                                                    .t0 = START + t0,
                                                    .t1 = START + t1,
                                                    .obj = name,
                                                    .offset = (int64_t)correlation});
}

static void among(unsigned rank, uint32_t communicator, uint64_t launched, uint64_t t0, uint64_t t1)
{
    runs(rank, IOT_OP_GPU_COLLECTIVE, 2, launched, t0, t1);
    of(rank, STREAM)->rows[of(rank, STREAM)->n - 1].obj2 = communicator;
}

static void syncs(unsigned rank, uint64_t t0, uint64_t t1)
{
    iot_rows_add(of(rank, 0), (struct iot_row){.op = IOT_OP_GPU_SYNC,
                                               .t0 = START + t0,
                                               .t1 = START + t1,
                                               .addr = IOT_SYNC_CONTEXT,
                                               .offset = (int64_t)++next});
}

static void save(const char *folder, unsigned rank, uint64_t end)
{
    char name[16];
    struct iot_written file = iot_written_new(100 + rank, 1, START);
    iot_written_header(&file)->root = rank == 0;
    iot_written_header(&file)->end = IOT_END_EXIT;
    iot_rows_add(of(rank, 0),
                 (struct iot_row){.op = IOT_OP_EXIT, .t0 = START + end, .t1 = START + end});
    struct iot_half_rows *stream = calloc(1, sizeof *stream);
    iot_rows_add(stream, (struct iot_row){.op = IOT_OP_GPU_STREAM, .t0 = START, .t1 = START,
                                          .result = rank, .offset = 7});
    for (uint32_t k = 0; k < of(rank, STREAM)->n; k++)
        iot_rows_add(stream, of(rank, STREAM)->rows[k]);
    iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, 0), 0, 0, 100, 1,
                     of(rank, 0));
    iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, 1), 0, 1, 1, 1, stream);
    free(stream);
    snprintf(name, sizeof name, "%u.iot", rank);
    iot_written_save(&file, folder, name);
    iot_written_free(&file);
}

struct made {
    struct iot_trace *trace;
    struct iot_model *model;
    struct iot_steps steps;
    struct iot_classes classes;
    struct iot_report report;
};

static struct made report(unsigned ranks, uint64_t end)
{
    char error[512] = "", *folder = iot_folder_new();
    for (unsigned r = 0; r < ranks; r++)
        save(folder, r, end);
    struct made m = {.trace = iot_trace_read(folder, error)};
    cr_assert_not_null(m.trace, "%s", error);
    iot_folder_remove(folder);
    m.model = iot_model_build(m.trace);
    cr_assert_not_null(m.model);
    cr_assert_eq(m.model->cut_edges, 0u, "%lu edges are cut", m.model->cut_edges);
    cr_assert_eq(m.model->replay_error_ns, 0);
    cr_assert_eq(m.model->unmatched_waits, 0u);
    cr_assert_eq(iot_steps_find(&m.steps, m.trace, m.model), 0);
    cr_assert_eq(iot_classify(&m.classes, m.trace, NULL, &m.steps), 0);
    cr_assert_eq(iot_report_make(&m.report, m.trace, m.model, &m.classes, &m.steps, 100), 0);
    const struct iot_path_parts *p = &m.model->path;
    cr_assert_eq(p->compute_ns + p->io_ns + p->gpu_ns + p->sleep_ns + p->wake_ns + p->external_ns +
                     p->unexplained_ns,
                 m.model->wall_ns);
    cr_expect_eq(p->unexplained_ns, 0);
    return m;
}

static void done(struct made *m)
{
    iot_report_free(&m->report);
    iot_classes_free(&m->classes);
    iot_steps_free(&m->steps);
    iot_model_free(m->model);
    iot_trace_free(m->trace);
}

TestSuite(gpu, .init = setup, .fini = teardown);

Test(gpu, idles_because_of_what_is_read)
{
    reads(0, 20, 120); /* before anything runs: all of it */
    runs(0, IOT_OP_GPU_KERNEL, 0, 130, 150, 250);
    /* beside the kernel until 250: 50 in the gap, then 20 of computing, 20 to start */
    reads(0, 140, 300);
    runs(0, IOT_OP_GPU_KERNEL, 0, 320, 340, 400);
    reads(0, 330, 390); /* beside it all along */
    runs(0, IOT_OP_GPU_KERNEL, 0, 395, 415, 500);
    syncs(0, 410, 505);
    reads(0, 510, 900); /* nothing runs behind it */
    struct made m = report(1, 1000);
    cr_assert_eq(m.report.gpu->n_devices, 1u);
    const struct iot_gpu_device *d = &m.report.gpu->devices[0];
    cr_expect_eq(d->busy_ns, 100 + 60 + 85);
    cr_expect_eq(d->idle_ns, 150 + 90 + 15);
    cr_expect_eq(d->idle_of_ns[IOT_INPUT], 100 + 50, "%ld", d->idle_of_ns[IOT_INPUT]);
    for (int o = 0; o < IOT_OBJECTS; o++)
        cr_expect(o == IOT_INPUT || d->idle_of_ns[o] == 0);
    done(&m);
}

Test(gpu, launches_and_gaps_on_the_path)
{
    runs(0, IOT_OP_GPU_KERNEL, 0, 10, 30, 130);  /* idle: 20 from its launch */
    runs(0, IOT_OP_GPU_KERNEL, 0, 20, 140, 240); /* busy: a gap of 10 */
    syncs(0, 50, 245);
    struct made m = report(1, 300);
    cr_expect_eq(m.model->path.gpu_ns, 20 + 100 + 10 + 100);
    cr_expect_eq(m.model->path.gpu_launch_ns, 20);
    cr_expect_eq(m.model->path.gpu_gap_ns, 10);
    done(&m);
}

Test(gpu, without_kernels_nobody_knows_when_it_idles)
{
    runs(0, IOT_OP_GPU_MEMSET, 0, 10, 30, 130);
    struct made m = report(1, 300);
    cr_assert_eq(m.report.gpu->n_devices, 1u);
    cr_expect_eq(m.report.gpu->devices[0].kernels, 0);
    cr_expect_eq(m.report.gpu->devices[0].idle_ns, 0);
    done(&m);
}

static const struct iot_gpu_rank *rank(const struct made *m, unsigned r)
{
    for (size_t k = 0; k < m->report.gpu->n_ranks; k++)
        if (m->report.gpu->ranks[k].pid == 100 + r)
            return &m->report.gpu->ranks[k];
    cr_assert(0, "no rank %u", r);
    return NULL;
}

static void check_rank(const struct made *m, unsigned r, int64_t matched, int64_t waited,
                       int64_t moved)
{
    cr_expect_eq(rank(m, r)->matched, matched, "rank %u: %ld", r, rank(m, r)->matched);
    cr_expect_eq(rank(m, r)->waited_ns, waited, "rank %u waited %ld", r, rank(m, r)->waited_ns);
    cr_expect_eq(rank(m, r)->transfer_ns, moved, "rank %u moved for %ld", r,
                 rank(m, r)->transfer_ns);
}

/* Rank 0 begins at 30 and waits until 230, when the last comes: it was reading. */
Test(gpu, a_rank_waits_for_the_last_one)
{
    runs(0, IOT_OP_GPU_COLLECTIVE, 2, 10, 30, 300);
    syncs(0, 20, 305);
    reads(1, 10, 200);
    runs(1, IOT_OP_GPU_COLLECTIVE, 2, 210, 230, 300);
    runs(2, IOT_OP_GPU_COLLECTIVE, 2, 80, 100, 301);
    struct made m = report(3, 400);
    check_rank(&m, 0, 1, 200, 70);
    check_rank(&m, 1, 1, 0, 70);
    check_rank(&m, 2, 1, 130, 71);
    cr_expect_eq(m.report.objects[IOT_STATE].figures.service_ns, 211, "waiting is no transfer");
    cr_expect_eq(m.report.objects[IOT_STATE].figures.data_ops, 3);
    /* Without I/O the last is rank 2, at 100: 130 less of waiting, 70 less of moving bytes. */
    cr_expect_eq(m.model->path.io_ns, 130 + 70, "%ld", m.model->path.io_ns);
    cr_expect_eq(m.report.objects[IOT_INPUT].figures.exposed_ns, 130, "%ld",
                 m.report.objects[IOT_INPUT].figures.exposed_ns);
    done(&m);
}

/* One that reads for less long is not waited for, and its reading is hidden. */
Test(gpu, what_is_read_before_the_last_comes_is_hidden)
{
    runs(0, IOT_OP_GPU_COLLECTIVE, 2, 10, 30, 300);
    syncs(0, 20, 305);
    reads(1, 10, 100);
    runs(1, IOT_OP_GPU_COLLECTIVE, 2, 110, 130, 300);
    runs(2, IOT_OP_GPU_COLLECTIVE, 2, 180, 200, 300);
    struct made m = report(3, 400);
    check_rank(&m, 0, 1, 170, 100);
    check_rank(&m, 1, 1, 70, 100);
    check_rank(&m, 2, 1, 0, 100);
    cr_expect_eq(m.report.objects[IOT_INPUT].figures.exposed_ns, 0);
    done(&m);
}

Test(gpu, collectives_match_by_name_and_order)
{
    for (unsigned r = 0; r < 2; r++) {
        uint64_t late = 40 * r;
        runs(r, IOT_OP_GPU_COLLECTIVE, 2, 10 + late, 20 + late, 100);
        runs(r, IOT_OP_GPU_COLLECTIVE, 3, 101 + late, 120 + late, 200);
        runs(r, IOT_OP_GPU_COLLECTIVE, 2, 250 - late, 300 - late, 400);
    }
    struct made m = report(2, 500);
    check_rank(&m, 0, 3, 40 + 40, 40 + 40 + 100);
    check_rank(&m, 1, 3, 40, 40 + 40 + 100);
    done(&m);
}

/* The recording of rank 1 begins in the middle of the run. */
Test(gpu, one_without_a_counterpart_is_left_alone)
{
    for (unsigned k = 0; k < 3; k++)
        runs(0, IOT_OP_GPU_COLLECTIVE, 2, 100 * k + 10, 100 * k + 20, 100 * k + 80);
    for (unsigned k = 1; k < 3; k++)
        runs(1, IOT_OP_GPU_COLLECTIVE, 2, 100 * k + 20, 100 * k + 40, 100 * k + 80);
    struct made m = report(2, 400);
    check_rank(&m, 0, 2, 40, 60 + 80);
    check_rank(&m, 1, 2, 0, 80);
    done(&m);
}

Test(gpu, other_communicators_are_others)
{
    among(0, 4, 10, 20, 100);
    among(1, 4, 20, 40, 100);
    among(2, 4, 60, 80, 100); /* of another name there */
    struct made m = report(3, 200);
    check_rank(&m, 0, 1, 20, 60);
    check_rank(&m, 1, 1, 0, 60);
    check_rank(&m, 2, 0, 0, 20);
    done(&m);
}
