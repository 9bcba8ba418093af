#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/ledger_json.h"
#include "analyzer/mapped.h"
#include "analyzer/phases.h"
#include "analyzer/report_json.h"
#include "analyzer/report_ledger.h"
#include "tests/unit/report_runs.h"

#define WALL IOT_TEST_WALL

static const struct iot_report_file *row(const char *path, int object)
{
    for (size_t i = 0; i < iot_test_report.n_files; i++)
        if (!strcmp(iot_test_report.files[i].path, path) &&
            iot_test_report.files[i].object == object)
            return &iot_test_report.files[i];
    return NULL;
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
    cr_assert_eq(iot_report_write_json(&iot_test_report, out), 0);
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
    for (size_t i = 1; i < iot_test_report.n_files && i < top; i++) {
        const struct iot_report_file *a = &iot_test_report.files[i - 1],
                                     *b = &iot_test_report.files[i];
        cr_expect_geq(a->figures.exposed_ns, b->figures.exposed_ns);
        if (a->figures.exposed_ns == b->figures.exposed_ns)
            cr_expect_geq(a->figures.service_ns, b->figures.service_ns);
    }
}

Test(report, conserves_whatever_was_traced)
{
    static const size_t tops[] = {SIZE_MAX, 0, 1, 7};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct iot_test_run *run = iot_random_run(seed);
        int64_t starts[5];
        iot_random_steps(starts);
        iot_make_report(run, tops[seed % 4]);
        expect_conserved(run, tops[seed % 4]);
        expect_order(tops[seed % 4]);
        iot_free_report(run);
    }
}

/* --- figures --- */

Test(report, sendfile_counts_bytes_at_both_ends)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t from = iot_test_run_regular(run, "/d/a.jpg"), to = iot_test_run_regular(run, "/d/b");
    run->file2[iot_test_run_event(run, IOT_OP_SENDFILE, from, 5000, 0)] = to;
    iot_make_report(run, SIZE_MAX);
    const struct iot_report_file *a = row("/d/a.jpg", IOT_INPUT), *b = row("/d/b", IOT_OUTPUT);
    cr_assert(a && b);
    cr_expect_eq(a->figures.read_bytes, 5000);
    cr_expect_eq(a->figures.service_ns, 5010);
    cr_expect_eq(a->figures.data_ops, 1);
    cr_expect_eq(b->figures.write_bytes, 5000);
    cr_expect_eq(b->figures.service_ns, 0);
    cr_expect_eq(iot_test_report.total.bytes, 10000);
    iot_free_report(run);
}

Test(report, two_objects_of_one_path_are_two_rows)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t tty = iot_test_run_file(run, "/dev/pts/1", IOT_FILE_CHARACTER);
    iot_test_run_event(run, IOT_OP_READ, tty, 10, 0);
    iot_test_run_event(run, IOT_OP_WRITE, tty, 4095, 0);
    iot_test_run_event(run, IOT_OP_WRITE, tty, 4096, 0);
    iot_test_run_event(run, IOT_OP_WRITE, tty, 0, 0);
    iot_make_report(run, SIZE_MAX);
    cr_assert(row("/dev/pts/1", IOT_INPUT) && row("/dev/pts/1", IOT_OUTPUT));
    cr_expect_eq(row("/dev/pts/1", IOT_INPUT)->figures.bytes, 10);
    cr_expect_eq(row("/dev/pts/1", IOT_OUTPUT)->figures.small_ops, 1);
    cr_expect_eq(row("/dev/pts/1", IOT_OUTPUT)->figures.timed_ops, 3);
    cr_expect_eq(row("/dev/pts/1", IOT_OUTPUT)->figures.latency.max_ns, 4106);
    iot_free_report(run);
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
    iot_make_report(run, SIZE_MAX);
    cr_assert_not_null(row("fs:/mnt/a b", IOT_OUTPUT));
    cr_expect_eq(row("fs:/mnt/a b", IOT_OUTPUT)->figures.sync_ops, 2);
    cr_assert_not_null(row("fs:*", IOT_OUTPUT));
    cr_expect_eq(iot_test_report.run.n_filesystems, 1);
    cr_expect_str_eq(iot_test_report.run.filesystems[0], "/mnt/a b xfs");
    iot_free_report(run);
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
    iot_make_report(run, SIZE_MAX);
    cr_assert(row("/d/first", IOT_OUTPUT) && row("/d/b", IOT_OUTPUT) &&
              row("(no file)", IOT_OTHER));
    cr_expect_eq(row("/d/first", IOT_OUTPUT)->figures.sync_ops, 1);
    cr_expect_eq(row("/d/b", IOT_OUTPUT)->figures.sync_ops, 1);
    cr_expect_eq(row("(no file)", IOT_OTHER)->figures.sync_ops, 1);
    cr_expect_str_eq(row("/d/b", IOT_OUTPUT)->why, "written through a mapping");
    iot_free_report(run);
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
    iot_make_report(run, SIZE_MAX);
    cr_expect_eq(iot_test_report.run.processes, 2);
    cr_expect_eq(iot_test_report.run.lanes, 2);
    cr_expect_eq(iot_test_report.run.storage_read_bytes, 1000, "a child's are in its parent's");
    cr_expect_eq(iot_test_report.run.runqueue_ns, 10);
    cr_assert_eq(iot_test_report.run.n_untraced, 2);
    cr_expect_eq(iot_test_report.run.untraced[0].pid, 101);
    cr_expect_not_null(strstr(iot_test_report.run.untraced[0].why, "/opt/static"));
    cr_expect_eq(iot_test_report.run.untraced[1].pid, 200);
    iot_free_report(run);
}

static void expect_scope(int64_t opened, int64_t resident, int64_t read, const char *scope)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t file = iot_test_run_regular(run, "/d/a.safetensors");
    run->files[file].opened_bytes = opened;
    run->files[file].resident_bytes = resident;
    iot_test_run_event(run, IOT_OP_READ, file, read, 0);
    iot_make_report(run, SIZE_MAX);
    cr_expect_str_eq(iot_cache_scope(&iot_test_report.files[0].figures), scope);
    cr_expect_str_eq(iot_cache_scope(&iot_test_report.objects[IOT_ARTIFACT].figures), scope);
    cr_expect_eq(iot_test_report.run.file_read_bytes, read);
    iot_free_report(run);
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
    iot_make_report(run, SIZE_MAX);
    cr_assert(iot_test_report.files[0].ready.known);
    cr_expect_eq(iot_test_report.files[0].ready.storage_ns, 10 + 1010 + 1010);
    cr_expect_eq(iot_test_report.files[0].ready.decode_ns, 1990);
    iot_free_report(run);
}

/* --- ledger --- */

Test(report, the_ledger_gives_the_totals_back)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct iot_test_run *run = iot_random_run(seed);
        int64_t starts[5];
        iot_random_steps(starts);
        iot_make_report(run, SIZE_MAX);
        struct iot_ledger_events list;
        struct io_ledger ledger;
        char *text, message[IOT_LEDGER_JSON_MESSAGE];
        size_t size;
        FILE *out = open_memstream(&text, &size);
        cr_assert_eq(iot_report_write_ledger(&iot_test_report, out), 0);
        fclose(out);
        cr_assert_eq(iot_ledger_json_parse(text, size, &list, message), 0, "%s", message);
        cr_assert_eq(io_critical_path_ledger(list.events, list.n_events, &ledger, NULL),
                     IO_LEDGER_OK);
        size_t n = 0;
        for (size_t p = 0; p < iot_test_report.phases->n; p++)
            for (int o = 0; o < IOT_OTHER; o++) {
                const struct iot_figures *f = &iot_test_report.phases->phases[p].objects[o].figures;
                if (!f->data_ops && !f->metadata_ops && !f->sync_ops && !f->bytes)
                    continue;
                cr_assert_lt(n, list.n_events, "an event for each phase and object");
                cr_expect_eq((int)list.events[n].object, o);
                cr_expect_eq(list.events[n++].bytes, f->bytes);
            }
        cr_expect_eq(n, list.n_events);
        free(text);
        free(list.events);
        for (int o = 0; o < IOT_OTHER; o++) {
            const struct iot_figures *f = &iot_test_report.objects[o].figures;
            cr_expect_eq(ledger.objects[o].bytes, f->bytes);
            cr_expect_float_eq(ledger.objects[o].service_ms, (double)f->service_ns / 1e6, 1e-9);
            cr_expect_float_eq(ledger.objects[o].exposed_ms, (double)f->exposed_ns / 1e6, 1e-9);
            cr_expect_float_eq(ledger.objects[o].serialization_ms,
                               (double)f->serialization_ns / 1e6, 1e-9);
            cr_expect_float_eq(ledger.objects[o].backpressure_ms,
                               o == IOT_OUTPUT ? (double)f->waited_ns / 1e6 : 0, 1e-9);
        }
        iot_free_report(run);
    }
}
