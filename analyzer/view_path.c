/* The critical path in few enough segments to be drawn. */
#include <stdlib.h>

#include "analyzer/path_walk.h"
#include "analyzer/room.h"
#include "analyzer/view.h"

/* What add() returns where there are more segments than may be. */
enum { TOO_MANY = 1 };

struct segment {
    int64_t start_ns, exposed_ns;
    int64_t parts[IOT_STRETCH_KINDS];
    int64_t longest_ns; /* of its stretches: lane, file and op are of this one */
    uint32_t lane, row, op, calls, pieces;
    struct iot_hand_over over;
    uint8_t merged; /* of stretches that are too short to be drawn */
};

struct path {
    const struct iot_report *report;
    struct iot_view_lanes *lanes;
    struct segment *segments;
    size_t n, room;
    int64_t shortest_ns; /* what is drawn by itself; 0: all */
    struct iot_stretch last;
};

static uint32_t row_of(const struct path *p, uint32_t event)
{
    return event == IOT_NO_INDEX ? IOT_NO_INDEX : p->report->of_event[event];
}

static uint32_t op_of(const struct path *p, uint32_t event)
{
    return event == IOT_NO_INDEX ? IOT_NO_INDEX : p->report->trace->events.op[event];
}

/* Neighbours that are one thing to whom looks at them. */
static int is_same(const struct path *p, const struct iot_stretch *a, const struct iot_stretch *b)
{
    return b->over.from == IOT_NO_INDEX && a->lane == b->lane && a->kind == b->kind &&
           row_of(p, a->event) == row_of(p, b->event) && op_of(p, a->event) == op_of(p, b->event);
}

static int count(void *user, const struct iot_stretch *s)
{
    struct path *p = user;
    p->lanes->path_ns[s->lane] += s->end_ns - s->start_ns;
    p->n += !p->n || !is_same(p, &p->last, s);
    p->last = *s;
    return 0;
}

static struct segment *begin(struct path *p, const struct iot_stretch *s, int merged)
{
    if (IOT_ROOM(p->segments, p->n + 1, p->room))
        return NULL;
    p->segments[p->n] = (struct segment){
        .start_ns = s->start_ns, .over = s->over, .merged = (uint8_t)merged, .lane = s->lane};
    return &p->segments[p->n++];
}

static void extend(struct path *p, struct segment *to, const struct iot_stretch *s)
{
    int64_t ns = s->end_ns - s->start_ns;
    to->parts[s->kind] += ns;
    to->pieces++;
    to->calls += s->kind == IOT_STRETCH_IO;
    to->exposed_ns += s->event == IOT_NO_INDEX ? 0 : p->report->model->exposed_ns[s->event];
    if (ns <= to->longest_ns)
        return;
    to->longest_ns = ns;
    to->lane = s->lane;
    to->row = row_of(p, s->event);
    to->op = op_of(p, s->event);
}

static int add(void *user, const struct iot_stretch *s)
{
    struct path *p = user;
    struct segment *last = p->n ? &p->segments[p->n - 1] : NULL;
    int small = s->end_ns - s->start_ns < p->shortest_ns;
    int joins = last && (small ? last->merged && s->start_ns - last->start_ns < p->shortest_ns
                               : !last->merged && is_same(p, &p->last, s));
    p->last = *s;
    if (!joins && p->n == IOT_VIEW_SEGMENTS)
        return TOO_MANY;
    if (!joins && !(last = begin(p, s, small)))
        return -1;
    extend(p, last, s);
    return 0;
}

static int kind_of(const struct segment *s, int *kinds)
{
    int most = 0;
    *kinds = 0;
    for (int k = 0; k < IOT_STRETCH_KINDS; k++) {
        *kinds += s->parts[k] != 0;
        most = s->parts[k] > s->parts[most] ? k : most;
    }
    return most;
}

/* --- as JSON --- */

static int64_t number(uint32_t index)
{
    return index == IOT_NO_INDEX ? -1 : (int64_t)index;
}

static void put_column(struct iot_json *json, const char *key, const struct path *p,
                       int64_t (*value)(const struct segment *))
{
    iot_json_put_array(json, key);
    for (size_t k = 0; k < p->n; k++)
        iot_json_int(json, value(&p->segments[k]));
    iot_json_end_array(json);
}

static int64_t start_of(const struct segment *s)
{
    return s->start_ns;
}

static int64_t lane_of(const struct segment *s)
{
    return s->lane;
}

static int64_t file_of(const struct segment *s)
{
    return number(s->row);
}

static int64_t op_number(const struct segment *s)
{
    return number(s->op);
}

static int64_t calls_of(const struct segment *s)
{
    return s->calls;
}

static int64_t exposed_of(const struct segment *s)
{
    return s->exposed_ns;
}

static int64_t pieces_of(const struct segment *s)
{
    return s->pieces;
}

static void put_mixed(struct iot_json *json, const struct path *p)
{
    int kinds;
    iot_json_put_array(json, "mixed");
    for (size_t k = 0; k < p->n; k++) {
        kind_of(&p->segments[k], &kinds);
        if (kinds < 2)
            continue;
        iot_json_begin_array(json);
        iot_json_uint(json, k);
        for (int part = 0; part < IOT_STRETCH_KINDS; part++)
            iot_json_int(json, p->segments[k].parts[part]);
        iot_json_end_array(json);
    }
    iot_json_end_array(json);
}

static void put_overs(struct iot_json *json, const struct path *p)
{
    const struct iot_events *e = &p->report->trace->events;
    iot_json_put_array(json, "overs");
    for (size_t k = 0; k < p->n; k++) {
        const struct iot_hand_over *o = &p->segments[k].over;
        if (o->from == IOT_NO_INDEX)
            continue;
        iot_json_begin_array(json);
        iot_json_uint(json, k);
        iot_json_uint(json, o->from);
        iot_json_int(json, number(op_of(p, o->waker)));
        iot_json_int(json, number(row_of(p, o->waker)));
        iot_json_int(json, number(op_of(p, o->wait)));
        iot_json_int(json, number(row_of(p, o->wait)));
        iot_json_int(json, o->wait == IOT_NO_INDEX ? 0 : e->t1_ns[o->wait] - e->t0_ns[o->wait]);
        iot_json_end_array(json);
        p->lanes->named[o->from] = 1;
    }
    iot_json_end_array(json);
}

/* Names by number, of the operations that the path speaks of. */
static int put_ops(struct iot_json *json, const struct path *p)
{
    enum { OPS = 1 << 16 };
    uint8_t *met = calloc(OPS, 1);
    if (!met)
        return -1;
    for (size_t k = 0; k < p->n; k++) {
        const struct segment *s = &p->segments[k];
        const uint32_t ops[] = {s->op, op_of(p, s->over.waker), op_of(p, s->over.wait)};
        for (int i = 0; i < 3; i++)
            if (ops[i] < OPS)
                met[ops[i]] = 1;
    }
    iot_json_put_object(json, "ops");
    for (unsigned op = 0; op < OPS; op++) {
        char key[12];
        snprintf(key, sizeof key, "%u", op);
        if (met[op])
            iot_json_put_string(json, key, iot_op_info(op)->name);
    }
    iot_json_end_object(json);
    free(met);
    return 0;
}

static int put(struct iot_json *json, const struct path *p, size_t stretches)
{
    char *letters = malloc(p->n + 1);
    int kinds;
    if (!letters)
        return -1;
    for (size_t k = 0; k < p->n; k++) {
        letters[k] = (char)('0' + kind_of(&p->segments[k], &kinds));
        p->lanes->named[p->segments[k].lane] = 1;
    }
    iot_json_put_object(json, "path");
    iot_json_put_strings(json, "kinds", iot_stretch_names, IOT_STRETCH_KINDS);
    iot_json_put_uint(json, "stretches", stretches);
    iot_json_put_int(json, "shortest_ns", p->shortest_ns);
    iot_json_key(json, "kind");
    iot_json_bytes(json, letters, p->n);
    for (size_t k = 0; k < p->n; k++)
        letters[k] = p->segments[k].row == IOT_NO_INDEX
                         ? '-'
                         : (char)('0' + p->report->files[p->segments[k].row].object);
    iot_json_key(json, "object");
    iot_json_bytes(json, letters, p->n);
    free(letters);
    put_column(json, "start_ns", p, start_of);
    put_column(json, "lane", p, lane_of);
    put_column(json, "file", p, file_of);
    put_column(json, "op", p, op_number);
    put_column(json, "calls", p, calls_of);
    put_column(json, "exposed_ns", p, exposed_of);
    put_column(json, "pieces", p, pieces_of);
    put_mixed(json, p);
    put_overs(json, p);
    int failed = put_ops(json, p);
    iot_json_end_object(json);
    return failed;
}

int iot_view_put_path(struct iot_json *json, const struct iot_reporting *reporting,
                      struct iot_view_lanes *lanes)
{
    const struct iot_model *model = reporting->model;
    struct path p = {.report = &reporting->report, .lanes = lanes};

    int failed = iot_path_walk(model, count, &p), status;
    size_t stretches = p.n;
    /* With the last of them no more than three segments fall on each such length. */
    for (int64_t parts = 1024 * IOT_VIEW_PARTS; !failed; parts /= 2) {
        p.n = 0;
        p.shortest_ns = stretches > IOT_VIEW_SEGMENTS ? model->wall_ns / parts : 0;
        status = iot_path_walk(model, add, &p);
        if (status != TOO_MANY)
            break;
    }
    failed = failed || status || put(json, &p, stretches);
    free(p.segments);
    return failed ? -1 : 0;
}
