#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/explain.h"
#include "analyzer/find_file.h"
#include "tests/unit/runs.h"

#define WALL INT64_C(1000000)

static struct iot_test_run *run;
static struct iot_classes classes;
static struct iot_steps steps;
static struct iot_explainer explainer;
static struct iot_explained x;
static int64_t now;

static void start(void)
{
    run = iot_test_run_new(WALL);
    now = 0;
}

static size_t event(enum iot_op op, uint32_t file, int fd, int64_t bytes, int64_t offset)
{
    size_t i = iot_test_run_event(run, op, file, bytes, now);
    now = run->t1[i];
    run->fd[i] = fd;
    run->offset[i] = offset;
    return i;
}

static void explain(uint32_t file)
{
    cr_assert_eq(iot_steps_find(&steps, &run->trace, &run->model), 0);
    cr_assert_eq(iot_classify(&classes, &run->trace, NULL, &steps), 0);
    cr_assert_eq(iot_explainer_init(&explainer, &run->trace, &run->model, &classes, &steps), 0);
    cr_assert_eq(iot_explain(&x, &explainer, file), 0);
}

static void done(void)
{
    iot_explained_free(&x);
    iot_explainer_free(&explainer);
    iot_classes_free(&classes);
    iot_steps_free(&steps);
    iot_test_run_free(run);
}

static void expect_orders(enum iot_direction d, int first, int sequential, int strided, int random)
{
    const int64_t *orders = x.ways[d].orders;
    cr_expect_eq(orders[IOT_ORDER_FIRST], first, "%ld first", (long)orders[IOT_ORDER_FIRST]);
    cr_expect_eq(orders[IOT_ORDER_SEQUENTIAL], sequential, "%ld sequential",
                 (long)orders[IOT_ORDER_SEQUENTIAL]);
    cr_expect_eq(orders[IOT_ORDER_STRIDED], strided, "%ld strided",
                 (long)orders[IOT_ORDER_STRIDED]);
    cr_expect_eq(orders[IOT_ORDER_RANDOM], random, "%ld random", (long)orders[IOT_ORDER_RANDOM]);
}

Test(explain, positions_are_followed)
{
    start();
    uint32_t file = iot_test_run_regular(run, "/d/file");
    event(IOT_OP_OPENAT, file, 3, 0, O_RDONLY);
    event(IOT_OP_READ, file, 3, 100, 0);
    event(IOT_OP_READ, file, 3, 100, 0); /* sequential */
    run->result[event(IOT_OP_LSEEK, file, 3, 0, 1000)] = 1000;
    event(IOT_OP_READ, file, 3, 100, 0);     /* random, to 1100 */
    event(IOT_OP_PREAD, file, 3, 100, 1100); /* sequential */
    event(IOT_OP_READ, file, 3, 100, 0);     /* again at 1100: random */
    run->result[event(IOT_OP_DUP, file, 3, 0, 0)] = 7;
    event(IOT_OP_READ, file, 7, 100, 0); /* sequential: one position */
    event(IOT_OP_READ, file, 7, 0, 0);   /* the end of the file */
    explain(file);
    expect_orders(IOT_READING, 1, 3, 0, 2);
    cr_expect_eq(x.ways[IOT_READING].calls, 7);
    cr_expect_eq(x.ways[IOT_READING].empty, 1);
    done();
}

Test(explain, strides_and_chance)
{
    start();
    uint32_t file = iot_test_run_regular(run, "/d/file");
    event(IOT_OP_OPENAT, file, 3, 0, O_RDONLY);
    for (int k = 0; k < 5; k++)
        event(IOT_OP_PREAD, file, 3, 10, 4096 * k); /* first, random, then 3 strided */
    event(IOT_OP_PREAD, file, 3, 10, 77);
    event(IOT_OP_PREAD, file, 3, 10, 7000);
    explain(file);
    expect_orders(IOT_READING, 1, 0, 3, 3);
    done();
}

Test(explain, appends_and_reopens_are_no_jumps)
{
    start();
    uint32_t file = iot_test_run_regular(run, "/d/file");
    event(IOT_OP_OPENAT, file, 3, 0, O_WRONLY | O_APPEND);
    event(IOT_OP_WRITE, file, 3, 10, 0);
    event(IOT_OP_WRITE, file, 3, 10, 0);
    event(IOT_OP_CLOSE, file, 3, 0, 0);
    event(IOT_OP_OPENAT, file, 3, 0, O_RDONLY);
    event(IOT_OP_READ, file, 3, 10, 0); /* another open file: nothing before it */
    event(IOT_OP_READ, file, 3, 10, 0);
    run->err[event(IOT_OP_OPENAT, file, -1, 0, O_RDONLY)] = EACCES;
    explain(file);
    expect_orders(IOT_WRITING, 0, 2, 0, 0);
    expect_orders(IOT_READING, 1, 1, 0, 0);
    cr_expect_eq(x.opens, 3);
    cr_expect_eq(x.failed_opens, 1);
    cr_expect_eq(x.opening_processes, 1);
    done();
}

Test(explain, a_child_goes_on_where_its_parent_was)
{
    start();
    uint32_t file = iot_test_run_regular(run, "/d/file");
    event(IOT_OP_OPENAT, file, 3, 0, O_RDONLY);
    event(IOT_OP_READ, file, 3, 100, 0);
    iot_test_run_process(run, 101, 100);
    event(IOT_OP_READ, file, 3, 100, 0);
    iot_test_run_process(run, 102, 101);
    event(IOT_OP_READ, file, 3, 100, 0);
    iot_test_run_process(run, 103, 1); /* nobody's child: not known where it is */
    event(IOT_OP_READ, file, 3, 100, 0);
    explain(file);
    expect_orders(IOT_READING, 2, 2, 0, 0);
    cr_expect_eq(x.n_lanes, 4);
    done();
}

Test(explain, sizes_times_and_lanes)
{
    start();
    uint32_t file = iot_test_run_regular(run, "/d/file");
    now = WALL / 10 - 510; /* the middle of 1020 ns at a tenth's end */
    iot_test_run_expose(run, event(IOT_OP_PREAD, file, 3, 1010, 0), 500, 0);
    event(IOT_OP_PREAD, file, 3, 1024, 5000);
    iot_test_run_process(run, 101, 100);
    iot_test_run_expose(run, event(IOT_OP_PREAD, file, 3, 5000, 0), 4000, 1);
    explain(file);
    const struct iot_explained_way *way = &x.ways[IOT_READING];
    cr_expect_eq(way->sizes[9], 1);
    cr_expect_eq(way->sizes[10], 1);
    cr_expect_eq(way->sizes[12], 1);
    cr_expect_eq(way->small, 2);
    cr_expect_eq(way->bytes, 1010 + 1024 + 5000);
    cr_expect_eq(x.exposed_in[0], 250);
    cr_expect_eq(x.exposed_in[1], 4250);
    cr_expect_eq(x.service_in[0] + x.service_in[1], x.service_ns);
    cr_expect_eq(x.exposed_ns, 4500);
    cr_expect_eq(x.waited_ns, 4000);
    cr_assert_eq(x.n_lanes, 2);
    cr_expect_eq(x.lanes[0].lane, 1, "the most exposed comes first");
    cr_expect_eq(x.lanes[0].waited_ns, 4000);
    cr_expect_eq(x.lanes[1].calls, 2);
    done();
}

Test(explain, what_comes_after_the_run_is_kept_apart)
{
    start();
    uint32_t file = iot_test_run_regular(run, "/d/file");
    now = WALL - 10;
    event(IOT_OP_READ, file, 3, 90, 0); /* 100 ns, 10 of them before the end */
    explain(file);
    cr_expect_eq(x.service_in[IOT_EXPLAIN_PARTS - 1], 10);
    cr_expect_eq(x.outlived_service_ns, 90);
    done();
}

Test(explain, renames_and_copies)
{
    start();
    uint32_t old = iot_test_run_regular(run, "/d/new.tmp"),
             new = iot_test_run_regular(run, "/d/new"),
             source = iot_test_run_regular(run, "/d/source");
    run->file2[event(IOT_OP_COPY_FILE_RANGE, source, 3, 700, 0)] = old;
    iot_test_run_rename(run, old, new, now);
    explain(old);
    cr_expect_eq(x.ways[IOT_WRITING].bytes, 700);
    cr_expect_eq(x.ways[IOT_WRITING].calls, 0, "the call is the source's");
    cr_assert_eq(x.n_renames, 1);
    cr_expect_eq(x.renames[0], new);
    iot_explained_free(&x);
    cr_assert_eq(iot_explain(&x, &explainer, new), 0);
    cr_assert_eq(x.n_renames, 1);
    cr_expect_eq(x.renames[0], old);
    done();
}

Test(explain, files_are_found)
{
    uint32_t found[4];
    start();
    uint32_t a = iot_test_run_regular(run, "/d/one/model.bin"),
             b = iot_test_run_regular(run, "/d/two/model.bin"),
             c = iot_test_run_regular(run, "/d/two/[x].log");
    const struct iot_trace *t = &run->trace;
    cr_expect_eq(iot_files_find(t, "/d/one/model.bin", found, 4), 1);
    cr_expect_eq(found[0], a);
    cr_expect_eq(iot_files_find(t, "two/model.bin", found, 4), 1);
    cr_expect_eq(found[0], b);
    cr_expect_eq(iot_files_find(t, "./two/model.bin", found, 4), 1);
    cr_expect_eq(iot_files_find(t, "model.bin", found, 1), 2, "more than fit");
    cr_expect_eq(iot_files_find(t, "odel.bin", found, 4), 0, "a component is whole");
    cr_expect_eq(iot_files_find(t, "/d/two/[x].log", found, 4), 1, "a name before a glob");
    cr_expect_eq(found[0], c);
    cr_expect_eq(iot_files_find(t, "*.bin", found, 4), 2);
    cr_expect_eq(iot_files_find(t, "/d/t*", found, 4), 2);
    cr_expect_eq(iot_files_find(t, "", found, 4), 0);
    cr_assert_eq(iot_files_nearest(t, "modle.bin", found, 1), 1);
    cr_expect(found[0] == a || found[0] == b);
    cr_expect_eq(iot_files_nearest(t, "qqqqqqqq", found, 4), 0);
    uint32_t d = iot_test_run_regular(run, "gpu0:HtoD");
    uint32_t again = iot_test_run_regular(run, "gpu0:HtoD, too");
    memset(strchr(run->files[again].name, ','), 0, 1);
    iot_test_run_regular(run, "gpu1:HtoD");
    cr_expect_eq(iot_files_nearest(t, "HtoD", found, 4), 2, "of one name one");
    cr_expect_eq(found[0], d);
    cr_expect_eq(iot_files_nearest(t, "*htod*", found, 4), 2);
    cr_expect_eq(iot_files_nearest(t, "one/mod", found, 4), 1, "a part of it is enough");
    cr_expect_eq(found[0], a);
    cr_expect_eq(iot_files_nearest(t, "", found, 4), 0);
    cr_expect_eq(iot_files_nearest(t, "*", found, 4), 0);
    iot_test_run_free(run);
}

Test(explain, steps_a_file_was_read_in)
{
    char *text = NULL;
    size_t n = 0;
    start();
    uint32_t file = iot_test_run_regular(run, "/d/tokens");
    for (int i = 0; i < 4; i++) {
        run->result[event(IOT_OP_MARK, 0, -1, 0, 0)] = 1;
        if (i != 2)
            event(IOT_OP_READ, file, 3, 4096, 0);
    }
    explain(file);
    FILE *out = open_memstream(&text, &n);
    iot_explain_write_text(&x, out);
    fclose(out);
    cr_expect_not_null(strstr(text, "Read or mapped in 3 of 4 steps."), "%s", text);
    free(text);
    done();
}

Test(explain, eighty_columns_whatever_the_name)
{
    char name[600], *text = NULL;
    size_t n = 0;
    start();
    memset(name, 'x', sizeof name - 1);
    memcpy(name, "/d/\n\033[31m\xff", 10);
    name[sizeof name - 1] = '\0';
    uint32_t file = iot_test_run_regular(run, name), other = iot_test_run_regular(run, "/d/y");
    iot_test_run_expose(run, event(IOT_OP_WRITE, file, 3, 4096, 0), 4000, 0);
    iot_test_run_rename(run, other, file, now);
    explain(file);
    FILE *out = open_memstream(&text, &n);
    iot_explain_write_text(&x, out);
    fclose(out);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        cr_expect_leq(strlen(line), 80, "%s", line);
        cr_expect_null(strpbrk(line, "\033\xff"));
    }
    free(text);
    done();
}
