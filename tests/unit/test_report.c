#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/mapped.h"
#include "analyzer/gain.h"
#include "analyzer/report_json.h"
#include "analyzer/report_ledger.h"
#include "analyzer/report_markdown.h"
#include "analyzer/report_text.h"
#include "analyzer/text.h"
#include "tests/unit/runs.h"

#define WALL INT64_C(1000000000)

/* In place of the replay: as if all I/O were in one lane. */
int64_t iot_model_recoverable(const struct iot_model *model, const uint8_t *selected)
{
    int64_t sum = 0;
    for (size_t i = 0; i < model->trace->events.n; i++)
        sum += selected[i] ? model->exposed_ns[i] : 0;
    return sum;
}

int64_t iot_gain(const struct iot_model *model, const int64_t *service_ns)
{
    int64_t sum = 0;
    for (size_t i = 0; i < model->trace->events.n; i++)
        sum += model->service_ns[i] > service_ns[i] ? model->exposed_ns[i] : 0;
    return sum;
}

static struct iot_classes classes;
static struct iot_steps steps;
static struct iot_report report;

static void make(struct iot_test_run *run, size_t top)
{
    cr_assert_eq(iot_classify(&classes, &run->trace, NULL, NULL), 0);
    cr_assert_eq(iot_report_make(&report, &run->trace, &run->model, &classes, &steps, top), 0);
}

static void done(struct iot_test_run *run)
{
    iot_report_free(&report);
    iot_classes_free(&classes);
    iot_test_run_free(run);
}

static const struct iot_report_file *row(const char *path, int object)
{
    for (size_t i = 0; i < report.n_files; i++)
        if (!strcmp(report.files[i].path, path) && report.files[i].object == object)
            return &report.files[i];
    return NULL;
}

static uint64_t state;

static uint64_t below(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % n;
}

static struct iot_test_run *random_run(uint64_t seed)
{
    static const enum iot_op ops[] = {
        IOT_OP_READ,  IOT_OP_WRITE,   IOT_OP_PREAD,    IOT_OP_OPENAT, IOT_OP_CLOSE,
        IOT_OP_FSYNC, IOT_OP_STAT,    IOT_OP_SENDFILE, IOT_OP_SYNC,   IOT_OP_SYNCFS,
        IOT_OP_MSYNC, IOT_OP_WAITPID, IOT_OP_SLEEP,    IOT_OP_RENAME, IOT_OP_EXIT,
    };
    static const char *const folders[] = {"/d/train/%llu.bin", "/m/%llu.safetensors",
                                          "/o/%llu.log",       "/swap/%llu",
                                          "/etc/%llu",         "pipe:[%llu]"};
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t files[60] = {0};
    state = seed;
    size_t n_files = 1 + below(59);
    for (size_t f = 1; f < n_files; f++) {
        char name[64];
        size_t folder = below(6);
        snprintf(name, sizeof name, folders[folder], (unsigned long long)f);
        files[f] = iot_test_run_file(run, name, folder == 5 ? IOT_FILE_PIPE : IOT_FILE_REGULAR);
        run->files[files[f]].standard = (uint8_t)(below(4) ? 0 : below(8));
    }
    for (size_t n = below(1500), i = 0; i < n; i++) {
        enum iot_op op = ops[below(sizeof ops / sizeof *ops)];
        int moves = iot_op_info(op)->class_ == IOT_DATA;
        uint32_t file = iot_op_info(op)->subject ? files[below(n_files)] : 0;
        size_t e = iot_test_run_event(run, op, file, moves ? (int64_t)below(20000) : 0,
                                      (int64_t)i * WALL / 2000);
        if (iot_op_info(op)->moves == IOT_BOTH || op == IOT_OP_RENAME)
            run->file2[e] = files[below(n_files)];
        if (run->part[e] == IOT_PART_IO && below(2))
            iot_test_run_expose(run, e, (int64_t)below((uint64_t)run->service[e] + 1),
                                (int)below(2));
    }
    return run;
}

/* --- conservation --- */

static int64_t number(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

static void expect_sums(const json_t *rows, const json_t *whole, const char *object)
{
    static const char *const keys[] = {
        "data_ops",    "metadata_ops", "sync_ops",  "bytes",     "service_ns",
        "exposed_ns",  "blocking_ns",  "waited_ns", "hidden_ns", "read_bytes",
        "write_bytes", "small_ops",    "opens",
    };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const json_t *one;
        size_t i;
        int64_t sum = 0;
        if (!json_object_get(whole, keys[k]))
            continue;
        for (i = 0; i < json_array_size(rows); i++) {
            one = json_array_get(rows, i);
            if (!object || !strcmp(json_string_value(json_object_get(one, "object")), object))
                sum += number(one, keys[k]);
        }
        cr_expect_eq(sum, number(whole, keys[k]), "%s of %s", keys[k], object ? object : "total");
    }
}

static void expect_row(const json_t *r)
{
    const json_t *recoverable = json_object_get(r, "recoverable_ns");
    int64_t service = number(r, "service_ns"), exposed = number(r, "exposed_ns");
    cr_expect_eq(number(r, "blocking_ns") + number(r, "waited_ns"), exposed);
    cr_expect_eq(exposed + number(r, "hidden_ns"), service);
    cr_expect(exposed >= 0 && exposed <= service);
    cr_expect_eq(number(r, "read_bytes") + number(r, "write_bytes"), number(r, "bytes"));
    if (!json_is_null(recoverable))
        cr_expect(number(r, "recoverable_ns") >= 0 && number(r, "recoverable_ns") <= service);
}

static json_t *as_json(void)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    json_error_t error;
    cr_assert_eq(iot_report_write_json(&report, out), 0);
    fclose(out);
    json_t *json = json_loadb(text, size, 0, &error);
    cr_assert_not_null(json, "%s at %d", error.text, error.position);
    free(text);
    return json;
}

/* What is in the phases is in the run, once each. */
static void expect_phases(const json_t *phases, const json_t *objects)
{
    for (size_t o = 0; o < IOT_OBJECTS; o++) {
        json_t *parts = json_array();
        for (size_t p = 0; p < json_array_size(phases); p++) {
            const json_t *in = json_object_get(json_array_get(phases, p), "objects");
            expect_row(json_array_get(in, o));
            json_array_append(parts, json_array_get(in, o));
        }
        expect_sums(parts, json_array_get(objects, o), NULL);
        json_decref(parts);
    }
}

static void expect_conserved(const struct iot_test_run *run, size_t top)
{
    json_t *json = as_json();
    const json_t *objects = json_object_get(json, "objects"),
                 *files = json_object_get(json, "files");
    const json_t *total = json_object_get(json, "total");
    int64_t exposed = 0, service = 0, calls = 0;
    for (size_t i = 0; i < run->trace.events.n; i++) {
        unsigned class_ = iot_op_info(run->op[i])->class_;
        exposed += run->exposed[i];
        service += run->service[i];
        calls += class_ == IOT_DATA || class_ == IOT_META || class_ == IOT_SYNC;
    }
    cr_expect_eq(number(total, "exposed_ns"), exposed);
    cr_expect_eq(number(total, "recoverable_ns"), exposed);
    cr_expect_eq(number(total, "service_ns"), service);
    cr_expect_eq(number(total, "data_ops") + number(total, "metadata_ops") +
                     number(total, "sync_ops"),
                 calls);
    cr_assert_eq(json_array_size(objects), IOT_OBJECTS);
    expect_sums(objects, total, NULL);
    expect_phases(json_object_get(json, "phases"), objects);
    size_t rest = 0;
    for (size_t o = 0; o < IOT_OBJECTS; o++) {
        const json_t *object = json_array_get(objects, o);
        cr_expect_str_eq(json_string_value(json_object_get(object, "object")), iot_object_names[o]);
        expect_row(object);
        expect_sums(files, object, iot_object_names[o]);
    }
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *file = json_array_get(files, i);
        expect_row(file);
        rest += json_string_value(json_object_get(file, "path"))[0] == '(' && i >= top;
        if (i < top && i < IOT_RECOVERABLE_FILES)
            cr_expect(json_is_integer(json_object_get(file, "recoverable_ns")));
    }
    cr_expect_leq(json_array_size(files), top == SIZE_MAX ? SIZE_MAX : top + rest);
    json_decref(json);
}

static void expect_order(size_t top)
{
    for (size_t i = 1; i < report.n_files && i < top; i++) {
        const struct iot_report_file *a = &report.files[i - 1], *b = &report.files[i];
        cr_expect_geq(a->figures.exposed_ns, b->figures.exposed_ns);
        if (a->figures.exposed_ns == b->figures.exposed_ns)
            cr_expect_geq(a->figures.service_ns, b->figures.service_ns);
    }
}

Test(report, conserves_whatever_was_traced)
{
    static const size_t tops[] = {SIZE_MAX, 0, 1, 7};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct iot_test_run *run = random_run(seed);
        int64_t starts[5] = {0};
        for (size_t i = 1; i < 5; i++)
            starts[i] = starts[i - 1] + (int64_t)below(WALL / 4);
        steps = (struct iot_steps){.starts_ns = starts + 1,
                                   .n = below(5),
                                   .end_ns = starts[4] + (int64_t)below(WALL / 8),
                                   .source = IOT_STEPS_MARKS};
        make(run, tops[seed % 4]);
        expect_conserved(run, tops[seed % 4]);
        expect_order(tops[seed % 4]);
        done(run);
    }
}

/* --- figures --- */

Test(report, sendfile_counts_bytes_at_both_ends)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t from = iot_test_run_regular(run, "/d/a.jpg"), to = iot_test_run_regular(run, "/d/b");
    run->file2[iot_test_run_event(run, IOT_OP_SENDFILE, from, 5000, 0)] = to;
    make(run, SIZE_MAX);
    const struct iot_report_file *a = row("/d/a.jpg", IOT_INPUT), *b = row("/d/b", IOT_OUTPUT);
    cr_assert(a && b);
    cr_expect_eq(a->figures.read_bytes, 5000);
    cr_expect_eq(a->figures.service_ns, 5010);
    cr_expect_eq(a->figures.data_ops, 1);
    cr_expect_eq(b->figures.write_bytes, 5000);
    cr_expect_eq(b->figures.service_ns, 0);
    cr_expect_eq(report.total.bytes, 10000);
    done(run);
}

Test(report, two_objects_of_one_path_are_two_rows)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t tty = iot_test_run_file(run, "/dev/pts/1", IOT_FILE_CHARACTER);
    iot_test_run_event(run, IOT_OP_READ, tty, 10, 0);
    iot_test_run_event(run, IOT_OP_WRITE, tty, 4095, 0);
    iot_test_run_event(run, IOT_OP_WRITE, tty, 4096, 0);
    iot_test_run_event(run, IOT_OP_WRITE, tty, 0, 0);
    make(run, SIZE_MAX);
    cr_assert(row("/dev/pts/1", IOT_INPUT) && row("/dev/pts/1", IOT_OUTPUT));
    cr_expect_eq(row("/dev/pts/1", IOT_INPUT)->figures.bytes, 10);
    cr_expect_eq(row("/dev/pts/1", IOT_OUTPUT)->figures.small_ops, 1);
    cr_expect_eq(row("/dev/pts/1", IOT_OUTPUT)->figures.timed_ops, 3);
    cr_expect_eq(row("/dev/pts/1", IOT_OUTPUT)->figures.latency.max_ns, 4106);
    done(run);
}

Test(report, syncs_of_whole_file_systems)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    run->processes[0].mounts = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
                               "2 1 8:2 / /mnt/a\\040b rw,relatime shared:2 - xfs /dev/sdb1 rw\n"
                               "3 1 8:3 / /mnt/a rw - tmp";
    uint32_t file = iot_test_run_regular(run, "/mnt/a b/file");
    iot_test_run_event(run, IOT_OP_WRITE, file, 10, 0);
    iot_test_run_event(run, IOT_OP_SYNCFS, file, 0, 20);
    iot_test_run_event(run, IOT_OP_SYNCFS, file, 0, 40);
    iot_test_run_event(run, IOT_OP_SYNC, 0, 0, 60);
    make(run, SIZE_MAX);
    cr_assert_not_null(row("fs:/mnt/a b", IOT_OUTPUT));
    cr_expect_eq(row("fs:/mnt/a b", IOT_OUTPUT)->figures.sync_ops, 2);
    cr_assert_not_null(row("fs:*", IOT_OUTPUT));
    cr_expect_eq(report.run.n_filesystems, 1);
    cr_expect_str_eq(report.run.filesystems[0], "/mnt/a b xfs");
    done(run);
}

Test(report, msync_is_of_what_is_mapped_there)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t first = iot_test_run_regular(run, "/d/first"),
             later = iot_test_run_regular(run, "/d/b");
    static const struct {
        int64_t t0, address, bytes;
    } maps[2] = {{0, 0x10000, 0x3000}, {100, 0x11000, 0x1000}};
    for (int i = 0; i < 2; i++) {
        size_t e = iot_test_run_event(run, IOT_OP_MMAP, i ? later : first, 0, maps[i].t0);
        run->result[e] = maps[i].address;
        run->addr[e] = (uint64_t)maps[i].bytes;
    }
    static const uint64_t synced[3] = {0x12000, 0x11000, 0x13000};
    for (int i = 0; i < 3; i++)
        run->addr[iot_test_run_event(run, IOT_OP_MSYNC, 0, 0, 200 + i)] = synced[i];
    cr_assert_eq(iot_mapped_resolve(&run->trace), 0);
    make(run, SIZE_MAX);
    cr_assert(row("/d/first", IOT_OUTPUT) && row("/d/b", IOT_OUTPUT) &&
              row("(no file)", IOT_OTHER));
    cr_expect_eq(row("/d/first", IOT_OUTPUT)->figures.sync_ops, 1);
    cr_expect_eq(row("/d/b", IOT_OUTPUT)->figures.sync_ops, 1);
    cr_expect_eq(row("(no file)", IOT_OTHER)->figures.sync_ops, 1);
    cr_expect_str_eq(row("/d/b", IOT_OUTPUT)->why, "written through a mapping");
    done(run);
}

Test(report, the_run_itself)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    iot_test_run_event(run, IOT_OP_FORK, 0, 101, 0);
    run->result[iot_test_run_event(run, IOT_OP_SPAWN, 0, 0, 5)] = 200;
    run->result[iot_test_run_event(run, IOT_OP_WAITPID, 0, 0, 10)] = 101;
    run->processes[0].usage_end = (struct iot_usage){1000, 500, 7};
    iot_test_run_process(run, 101, 100); /* forked, then executed something twice */
    uint32_t tool = iot_test_run_regular(run, "/opt/static");
    run->processes[1].end = IOT_END_EXEC;
    run->processes[1].start_ns = 1;
    iot_test_run_process(run, 101, 100);
    iot_test_run_event(run, IOT_OP_EXEC, tool, 0, 100);
    run->processes[2].end = IOT_END_EXEC;
    run->processes[2].start_ns = 2;
    run->processes[2].usage_end = (struct iot_usage){600, 500, 3};
    make(run, SIZE_MAX);
    cr_expect_eq(report.run.processes, 2);
    cr_expect_eq(report.run.lanes, 2);
    cr_expect_eq(report.run.storage_read_bytes, 1000, "a child's are in its parent's");
    cr_expect_eq(report.run.runqueue_ns, 10);
    cr_assert_eq(report.run.n_untraced, 2);
    cr_expect_eq(report.run.untraced[0].pid, 101);
    cr_expect_not_null(strstr(report.run.untraced[0].why, "/opt/static"));
    cr_expect_eq(report.run.untraced[1].pid, 200);
    done(run);
}

static void expect_scope(int64_t opened, int64_t resident, int64_t read, const char *scope)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t file = iot_test_run_regular(run, "/d/a.safetensors");
    run->files[file].opened_bytes = opened;
    run->files[file].resident_bytes = resident;
    iot_test_run_event(run, IOT_OP_READ, file, read, 0);
    make(run, SIZE_MAX);
    cr_expect_str_eq(iot_cache_scope(&report.files[0].figures), scope);
    cr_expect_str_eq(iot_cache_scope(&report.objects[IOT_ARTIFACT].figures), scope);
    cr_expect_eq(report.run.file_read_bytes, read);
    done(run);
}

Test(report, cache_scopes)
{
    expect_scope(0, 0, 100, "unknown");
    expect_scope(1000, 0, 100, "cold");
    expect_scope(1000, 50, 100, "cold");
    expect_scope(1000, 51, 100, "mixed");
    expect_scope(1000, 949, 100, "mixed");
    expect_scope(1000, 950, 100, "warm");
    expect_scope(1000, 1000, 0, "unknown"); /* nothing was read of it */
}

Test(report, when_an_artifact_is_ready)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t file = iot_test_run_regular(run, "/d/a.safetensors");
    run->files[file].size = 2000;
    iot_test_run_event(run, IOT_OP_STAT, file, 0, 0); /* by name: before */
    static const struct {
        enum iot_op op;
        int64_t bytes, t0;
    } calls[] = {{IOT_OP_OPEN, 0, 1000},
                 {IOT_OP_READ, 1000, 2000},
                 {IOT_OP_READ, 1000, 5000},
                 {IOT_OP_READ, 1000, 90000},
                 {IOT_OP_CLOSE, 0, 100000}};
    for (size_t i = 0; i < 5; i++)
        run->fd[iot_test_run_event(run, calls[i].op, file, calls[i].bytes, calls[i].t0)] = 3;
    make(run, SIZE_MAX);
    cr_assert(report.files[0].ready.known);
    cr_expect_eq(report.files[0].ready.storage_ns, 10 + 1010 + 1010);
    cr_expect_eq(report.files[0].ready.decode_ns, 1990);
    done(run);
}

/* --- ledger --- */

Test(report, the_ledger_gives_the_totals_back)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct iot_test_run *run = random_run(seed);
        make(run, SIZE_MAX);
        struct io_ledger_event events[IOT_OTHER];
        struct io_ledger ledger;
        for (int o = 0; o < IOT_OTHER; o++)
            events[o] = iot_ledger_event((enum iot_object)o, &report.objects[o].figures);
        cr_assert_eq(io_critical_path_ledger(events, IOT_OTHER, &ledger, NULL), IO_LEDGER_OK);
        for (int o = 0; o < IOT_OTHER; o++) {
            const struct iot_figures *f = &report.objects[o].figures;
            cr_expect_eq(ledger.objects[o].bytes, f->bytes);
            cr_expect_float_eq(ledger.objects[o].service_ms, (double)f->service_ns / 1e6, 1e-9);
            cr_expect_float_eq(ledger.objects[o].exposed_ms, (double)f->exposed_ns / 1e6, 1e-9);
        }
        done(run);
    }
}

/* --- Markdown --- */

Test(report, markdown_says_what_it_says_whatever_the_names)
{
    static const char name[] =
        "/a|b`c`\n\n# d\x1b[2J<img src=x onerror=y>&amp;*_[x](http://e)\\|@me#1\xff";
    struct iot_test_run *run = iot_test_run_new(WALL);
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, name), 100, 0);
    make(run, SIZE_MAX);
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iot_report_write_markdown(&report, out, SIZE_MAX);
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
    done(run);
}

/* --- text --- */

static char *as_text(const struct iot_text_style *style)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iot_report_write_text(&report, out, style);
    fclose(out);
    return text;
}

static void expect_narrow(char *text)
{
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        cr_expect_leq(iot_printable_columns(line, strlen(line)), 80, "%s", line);
        for (const char *p = line; *p; p++)
            cr_expect_neq((unsigned char)*p < 0x20, 1, "%s", line);
    }
}

Test(report, text_has_80_columns_whatever_the_names)
{
    static const char *const names[] = {
        "/a\x1b[2J\x1b]0;x\a",
        "/d/\n\nverdict: all is well\n",
        "/\xff\xfe\xc2\x9b",
        "/d/\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2",
    };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct iot_test_run *run = random_run(seed);
        char longest[3000] = "/";
        memset(longest + 1, 'x', sizeof longest - 2);
        for (size_t i = 0; i < 5; i++) {
            uint32_t file = iot_test_run_regular(run, i < 4 ? names[i] : longest);
            size_t e = iot_test_run_event(run, IOT_OP_READ, file, 100000000, 0);
            iot_test_run_expose(run, e, 90000000 + (int64_t)i, 0);
        }
        run->trace.damage = longest;
        run->trace.salvaged_processes = 1;
        make(run, seed % 2 ? SIZE_MAX : 6);
        char *text = as_text(&(struct iot_text_style){.all_files = seed % 2 == 0});
        cr_expect_eq(strncmp(text, "I/O ", 4), 0);
        expect_narrow(text);
        free(text);
        done(run);
    }
}

static void expect_verdict(int64_t exposed, int waited, enum iot_op op, const char *says)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t file = iot_test_run_regular(run, op == IOT_OP_WRITE ? "/d/out" : "/d/a.jpg");
    size_t e = iot_test_run_event(run, op, file, WALL / 2, 0);
    iot_test_run_expose(run, e, exposed, waited);
    make(run, SIZE_MAX);
    char *text = as_text(&(struct iot_text_style){.brief = true});
    for (char *p = text; *p; p++) /* the sentence may be on two lines */
        if (*p == '\n')
            *p = ' ';
    cr_expect_not_null(strstr(text, says), "expected '%s' in: %s", says, text);
    free(text);
    done(run);
}

Test(report, the_verdict)
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

Test(report, colour_only_where_asked_for)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    make(run, SIZE_MAX);
    char *plain = as_text(&(struct iot_text_style){0});
    char *coloured = as_text(&(struct iot_text_style){.colour = true});
    cr_expect_null(strchr(plain, '\x1b'));
    cr_expect_not_null(strchr(coloured, '\x1b'));
    free(plain);
    free(coloured);
    done(run);
}
