/* How much of what was read are other bytes of its file: of calls whose place is known, at the file
 * that they read. Exact; memory is for the events of one file at a time, and 16 bytes for each read
 * that does not go on where the one before ended. */
#include <stdlib.h>

#include "analyzer/order.h"
#include "analyzer/report_parts.h"

struct span {
    int64_t begin, end;
};

struct reads {
    const struct iot_trace *trace;
    struct iot_lane_event *events; /* of regular files, file after file */
    size_t *first;                 /* by file index */
    struct iot_placed *placed;     /* of one file */
    struct span *spans;            /* of one file */
    size_t n_spans, room;
};

static int is_reading(const struct iot_events *e, size_t i)
{
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    return op->class_ == IOT_DATA && op->moves == IOT_IN && e->bytes[i] > 0;
}

/* What says where a read begins: calls that move bytes, and those on descriptors. */
static int is_wanted(const struct iot_trace *t, size_t i)
{
    unsigned class_ = iot_op_info(t->events.op[i])->class_;
    return t->files[t->events.file[i]].kind == IOT_FILE_REGULAR &&
           (class_ == IOT_DATA || class_ == IOT_META);
}

/* --- events by file --- */

/* Only of files that are read at all. */
static int group(struct reads *r)
{
    const struct iot_trace *t = r->trace;
    size_t n = 0;
    uint8_t *read = calloc(t->n_files + 1, 1);
    r->first = calloc(t->n_files + 2, sizeof *r->first);
    if (!read || !r->first) {
        free(read);
        return -1;
    }
    for (size_t i = 0; i < t->events.n; i++)
        read[t->events.file[i]] |= (uint8_t)is_reading(&t->events, i);
    for (size_t i = 0; i < t->events.n; i++)
        if (read[t->events.file[i]] && is_wanted(t, i)) {
            r->first[t->events.file[i] + 2]++;
            n++;
        }
    for (size_t f = 1; f <= t->n_files; f++)
        r->first[f + 1] += r->first[f];
    r->events = malloc((n + 1) * sizeof *r->events);
    for (uint32_t l = 0; r->events && l < t->n_lanes; l++)
        for (size_t k = 0; k < t->lanes[l].n_events; k++) {
            size_t i = t->lanes[l].first_event + k;
            if (read[t->events.file[i]] && is_wanted(t, i))
                r->events[r->first[t->events.file[i] + 1]++] = (struct iot_lane_event){i, l};
        }
    free(read);
    return r->events ? 0 : -1;
}

static int by_time(const void *a, const void *b, void *user)
{
    const struct iot_lane_event *x = a, *y = b;
    const int64_t *t0 = ((const struct iot_events *)user)->t0_ns;
    if (t0[x->event] != t0[y->event])
        return t0[x->event] < t0[y->event] ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Those of one lane are in order as they are. */
static void sort(const struct reads *r, struct iot_lane_event *events, size_t n)
{
    if (n && events[0].lane != events[n - 1].lane)
        qsort_r(events, n, sizeof *events, by_time, (void *)&r->trace->events);
}

/* --- bytes of one file --- */

static int add_span(struct reads *r, int64_t begin, int64_t bytes)
{
    struct span *last = r->n_spans ? &r->spans[r->n_spans - 1] : NULL;
    int64_t end;
    if (__builtin_add_overflow(begin, bytes, &end))
        return 0;
    if (last && last->end == begin) {
        last->end = end;
        return 0;
    }
    if (r->n_spans == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        struct span *more = realloc(r->spans, room * sizeof *more);
        if (!more)
            return -1;
        r->spans = more;
        r->room = room;
    }
    r->spans[r->n_spans++] = (struct span){begin, end};
    return 0;
}

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int64_t distinct(struct reads *r)
{
    int64_t sum = 0, end = 0;
    if (r->n_spans > 1)
        qsort(r->spans, r->n_spans, sizeof *r->spans, by_begin);
    for (size_t k = 0; k < r->n_spans; k++) {
        int64_t begin = r->spans[k].begin > end ? r->spans[k].begin : end;
        if (r->spans[k].end > begin) {
            sum += r->spans[k].end - begin;
            end = r->spans[k].end;
        }
    }
    return sum;
}

static int count(struct reads *r, uint32_t file, struct iot_figures *to)
{
    const struct iot_events *e = &r->trace->events;
    struct iot_lane_event *events = &r->events[r->first[file]];
    size_t n = r->first[file + 1] - r->first[file];

    sort(r, events, n);
    free(r->placed);
    r->placed = malloc((n + 1) * sizeof *r->placed);
    if (!r->placed || iot_orders_find(r->placed, r->trace, events, n))
        return -1;
    r->n_spans = 0;
    for (size_t k = 0; k < n; k++) {
        size_t i = events[k].event;
        if (!is_reading(e, i) || r->placed[k].begin == IOT_PLACE_UNKNOWN)
            continue;
        if (add_span(r, r->placed[k].begin, e->bytes[i]))
            return -1;
        to->placed_bytes += e->bytes[i];
    }
    to->distinct_bytes += distinct(r);
    return 0;
}

int iot_rows_reads(struct iot_rows *rows)
{
    struct reads r = {.trace = rows->report->trace};
    int failed = group(&r);
    for (uint32_t f = 1; f < r.trace->n_files && !failed; f++) {
        uint32_t row = rows->of_file[IOT_READING][f];
        if (r.first[f] < r.first[f + 1] && row != IOT_NO_INDEX)
            failed = count(&r, f, &rows->report->files[row].figures);
    }
    free(r.events);
    free(r.first);
    free(r.placed);
    free(r.spans);
    return failed;
}
