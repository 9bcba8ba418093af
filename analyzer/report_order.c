/* The order of the rows, their cut, and what follows from it: sums, percentiles, replays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/progress.h"
#include "analyzer/report_parts.h"

static void add(struct iot_figures *to, const struct iot_figures *f)
{
    to->data_ops += f->data_ops;
    to->metadata_ops += f->metadata_ops;
    to->sync_ops += f->sync_ops;
    to->bytes += f->bytes;
    to->read_bytes += f->read_bytes;
    to->write_bytes += f->write_bytes;
    to->service_ns += f->service_ns;
    to->data_service_ns += f->data_service_ns;
    to->exposed_ns += f->exposed_ns;
    to->waited_ns += f->waited_ns;
    to->mapped_bytes += f->mapped_bytes;
    to->fault_ns += f->fault_ns;
    to->small_ops += f->small_ops;
    to->opens += f->opens;
    to->placed_bytes += f->placed_bytes;
    to->distinct_bytes += f->distinct_bytes;
    to->serialization_ns += f->serialization_ns;
    to->coded |= f->coded;
    to->mapped |= f->mapped;
    to->opened_bytes += f->opened_bytes;
    to->resident_bytes += f->resident_bytes;
}

static void sum_objects(struct iot_report *r)
{
    for (size_t i = 0; i < r->n_files; i++) {
        struct iot_report_object *o = &r->objects[r->files[i].object];
        o->files++;
        add(&o->figures, &r->files[i].figures);
    }
    for (int o = 0; o < IOT_OBJECTS; o++) {
        r->objects[o].figures.recoverable_ns = IOT_NOT_COMPUTED;
        add(&r->total, &r->objects[o].figures);
    }
    r->total.recoverable_ns = r->total.exposed_ns;
}

/* A row, and where it stood before. */
struct placed {
    struct iot_report_file row;
    uint32_t before;
};

static int by_cost(const void *a, const void *b)
{
    const struct iot_report_file *x = &((const struct placed *)a)->row;
    const struct iot_report_file *y = &((const struct placed *)b)->row;
    if (x->figures.exposed_ns != y->figures.exposed_ns)
        return x->figures.exposed_ns > y->figures.exposed_ns ? -1 : 1;
    if (x->figures.service_ns != y->figures.service_ns)
        return x->figures.service_ns > y->figures.service_ns ? -1 : 1;
    int names = strcmp(x->path, y->path);
    return names ? names : (int)x->object - (int)y->object;
}

/* Adds up what is beyond the first `top` rows; now[] is where each row has gone. */
static int cut(struct iot_report *r, size_t top, uint32_t *now)
{
    struct iot_report_file more[IOT_OBJECTS] = {0};
    uint64_t n_more[IOT_OBJECTS] = {0};
    uint32_t place[IOT_OBJECTS];
    size_t n = top, n_rows = r->n_files;

    for (size_t i = top; i < n_rows; i++) {
        n_more[r->files[i].object]++;
        add(&more[r->files[i].object].figures, &r->files[i].figures);
    }
    for (int o = 0; o < IOT_OBJECTS; o++) {
        char text[40];
        place[o] = (uint32_t)n;
        if (!n_more[o])
            continue;
        int length = snprintf(text, sizeof text, "(%llu more)", (unsigned long long)n_more[o]);
        more[o].path = iot_arena_text(r->arena, text, (size_t)length);
        if (!more[o].path)
            return -1;
        more[o].why = "";
        more[o].file = IOT_NO_INDEX;
        more[o].object = (uint8_t)o;
        more[o].rest = n_more[o];
        more[o].figures.recoverable_ns = IOT_NOT_COMPUTED;
        n++;
    }
    for (size_t i = top; i < n_rows; i++)
        now[i] = place[r->files[i].object];
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (n_more[o])
            r->files[place[o]] = more[o]; /* there are at least as many rows beyond top */
    r->n_files = n;
    return 0;
}

int iot_rows_order(struct iot_rows *rows, size_t top)
{
    struct iot_report *r = rows->report;
    size_t n = r->n_files;
    struct placed *placed = malloc((n + 1) * sizeof *placed);
    uint32_t *now = malloc((n + 1) * sizeof *now), *sorted = malloc((n + 1) * sizeof *sorted);
    int failed = !placed || !now || !sorted;

    if (!failed) {
        sum_objects(r);
        for (uint32_t i = 0; i < n; i++)
            placed[i] = (struct placed){r->files[i], i};
        if (n)
            qsort(placed, n, sizeof *placed, by_cost);
        for (uint32_t i = 0; i < n; i++) {
            r->files[i] = placed[i].row;
            sorted[placed[i].before] = now[i] = i;
        }
        failed = top < n && cut(r, top, now);
        for (size_t i = 0; i < r->trace->events.n && !failed; i++)
            if (rows->of_event[i] != IOT_NO_INDEX)
                rows->of_event[i] = now[sorted[rows->of_event[i]]];
    }
    free(placed);
    free(now);
    free(sorted);
    return failed ? -1 : 0;
}

/* --- percentiles --- */

int iot_report_is_timed(const struct iot_report *r, size_t i)
{
    return r->model->part[i] == IOT_PART_IO &&
           iot_op_info(r->trace->events.op[i])->class_ == IOT_DATA &&
           r->trace->events.op[i] != IOT_OP_GPU_MEMCPY_REST;
}

static int is_timed(const struct iot_rows *rows, size_t i)
{
    return rows->of_event[i] != IOT_NO_INDEX && iot_report_is_timed(rows->report, i);
}

/* The calls' buckets, row after row; first[row] is where a row's start. */
static void collect(struct iot_rows *rows, uint16_t *buckets, size_t *first)
{
    struct iot_report *r = rows->report;
    size_t n = 0;
    for (size_t i = 0; i < r->trace->events.n; i++)
        if (is_timed(rows, i)) {
            struct iot_figures *f = &r->files[rows->of_event[i]].figures;
            f->timed_ops++;
            if (r->model->service_ns[i] > f->latency.max_ns)
                f->latency.max_ns = r->model->service_ns[i];
        }
    for (size_t row = 0; row < r->n_files; row++) {
        first[row] = n;
        n += (size_t)r->files[row].figures.timed_ops;
    }
    for (size_t i = 0; i < r->trace->events.n; i++)
        if (is_timed(rows, i))
            buckets[first[rows->of_event[i]]++] =
                (uint16_t)iot_latency_bucket(r->model->service_ns[i]);
    for (size_t row = 0; row < r->n_files; row++)
        first[row] -= (size_t)r->files[row].figures.timed_ops;
}

int iot_rows_latency(struct iot_rows *rows)
{
    struct iot_report *r = rows->report;
    uint16_t *buckets = malloc((r->trace->events.n + 1) * sizeof *buckets);
    size_t *first = malloc((r->n_files + 1) * sizeof *first);
    uint64_t(*counts)[IOT_LATENCY_BUCKETS] = calloc(IOT_OBJECTS, sizeof *counts);
    int failed = !buckets || !first || !counts;

    if (!failed)
        collect(rows, buckets, first);
    for (size_t row = 0; row < r->n_files && !failed; row++) {
        struct iot_figures *f = &r->files[row].figures;
        struct iot_figures *o = &r->objects[r->files[row].object].figures;
        size_t n = (size_t)f->timed_ops;
        if (!n)
            continue;
        for (size_t i = 0; i < n; i++)
            counts[r->files[row].object][buckets[first[row] + i]]++;
        o->timed_ops += f->timed_ops;
        if (f->latency.max_ns > o->latency.max_ns)
            o->latency.max_ns = f->latency.max_ns;
        f->latency = iot_latency_of_buckets(&buckets[first[row]], n, f->latency.max_ns);
    }
    for (int k = 0; k < IOT_OBJECTS && !failed; k++) {
        struct iot_figures *o = &r->objects[k].figures;
        if (o->timed_ops)
            o->latency =
                iot_latency_of_counts(counts[k], (uint64_t)o->timed_ops, o->latency.max_ns);
    }
    free(buckets);
    free(first);
    free(counts);
    return failed ? -1 : 0;
}

/* --- what replays say --- */

/* What has no exposed time is on no critical path: without it the run takes as long. */
int64_t iot_rows_won(const struct iot_report *r, const struct iot_figures *f,
                     const uint8_t *selected)
{
    if (!f->exposed_ns)
        return 0;
    int64_t won = iot_model_recoverable(r->model, selected);
    return won < 0 ? 0 : won > f->service_ns ? f->service_ns : won;
}

int iot_rows_recoverable(struct iot_rows *rows)
{
    struct iot_report *r = rows->report;
    size_t n = r->trace->events.n;
    uint8_t *selected = malloc(n + 1);
    if (!selected)
        return -1;
    for (int o = 0; o < IOT_OBJECTS; o++) {
        struct iot_figures *f = &r->objects[o].figures;
        for (size_t i = 0; i < n && f->exposed_ns; i++)
            selected[i] =
                rows->of_event[i] != IOT_NO_INDEX && r->files[rows->of_event[i]].object == o;
        f->recoverable_ns = iot_rows_won(r, f, selected);
    }
    for (uint32_t row = 0; row < IOT_RECOVERABLE_FILES && row < r->n_files; row++) {
        struct iot_report_file *file = &r->files[row];
        if (file->rest)
            continue;
        iot_progress("replaying the run without its files", row, IOT_RECOVERABLE_FILES);
        for (size_t i = 0; i < n && file->figures.exposed_ns; i++)
            selected[i] = rows->of_event[i] == row;
        file->figures.recoverable_ns = iot_rows_won(r, &file->figures, selected);
    }
    free(selected);
    return 0;
}
