/* From events to one row of figures for each file and object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/op_sets.h"
#include "analyzer/report_parts.h"
#include "analyzer/room.h"

static uint32_t add_row(struct iot_rows *rows, const struct iot_report_file *row)
{
    struct iot_report *r = rows->report;
    if (IOT_ROOM(r->files, r->n_files + 1, rows->room))
        return IOT_NO_INDEX;
    r->files[r->n_files] = *row;
    r->files[r->n_files].figures = (struct iot_figures){.recoverable_ns = IOT_NOT_COMPUTED};
    return (uint32_t)r->n_files++;
}

/* What carries bytes of several files is one row, as long as it is of one object. */
static uint32_t row_of_gpu(struct iot_rows *rows, uint32_t file, int direction)
{
    const struct iot_file *f = &rows->report->trace->files[file];
    const struct iot_file_class *c = &rows->classes->files[file];
    size_t k = 0;
    while (k < rows->n_gpu &&
           (strcmp(rows->report->files[rows->gpu[k].row].path, f->name) != 0 ||
            rows->report->files[rows->gpu[k].row].object != c->object[direction]))
        k++;
    if (k == rows->n_gpu) {
        struct iot_gpu_row *more = realloc(rows->gpu, (k + 1) * sizeof *more);
        if (!more)
            return IOT_NO_INDEX;
        rows->gpu = more;
        more[k] = (struct iot_gpu_row){
            .row = add_row(rows, &(struct iot_report_file){.path = f->name,
                                                           .why = c->why[direction],
                                                           .file = file,
                                                           .object = c->object[direction]})};
        if (more[k].row == IOT_NO_INDEX)
            return IOT_NO_INDEX;
        rows->n_gpu++;
    }
    *(f->carried ? &rows->gpu[k].carried : &rows->gpu[k].others) += 1;
    rows->gpu[k].memory |= f->memory;
    rows->gpu[k].out |= f->kind == IOT_FILE_GPU_OUT;
    return rows->gpu[k].row;
}

static int explain_gpu(struct iot_rows *rows)
{
    static const char *const memory[] = {"", ", pageable", ", pinned", ", some pageable"};
    for (size_t k = 0; k < rows->n_gpu; k++) {
        const struct iot_gpu_row *g = &rows->gpu[k];
        char text[96];
        if (g->carried + g->others < 2)
            continue; /* it says itself why */
        int n = snprintf(text, sizeof text, "%s %u %s%s%s", g->out ? "written to" : "read from",
                         g->carried, g->carried == 1 ? "file" : "files",
                         g->others ? ", and others" : "", memory[g->memory & IOT_HOST_MIXED]);
        const char *why = iot_arena_text(rows->report->arena, text, n > 0 ? (size_t)n : 0);
        if (!why)
            return -1;
        rows->report->files[g->row].why = why;
    }
    return 0;
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
    if (rows->report->trace->files[file].kind >= IOT_FILE_GPU_EARLY)
        return *mine = row_of_gpu(rows, file, direction);
    const char *name = rows->report->trace->files[file].name;
    return *mine = add_row(rows, &(struct iot_report_file){.path = file ? name : IOT_NO_FILE,
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
    return failed || explain_gpu(rows) ? -1 : 0;
}

void iot_rows_free(struct iot_rows *rows)
{
    for (int d = 0; d < IOT_DIRECTIONS; d++)
        free(rows->of_file[d]);
    free(rows->of_event);
    free(rows->synced);
    free(rows->gpu);
    free(rows->events);
    free(rows->first);
}
