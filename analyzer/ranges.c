#include "analyzer/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/family.h"
#include "analyzer/latency.h"
#include "analyzer/report.h"
#include "analyzer/room.h"
#include "analyzer/table.h"
#include "format/mark.h"

/* A program that begins ranges and never ends them is no reason to run out of memory. */
enum { DEPTH_MAX = 1 << 16 };

struct sums {
    int64_t ops, bytes, service_ns, exposed_ns;
};

/* What one row is made of: ranges, or marks, of one family of names. */
struct row {
    uint64_t family;
    uint32_t file; /* whose name it has */
    uint8_t mark, several;
    uint64_t n;
    int64_t total_ns, first_ns, last_ns;
    struct sums sums;
};

/* A range under way. */
struct open_range {
    size_t row;
    size_t lane;
    uint32_t process;
    int64_t id; /* its domain, or its number */
    int64_t t0;
    struct sums before;
};

struct sample {
    size_t row;
    uint16_t bucket;
};

struct work {
    struct iot_report *report;
    struct row *rows;
    struct iot_table by_family;
    struct open_range *stack; /* of the lane */
    struct open_range *started;
    struct iot_table by_id;
    struct sample *samples;
    size_t n_rows, depth, n_started, n_samples;
    size_t rows_room, stack_room, started_room, samples_room;
};

/* --- rows --- */

struct look {
    const struct work *work;
    uint64_t family;
};

static int same_family(const void *user, uint32_t index)
{
    const struct look *look = user;
    return look->work->rows[index].family == look->family;
}

/* SIZE_MAX without memory. */
static size_t row_of(struct work *w, uint32_t file, int mark)
{
    uint64_t family =
        iot_family_mix(iot_family_of(w->report->trace->files[file].name), (uint64_t)mark);
    struct look look = {w, family};
    uint64_t hash = iot_table_hash(&family, sizeof family);
    uint32_t found = iot_table_find(&w->by_family, hash, same_family, &look);
    if (found != IOT_NO_INDEX) {
        w->rows[found].several |= w->rows[found].file != file;
        return found;
    }
    if (IOT_ROOM(w->rows, w->n_rows + 1, w->rows_room) ||
        iot_table_add(&w->by_family, hash, (uint32_t)w->n_rows))
        return SIZE_MAX;
    w->rows[w->n_rows] =
        (struct row){.family = family, .file = file, .mark = (uint8_t)mark, .first_ns = INT64_MAX};
    return w->n_rows++;
}

/* The numbers in it as "#", if it stands for several. */
static const char *name_of(const struct work *w, const struct row *row)
{
    const char *name = w->report->trace->files[row->file].name;
    char *text = row->several ? iot_arena_text(w->report->arena, name, strlen(name)) : NULL,
         *to = text;
    if (!text)
        return name;
    for (const char *p = name; *p; p++) {
        int digit = *p >= '0' && *p <= '9';
        if (!digit)
            *to++ = *p;
        else if (p == name || p[-1] < '0' || p[-1] > '9')
            *to++ = '#';
    }
    *to = '\0';
    return text;
}

/* --- ranges --- */

static int finish(struct work *w, const struct open_range *open, int64_t end_ns,
                  const struct sums *now)
{
    struct row *row = &w->rows[open->row];
    int64_t span = end_ns > open->t0 ? end_ns - open->t0 : 0;
    if (IOT_ROOM(w->samples, w->n_samples + 1, w->samples_room))
        return -1;
    w->samples[w->n_samples++] = (struct sample){open->row, (uint16_t)iot_latency_bucket(span)};
    row->n++;
    row->total_ns += span;
    if (now) {
        row->sums.ops += now->ops - open->before.ops;
        row->sums.bytes += now->bytes - open->before.bytes;
        row->sums.service_ns += now->service_ns - open->before.service_ns;
        row->sums.exposed_ns += now->exposed_ns - open->before.exposed_ns;
    }
    return 0;
}

static struct open_range open_at(const struct work *w, size_t lane, size_t i)
{
    const struct iot_trace *t = w->report->trace;
    return (struct open_range){.lane = lane,
                               .process = t->lanes[lane].process,
                               .id = t->events.offset[i],
                               .t0 = t->events.t0_ns[i]};
}

static int begin(struct work *w, size_t lane, size_t i, const struct sums *now)
{
    if (w->depth >= DEPTH_MAX)
        return 0;
    if (IOT_ROOM(w->stack, w->depth + 1, w->stack_room))
        return -1;
    struct open_range open = open_at(w, lane, i);
    open.before = *now;
    open.row = row_of(w, w->report->trace->events.file[i], 0);
    if (open.row == SIZE_MAX)
        return -1;
    w->stack[w->depth++] = open;
    return 0;
}

/* The innermost of its domain; domains are not nested in each other. */
static int end(struct work *w, size_t i, const struct sums *now)
{
    const struct iot_events *e = &w->report->trace->events;
    for (size_t k = w->depth; k-- > 0;) {
        if (w->stack[k].id != e->offset[i])
            continue;
        struct open_range open = w->stack[k];
        memmove(&w->stack[k], &w->stack[k + 1], (--w->depth - k) * sizeof *w->stack);
        return finish(w, &open, e->t0_ns[i], now);
    }
    return 0;
}

static int same_id(const void *user, uint32_t index)
{
    const void *const *look = user;
    const struct open_range *a = &((const struct work *)look[0])->started[index], *b = look[1];
    return a->process == b->process && a->id == b->id;
}

static struct open_range *find_started(const struct work *w, const struct open_range *like)
{
    const void *look[2] = {w, like};
    const int64_t key[2] = {like->process, like->id};
    uint32_t found = iot_table_find(&w->by_id, iot_table_hash(key, sizeof key), same_id, look);
    return found == IOT_NO_INDEX ? NULL : &w->started[found];
}

/* Before all else: a range may stop in a lane that comes before the one it started in. */
static int gather_started(struct work *w)
{
    const struct iot_trace *t = w->report->trace;
    for (size_t l = 0; l < t->n_lanes; l++)
        for (size_t i = t->lanes[l].first_event; i < t->lanes[l].first_event + t->lanes[l].n_events;
             i++) {
            if (t->events.op[i] != IOT_OP_MARK || t->events.result[i] != IOT_MARK_START)
                continue;
            struct open_range open = open_at(w, l, i);
            const int64_t key[2] = {open.process, open.id};
            if (find_started(w, &open))
                continue;
            open.row = row_of(w, t->events.file[i], 0);
            if (open.row == SIZE_MAX ||
                IOT_ROOM(w->started, w->n_started + 1, w->started_room) ||
                iot_table_add(&w->by_id, iot_table_hash(key, sizeof key), (uint32_t)w->n_started))
                return -1;
            w->started[w->n_started++] = open;
        }
    return 0;
}

static int stop(struct work *w, size_t lane, size_t i, const struct sums *now)
{
    struct open_range like = open_at(w, lane, i), *open = find_started(w, &like);
    if (!open || open->t0 < 0)
        return 0;
    int failed = finish(w, open, like.t0, open->lane == lane ? now : NULL);
    open->t0 = -1; /* it has ended */
    return failed;
}

/* --- the walk --- */

static int note_mark(struct work *w, size_t i)
{
    const struct iot_events *e = &w->report->trace->events;
    size_t row = row_of(w, e->file[i], 1);
    if (row == SIZE_MAX)
        return -1;
    w->rows[row].n++;
    if (e->t0_ns[i] < w->rows[row].first_ns)
        w->rows[row].first_ns = e->t0_ns[i];
    if (e->t0_ns[i] > w->rows[row].last_ns)
        w->rows[row].last_ns = e->t0_ns[i];
    return 0;
}

static int note(struct work *w, size_t lane, size_t i, const struct sums *now)
{
    struct open_range like, *open;
    switch (w->report->trace->events.result[i]) {
    case IOT_MARK_NAMED:
        return note_mark(w, i);
    case IOT_MARK_BEGIN:
        return begin(w, lane, i, now);
    case IOT_MARK_END:
        return end(w, i, now);
    case IOT_MARK_START:
        like = open_at(w, lane, i);
        if ((open = find_started(w, &like)))
            open->before = *now;
        return 0;
    case IOT_MARK_STOP:
        return stop(w, lane, i, now);
    default:
        return 0;
    }
}

static void add(struct sums *sums, const struct iot_report *r, size_t i)
{
    const struct iot_events *e = &r->trace->events;
    unsigned class_ = iot_op_info(e->op[i])->class_;
    if (class_ != IOT_DATA && class_ != IOT_META && class_ != IOT_SYNC)
        return;
    sums->ops++;
    sums->bytes += class_ == IOT_DATA && e->bytes[i] > 0 ? e->bytes[i] : 0;
    sums->service_ns += r->model->service_ns[i];
    sums->exposed_ns += r->model->exposed_ns[i];
}

static int walk_lane(struct work *w, size_t l)
{
    const struct iot_trace *t = w->report->trace;
    const struct iot_lane *lane = &t->lanes[l];
    struct sums now = {0};
    int failed = 0;
    w->depth = 0;
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events && !failed; i++) {
        if (t->events.op[i] == IOT_OP_MARK)
            failed = note(w, l, i, &now);
        else
            add(&now, w->report, i);
    }
    while (!failed && w->depth)
        failed = finish(w, &w->stack[--w->depth], lane->end_ns, &now);
    return failed;
}

static int finish_started(struct work *w)
{
    const struct iot_trace *t = w->report->trace;
    int failed = 0;
    for (size_t k = 0; k < w->n_started && !failed; k++)
        if (w->started[k].t0 >= 0)
            failed = finish(w, &w->started[k], t->lanes[w->started[k].lane].end_ns, NULL);
    return failed;
}

/* --- the report --- */

static int by_row(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

static int by_exposed(const void *a, const void *b)
{
    const struct iot_range *x = a, *y = b;
    if (x->exposed_ns != y->exposed_ns)
        return x->exposed_ns < y->exposed_ns ? 1 : -1;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return strcmp(x->name, y->name);
}

static int by_first(const void *a, const void *b)
{
    const struct iot_named_mark *x = a, *y = b;
    if (x->first_ns != y->first_ns)
        return x->first_ns < y->first_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int put_range(struct work *w, const struct row *row, const struct sample *samples)
{
    uint16_t *buckets = iot_arena_take(w->report->arena, row->n * sizeof *buckets);
    if (!buckets)
        return -1;
    for (size_t k = 0; k < row->n; k++)
        buckets[k] = samples[k].bucket;
    struct iot_latency length = iot_latency_of_buckets(buckets, row->n, INT64_MAX);
    w->report->ranges[w->report->n_ranges++] = (struct iot_range){
        name_of(w, row), row->n,          row->total_ns,        length.p50_ns,       length.p95_ns,
        row->sums.ops,   row->sums.bytes, row->sums.service_ns, row->sums.exposed_ns, buckets};
    return 0;
}

static int put(struct work *w)
{
    struct iot_report *r = w->report;
    r->ranges = malloc((w->n_rows + 1) * sizeof *r->ranges);
    r->marks = malloc((w->n_rows + 1) * sizeof *r->marks);
    if (!r->ranges || !r->marks)
        return -1;
    if (w->n_samples)
        qsort(w->samples, w->n_samples, sizeof *w->samples, by_row);
    const struct sample *samples = w->samples;
    for (size_t k = 0; k < w->n_rows; k++) {
        const struct row *row = &w->rows[k];
        if (row->mark)
            r->marks[r->n_marks++] =
                (struct iot_named_mark){name_of(w, row), row->n, row->first_ns, row->last_ns};
        else if (row->n && put_range(w, row, samples))
            return -1;
        samples += row->mark ? 0 : row->n;
    }
    qsort(r->ranges, r->n_ranges, sizeof *r->ranges, by_exposed);
    qsort(r->marks, r->n_marks, sizeof *r->marks, by_first);
    return 0;
}

int iot_report_ranges(struct iot_report *report)
{
    struct work w = {.report = report};
    int failed = gather_started(&w);
    for (size_t l = 0; l < report->trace->n_lanes && !failed; l++)
        failed = walk_lane(&w, l);
    failed = failed || finish_started(&w) || put(&w);
    iot_table_free(&w.by_family);
    iot_table_free(&w.by_id);
    free(w.rows);
    free(w.stack);
    free(w.started);
    free(w.samples);
    return failed ? -1 : 0;
}
