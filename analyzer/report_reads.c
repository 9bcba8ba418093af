/* How much of what was read are other bytes of its file: of calls whose place is known, at the file
 * that they read. Exact; memory is 8 bytes for each call on a file that is read, and 32 for each
 * piece that the reads of one file leave apart. */
#include <stdlib.h>

#include "analyzer/order.h"
#include "analyzer/report_parts.h"
#include "analyzer/room.h"

struct span {
    int64_t begin, end;
};

struct call {
    uint32_t event, process;
};

enum { RECENT = 4096, RECENT_BITS = 12 };

struct reads {
    const struct iot_trace *trace;
    struct call *calls; /* on regular files, file after file */
    size_t *first;      /* by file index */
    struct span *spans; /* of one file */
    size_t n_spans, room;
    /* Some of what is in spans, at places that follow from where they begin. Programs read the same
     * blocks again and again: what is found here need not be sorted. */
    struct {
        struct span span;
        uint32_t file;
    } recent[RECENT];
};

static int is_reading(const struct iot_events *e, size_t i)
{
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    return op->class_ == IOT_DATA && op->moves == IOT_IN && e->bytes[i] > 0;
}

/* What says where a read begins: calls that move bytes, and those on descriptors. */
static int is_wanted(const struct iot_events *e, size_t i)
{
    unsigned class_ = iot_op_info(e->op[i])->class_;
    return class_ == IOT_DATA || class_ == IOT_META;
}

/* --- events by file --- */

enum { REGULAR = 1, READ = 2 }; /* what is known of a file */

/* Only of files that are read at all. */
static int group(struct reads *r)
{
    const struct iot_trace *t = r->trace;
    const uint32_t *file = t->events.file;
    size_t n = 0;
    uint8_t *known = calloc(t->n_files + 1, 1);
    r->first = calloc(t->n_files + 2, sizeof *r->first);
    if (!known || !r->first) {
        free(known);
        return -1;
    }
    for (size_t f = 0; f < t->n_files; f++)
        known[f] = t->files[f].kind == IOT_FILE_REGULAR ? REGULAR : 0;
    for (size_t i = 0; i < t->events.n; i++)
        if (known[file[i]] && is_wanted(&t->events, i)) {
            known[file[i]] |= is_reading(&t->events, i) ? READ : 0;
            r->first[file[i] + 2]++;
        }
    for (size_t f = 0; f < t->n_files; f++) {
        if (!(known[f] & READ))
            r->first[f + 2] = 0;
        n += r->first[f + 2];
    }
    for (size_t f = 1; f <= t->n_files; f++)
        r->first[f + 1] += r->first[f];
    r->calls = malloc((n + 1) * sizeof *r->calls);
    for (size_t l = 0; r->calls && l < t->n_lanes; l++)
        for (size_t k = 0; k < t->lanes[l].n_events; k++) {
            size_t i = t->lanes[l].first_event + k;
            if (known[file[i]] & READ && is_wanted(&t->events, i))
                r->calls[r->first[file[i] + 1]++] = (struct call){(uint32_t)i, t->lanes[l].process};
        }
    free(known);
    return r->calls ? 0 : -1;
}

static int by_time(const void *a, const void *b, void *user)
{
    const struct call *x = a, *y = b;
    const int64_t *t0 = ((const struct iot_events *)user)->t0_ns;
    if (t0[x->event] != t0[y->event])
        return t0[x->event] < t0[y->event] ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Those of one lane are in order as they are. */
static void sort(const struct reads *r, struct call *calls, size_t n)
{
    const int64_t *t0 = r->trace->events.t0_ns;
    for (size_t k = 1; k < n; k++)
        if (t0[calls[k].event] < t0[calls[k - 1].event]) {
            qsort_r(calls, n, sizeof *calls, by_time, (void *)&r->trace->events);
            return;
        }
}

/* --- bytes of one file --- */

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* In order, and none touches another. */
static void merge(struct reads *r)
{
    size_t n = 0;
    if (r->n_spans > 1)
        qsort(r->spans, r->n_spans, sizeof *r->spans, by_begin);
    for (size_t k = 0; k < r->n_spans; k++) {
        struct span *last = n ? &r->spans[n - 1] : NULL;
        if (!last || r->spans[k].begin > last->end)
            r->spans[n++] = r->spans[k];
        else if (r->spans[k].end > last->end)
            last->end = r->spans[k].end;
    }
    r->n_spans = n;
}

/* Room for one more. Returns 0, -1 without memory. */
static int need(struct reads *r)
{
    if (r->n_spans < r->room)
        return 0;
    merge(r);
    if (r->room && r->n_spans <= r->room / 2)
        return 0;
    return IOT_ROOM(r->spans, 2 * r->room + 64, r->room);
}

/* Is it in the spans for sure? It is from now on. */
static int is_known(struct reads *r, uint32_t file, struct span span)
{
    size_t place =
        (size_t)(((uint64_t)span.begin * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - RECENT_BITS));
    if (r->recent[place].file == file && r->recent[place].span.begin == span.begin &&
        r->recent[place].span.end >= span.end)
        return 1;
    r->recent[place].span = span;
    r->recent[place].file = file;
    return 0;
}

static int add_span(struct reads *r, int64_t begin, int64_t bytes)
{
    struct span *last = r->n_spans ? &r->spans[r->n_spans - 1] : NULL;
    if (last && last->end == begin) {
        last->end += bytes;
        return 0;
    }
    if (need(r))
        return -1;
    r->spans[r->n_spans++] = (struct span){begin, begin + bytes};
    return 0;
}

static int64_t distinct(struct reads *r)
{
    int64_t sum = 0;
    merge(r);
    for (size_t k = 0; k < r->n_spans; k++)
        sum += r->spans[k].end - r->spans[k].begin;
    return sum;
}

static int walk(struct reads *r, struct iot_order_walk *orders, const struct call *calls, size_t n,
                struct iot_figures *to)
{
    const struct iot_events *e = &r->trace->events;
    r->n_spans = 0;
    for (size_t k = 0; k < n; k++) {
        struct iot_placed placed;
        size_t i = calls[k].event;
        if (iot_order_walk_next(orders, i, calls[k].process, &placed))
            return -1;
        if (!is_reading(e, i) || placed.begin == IOT_PLACE_UNKNOWN ||
            placed.begin > INT64_MAX - e->bytes[i])
            continue;
        struct span span = {placed.begin, placed.begin + e->bytes[i]};
        if (!is_known(r, e->file[i], span) && add_span(r, span.begin, e->bytes[i]))
            return -1;
        to->placed_bytes += e->bytes[i];
    }
    to->distinct_bytes += distinct(r);
    return 0;
}

static int count(struct reads *r, uint32_t file, struct iot_figures *to)
{
    struct call *calls = &r->calls[r->first[file]];
    size_t n = r->first[file + 1] - r->first[file];
    struct iot_order_walk *orders = iot_order_walk_begin(r->trace);

    sort(r, calls, n);
    int failed = orders ? walk(r, orders, calls, n, to) : -1;
    iot_order_walk_end(orders);
    return failed;
}

int iot_rows_reads(struct iot_rows *rows)
{
    struct reads *r = calloc(1, sizeof *r);
    if (!r)
        return -1;
    r->trace = rows->report->trace;
    int failed = group(r);
    for (uint32_t f = 1; f < r->trace->n_files && !failed; f++) {
        uint32_t row = rows->of_file[IOT_READING][f];
        if (r->first[f] < r->first[f + 1] && row != IOT_NO_INDEX)
            failed = count(r, f, &rows->report->files[row].figures);
    }
    free(r->calls);
    free(r->first);
    free(r->spans);
    free(r);
    return failed;
}
