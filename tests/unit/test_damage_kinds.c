/* Rows of every kind that others than plain calls have: file locks, faults that nobody saw, frames
 * of Python, GPUs. Each number of each of them is made a hostile one in turn, under checksums that
 * fit, and all the way to the report nothing falls; and sums over many of them do not wrap. Worth
 * most with sanitizers in the build. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/reporting.h"
#include "analyzer/sum.h"
#include "format/ops.h"
#include "tests/unit/trace_writer.h"

enum { START = 1000000, LANES = 4, STREAM = 3 };

static struct iot_half_rows *rows; /* by lane */
static char *folder;

static void set_up(void)
{
    rows = calloc(LANES, sizeof *rows);
    folder = iot_folder_new();
}

static void tear_down(void)
{
    free(rows);
    iot_folder_remove(folder);
}

TestSuite(damage_kinds, .init = set_up, .fini = tear_down);

static void event(unsigned lane, unsigned op, uint64_t t0, uint64_t t1, struct iot_row row)
{
    row.op = (uint16_t)op;
    row.t0 = START + t0;
    row.t1 = START + t1;
    iot_rows_add(&rows[lane], row);
}

static void define(void)
{
    struct iot_half_rows *r = &rows[0];
    iot_rows_string(r, 1, "/data/shard.bin");
    iot_rows_string(r, 2, "0123abcd /usr/lib/libpython3.11.so.1.0");
    iot_rows_string(r, 3, "python load_batch /app/train.py");
    iot_rows_string(r, 4, "3 2a\n2 51e0\n0 7fff0000");
    iot_rows_string(r, 5, "ncclDevKernel_AllReduce");
    iot_rows_string(r, 6, "pair");
    iot_rows_string(r, 7, "gemm");
    iot_rows_desc(r, 1, 1, 3, S_IFREG, 0, 1, 2, 1 << 20);
    iot_rows_desc(r, 2, 1, 4, S_IFREG, IOT_DESC_DUP, 1, 2, 1);
    event(0, IOT_OP_START, 0, 0, (struct iot_row){.obj = UINT32_MAX});
}

/* A file lock that two lanes take in turn, with writes under it. */
static void locks(void)
{
    for (unsigned lane = 1; lane <= 2; lane++) {
        uint64_t t = lane * 1000;
        event(lane, IOT_OP_THREAD_START, 10, 10, (struct iot_row){.result = 0});
        event(lane, IOT_OP_FLOCK, t, t + 5, (struct iot_row){.obj = lane, .offset = 2});
        event(lane, IOT_OP_FILE_LOCK, t + 10, t + 600,
              (struct iot_row){.obj = lane, .offset = lane - 1});
        event(lane, IOT_OP_WRITE, t + 610, t + 800,
              (struct iot_row){.obj = lane, .bytes = 100, .result = 100, .site = 4});
        event(lane, IOT_OP_LOCKF, t + 810, t + 815, (struct iot_row){.obj = lane, .offset = 0});
    }
}

static void faults(void)
{
    event(0, IOT_OP_MMAP, 100, 110,
          (struct iot_row){.obj = 1, .result = 0x700000000000, .addr = 1 << 20});
    event(0, IOT_OP_FAULTS, 120, 900,
          (struct iot_row){.result = 300, .offset = 700, .addr = UINT64_C(5) << 32 | 9});
    event(0, IOT_OP_FAULTS_UNSEEN, 910, 910, (struct iot_row){.result = 12});
    event(0, IOT_OP_RESIDENT, 920, 930,
          (struct iot_row){
              .obj = 1, .result = 4096, .offset = 1 << 20, .addr = 0x700000000000, .bytes = 4096});
    event(0, IOT_OP_READ, 950, 990,
          (struct iot_row){.obj = 1, .bytes = 4096, .result = 4096, .addr = 0x7000f000, .site = 4});
}

static void gpu(void)
{
    static const unsigned work[] = {IOT_OP_GPU_MEMCPY, IOT_OP_GPU_KERNEL, IOT_OP_GPU_COLLECTIVE,
                                    IOT_OP_GPU_MEMSET};
    event(0, IOT_OP_GPU_UNSEEN, 995, 995, (struct iot_row){.obj2 = 1, .offset = 12, .result = 1});
    for (unsigned k = 0; k < 4; k++) {
        uint64_t t = 1000 + 1000 * k;
        int64_t correlation = k + 1;
        event(0, IOT_OP_GPU_LAUNCH, t, t + 9,
              (struct iot_row){.obj = k == 1 ? 7 : 0,
                               .offset = correlation,
                               .addr = k ? 0 : 0x7000f000,
                               .bytes = 64});
        event(STREAM, work[k], t + 20, t + 500,
              (struct iot_row){.obj = k == 2   ? 5
                                      : k == 1 ? 7
                                               : 0,
                               .obj2 = k == 2 ? 6 : 0,
                               .offset = correlation,
                               .bytes = 4096,
                               .result = k ? 0 : 1,
                               .addr = 257});
        event(0, IOT_OP_GPU_SYNC, t + 30, t + 510,
              (struct iot_row){.offset = correlation, .result = 3 + 256 * k, .obj = 1});
    }
    event(0, IOT_OP_GPU_EVENT_RECORD, 5100, 5110, (struct iot_row){.offset = 9, .obj = 1});
    event(0, IOT_OP_GPU_EVENT_WAIT, 5120, 5130,
          (struct iot_row){.offset = 10, .obj = 1, .result = 256 * 9});
}

static void make(void)
{
    memset(rows, 0, LANES * sizeof *rows);
    event(STREAM, IOT_OP_GPU_STREAM, 0, 0, (struct iot_row){.result = 0, .obj = 1});
    define();
    faults();
    locks();
    gpu();
    event(0, IOT_OP_EXIT, 9000, 9000, (struct iot_row){.result = 0});
}

static void save(void)
{
    struct iot_written file = iot_written_new(100, 1, START);
    iot_written_header(&file)->root = 1;
    iot_written_header(&file)->end = IOT_END_EXIT;
    iot_written_fact(&file, IOT_FACT_EXE, "/app/train", 10);
    for (uint32_t l = 0; l < LANES; l++)
        iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, l), 0, l, 200 + l, 1,
                         &rows[l]);
    iot_written_save(&file, folder, "a.iot");
    iot_written_free(&file);
}

/* The total's bytes, or -1 where the folder is refused. */
static int64_t reported(void)
{
    char error[512] = "";
    struct iot_reporting reporting;
    int64_t bytes = -1, of_objects = 0;
    if (iot_reporting_make(&reporting, folder, &(struct iot_reporting_how){.top = SIZE_MAX},
                           error)) {
        cr_assert(error[0] && !strchr(error, '\n'), "\"%s\" is no line", error);
    } else {
        const struct iot_report *r = &reporting.report;
        bytes = r->total.bytes;
        for (size_t i = 0; i < r->n_files; i++) {
            cr_assert_geq(r->files[i].figures.bytes, 0);
            of_objects += r->files[i].figures.bytes;
        }
        cr_assert_eq(bytes, of_objects);
        cr_assert_eq(r->total.exposed_ns, r->model->path.io_ns);
        cr_assert_leq(r->total.exposed_ns, r->total.service_ns);
    }
    iot_reporting_free(&reporting);
    return bytes;
}

Test(damage_kinds, whole)
{
    make();
    save();
    /* Two writes, a read, a copy and a collective. */
    cr_assert_eq(reported(), 2 * 100 + 3 * 4096);
}

static const int64_t hostile[] = {
    0, 1, -1, 1000, INT32_MAX, (int64_t)1 << 32, (int64_t)1 << 48, INT64_MAX, INT64_MIN};

/* The widths of a row's fields, in their order. */
static const size_t widths[] = {8, 8, 8, 8, 8, 8, 4, 4, 4, 2, 2};

Test(damage_kinds, each_number_made_hostile, .timeout = 600)
{
    make();
    size_t tried = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        for (uint32_t i = 0; i < rows[lane].n; i++) {
            uint8_t *at = (uint8_t *)&rows[lane].rows[i];
            for (size_t f = 0; f < sizeof widths / sizeof *widths; at += widths[f++]) {
                uint64_t kept = 0;
                memcpy(&kept, at, widths[f]);
                for (size_t k = 0; k < sizeof hostile / sizeof *hostile; k++, tried++) {
                    memcpy(at, &hostile[k], widths[f]);
                    save();
                    reported();
                }
                memcpy(at, &kept, widths[f]);
            }
        }
    cr_assert_gt(tried, 3000u);
}

Test(damage_kinds, every_operation_with_hostile_numbers, .timeout = 600)
{
    make();
    uint32_t n = rows[1].n;
    for (unsigned op = 1; op < 300; op++)
        for (size_t k = 0; k < sizeof hostile / sizeof *hostile; k++) {
            rows[1].n = n;
            for (unsigned twice = 0; twice < 3; twice++)
                event(1, op, 2000, 2000 + 10 * k,
                      (struct iot_row){.obj = 1,
                                       .obj2 = 2,
                                       .bytes = hostile[k],
                                       .result = hostile[k],
                                       .offset = hostile[(k + twice) % 9],
                                       .addr = (uint64_t)hostile[k]});
            save();
            reported();
        }
}

/* As many as it takes for 2^63. Less than nothing is nothing, but of what is resident. */
static void sum_of(unsigned op, int64_t bytes, size_t n)
{
    struct iot_written file = iot_written_new(100, 1, START);
    struct iot_written_place place = {0, 0};
    iot_written_header(&file)->root = 1;
    iot_written_header(&file)->end = IOT_END_EXIT;
    memset(rows, 0, sizeof *rows);
    define();
    for (size_t i = 0, epoch = 1; i < n; epoch++) {
        while (rows->n < IOT_HALF_ROWS && i < n) {
            event(
                0, op, 100 + 10 * i, 105 + 10 * i,
                (struct iot_row){.obj = 1, .obj2 = 2, .bytes = bytes, .result = 1, .addr = 1 + i});
            i++;
        }
        struct iot_block_header h = {
            .tid = 100, .epoch = (uint32_t)epoch, .anchor = {START + 1, START + 1}};
        iot_written_append(&file, &place, h, rows);
        rows->n = 0;
    }
    iot_written_save(&file, folder, "a.iot");
    iot_written_free(&file);
    int64_t total = reported();
    cr_assert(total >= 0 && total <= IOT_SUM_MAX, "%s: %ld bytes", iot_op_info(op)->name,
              (long)total);
    char error[512];
    struct iot_trace *t = iot_trace_read(folder, error);
    if (bytes < 0 && op != IOT_OP_RESIDENT) {
        cr_assert(total == 0 && !*t->damage, "%s: %ld bytes, %s", iot_op_info(op)->name,
                  (long)total, t->damage);
    } else {
        cr_assert_gt(t->salvaged_processes, 0u);
        cr_assert_not_null(strstr(t->damage, "more bytes in all"), "%s", t->damage);
    }
    iot_trace_free(t);
}

Test(damage_kinds, sums_do_not_wrap, .timeout = 300)
{
    static const unsigned ops[] = {IOT_OP_READ, IOT_OP_WRITE, IOT_OP_SENDFILE, IOT_OP_RESIDENT,
                                   IOT_OP_GPU_MEMCPY};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        sum_of(ops[k], (int64_t)1 << 48, 33000);
        sum_of(ops[k], -((int64_t)1 << 48), 33000);
    }
}

Test(damage_kinds, usage_of_many_processes_does_not_wrap)
{
    char name[32], error[512];
    for (uint32_t p = 0; p < 40; p++) {
        struct iot_written file = iot_written_new(100 + p, p ? 100 : 1, START + p);
        struct iot_file_header *h = iot_written_header(&file);
        h->root = !p;
        h->end = IOT_END_EXIT;
        h->usage_end = (struct iot_usage){UINT64_MAX, (uint64_t)1 << 62, UINT64_MAX};
        h->called_end = (struct iot_called){UINT64_MAX, (uint64_t)1 << 63};
        snprintf(name, sizeof name, "%u.iot", p);
        memset(rows, 0, sizeof *rows);
        event(0, IOT_OP_START, p, p, (struct iot_row){.obj = UINT32_MAX});
        iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, 0), 0, 0, 100 + p, 1,
                         rows);
        iot_written_save(&file, folder, name);
        iot_written_free(&file);
    }
    struct iot_reporting reporting;
    cr_assert_eq(
        iot_reporting_make(&reporting, folder, &(struct iot_reporting_how){.top = SIZE_MAX}, error),
        0);
    const struct iot_report *r = &reporting.report;
    cr_expect_eq(r->run.storage_read_bytes, (uint64_t)IOT_SUM_MAX);
    cr_expect_eq(r->run.storage_write_bytes, (uint64_t)IOT_SUM_MAX);
    cr_expect_eq(r->run.uncalled_read_bytes, (uint64_t)IOT_SUM_MAX);
    cr_expect_eq(r->run.runqueue_ns, (uint64_t)IOT_SUM_MAX);
    iot_reporting_free(&reporting);
}
