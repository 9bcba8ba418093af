/* The report as text and Markdown. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/lane_names.h"
#include "analyzer/report_markdown.h"
#include "analyzer/report_text.h"
#include "analyzer/text.h"
#include "tests/unit/report_runs.h"

#define WALL IOT_TEST_WALL

/* --- Markdown --- */

/* Inlined, gcc 12 takes what it returns for a pointer to its own variable. */
__attribute__((noinline)) static char *as_text(const struct iot_text_style *style)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iot_report_write_text(&iot_test_report, out, style);
    fclose(out);
    return text;
}

Test(pages, markdown_says_what_it_says_whatever_the_names)
{
    static const char name[] =
        "/a|b`c`\n\n# d\x1b[2J<img src=x onerror=y>&amp;*_[x](http://e)\\|@me#1\xff";
    struct iot_test_run *run = iot_test_run_new(WALL);
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, name), 100, 0);
    iot_make_report(run, SIZE_MAX);
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iot_report_write_markdown(&iot_test_report, out, SIZE_MAX);
    fclose(out);
    char *cell = strstr(text, "<code>/a");
    cr_assert_not_null(cell);
    char *end = strstr(cell, "</code>");
    cr_assert_not_null(end);
    for (const char *p = cell + strlen("<code>"); p < end; p++)
        cr_expect_null(strchr("|`\n\x1b<>*_[]\\@:", *p), "'%c' in %.*s", *p, (int)(end - cell),
                       cell);
    cr_expect_null(strstr(text, "\xff"));
    int columns = 0;
    for (const char *p = end; *p != '\n'; p++)
        columns += *p == '|';
    cr_expect_eq(columns, 3, "%s", end);
    free(text);
    iot_free_report(run);
}

__attribute__((noinline)) static char *as_markdown(size_t files)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iot_report_write_markdown(&iot_test_report, out, files);
    fclose(out);
    return text;
}

/* A comment on GitHub. */
Test(pages, markdown_fits_a_comment_whatever_the_names)
{
    static const char *command[41];
    struct iot_test_run *run = iot_test_run_new(WALL);
    char name[4096] = "/";
    for (int k = 0; k < 40; k++)
        command[k] = name;
    for (int f = 0; f < 30; f++) {
        memset(name + 1, "|*<\xff"[f % 4], sizeof name - 2);
        name[1] = (char)('a' + f % 26);
        size_t e = iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, name), 100000, 0);
        iot_test_run_expose(run, e, 1000 + f, f % 2);
    }
    run->processes[0].command = command;
    iot_make_report(run, SIZE_MAX);
    char *text = as_markdown(20);
    cr_expect_lt(strlen(text), 65536);
    cr_expect_not_null(strstr(text, "10 more files"));
    free(text);
    iot_free_report(run);
}

/* In place of what was found. */
static void report_queue(const struct iot_queue *queue)
{
    iot_test_report.queues = malloc(sizeof *queue);
    *iot_test_report.queues = *queue;
    iot_test_report.n_queues = 1;
}

/* All that the text says, Markdown says. */
Test(pages, markdown_is_as_complete_as_text)
{
    static const char *const headings[] = {
        "Steps",  "What the program marks", "Who waited for whom",
        "Queues", "What to do",             "Not seen",            "Not proved"};
    static const struct iot_range range = {
        .name = "load|*", .n = 3, .total_ns = WALL / 4, .p50_ns = WALL / 16, .p95_ns = WALL / 8};
    static const struct iot_named_mark mark = {"reload", 2, WALL / 8, WALL / 4};
    struct iot_waited waited = {"main thread", "reader",  "reading", "/d/*.jpg",
                                IOT_INPUT,     WALL / 9, 0};
    struct iot_queue queue = {.name = "pipe:[7]",
                              .producer = "reader",
                              .consumer = "main thread",
                              .messages = 20,
                              .mean_length = 1.5,
                              .max_length = 3};
    struct iot_test_run *run = iot_test_run_new(WALL);
    int64_t starts[2] = {WALL / 4, WALL / 2};
    size_t e = iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/1.jpg"), WALL / 5,
                                  WALL / 4 + 1);
    iot_test_run_expose(run, e, WALL / 5, 0);
    run->model.path = (struct iot_path_parts){.compute_ns = WALL - WALL / 5, .io_ns = WALL / 5};
    iot_test_steps = (struct iot_steps){
        .starts_ns = starts, .n = 2, .end_ns = WALL, .anchor = e, .source = IOT_STEPS_MARKS};
    iot_make_report(run, SIZE_MAX);
    iot_test_report.waits = malloc(sizeof waited);
    *iot_test_report.waits = waited;
    iot_test_report.n_waits = 1;
    report_queue(&queue);
    iot_test_report.ranges = malloc(sizeof range);
    *iot_test_report.ranges = range;
    iot_test_report.marks = malloc(sizeof mark);
    *iot_test_report.marks = mark;
    iot_test_report.n_ranges = iot_test_report.n_marks = 1;
    char *text = as_text(&(struct iot_text_style){0}), *markdown = as_markdown(20);
    for (size_t k = 0; k < sizeof headings / sizeof *headings; k++) {
        char there[64];
        snprintf(there, sizeof there, "\n%s\n", headings[k]);
        cr_expect_not_null(strstr(text, there), "%s", there);
        snprintf(there, sizeof there, "\n## %s\n\n", headings[k]);
        cr_expect_not_null(strstr(markdown, there), "%s", there);
    }
    cr_expect_not_null(strstr(markdown, "| total | 1 |"), "%s", markdown);
    cr_expect_not_null(strstr(markdown, "Without any I/O it would take 800 ms"), "%s", markdown);
    cr_expect_not_null(strstr(markdown, "| steady |"), "%s", markdown);
    cr_expect_not_null(strstr(markdown, "- On average: input 0.5 calls"), "%s", markdown);
    cr_expect_not_null(strstr(markdown, "100 ms exposed (P95 "), "%s", markdown);
    cr_expect_not_null(strstr(markdown, "| 3 | 250 ms | 62.5 ms | 125 ms |"), "%s", markdown);
    cr_expect_not_null(strstr(markdown, "- 125 ms to 250 ms, 2 times: reload"), "%s", markdown);
    cr_expect_not_null(strstr(markdown, "which was reading &#96;/d/&#42;.jpg&#96;"), "%s",
                       markdown);
    cr_expect_not_null(strstr(text, "Without any I/O it would take"), "%s", text);
    free(text);
    free(markdown);
    iot_test_steps = (struct iot_steps){0};
    iot_free_report(run);
}

/* --- text --- */

static void expect_narrow(char *text)
{
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        cr_expect_leq(iot_printable_columns(line, strlen(line)), 80, "%s", line);
        for (const char *p = line; *p; p++)
            cr_expect_neq((unsigned char)*p < 0x20, 1, "%s", line);
    }
}

Test(pages, text_has_80_columns_whatever_the_names)
{
    static const char *const names[] = {
        "/a\x1b[2J\x1b]0;x\a",
        "/d/\n\nverdict: all is well\n",
        "/\xff\xfe\xc2\x9b",
        "/d/\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2",
    };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct iot_test_run *run = iot_random_run(seed);
        char longest[3000] = "/";
        memset(longest + 1, 'x', sizeof longest - 2);
        for (size_t i = 0; i < 5; i++) {
            uint32_t file = iot_test_run_regular(run, i < 4 ? names[i] : longest);
            size_t e = iot_test_run_event(run, IOT_OP_READ, file, 100000000, 0);
            iot_test_run_expose(run, e, 90000000 + (int64_t)i, 0);
        }
        run->trace.damage = longest;
        run->trace.salvaged_processes = 1;
        iot_make_report(run, seed % 2 ? SIZE_MAX : 6);
        char *text = as_text(&(struct iot_text_style){.all_files = seed % 2 == 0});
        cr_expect_eq(strncmp(text, "I/O ", 4), 0);
        expect_narrow(text);
        free(text);
        iot_free_report(run);
    }
}

/* SIZE_MAX: it is not in it. */
static size_t place(const char *text, const char *part)
{
    const char *found = strstr(text, part);
    return found ? (size_t)(found - text) : SIZE_MAX;
}

/* What --top cuts is below the files, by object, and said to be added up. */
Test(pages, the_files_that_top_cuts)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    for (int f = 0; f < 5; f++) {
        char name[32];
        snprintf(name, sizeof name, "/d/%d.jpg", f);
        size_t e =
            iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, name), 1000000, 0);
        iot_test_run_expose(run, e, 1000000 - f, 0);
    }
    iot_make_report(run, 2);
    char *text = as_text(&(struct iot_text_style){.all_files = true}), *markdown = as_markdown(20);
    size_t above = place(text, "/d/1.jpg"), heading = place(text, "the other files, added up"),
           rest = place(text, "  3.00 ms input    3 more files\n");
    cr_expect(above < heading && heading < rest && rest < SIZE_MAX, "%s", text);
    cr_expect_null(strstr(text, "/d/2.jpg"));
    cr_expect_not_null(strstr(markdown, "| input | 3 more files | "), "%s", markdown);
    free(text);
    free(markdown);
    iot_free_report(run);
}

/* Nobody need wonder why a pipe is state in one table and input in another. */
Test(pages, what_a_pipe_carries)
{
    for (int object = IOT_INPUT; object <= IOT_STATE; object++) {
        struct iot_queue queue = {.name = "pipe:[7]",
                                  .object = (uint8_t)object,
                                  .producer = "worker 1",
                                  .consumer = "main thread",
                                  .max_length = 3};
        struct iot_test_run *run = iot_test_run_new(WALL);
        iot_make_report(run, SIZE_MAX);
        report_queue(&queue);
        char *text = as_text(&(struct iot_text_style){0}), *markdown = as_markdown(20);
        int said = strstr(text, "on a pipe itself are counted as state") != NULL;
        cr_expect_eq(said, object != IOT_STATE, "%s", text);
        said = strstr(markdown, "on a pipe itself are counted as state") != NULL;
        cr_expect_eq(said, object != IOT_STATE, "%s", markdown);
        free(text);
        free(markdown);
        iot_free_report(run);
    }
}

static void expect_name(struct iot_test_run *run, uint32_t lane, const char *name)
{
    struct iot_arena *arena = iot_arena_new();
    const char *got = iot_lane_name(&run->trace, lane, arena);
    cr_expect_str_eq(got, name, "expected '%s', got '%s'", name, got);
    iot_arena_free(arena);
}

/* Where there are several processes, a thread is named with its own. */
Test(pages, names_of_threads)
{
    static const char *const script[] = {"python3", "/home/u/train.py", "-x", NULL},
                             *const line[] = {"python3", "-c", "import os", NULL};
    struct iot_test_run *run = iot_test_run_new(WALL);
    run->processes[0].exe = "/usr/bin/python3.11";
    run->processes[0].command = script;
    expect_name(run, 0, "main thread");
    iot_test_run_process(run, 101, 100);
    run->processes[1].exe = "/usr/bin/python3.11";
    iot_test_run_process(run, 102, 100);
    run->processes[2].exe = "/usr/bin/gzip";
    expect_name(run, 0, "main thread of train.py");
    expect_name(run, 1, "worker 1");
    expect_name(run, 2, "gzip (102)");
    run->lanes[0].number = run->lanes[1].number = 2;
    expect_name(run, 0, "thread 2 of train.py");
    expect_name(run, 1, "thread 2 of worker 1");
    run->processes[0].command = line;
    expect_name(run, 0, "thread 2 of python3.11");
    run->processes[0].exe = "/opt/server";
    run->processes[0].command = script; /* it is no interpreter: what it is given may be anything */
    expect_name(run, 0, "thread 2 of server");
    iot_test_run_free(run);
}

static void expect_verdict(int64_t exposed, int waited, enum iot_op op, const char *says)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t file = iot_test_run_regular(run, op == IOT_OP_WRITE ? "/d/out" : "/d/a.jpg");
    size_t e = iot_test_run_event(run, op, file, WALL / 2, 0);
    iot_test_run_expose(run, e, exposed, waited);
    iot_make_report(run, SIZE_MAX);
    char *text = as_text(&(struct iot_text_style){.brief = true});
    for (char *p = text; *p; p++) /* the sentence may be on two lines */
        if (*p == '\n')
            *p = ' ';
    cr_expect_not_null(strstr(text, says), "expected '%s' in: %s", says, text);
    free(text);
    iot_free_report(run);
}

Test(pages, the_verdict)
{
    expect_verdict(0, 0, IOT_OP_READ,
                   "I/O is not what limits this run of 1.00 s: it adds nothing.");
    expect_verdict(WALL / 200, 0, IOT_OP_READ,
                   "I/O is not what limits this run: it adds 5.00 ms to 1.00 s (0.5 %).");
    expect_verdict(WALL / 8, 0, IOT_OP_READ,
                   "I/O adds 125 ms to this run of 1.00 s (12 %), most of it input that is read");
    expect_verdict(WALL / 8, 1, IOT_OP_READ, "input that starves the run");
    expect_verdict(WALL / 8, 0, IOT_OP_WRITE, "output that is written before work can go on");
    expect_verdict(WALL / 8, 1, IOT_OP_WRITE, "back-pressure");
}

Test(pages, colour_only_where_asked_for)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    iot_make_report(run, SIZE_MAX);
    char *plain = as_text(&(struct iot_text_style){0});
    char *coloured = as_text(&(struct iot_text_style){.colour = true});
    cr_expect_null(strchr(plain, '\x1b'));
    cr_expect_not_null(strchr(coloured, '\x1b'));
    free(plain);
    free(coloured);
    iot_free_report(run);
}
