/* From events to one row of figures for each file and object. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/op_sets.h"
#include "analyzer/report_parts.h"

static uint32_t add_row(struct iot_rows *rows, const struct iot_report_file *row)
{
    struct iot_report *r = rows->report;
    if (r->n_files == rows->room) {
        size_t room = rows->room ? 2 * rows->room : 256;
        struct iot_report_file *more = realloc(r->files, room * sizeof *more);
        if (!more)
            return IOT_NO_INDEX;
        r->files = more;
        rows->room = room;
    }
    r->files[r->n_files] = *row;
    r->files[r->n_files].figures = (struct iot_figures){.recoverable_ns = IOT_NOT_COMPUTED};
    return (uint32_t)r->n_files++;
}

/* Both directions share a row where they have one object. */
static uint32_t row_of(struct iot_rows *rows, uint32_t file, int direction)
{
    const struct iot_file_class *c = &rows->classes->files[file];
    uint32_t *mine = &rows->of_file[direction][file];
    if (*mine != IOT_NO_INDEX)
        return *mine;
    if (c->object[0] == c->object[1] && rows->of_file[!direction][file] != IOT_NO_INDEX)
        return *mine = rows->of_file[!direction][file];
    const char *name = rows->report->trace->files[file].name;
    return *mine = add_row(rows, &(struct iot_report_file){.path = file ? name : "(no file)",
                                                           .why = c->why[direction],
                                                           .file = file ? file : IOT_NO_INDEX,
                                                           .object = c->object[direction]});
}

/* syncfs and sync make whole file systems durable: output, whatever was in them. */
static uint32_t row_of_mount(struct iot_rows *rows, const struct iot_mounts *mounts, uint32_t file)
{
    struct iot_report *r = rows->report;
    const struct iot_mount *mount =
        file ? iot_mounts_find(mounts, r->trace->files[file].name) : NULL;
    const char *point = !file ? "*" : mount ? mount->point : "?";
    size_t n = strlen(point);

    for (size_t i = 0; i < rows->n_synced; i++)
        if (!strcmp(r->files[rows->synced[i]].path + 3, point))
            return rows->synced[i];
    char *path = iot_arena_take(r->arena, n + 4);
    uint32_t *more = realloc(rows->synced, (rows->n_synced + 1) * sizeof *more);
    if (more)
        rows->synced = more;
    if (!path || !more)
        return IOT_NO_INDEX;
    memcpy(path, "fs:", 3);
    memcpy(path + 3, point, n + 1);
    uint32_t row = add_row(rows, &(struct iot_report_file){.path = path,
                                                           .why = "a whole file system was synced",
                                                           .file = IOT_NO_INDEX,
                                                           .object = IOT_OUTPUT});
    if (row != IOT_NO_INDEX)
        more[rows->n_synced++] = row;
    return row;
}

static int is_open(unsigned op)
{
    return iot_op_opens(op) || op == IOT_OP_FREOPEN || op == IOT_OP_OPENDIR;
}

static void count(struct iot_figures *f, const struct iot_events *e, size_t i, unsigned moves)
{
    int64_t bytes = e->bytes[i] > 0 ? e->bytes[i] : 0;
    f->data_ops += e->op[i] != IOT_OP_GPU_MEMCPY_REST;
    f->bytes += bytes;
    *(moves == IOT_OUT ? &f->write_bytes : &f->read_bytes) += bytes;
    f->small_ops += bytes > 0 && bytes < IOT_SMALL_BYTES;
}

/* The row that an event's call and its time belong to. IOT_NO_INDEX: none, or without memory;
 * *failed says which. */
static uint32_t place(struct iot_rows *rows, const struct iot_mounts *mounts, size_t i, int *failed)
{
    const struct iot_trace *trace = rows->report->trace;
    const struct iot_model *model = rows->report->model;
    const struct iot_op_info *op = iot_op_info(trace->events.op[i]);
    uint32_t file = trace->events.file[i], row;

    if (op->class_ == IOT_DATA)
        row = row_of(rows, file, op->moves == IOT_OUT ? IOT_WRITING : IOT_READING);
    else if (trace->events.op[i] == IOT_OP_SYNC || trace->events.op[i] == IOT_OP_SYNCFS)
        row = row_of_mount(rows, mounts, file);
    else if (op->class_ == IOT_META || op->class_ == IOT_SYNC || model->service_ns[i] ||
             trace->events.op[i] == IOT_OP_RESIDENT)
        row = row_of(rows, file, rows->classes->files[file].main);
    else
        return IOT_NO_INDEX;
    *failed |= row == IOT_NO_INDEX;
    return row;
}

void iot_rows_count(const struct iot_rows *rows, size_t i, struct iot_figures *f)
{
    const struct iot_model *model = rows->report->model;
    const struct iot_events *e = &rows->report->trace->events;
    const struct iot_op_info *op = iot_op_info(e->op[i]);

    if (op->class_ == IOT_DATA)
        count(f, e, i, op->moves);
    else if (op->class_ == IOT_SYNC)
        f->sync_ops++;
    else if (op->class_ == IOT_META)
        f->metadata_ops++;
    f->opens += is_open(e->op[i]);
    f->mapped |= e->op[i] == IOT_OP_MMAP && !e->err[i];
    f->mapped_bytes += e->op[i] == IOT_OP_RESIDENT && e->bytes[i] > 0 ? e->bytes[i] : 0;
    f->fault_ns += e->op[i] == IOT_OP_FAULTS ? model->service_ns[i] : 0;
    f->service_ns += model->service_ns[i];
    f->data_service_ns += op->class_ == IOT_DATA ? model->service_ns[i] : 0;
    f->exposed_ns += model->exposed_ns[i];
    f->waited_ns += model->waited[i] ? model->exposed_ns[i] : 0;
}

static int has_target(const struct iot_events *e, size_t i)
{
    return iot_op_info(e->op[i])->moves == IOT_BOTH && e->bytes[i] > 0;
}

uint32_t iot_rows_target(const struct iot_rows *rows, size_t i)
{
    const struct iot_events *e = &rows->report->trace->events;
    return has_target(e, i) ? rows->of_file[IOT_WRITING][e->file2[i]] : IOT_NO_INDEX;
}

void iot_rows_count_target(const struct iot_rows *rows, size_t i, struct iot_figures *f)
{
    int64_t bytes = rows->report->trace->events.bytes[i];
    f->bytes += bytes;
    f->write_bytes += bytes;
}

static int sum_event(struct iot_rows *rows, const struct iot_mounts *mounts, size_t i)
{
    const struct iot_events *e = &rows->report->trace->events;
    int failed = 0;
    uint32_t row = rows->of_event[i] = place(rows, mounts, i, &failed);

    if (row == IOT_NO_INDEX)
        return failed ? -1 : 0;
    iot_rows_count(rows, i, &rows->report->files[row].figures);
    if (has_target(e, i)) {
        row = row_of(rows, e->file2[i], IOT_WRITING);
        if (row == IOT_NO_INDEX)
            return -1;
        iot_rows_count_target(rows, i, &rows->report->files[row].figures);
    }
    return 0;
}

int iot_rows_sum(struct iot_rows *rows)
{
    const struct iot_trace *trace = rows->report->trace;
    struct iot_mounts mounts = {0};
    size_t bytes = (trace->n_files + 1) * sizeof(uint32_t);

    rows->of_event = malloc((trace->events.n + 1) * sizeof *rows->of_event);
    for (int d = 0; d < IOT_DIRECTIONS; d++) {
        rows->of_file[d] = malloc(bytes);
        if (!rows->of_file[d])
            return -1;
        memset(rows->of_file[d], 0xff, bytes); /* IOT_NO_INDEX */
    }
    int failed = !rows->of_event ||
                 iot_mounts_read(&mounts, trace->processes[0].mounts, rows->report->arena);
    for (size_t i = 0; i < trace->events.n && !failed; i++)
        failed = sum_event(rows, &mounts, i);
    free(mounts.mounts);
    return failed ? -1 : 0;
}

void iot_rows_free(struct iot_rows *rows)
{
    for (int d = 0; d < IOT_DIRECTIONS; d++)
        free(rows->of_file[d]);
    free(rows->of_event);
    free(rows->synced);
    free(rows->events);
    free(rows->first);
}
