#include "analyzer/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/events.h"
#include "format/mark.h"

int iot_has_streams(const struct iot_trace *t)
{
    int streams = 0;
    for (size_t l = 0; l < t->n_lanes; l++)
        streams |= iot_lane_is_stream(&t->lanes[l]);
    return streams;
}

int iot_gpu_blocks(const struct iot_events *e, size_t i)
{
    if (e->op[i] != IOT_OP_GPU_MEMCPY)
        return 0;
    unsigned from = (unsigned)e->addr[i] & 0xff, to = (unsigned)(e->addr[i] >> 8) & 0xff;
    return !(e->addr[i] & IOT_COPY_ASYNC) || from == IOT_MEMORY_PAGEABLE ||
           to == IOT_MEMORY_PAGEABLE;
}

/* Two clock readings of one moment differ by a little, and kernels of one stream may overlap by as
 * much: a stream does one thing at a time. */
void iot_gpu_lane(struct iot_trace *t, struct iot_lane *lane)
{
    struct iot_events *e = &t->events;
    size_t first = lane->first_event, end = first + lane->n_events;
    if (e->op[first] != IOT_OP_GPU_STREAM)
        return;
    lane->kind = IOT_LANE_STREAM;
    lane->device = (uint32_t)e->result[first];
    lane->stream = e->offset[first];
    for (size_t i = first + 1; i < end; i++) {
        if (e->t0_ns[i] < e->t1_ns[i - 1])
            e->t0_ns[i] = e->t1_ns[i - 1];
        if (e->t1_ns[i] < e->t0_ns[i])
            e->t1_ns[i] = e->t0_ns[i];
    }
}

/* --- by correlation --- */

static int by_correlation(const void *a, const void *b)
{
    const struct iot_correlated *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

struct iot_correlated *iot_correlated_list(const struct iot_trace *t, int (*wanted)(unsigned op),
                                           size_t *n)
{
    const struct iot_events *e = &t->events;
    size_t count = 0;
    for (size_t i = 0; i < e->n; i++)
        count += wanted(e->op[i]) && e->offset[i];
    struct iot_correlated *list = malloc((count + 1) * sizeof *list);
    *n = 0;
    for (size_t l = 0; list && l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
            if (wanted(e->op[i]) && e->offset[i])
                list[(*n)++] =
                    (struct iot_correlated){(uint64_t)e->offset[i], lane->process, (uint32_t)i};
    }
    if (list)
        qsort(list, *n, sizeof *list, by_correlation);
    return list;
}

uint32_t iot_correlated_find(const struct iot_correlated *list, size_t n, uint32_t process,
                             uint64_t correlation)
{
    struct iot_correlated wanted = {correlation, process, 0};
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_correlation(&list[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && list[low].process == process && list[low].correlation == correlation
               ? list[low].event
               : IOT_NO_INDEX;
}

/* --- what copies are called --- */

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

/* The rows that there are, a few for each device. */
struct row {
    uint32_t device, file;
    int copy; /* of `copies`; -1: collectives */
    int early;
};

struct rows {
    struct row *rows;
    size_t n;
};

/* Two rows may have one name and two objects, so a name does not find its row. */
static uint32_t add_row(struct rows *rows, struct iot_files *files, const struct row *row)
{
    char name[64];
    struct row *more = realloc(rows->rows, (rows->n + 1) * sizeof *more);
    if (!more)
        return IOT_NO_INDEX;
    rows->rows = more;
    snprintf(name, sizeof name, "gpu%u:%s%s", row->device,
             row->copy < 0 ? "collective" : copies[row->copy].name, row->early ? " early" : "");
    char *text = iot_arena_text(files->arena, name, strlen(name));
    uint32_t file = text ? iot_files_intern(files, text) : IOT_NO_INDEX;
    if (file == IOT_NO_INDEX)
        return file;
    if (row->early)
        text[strlen(text) - strlen(" early")] = '\0';
    files->files[file].kind = row->copy < 0 ? IOT_FILE_GPU_STATE
                              : row->early  ? IOT_FILE_GPU_EARLY
                                            : copies[row->copy].file;
    more[rows->n] = *row;
    more[rows->n++].file = file;
    return file;
}

static uint32_t row_of(struct rows *rows, struct iot_files *files, const struct iot_events *e,
                       const struct iot_lane *lane, size_t i, int64_t first_step)
{
    struct row row = {.device = lane->device, .copy = -1};
    if (e->op[i] == IOT_OP_GPU_MEMCPY) {
        row.copy = 0;
        while (row.copy < COPIES - 1 && copies[row.copy].kind != e->result[i])
            row.copy++;
        row.early = copies[row.copy].file == IOT_FILE_GPU_IN && e->t0_ns[i] < first_step;
    }
    for (size_t k = 0; k < rows->n; k++)
        if (rows->rows[k].device == row.device && rows->rows[k].copy == row.copy &&
            rows->rows[k].early == row.early)
            return rows->rows[k].file;
    return add_row(rows, files, &row);
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

static uint8_t host_memory(const struct iot_events *e, size_t i)
{
    unsigned from = (unsigned)e->addr[i] & 0xff, to = (unsigned)(e->addr[i] >> 8) & 0xff;
    unsigned host = e->result[i] == IOT_COPY_HTOD ? from : e->result[i] == IOT_COPY_DTOH ? to : 0;
    return host == IOT_MEMORY_PAGEABLE ? IOT_HOST_PAGEABLE
           : host == IOT_MEMORY_PINNED ? IOT_HOST_PINNED
                                       : 0;
}

static int name_copies(struct iot_trace *t, struct iot_files *files)
{
    struct iot_events *e = &t->events;
    struct rows rows = {NULL, 0};
    int64_t first_step = first_step_of(t);
    int failed = 0;
    for (size_t l = 0; l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            if (!iot_lane_is_stream(lane) ||
                (e->op[i] != IOT_OP_GPU_MEMCPY && e->op[i] != IOT_OP_GPU_COLLECTIVE))
                continue;
            uint32_t file = row_of(&rows, files, e, lane, i, first_step);
            failed |= file == IOT_NO_INDEX;
            e->file[i] = failed ? 0 : file;
            if (!failed && e->op[i] == IOT_OP_GPU_MEMCPY)
                files->files[file].memory |= host_memory(e, i);
        }
    }
    free(rows.rows);
    return failed ? -1 : 0;
}

/* --- copies that outlast their call --- */

static int is_launch(unsigned op)
{
    return op == IOT_OP_GPU_LAUNCH;
}

struct cut {
    size_t event;
    int64_t at_ns;
};

static int by_event(const void *a, const void *b)
{
    const struct cut *x = a, *y = b;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* How many cuts are in events below `event`. */
static size_t cuts_below(const struct cut *cuts, size_t n, size_t event)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cuts[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From pageable memory the call returns when the last piece is in the driver's own memory, while
 * that still is on its way: only what came before is what the call waited for. */
static size_t find_cuts(const struct iot_trace *t, const struct iot_correlated *launches,
                        size_t n_launches, struct cut *cuts)
{
    const struct iot_events *e = &t->events;
    size_t n = 0;
    for (size_t l = 0; l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            uint32_t call = iot_gpu_blocks(e, i)
                                ? iot_correlated_find(launches, n_launches, lane->process,
                                                      (uint64_t)e->offset[i])
                                : IOT_NO_INDEX;
            if (call != IOT_NO_INDEX && e->t1_ns[call] > e->t0_ns[i] &&
                e->t1_ns[call] < e->t1_ns[i])
                cuts[n++] = (struct cut){i, e->t1_ns[call]};
        }
    }
    qsort(cuts, n, sizeof *cuts, by_event);
    return n;
}

static int split(struct iot_trace *t, const struct cut *cuts, size_t n)
{
    struct iot_events *e = &t->events;
    size_t *which = malloc((n + 1) * sizeof *which);
    for (size_t k = 0; which && k < n; k++)
        which[k] = cuts[k].event;
    int failed = !which || iot_events_double(e, which, n);
    free(which);
    for (size_t k = 0; !failed && k < n; k++) {
        size_t first = cuts[k].event + k, rest = first + 1;
        e->t1_ns[first] = e->t0_ns[rest] = cuts[k].at_ns;
        e->op[rest] = IOT_OP_GPU_MEMCPY_REST;
        e->bytes[rest] = 0;
    }
    for (size_t l = 0; !failed && l < t->n_lanes; l++) {
        struct iot_lane *lane = &t->lanes[l];
        size_t earlier = cuts_below(cuts, n, lane->first_event);
        lane->n_events += cuts_below(cuts, n, lane->first_event + lane->n_events) - earlier;
        lane->first_event += earlier;
    }
    for (size_t k = 0; !failed && k < t->n_requests; k++) {
        struct iot_request *r = &t->requests[k];
        r->event += cuts_below(cuts, n, r->event);
        r->made_in += r->made_in == SIZE_MAX ? 0 : cuts_below(cuts, n, r->made_in);
        r->found_in += r->found_in == SIZE_MAX ? 0 : cuts_below(cuts, n, r->found_in);
    }
    return failed ? -1 : 0;
}

static int split_copies(struct iot_trace *t)
{
    size_t n_launches, n = 0;
    struct iot_correlated *launches = iot_correlated_list(t, is_launch, &n_launches);
    struct cut *cuts = malloc((t->events.n + 1) * sizeof *cuts);
    int failed = !launches || !cuts;
    if (!failed)
        n = find_cuts(t, launches, n_launches, cuts);
    if (!failed && n)
        failed = split(t, cuts, n);
    free(launches);
    free(cuts);
    return failed ? -1 : 0;
}

int iot_gpu_finish(struct iot_trace *t, struct iot_files *files)
{
    return iot_has_streams(t) && (name_copies(t, files) || split_copies(t)) ? -1 : 0;
}
