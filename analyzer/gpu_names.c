/* What copies of GPUs, and collectives, are called: a row for each device and direction, taken
 * apart by the file that they carry bytes of (lineage.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/gpu.h"
#include "analyzer/lineage.h"
#include "analyzer/room.h"
#include "analyzer/table.h"
#include "format/mark.h"

static const struct {
    uint8_t kind, file;
    const char *name;
} copies[] = {
    {IOT_COPY_HTOD, IOT_FILE_GPU_IN, "HtoD"},
    {IOT_COPY_DTOH, IOT_FILE_GPU_OUT, "DtoH"},
    {IOT_COPY_DTOD, IOT_FILE_GPU_STATE, "DtoD"},
    {IOT_COPY_PTOP, IOT_FILE_GPU_STATE, "PtoP"},
    {0, IOT_FILE_GPU_STATE, "copy"},
};
enum { COPIES = sizeof copies / sizeof *copies };

/* What has a name of its own. */
struct row {
    uint32_t device, carried;
    int32_t copy; /* of `copies`; -1: collectives */
    int32_t early;
};

struct rows {
    struct iot_files *files;
    struct row *rows;
    uint32_t *file; /* by row */
    size_t n, rows_room, file_room;
    struct iot_table by_row;
};

static int same_row(const void *user, uint32_t index)
{
    const void *const *look = user;
    const struct rows *rows = look[0];
    return !memcmp(&rows->rows[index], look[1], sizeof rows->rows[index]);
}

/* Several may have one name, so a name does not find its row: what comes behind it is cut off
 * again. */
static uint32_t add_row(struct rows *rows, uint64_t hash, const struct row *row)
{
    struct iot_files *files = rows->files;
    char name[64];
    int n = snprintf(name, sizeof name, "gpu%u:%s", row->device,
                     row->copy < 0 ? "collective" : copies[row->copy].name);
    if (row->carried)
        snprintf(name + n, sizeof name - (size_t)n, " of %u", row->carried);
    else if (row->early)
        strcpy(name + n, " early");
    if (IOT_ROOM(rows->rows, rows->n + 1, rows->rows_room) ||
        IOT_ROOM(rows->file, rows->n + 1, rows->file_room))
        return IOT_NO_INDEX;
    char *text = iot_arena_text(files->arena, name, strlen(name));
    uint32_t index = text ? iot_files_intern(files, text) : IOT_NO_INDEX;
    if (index == IOT_NO_INDEX || iot_table_add(&rows->by_row, hash, (uint32_t)rows->n))
        return IOT_NO_INDEX;
    text[n] = '\0';
    struct iot_file *file = &files->files[index];
    file->carried = row->carried;
    file->kind = row->copy < 0 ? IOT_FILE_GPU_STATE
                 : row->early  ? IOT_FILE_GPU_EARLY
                               : copies[row->copy].file;
    rows->rows[rows->n] = *row;
    return rows->file[rows->n++] = index;
}

static uint32_t row_of(struct rows *rows, const struct iot_events *e, const struct iot_lane *lane,
                       size_t i, uint32_t carried, int64_t first_step)
{
    struct row row = {.device = lane->device, .copy = -1};
    if (e->op[i] == IOT_OP_GPU_MEMCPY) {
        row.copy = 0;
        row.carried = carried;
        while (row.copy < COPIES - 1 && copies[row.copy].kind != e->result[i])
            row.copy++;
        row.early =
            !carried && copies[row.copy].file == IOT_FILE_GPU_IN && e->t0_ns[i] < first_step;
    }
    const void *look[2] = {rows, &row};
    uint64_t hash = iot_table_hash(&row, sizeof row);
    uint32_t index = iot_table_find(&rows->by_row, hash, same_row, look);
    return index != UINT32_MAX ? rows->file[index] : add_row(rows, hash, &row);
}

static int64_t first_step_of(const struct iot_trace *t)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < t->events.n; i++)
        if (t->events.op[i] == IOT_OP_MARK && t->events.result[i] == IOT_MARK_STEP &&
            t->events.t0_ns[i] < first)
            first = t->events.t0_ns[i];
    return first;
}

uint8_t iot_gpu_host_memory(const struct iot_events *e, size_t i)
{
    unsigned from = (unsigned)e->addr[i] & 0xff, to = (unsigned)(e->addr[i] >> 8) & 0xff;
    unsigned host = e->result[i] == IOT_COPY_HTOD ? from : e->result[i] == IOT_COPY_DTOH ? to : 0;
    return host == IOT_MEMORY_PAGEABLE ? IOT_HOST_PAGEABLE
           : host == IOT_MEMORY_PINNED ? IOT_HOST_PINNED
                                       : 0;
}

static int name(struct iot_trace *t, struct rows *rows, const struct iot_lineage *lineage)
{
    struct iot_events *e = &t->events;
    int64_t first_step = first_step_of(t);
    for (size_t l = 0; l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            if (!iot_lane_is_stream(lane) ||
                (e->op[i] != IOT_OP_GPU_MEMCPY && e->op[i] != IOT_OP_GPU_COLLECTIVE))
                continue;
            int copy = e->op[i] == IOT_OP_GPU_MEMCPY;
            const struct iot_carried *c = copy ? iot_lineage_of(lineage, i) : NULL;
            uint32_t file = row_of(rows, e, lane, i, c ? c->file : 0, first_step);
            if (file == IOT_NO_INDEX)
                return -1;
            e->file[i] = file;
            if (!copy)
                continue;
            e->file2[i] = c ? c->file : 0;
            rows->files->files[file].memory |= iot_gpu_host_memory(e, i);
            rows->files->files[file].several |= c && c->several;
        }
    }
    return 0;
}

int iot_gpu_name_copies(struct iot_trace *t, struct iot_files *files)
{
    struct rows rows = {.files = files};
    struct iot_lineage lineage;
    int failed =
        iot_lineage_find(&lineage, t, files, IOT_LINEAGE_RANGES) || name(t, &rows, &lineage);
    t->lineage_forgotten = lineage.forgotten;
    iot_lineage_free(&lineage);
    iot_table_free(&rows.by_row);
    free(rows.rows);
    free(rows.file);
    return failed ? -1 : 0;
}
