/* Trace folders that are whole: what the model says of them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/trace.h"
#include "tests/unit/trace_writer.h"

static struct iot_row event(unsigned op, uint64_t t0, uint64_t t1)
{
    return (struct iot_row){.op = (uint16_t)op, .t0 = t0, .t1 = t1};
}

/* Some rows of reads, `took` ns each, one every 1000 ns from `from` on. */
static struct iot_half_rows *reads(uint64_t from, uint32_t n)
{
    struct iot_half_rows *rows = calloc(1, sizeof *rows);
    for (uint32_t i = 0; i < n; i++)
        iot_rows_add(rows, (struct iot_row){.op = IOT_OP_READ,
                                            .t0 = from + 1000 * i,
                                            .t1 = from + 1000 * i + 10,
                                            .bytes = 7,
                                            .result = 7});
    return rows;
}

static struct iot_trace *read_whole(const char *folder)
{
    char error[512] = "";
    struct iot_trace *t = iot_trace_read(folder, error);
    cr_assert_not_null(t, "%s", error);
    cr_assert_eq(t->salvaged_processes, 0u, "%s", t->damage);
    cr_assert_str_eq(t->damage, "");
    return t;
}

/* Saves one file alone, reads it, and gives the model. */
static struct iot_trace *read_one(struct iot_written *file)
{
    char *folder = iot_folder_new();
    iot_written_save(file, folder, "1.iot");
    iot_written_free(file);
    struct iot_trace *t = read_whole(folder);
    iot_folder_remove(folder);
    return t;
}

static struct iot_written root(void)
{
    struct iot_written file = iot_written_new(100, 1, 1000000);
    iot_written_header(&file)->root = 1;
    return file;
}

Test(trace, a_header_alone_is_a_process_without_events)
{
    struct iot_written file = root();
    static const char command[] = "python3\0-c\0pass";
    iot_written_fact(&file, IOT_FACT_EXE, "/usr/bin/python3", 16);
    iot_written_fact(&file, IOT_FACT_COMMAND, command, sizeof command);
    iot_written_fact(&file, (enum iot_fact_tag)77, "of a later version", 18);
    iot_written_fact(&file, IOT_FACT_HOST, "box", 3);
    char *folder = iot_folder_new(), error[512] = "";
    iot_written_save(&file, folder, "1.iot");
    iot_written_free(&file);
    struct iot_trace *t = iot_trace_read(folder, error);
    iot_folder_remove(folder);
    cr_assert_not_null(t, "%s", error);
    /* It is the root, and how long it ran is not known: that is stated. */
    cr_assert_eq(t->salvaged_processes, 1u);
    cr_assert_not_null(strstr(t->damage, "nothing was recorded"), "%s", t->damage);
    cr_assert_eq(t->n_processes, 1u);
    cr_assert_eq(t->n_lanes, 1u);
    cr_assert_eq(t->lanes[0].n_events, 0u);
    cr_assert_eq(t->lanes[0].tid, 100u);
    cr_assert_eq(t->wall_ns, 0);
    const struct iot_process *p = &t->processes[0];
    cr_assert_str_eq(p->exe, "/usr/bin/python3");
    cr_assert_str_eq(p->host, "box");
    cr_assert_str_eq(p->cwd, "");
    cr_assert_str_eq(p->command[0], "python3");
    cr_assert_str_eq(p->command[1], "-c");
    cr_assert_str_eq(p->command[2], "pass");
    cr_assert_null(p->command[3]);
    cr_assert_str_eq(p->source, "1.iot");
    iot_trace_free(t);
}

Test(trace, descriptors_paths_and_other_ends)
{
    struct iot_written file = root();
    struct iot_half_rows *r = calloc(1, sizeof *r);
    iot_rows_string(r, 1, "/d/../d/./in");
    iot_rows_string(r, 2, "/out");
    iot_rows_string(r, 3, "/nothing");
    iot_rows_desc(r, 1, 1, 3, S_IFREG, 0, 5, 10, 4096);
    iot_rows_desc(r, 2, 2, 4, S_IFREG, 0, 5, 11, 0);
    struct iot_row row = event(IOT_OP_OPEN, 1000100, 1000200);
    row.obj = 1;
    row.obj2 = 1;
    row.result = 3;
    iot_rows_add(r, row);
    row = event(IOT_OP_OPEN, 1000300, 1000400);
    row.obj2 = 3;
    row.result = -1;
    row.err = 2;
    iot_rows_add(r, row);
    row = event(IOT_OP_SENDFILE, 1000500, 1000600);
    row.obj = 1;
    row.obj2 = 2;
    row.bytes = row.result = 50;
    iot_rows_add(r, row);
    row = event(IOT_OP_RENAME, 1000700, 1000800);
    row.obj = 2;
    row.obj2 = 3;
    iot_rows_add(r, row);
    row = event(IOT_OP_JOIN, 1000900, 1001000);
    row.obj = 5;
    iot_rows_add(r, row);
    row = event(IOT_OP_READ, 1001100, 1001200);
    row.obj = 99; /* not defined */
    iot_rows_add(r, row);
    row = event(IOT_OP_POLL, 1001300, 1001400);
    row.obj = 2;
    iot_rows_add(r, row);
    row = event(255, 1001500, 1001600); /* of a later version */
    iot_rows_add(r, row);
    iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, 0), 0, 0, 100, 1, r);
    free(r);

    struct iot_trace *t = read_one(&file);
    const struct iot_events *e = &t->events;
    cr_assert_eq(e->n, 7u);
    cr_assert_eq(t->unknown_events, 1u);
#define NAME(i, column) t->files[e->column[i]].name
    cr_assert_str_eq(NAME(0, file), "/d/in");
    cr_assert_eq(e->file2[0], 0u);
    cr_assert_eq(e->fd[0], 3);
    cr_assert_eq(e->t0_ns[0], 100);
    cr_assert_eq(e->t1_ns[0], 200);
    cr_assert_str_eq(NAME(1, file), "/nothing");
    cr_assert_eq(e->fd[1], -1);
    cr_assert_eq(e->err[1], 2);
    cr_assert_str_eq(NAME(2, file), "/d/in");
    cr_assert_str_eq(NAME(2, file2), "/out");
    cr_assert_eq(e->bytes[2], 50);
    cr_assert_str_eq(NAME(3, file), "/out");
    cr_assert_str_eq(NAME(3, file2), "/nothing");
    cr_assert_eq(e->file[4], 0u);
    cr_assert_eq(e->arg[4], 5u);
    cr_assert_eq(e->file[5], 0u);
    cr_assert_eq(e->fd[5], -1);
    cr_assert_str_eq(NAME(6, file), "/out");
    cr_assert_eq(e->fd[6], 4);
    cr_assert_eq(t->files[e->file[0]].size, 4096);
    cr_assert_eq(t->files[e->file[1]].kind, IOT_FILE_UNKNOWN);
    cr_assert_eq(t->wall_ns, 1400);
#undef NAME
    iot_trace_free(t);
}

Test(trace, rows_of_blocks_and_halves_come_in_order_of_their_start)
{
    struct iot_written file = root();
    struct iot_half_rows *r = calloc(1, sizeof *r);
    /* A call around another is recorded after it; equal starts: the longest first. */
    iot_rows_add(r, event(IOT_OP_WRITE, 1000020, 1000030));
    iot_rows_add(r, event(IOT_OP_FCLOSE, 1000010, 1000040));
    iot_rows_add(r, event(IOT_OP_READ, 1000050, 1000055));
    iot_rows_add(r, event(IOT_OP_FREAD, 1000050, 1000060));
    uint32_t blocks = iot_written_segment(&file, IOT_SEGMENT_BLOCKS, 0);
    struct iot_block_header h = {
        .codec = IOT_CODEC_ZSTD, .lane = 0, .tid = 100, .epoch = 2, .anchor = {1000080, 1000080}};
    size_t at = iot_written_block(&file, blocks, 64, h, r);
    r->n = 0;
    iot_rows_add(r, event(IOT_OP_OPEN, 1000000, 1000005));
    h.epoch = 1;
    h.codec = IOT_CODEC_STORED;
    iot_written_block(&file, blocks, at, h, r); /* out of order */
    r->n = 0;
    iot_rows_add(r, event(IOT_OP_CLOSE, 1000070, 1000075));
    uint32_t live = iot_written_segment(&file, IOT_SEGMENT_ROWS, 0);
    iot_written_half(&file, live, 0, 0, 100, 3, r);
    r->n = 0;
    iot_written_half(&file, live, 1, 0, 100, 4, r);
    iot_rows_add(r, event(IOT_OP_READ, 1000000, 1000500));
    iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, 1), 0, 7, 107, 1, r);
    free(r);

    static const unsigned order[] = {IOT_OP_OPEN, IOT_OP_FCLOSE, IOT_OP_WRITE, IOT_OP_FREAD,
                                     IOT_OP_READ, IOT_OP_CLOSE,  IOT_OP_READ};
    struct iot_trace *t = read_one(&file);
    cr_assert_eq(t->events.n, 7u);
    for (size_t i = 0; i < 7; i++)
        cr_assert_eq(t->events.op[i], order[i], "event %zu", i);
    cr_assert_eq(t->n_lanes, 2u);
    cr_assert_eq(t->lanes[0].n_events, 6u);
    cr_assert_eq(t->lanes[1].number, 7u);
    cr_assert_eq(t->lanes[1].tid, 107u);
    cr_assert_eq(t->lanes[1].first_event, 6u);
    cr_assert_eq(t->lanes[0].end_ns, 75);
    cr_assert_eq(t->wall_ns, 500);
    iot_trace_free(t);
}

Test(trace, many_unordered_rows_are_sorted)
{
    struct iot_written file = root();
    uint32_t segment = 0;
    uint64_t x = 1;
    for (uint32_t epoch = 1; epoch <= 8; epoch++) {
        struct iot_half_rows *r = calloc(1, sizeof *r);
        for (int i = 0; i < 1000; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            uint64_t t0 = 1000000 + (x >> 33) % 5000;
            struct iot_row row = event(IOT_OP_READ, t0, t0 + (x >> 20) % 100);
            row.bytes = (int64_t)(row.t0 * 1000 + row.t1); /* travels with it */
            iot_rows_add(r, row);
        }
        segment = iot_written_segment(&file, IOT_SEGMENT_BLOCKS, 0);
        struct iot_block_header h = {.epoch = epoch, .tid = 100};
        iot_written_block(&file, segment, 64, h, r);
        free(r);
    }
    struct iot_trace *t = read_one(&file);
    const struct iot_events *e = &t->events;
    cr_assert_eq(e->n, 8000u);
    for (size_t i = 0; i < e->n; i++) {
        uint64_t t0 = (uint64_t)e->t0_ns[i] + 1000000, t1 = (uint64_t)e->t1_ns[i] + 1000000;
        cr_assert_eq((uint64_t)e->bytes[i], t0 * 1000 + t1);
        if (i)
            cr_assert(e->t0_ns[i - 1] < e->t0_ns[i] ||
                      (e->t0_ns[i - 1] == e->t0_ns[i] && e->t1_ns[i - 1] >= e->t1_ns[i]));
    }
    iot_trace_free(t);
}

/* The moments a process can be killed at while it turns a full half into a block: the rows are
 * there once, and nothing is called damaged. */
enum kill_point { BEFORE, WITHOUT_MAGIC, BOTH, EMPTIED, REFILLED, SEGMENT_UNUSED, KILL_POINTS };

Test(trace, whenever_it_was_killed_each_row_is_there_once)
{
    for (int point = 0; point < KILL_POINTS; point++) {
        struct iot_written file = root();
        uint32_t live = iot_written_segment(&file, IOT_SEGMENT_ROWS, 0);
        struct iot_half_rows *first = reads(1000000, 100), *second = reads(2000000, 5);
        iot_written_half(&file, live, 0, 0, 100, 1, first);
        iot_written_half(&file, live, 1, 0, 100, 2, second);
        size_t expected = 105;
        if (point == SEGMENT_UNUSED) {
            iot_written_segment(&file, IOT_SEGMENT_BLOCKS, 0);
            memset(file.bytes + file.n - IOT_SEGMENT_BYTES, 0, 64);
        } else if (point != BEFORE) {
            uint32_t blocks = iot_written_segment(&file, IOT_SEGMENT_BLOCKS, 0);
            struct iot_block_header h = {
                .codec = IOT_CODEC_ZSTD, .tid = 100, .epoch = 1, .anchor = {2001000, 2001000}};
            iot_written_block(&file, blocks, 64, h, first);
            if (point == WITHOUT_MAGIC)
                memset(file.bytes + (size_t)blocks * IOT_SEGMENT_BYTES + 64, 0, 4);
            first->n = 0;
            if (point == EMPTIED)
                iot_written_half(&file, live, 0, 0, 100, 1, first);
            if (point == REFILLED) {
                struct iot_half_rows *third = reads(3000000, 3);
                iot_written_half(&file, live, 0, 0, 100, 3, third);
                expected += 3;
                free(third);
            }
        }
        struct iot_trace *t = read_one(&file);
        cr_assert_eq(t->events.n, expected, "kill point %d: %zu", point, t->events.n);
        iot_trace_free(t);
        free(first);
        free(second);
    }
}

Test(trace, rows_that_were_never_completed_are_none)
{
    struct iot_written file = root();
    struct iot_half_rows *r = reads(1000000, 10);
    r->rows[3].op = 0;
    r->rows[5].op = IOT_DEF_PENDING | 2; /* and the row behind it */
    r->rows[8].op = IOT_DEF_PENDING | 500;
    uint32_t live = iot_written_segment(&file, IOT_SEGMENT_ROWS, 0);
    iot_written_half(&file, live, 0, 0, 100, 1, r);
    struct iot_half_header *h = (void *)(file.bytes + (size_t)live * IOT_SEGMENT_BYTES + 64);
    h->head = IOT_HALF_ROWS + 3; /* reservations that found it full */
    struct iot_trace *t = read_one(&file);
    cr_assert_eq(t->events.n, 5u);
    iot_trace_free(t);
    free(r);
}

Test(trace, a_thread_takes_over_the_buffers_of_another)
{
    struct iot_written file = root();
    uint32_t live = iot_written_segment(&file, IOT_SEGMENT_ROWS, 0);
    uint32_t blocks = iot_written_segment(&file, IOT_SEGMENT_BLOCKS, 0);
    struct iot_half_rows *r = reads(1000000, 4);
    struct iot_block_header h = {.lane = 3, .tid = 103, .epoch = 1};
    iot_written_block(&file, blocks, 64, h, r);
    iot_written_half(&file, live, 0, 4, 104, 2, r);
    struct iot_trace *t = read_one(&file);
    cr_assert_eq(t->events.n, 8u);
    cr_assert_eq(t->n_lanes, 3u);
    cr_assert_eq(t->lanes[0].number, 0u); /* always there */
    cr_assert_eq(t->lanes[1].number, 3u);
    cr_assert_eq(t->lanes[2].number, 4u);
    iot_trace_free(t);
    free(r);
}

Test(trace, the_root_is_first_and_what_it_becomes_ends_the_run)
{
    char *folder = iot_folder_new();
    struct iot_half_rows *r = calloc(1, sizeof *r);
    static const struct {
        uint32_t pid, root, end;
        uint64_t start, last;
    } images[] = {
        {100, 1, IOT_END_EXEC, 1000000, 1000500}, /* the root, its second and third image */
        {100, 1, IOT_END_EXEC, 1001000, 1001500}, {100, 0, IOT_END_EXIT, 1002000, 1002500},
        {100, 0, IOT_END_EXIT, 1009000, 1009500}, /* the number was used again */
        {101, 0, IOT_END_EXIT, 1000200, 1008000}, /* a child that outlives it */
        {99, 0, IOT_END_OPEN, 999000, 999500},    /* before the root: no time below 0 */
        {101, 0, IOT_END_EXIT, 1000201, 1000300}, /* the same number, and nearly the same start */
    };
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        struct iot_written file = iot_written_new(images[i].pid, 1, images[i].start);
        iot_written_header(&file)->root = images[i].root;
        iot_written_header(&file)->end = images[i].end;
        r->n = 0;
        iot_rows_add(r, event(IOT_OP_READ, images[i].start, images[i].last));
        iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, 0), 0, 0,
                         images[i].pid, 1, r);
        char name[16] = {(char)('9' - (int)i), '.', 'i', 'o', 't', 0};
        iot_written_save(&file, folder, name);
        iot_written_free(&file);
    }
    iot_bytes_save("", 0, folder, "run");
    iot_bytes_save("no trace", 8, folder, "notes.txt");

    static const uint32_t pids[] = {100, 99, 101, 101, 100, 100, 100};
    struct iot_trace *t = read_whole(folder);
    cr_assert_eq(t->n_processes, 7u);
    for (size_t i = 0; i < 7; i++) {
        cr_assert_eq(t->processes[i].pid, pids[i], "process %zu", i);
        cr_assert_eq(t->processes[i].root, i == 0);
        cr_assert_eq(t->processes[i].first_lane, i);
        cr_assert_eq(t->lanes[i].process, i);
    }
    cr_assert_eq(t->processes[1].start_ns, 0);
    cr_assert_eq(t->processes[2].end_ns + t->processes[3].end_ns, 8000 + 300);
    cr_assert_eq(t->wall_ns, 2500);
    iot_trace_free(t);
    free(r);
    iot_folder_remove(folder);
}

Test(trace, without_the_root_the_earliest_is_and_the_loss_is_stated)
{
    char *folder = iot_folder_new(), error[512];
    for (uint32_t i = 0; i < 2; i++) {
        struct iot_written file = iot_written_new(200 + i, 1, 2000000 - 1000 * i);
        iot_written_save(&file, folder, i ? "b.iot" : "a.iot");
        iot_written_free(&file);
    }
    struct iot_trace *t = iot_trace_read(folder, error);
    cr_assert_not_null(t);
    cr_assert_eq(t->processes[0].pid, 201u);
    cr_assert_eq(t->processes[0].root, 1);
    cr_assert_eq(t->processes[0].salvaged, 1);
    cr_assert_eq(t->salvaged_processes, 1u);
    cr_assert_not_null(strstr(t->damage, "b.iot: byte 44: "), "%s", t->damage);
    iot_trace_free(t);
    iot_folder_remove(folder);
}

static struct iot_row vfork_start(uint64_t t, uint32_t pid, uint32_t ppid)
{
    struct iot_row row = event(IOT_OP_START, t, t);
    row.obj2 = 1;
    row.result = ppid;
    row.offset = pid;
    return row;
}

Test(trace, children_of_vfork_are_processes)
{
    char *folder = iot_folder_new();
    struct iot_written file = root();
    struct iot_half_rows *r = calloc(1, sizeof *r);
    iot_rows_string(r, 1, "/bin/true");
    iot_rows_string(r, 2, "/f");
    iot_rows_desc(r, 1, 2, 3, S_IFREG, 0, 1, 1, 0);
    struct iot_row read_f = event(IOT_OP_READ, 1000010, 1000020);
    read_f.obj = 1;
    iot_rows_add(r, read_f);
    iot_rows_add(r, vfork_start(1000100, 101, 100));
    struct iot_row close_f = event(IOT_OP_CLOSE, 1000110, 1000120);
    close_f.obj = 1;
    iot_rows_add(r, close_f);
    iot_rows_add(r, vfork_start(1000130, 102, 101)); /* a child of the child, which only exits */
    iot_rows_add(r, event(IOT_OP_EXIT, 1000140, 1000140));
    struct iot_row fork = event(IOT_OP_VFORK, 1000125, 1000150);
    fork.result = 102;
    iot_rows_add(r, fork);
    struct iot_row exec = event(IOT_OP_EXEC, 1000160, 1000160);
    exec.obj = 2;
    iot_rows_add(r, exec); /* along PATH: the first try fails */
    exec.t1 = 1000170;
    exec.result = -1;
    exec.err = 2;
    iot_rows_add(r, exec);
    exec = event(IOT_OP_EXEC, 1000180, 1000180);
    exec.obj = 1;
    iot_rows_add(r, exec);
    fork = event(IOT_OP_VFORK, 1000090, 1000200);
    fork.result = 101;
    iot_rows_add(r, fork);
    read_f.t0 = 1000300;
    read_f.t1 = 1000310;
    iot_rows_add(r, read_f);
    iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, 0), 0, 0, 100, 1, r);
    iot_written_save(&file, folder, "parent.iot");
    iot_written_free(&file);
    struct iot_written image = iot_written_new(101, 100, 1000400);
    iot_written_save(&image, folder, "child.iot");
    iot_written_free(&image);

    struct iot_trace *t = read_whole(folder);
    cr_assert_eq(t->n_processes, 4u);
    cr_assert_eq(t->events.n, 10u);
    const struct iot_process *p = t->processes;
    cr_assert_eq(p[0].pid, 100u);
    cr_assert_eq(t->lanes[p[0].first_lane].n_events, 3u);
    cr_assert_eq(p[1].pid, 101u);
    cr_assert_eq(p[1].ppid, 100u);
    cr_assert_eq(p[1].end, IOT_END_EXEC);
    cr_assert_eq(p[1].start_ns, 100);
    cr_assert_eq(p[1].parent_lane_number, 0u);
    const struct iot_lane *lane = &t->lanes[p[1].first_lane];
    static const unsigned ops[] = {IOT_OP_START, IOT_OP_CLOSE, IOT_OP_VFORK, IOT_OP_EXEC,
                                   IOT_OP_EXEC};
    cr_assert_eq(lane->n_events, 5u);
    for (size_t i = 0; i < 5; i++)
        cr_assert_eq(t->events.op[lane->first_event + i], ops[i], "event %zu", i);
    cr_assert_str_eq(t->files[t->events.file[lane->first_event + 1]].name, "/f");
    cr_assert_eq(t->events.fd[lane->first_event + 1], 3);
    cr_assert_eq(t->events.err[lane->first_event + 3], 2);
    cr_assert_eq(p[2].pid, 102u);
    cr_assert_eq(p[2].ppid, 101u);
    cr_assert_eq(p[2].end, IOT_END_EXIT);
    cr_assert_eq(p[3].pid, 101u);
    cr_assert_str_eq(p[3].source, "child.iot");
    cr_assert_eq(t->wall_ns, 310);
    iot_trace_free(t);
    free(r);
    iot_folder_remove(folder);
}

Test(trace, a_failed_exec_is_one_event)
{
    struct iot_written file = root();
    struct iot_half_rows *r = calloc(1, sizeof *r);
    struct iot_row exec = event(IOT_OP_EXEC, 1000100, 1000100);
    iot_rows_add(r, exec);
    exec.t1 = 1000200;
    exec.result = -1;
    iot_rows_add(r, exec);
    iot_rows_add(r, event(IOT_OP_EXEC, 1000300, 1000300)); /* this one did not come back */
    iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, 0), 0, 0, 100, 1, r);
    struct iot_trace *t = read_one(&file);
    cr_assert_eq(t->events.n, 2u);
    cr_assert_eq(t->events.result[0], -1);
    cr_assert_eq(t->events.t1_ns[0], 200);
    cr_assert_eq(t->events.t0_ns[1], 300);
    iot_trace_free(t);
    free(r);
}

Test(trace, ticks_of_all_processes_come_to_one_clock)
{
    char *folder = iot_folder_new();
    struct iot_half_rows *r = calloc(1, sizeof *r);
    for (uint32_t i = 0; i < 2; i++) { /* the second was killed: it has one anchor alone */
        struct iot_written file = iot_written_new(100 + i, 1, 0);
        struct iot_file_header *h = iot_written_header(&file);
        h->clock = IOT_CLOCK_TSC;
        h->root = !i;
        h->start = (struct iot_anchor){1000000 + 3000 * i, 50000 + 1000 * i}; /* 3 ticks a ns */
        h->last = i ? h->start : (struct iot_anchor){301000000, 100050000};
        r->n = 0;
        iot_rows_add(r, event(IOT_OP_READ, 1006000, 1009000));
        iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, 0), 0, 0, 1, 1, r);
        iot_written_save(&file, folder, i ? "b.iot" : "a.iot");
        iot_written_free(&file);
    }
    struct iot_trace *t = read_whole(folder);
    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(t->events.t0_ns[i], 2000);
        cr_assert_eq(t->events.t1_ns[i], 3000);
    }
    cr_assert_eq(t->processes[1].start_ns, 1000);
    cr_assert_eq(t->processes[0].tsc, 1);
    iot_trace_free(t);
    free(r);
    iot_folder_remove(folder);
}
