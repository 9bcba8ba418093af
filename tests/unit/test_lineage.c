/* Which file the bytes of GPU copies come from and go to, on traces whose answer is known. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/gpu.h"
#include "analyzer/lineage.h"
#include "analyzer/model.h"
#include "analyzer/report.h"
#include "analyzer/report_gpu.h"
#include "format/mark.h"
#include "tests/unit/trace_writer.h"

enum { START = 1000000, LANES = 4, STREAM = 3, BUFFER = 0x100000 };

/* Descriptors 1 to 5, whose files these are. */
static const char *const paths[] = {"/d/m.safetensors", "/d/x.jpg", "/d/y.jpg", "/d/out.log",
                                    "/dev/shm/shared"};
enum { MODEL = 1, X, Y, OUT, SHARED };

static struct iot_half_rows *rows; /* by lane; the last is a stream */
static uint64_t next;              /* correlation */

static void setup(void)
{
    rows = calloc(LANES, sizeof *rows);
    next = 0;
    for (uint32_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        iot_rows_string(&rows[0], k + 1, paths[k]);
        iot_rows_desc(&rows[0], k + 1, k + 1, (int)k + 3, S_IFREG, 0, 1, k + 100, 4096);
    }
    iot_rows_add(&rows[0],
                 (struct iot_row){.op = IOT_OP_START, .t0 = START, .t1 = START, .obj = UINT32_MAX});
    iot_rows_add(&rows[STREAM],
                 (struct iot_row){.op = IOT_OP_GPU_STREAM, .t0 = START, .t1 = START, .offset = 7});
}

static void teardown(void)
{
    free(rows);
}

/* A call that takes 10 ns. */
static void moves(unsigned lane, unsigned op, uint32_t desc, uint64_t addr, int64_t bytes,
                  uint64_t t)
{
    iot_rows_add(&rows[lane], (struct iot_row){.op = (uint16_t)op,
                                               .t0 = START + t,
                                               .t1 = START + t + 10,
                                               .result = bytes,
                                               .bytes = bytes,
                                               .addr = addr,
                                               .obj = desc});
}

static void maps(uint32_t desc, uint64_t addr, uint64_t bytes, uint64_t t)
{
    iot_rows_add(&rows[0], (struct iot_row){.op = IOT_OP_MMAP, .t0 = START + t, .t1 = START + t + 1,
                                            .result = (int64_t)addr, .addr = bytes, .obj = desc});
}

/* What is stored there goes to the file. */
static void maps_shared(uint32_t desc, uint64_t addr, uint64_t bytes, uint64_t t)
{
    maps(desc, addr, bytes, t);
    rows[0].rows[rows[0].n - 1].obj2 = 1;
}

/* Of a vector's later piece, of a request. */
static void buffer(int is_in, uint32_t desc, uint64_t addr, int64_t bytes, uint64_t t)
{
    iot_rows_add(&rows[0], (struct iot_row){.op = IOT_OP_BUFFER,
                                            .t0 = START + t,
                                            .t1 = START + t,
                                            .result = is_in,
                                            .offset = bytes,
                                            .addr = addr,
                                            .obj2 = desc});
}

static void unmaps(uint64_t addr, uint64_t bytes, uint64_t t)
{
    iot_rows_add(&rows[0], (struct iot_row){.op = IOT_OP_MUNMAP,
                                            .t0 = START + t,
                                            .t1 = START + t + 1,
                                            .offset = (int64_t)bytes,
                                            .addr = addr});
}

/* The launch at t, the copy from t + 5 to t + 15. */
static void copies(unsigned lane, int kind, uint64_t addr, int64_t bytes, uint64_t t)
{
    uint64_t correlation = ++next;
    int to_gpu = kind == IOT_COPY_HTOD;
    iot_rows_add(&rows[lane],
                 (struct iot_row){.op = IOT_OP_GPU_LAUNCH, .t0 = START + t, .t1 = START + t + 2,
                                  .addr = to_gpu ? addr : 0, .result = to_gpu ? 0 : (int64_t)addr,
                                  .bytes = bytes, .offset = (int64_t)correlation});
    iot_rows_add(&rows[STREAM],
                 (struct iot_row){.op = IOT_OP_GPU_MEMCPY,
                                  .t0 = START + t + 5,
                                  .t1 = START + t + 15,
                                  .result = kind,
                                  .bytes = bytes,
                                  .offset = (int64_t)correlation,
                                  .addr = (to_gpu ? IOT_MEMORY_PINNED | IOT_MEMORY_DEVICE << 8
                                                  : IOT_MEMORY_DEVICE | IOT_MEMORY_PINNED << 8) |
                                          IOT_COPY_ASYNC});
}

static void step(uint64_t t)
{
    iot_rows_add(&rows[0], (struct iot_row){.op = IOT_OP_MARK, .t0 = START + t, .t1 = START + t,
                                            .result = IOT_MARK_STEP});
}

static struct iot_trace *read_rows(uint64_t end)
{
    char error[512] = "", *folder = iot_folder_new();
    struct iot_written file = iot_written_new(100, 1, START);
    iot_written_header(&file)->root = 1;
    iot_written_header(&file)->end = IOT_END_EXIT;
    iot_rows_add(&rows[0],
                 (struct iot_row){.op = IOT_OP_EXIT, .t0 = START + end, .t1 = START + end});
    for (uint32_t l = 0; l < LANES; l++)
        if (rows[l].n)
            iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, l), 0, l, 100 + l,
                             1, &rows[l]);
    iot_written_save(&file, folder, "1.iot");
    iot_written_free(&file);
    struct iot_trace *t = iot_trace_read(folder, error);
    cr_assert_not_null(t, "%s", error);
    iot_folder_remove(folder);
    return t;
}

/* What the k-th copy, by time, comes from or goes to; "" not known. */
static const char *carried(const struct iot_trace *t, size_t k)
{
    for (size_t i = 0; i < t->events.n; i++)
        if (t->events.op[i] == IOT_OP_GPU_MEMCPY && !k--)
            return t->files[t->events.file2[i]].name;
    cr_assert(0, "no such copy");
    return "";
}

static void expect(const char *const want[], size_t n)
{
    struct iot_trace *t = read_rows(10000);
    for (size_t k = 0; k < n; k++)
        cr_expect_str_eq(carried(t, k), want[k], "copy %zu is of '%s', not '%s'", k, carried(t, k),
                         want[k]);
    iot_trace_free(t);
}
#define EXPECT(...)                                                                                \
    expect((const char *const[]){__VA_ARGS__},                                                     \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

TestSuite(lineage, .init = setup, .fini = teardown);

Test(lineage, read_then_copied)
{
    moves(0, IOT_OP_READ, MODEL, BUFFER, 1000, 100);
    copies(0, IOT_COPY_HTOD, BUFFER, 1000, 200);
    copies(0, IOT_COPY_HTOD, BUFFER + 900, 500, 300); /* in part */
    copies(0, IOT_COPY_HTOD, BUFFER + 1000, 500, 400); /* behind it */
    copies(0, IOT_COPY_HTOD, BUFFER - 10, 10, 500);    /* before it */
    EXPECT("/d/m.safetensors", "/d/m.safetensors", "", "");
}

Test(lineage, the_latest_read_before_counts)
{
    copies(0, IOT_COPY_HTOD, BUFFER, 100, 50);
    moves(0, IOT_OP_READ, X, BUFFER, 100, 100);
    copies(0, IOT_COPY_HTOD, BUFFER, 100, 200);
    moves(0, IOT_OP_PREAD, Y, BUFFER, 100, 300);
    copies(0, IOT_COPY_HTOD, BUFFER, 100, 400);
    EXPECT("", "/d/x.jpg", "/d/y.jpg");
}

Test(lineage, buffers_of_requests_and_of_later_pieces)
{
    buffer(1, MODEL, BUFFER, 100, 100);
    buffer(1, X, BUFFER + 0x1000, 100, 100);
    copies(0, IOT_COPY_HTOD, BUFFER, 100, 200);
    copies(0, IOT_COPY_HTOD, BUFFER + 0x1000, 100, 300);
    copies(0, IOT_COPY_DTOH, BUFFER, 100, 400);
    copies(0, IOT_COPY_DTOH, BUFFER + 0x1000, 100, 500);
    buffer(0, OUT, BUFFER + 0x1050, 10, 600);
    buffer(0, Y, BUFFER + 0x2000, 10, 610);
    buffer(0, Y, BUFFER, 0, 620);
    buffer(1, Y, BUFFER, -1, 630);
    copies(0, IOT_COPY_HTOD, BUFFER, 100, 700);
    EXPECT("/d/m.safetensors", "/d/x.jpg", "", "/d/out.log", "");
}

Test(lineage, what_is_copied_into_a_mapped_file_goes_there)
{
    maps_shared(OUT, BUFFER, 0x2000, 100);
    copies(0, IOT_COPY_DTOH, BUFFER + 0x1800, 0x1000, 200); /* in part */
    copies(0, IOT_COPY_HTOD, BUFFER, 100, 300); /* what lies there is the file's still */
    maps(X, BUFFER + 0x8000, 0x1000, 400);      /* a private one keeps it for itself */
    copies(0, IOT_COPY_DTOH, BUFFER + 0x8000, 100, 500);
    maps_shared(SHARED, BUFFER + 0x10000, 0x1000, 600); /* and memory is no file */
    copies(0, IOT_COPY_DTOH, BUFFER + 0x10000, 100, 700);
    unmaps(BUFFER, 0x2000, 800);
    copies(0, IOT_COPY_DTOH, BUFFER, 100, 900);
    EXPECT("/d/out.log", "/d/out.log", "", "", "");
}

Test(lineage, of_two_files_the_one_with_most_bytes)
{
    moves(0, IOT_OP_READ, X, BUFFER, 1000, 100);
    moves(0, IOT_OP_READ, Y, BUFFER + 600, 400, 200); /* over the end of it */
    copies(0, IOT_COPY_HTOD, BUFFER, 1000, 300);
    copies(0, IOT_COPY_HTOD, BUFFER + 500, 500, 400);
    struct iot_trace *t = read_rows(10000);
    cr_expect_str_eq(carried(t, 0), "/d/x.jpg");
    cr_expect_str_eq(carried(t, 1), "/d/y.jpg");
    for (size_t f = 0; f < t->n_files; f++)
        if (t->files[f].carried)
            cr_expect_eq(t->files[f].several, 1);
    iot_trace_free(t);
}

Test(lineage, another_thread_fills_the_buffer_again)
{
    moves(0, IOT_OP_READ, X, BUFFER, 100, 100);
    copies(0, IOT_COPY_HTOD, BUFFER, 100, 200);
    moves(1, IOT_OP_FREAD, Y, BUFFER, 100, 300);
    copies(2, IOT_COPY_HTOD, BUFFER, 100, 400);
    EXPECT("/d/x.jpg", "/d/y.jpg");
}

Test(lineage, a_read_under_way_is_not_before)
{
    moves(1, IOT_OP_READ, X, BUFFER, 100, 100);
    moves(1, IOT_OP_READ, Y, BUFFER, 100, 200); /* to 210 */
    copies(0, IOT_COPY_HTOD, BUFFER, 100, 205);
    copies(0, IOT_COPY_HTOD, BUFFER, 100, 210);
    EXPECT("/d/x.jpg", "/d/y.jpg");
}

Test(lineage, mapped_files)
{
    maps(MODEL, BUFFER, 4096, 100);
    copies(0, IOT_COPY_HTOD, BUFFER + 1000, 100, 200);
    unmaps(BUFFER, 2048, 300);
    copies(0, IOT_COPY_HTOD, BUFFER + 1000, 100, 400);
    copies(0, IOT_COPY_HTOD, BUFFER + 3000, 100, 500);
    maps(X, BUFFER, 4096, 600);
    copies(0, IOT_COPY_HTOD, BUFFER + 3000, 100, 700);
    maps(SHARED, BUFFER, 4096, 800); /* filled by whomever */
    copies(0, IOT_COPY_HTOD, BUFFER + 3000, 100, 900);
    EXPECT("/d/m.safetensors", "", "/d/m.safetensors", "/d/x.jpg", "");
}

Test(lineage, what_lies_in_one_of_several_pieces_is_no_longer_than_that)
{
    iot_rows_add(&rows[0], (struct iot_row){.op = IOT_OP_READV,
                                            .t0 = START + 100,
                                            .t1 = START + 110,
                                            .result = 1000,
                                            .bytes = 1000,
                                            .addr = BUFFER,
                                            .obj = X,
                                            .obj2 = 100});
    copies(0, IOT_COPY_HTOD, BUFFER + 50, 10, 200);
    copies(0, IOT_COPY_HTOD, BUFFER + 100, 10, 300);
    EXPECT("/d/x.jpg", "");
}

Test(lineage, copied_then_written)
{
    copies(0, IOT_COPY_DTOH, BUFFER, 1000, 100);
    moves(0, IOT_OP_WRITE, OUT, BUFFER + 500, 10, 200);
    moves(0, IOT_OP_WRITE, X, BUFFER, 1000, 300); /* not the first */
    copies(0, IOT_COPY_DTOH, BUFFER, 1000, 400);
    copies(0, IOT_COPY_DTOH, BUFFER, 1000, 500); /* over the one before */
    moves(1, IOT_OP_PWRITE, Y, BUFFER, 1000, 600);
    copies(0, IOT_COPY_DTOH, BUFFER, 1000, 700);
    moves(0, IOT_OP_READ, X, BUFFER, 1000, 800); /* filled before anybody wrote it */
    moves(0, IOT_OP_WRITE, OUT, BUFFER, 1000, 900);
    EXPECT("/d/out.log", "", "/d/y.jpg", "");
}

Test(lineage, of_a_batch_each_has_its_own_buffer)
{
    moves(0, IOT_OP_READ, X, BUFFER, 100, 100);
    moves(0, IOT_OP_READ, Y, BUFFER + 4096, 100, 120);
    for (uint64_t k = 0; k < 2; k++) {
        iot_rows_add(&rows[0], (struct iot_row){.op = IOT_OP_GPU_LAUNCH,
                                                .t0 = START + 200,
                                                .t1 = START + (k ? 200 : 210),
                                                .addr = BUFFER + 4096 * k,
                                                .bytes = 100,
                                                .offset = 9});
        iot_rows_add(&rows[STREAM], (struct iot_row){.op = IOT_OP_GPU_MEMCPY,
                                                     .t0 = START + 215 + 10 * k,
                                                     .t1 = START + 225 + 10 * k,
                                                     .result = IOT_COPY_HTOD,
                                                     .bytes = 100,
                                                     .offset = 9,
                                                     .addr = IOT_COPY_ASYNC});
    }
    EXPECT("/d/x.jpg", "/d/y.jpg");
}

Test(lineage, what_was_forgotten_is_not_known)
{
    enum { FILES = 40 };
    for (uint64_t k = 0; k < FILES; k++)
        moves(0, IOT_OP_READ, k % 2 ? X : Y, BUFFER + 4096 * k, 100, 10 * k);
    for (uint64_t k = 0; k < FILES; k++)
        copies(0, IOT_COPY_HTOD, BUFFER + 4096 * k, 100, 1000 + 20 * k);
    struct iot_trace *t = read_rows(10000);
    cr_expect_eq(t->lineage_forgotten, 0u);
    cr_expect_str_eq(carried(t, 0), "/d/y.jpg");
    struct iot_files files = {.files = t->files, .n = t->n_files};
    struct iot_lineage lineage;
    cr_assert_eq(iot_lineage_find(&lineage, t, &files, 8), 0);
    size_t known = 0;
    cr_expect_eq(lineage.n, (size_t)FILES);
    for (size_t k = 0; k < lineage.n; k++)
        known += lineage.copies[k].file != 0;
    cr_expect(known >= 4 && known <= 8, "%zu are known", known);
    cr_expect_eq(lineage.copies[0].file, 0u, "the oldest goes first");
    cr_expect_neq(lineage.copies[FILES - 1].file, 0u);
    cr_expect_eq(lineage.forgotten, FILES - known);
    iot_lineage_free(&lineage);
    iot_trace_free(t);
}

/* --- what a report makes of it --- */

struct made {
    struct iot_trace *trace;
    struct iot_model *model;
    struct iot_steps steps;
    struct iot_classes classes;
    struct iot_report report;
};

static struct made report(uint64_t end)
{
    struct made m = {.trace = read_rows(end)};
    m.model = iot_model_build(m.trace);
    cr_assert_not_null(m.model);
    cr_assert_eq(m.model->cut_edges, 0u);
    cr_assert_eq(m.model->replay_error_ns, 0);
    cr_assert_eq(iot_steps_find(&m.steps, m.trace, m.model), 0);
    cr_assert_eq(iot_classify(&m.classes, m.trace, NULL, &m.steps), 0);
    cr_assert_eq(iot_report_make(&m.report, m.trace, m.model, &m.classes, &m.steps, 100), 0);
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

static int64_t decided(const struct iot_report *r, unsigned direction, unsigned rule,
                       unsigned object)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < r->gpu->n_copies; k++)
        if (r->gpu->copies[k].direction == direction && r->gpu->copies[k].rule == rule &&
            r->gpu->copies[k].object == object)
            bytes += r->gpu->copies[k].bytes;
    return bytes;
}

Test(lineage, objects_of_copies_and_what_decided_them)
{
    moves(0, IOT_OP_READ, MODEL, BUFFER, 1000, 10);
    copies(0, IOT_COPY_HTOD, BUFFER, 1000, 100);
    copies(0, IOT_COPY_HTOD, 2 * BUFFER, 50, 150); /* nobody knows: before the steps */
    for (uint64_t k = 0; k < 4; k++) {
        step(1000 + 1000 * k);
        moves(0, IOT_OP_READ, k % 2 ? X : Y, BUFFER, 300, 1100 + 1000 * k);
        copies(0, IOT_COPY_HTOD, BUFFER, 300, 1200 + 1000 * k);
        copies(0, IOT_COPY_HTOD, 2 * BUFFER, 7, 1300 + 1000 * k);
        copies(0, IOT_COPY_DTOH, 3 * BUFFER, 20, 1400 + 1000 * k);
        moves(0, IOT_OP_WRITE, OUT, 3 * BUFFER, 20, 1500 + 1000 * k);
        copies(0, IOT_COPY_DTOH, 4 * BUFFER, 3, 1600 + 1000 * k);
    }
    struct made m = report(5000);
    const struct iot_report *r = &m.report;
    cr_expect_eq(decided(r, IOT_COPY_HTOD, IOT_COPY_BY_FILE, IOT_ARTIFACT), 1000);
    cr_expect_eq(decided(r, IOT_COPY_HTOD, IOT_COPY_BY_EARLY, IOT_ARTIFACT), 50);
    cr_expect_eq(decided(r, IOT_COPY_HTOD, IOT_COPY_BY_FILE, IOT_INPUT), 1200);
    cr_expect_eq(decided(r, IOT_COPY_HTOD, IOT_COPY_BY_STEPS, IOT_INPUT), 28);
    cr_expect_eq(decided(r, IOT_COPY_DTOH, IOT_COPY_BY_FILE, IOT_OUTPUT), 80);
    cr_expect_eq(decided(r, IOT_COPY_DTOH, IOT_COPY_BY_OUT, IOT_OUTPUT), 12);
    size_t found = 0;
    for (size_t i = 0; i < r->n_files; i++) {
        const struct iot_report_file *f = &r->files[i];
        if (!strcmp(f->path, "gpu0:HtoD") && f->object == IOT_INPUT) {
            cr_expect_str_eq(f->why, "read from 2 files, and others, pinned");
            cr_expect_eq(f->figures.bytes, 1228);
            found++;
        }
        if (!strcmp(f->path, "gpu0:HtoD") && f->object == IOT_ARTIFACT) {
            cr_expect_eq(f->figures.bytes, 1050);
            found++;
        }
        if (!strcmp(f->path, "gpu0:DtoH"))
            found++;
        if (!strcmp(f->path, paths[0])) {
            cr_expect_eq(f->ready.storage_ns, 10);
            cr_expect_eq(f->ready.placement_ns, 10);
            cr_expect_eq(f->ready.memory, IOT_HOST_PINNED);
        }
    }
    cr_expect_eq(found, 3u, "one row for each direction and object");
    done(&m);
}

Test(lineage, placement_is_what_storage_is_not)
{
    copies(1, IOT_COPY_HTOD, 8 * BUFFER, 1, 5); /* of nothing */
    moves(0, IOT_OP_READ, MODEL, BUFFER, 2048, 100);
    moves(0, IOT_OP_READ, MODEL, BUFFER + 2048, 2048, 116); /* to 126 */
    copies(1, IOT_COPY_HTOD, BUFFER, 2048, 115);            /* 120 to 130 */
    copies(1, IOT_COPY_HTOD, BUFFER + 2048, 2048, 135);     /* 140 to 150 */
    copies(1, IOT_COPY_HTOD, BUFFER, 2048, 200);            /* again: it is there */
    struct made m = report(1000);
    for (size_t i = 0; i < m.report.n_files; i++)
        if (!strcmp(m.report.files[i].path, paths[0])) {
            cr_expect_eq(m.report.files[i].ready.storage_ns, 20);
            cr_expect_eq(m.report.files[i].ready.placement_ns, 14, "%ld",
                         m.report.files[i].ready.placement_ns);
        }
    done(&m);
}
