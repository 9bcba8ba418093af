/* Asynchronous requests: the row where one is handed over and those where it is found done become
 * one event, in a lane of requests. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/events.h"
#include "analyzer/room.h"
#include "analyzer/trace_reading.h"

enum { RINGS_FROM = 16 }; /* queues from here on are rings */

/* A row of a request: handed over, or found done. */
struct item {
    uint64_t token;
    size_t event, order;
    int64_t t_ns;
    uint32_t process, lane;
    uint16_t queue;
    uint8_t done;
};

/* A request as it is put together, out of columns that are about to move. */
struct whole {
    int64_t t0_ns, t1_ns, not_before_ns, bytes, result, offset;
    size_t order;
    uint32_t process, made_lane, found_lane, obj, obj2, stack;
    uint16_t op, err, queue;
    uint8_t kind, found;
};

struct joining {
    struct iot_reading *r;
    struct item *items;
    struct whole *wholes;
    size_t n_items, n_wholes;
    int64_t *closed_ns; /* when the window closed */
    size_t n_closed;
};

static int is_request(unsigned op)
{
    return op >= IOT_OP_ASYNC_READ && op <= IOT_OP_ASYNC_OTHER;
}

static enum iot_lane_kind kind_of(unsigned queue)
{
    static const uint8_t kinds[RINGS_FROM] = {IOT_LANE_AIO, IOT_LANE_LIBAIO, IOT_LANE_CUFILE};
    if (queue >= RINGS_FROM)
        return IOT_LANE_RING;
    return kinds[queue] ? kinds[queue] : IOT_LANE_AIO;
}

static size_t count(const struct iot_trace *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->events.n; i++)
        n += is_request(t->events.op[i]) || t->events.op[i] == IOT_OP_ASYNC_DONE;
    return n;
}

static void gather(struct joining *j)
{
    const struct iot_trace *t = j->r->trace;
    const struct iot_events *e = &t->events;
    for (uint32_t l = 0; l < t->n_lanes; l++)
        for (size_t i = t->lanes[l].first_event; i < t->lanes[l].first_event + t->lanes[l].n_events;
             i++) {
            int done = e->op[i] == IOT_OP_ASYNC_DONE;
            if (!done && !is_request(e->op[i]))
                continue;
            j->items[j->n_items] = (struct item){.token = e->addr[i],
                                                 .event = i,
                                                 .order = j->n_items,
                                                 .t_ns = done ? e->t1_ns[i] : e->t0_ns[i],
                                                 .process = t->lanes[l].process,
                                                 .lane = l,
                                                 .queue = e->err[i],
                                                 .done = (uint8_t)done};
            j->n_items++;
        }
}

static int by_token(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->queue != y->queue)
        return x->queue < y->queue ? -1 : 1;
    if (x->token != y->token)
        return x->token < y->token ? -1 : 1;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    if (x->done != y->done) /* what a call finds when it begins is not of what it hands over */
        return y->done - x->done;
    return x->order < y->order ? -1 : 1;
}

static void add_whole(struct joining *j, const struct item *made)
{
    const struct iot_events *e = &j->r->trace->events;
    size_t i = made->event;
    j->wholes[j->n_wholes] = (struct whole){.t0_ns = e->t0_ns[i],
                                            .t1_ns = e->t0_ns[i],
                                            .not_before_ns = e->t0_ns[i],
                                            .offset = e->offset[i],
                                            .order = made->order,
                                            .process = made->process,
                                            .made_lane = made->lane,
                                            .obj = e->file[i],
                                            .obj2 = e->file2[i],
                                            .stack = e->stack[i],
                                            .op = e->op[i],
                                            .queue = made->queue,
                                            .kind = (uint8_t)kind_of(made->queue)};
    j->n_wholes++;
}

/* One that goes on (offset 1) adds its bytes. Returns whether this was the last of it. */
static int complete(struct joining *j, struct whole *w, const struct item *done)
{
    const struct iot_events *e = &j->r->trace->events;
    size_t i = done->event;
    int64_t result = e->result[i];
    if (result > 0 && iot_op_info(w->op)->class_ == IOT_DATA &&
        __builtin_add_overflow(w->bytes, result, &w->bytes))
        w->bytes = INT64_MAX;
    w->result = result < 0 ? -1 : result;
    w->err = result < 0 && result > -4096 ? (uint16_t)-result : 0;
    w->t1_ns = e->t1_ns[i];
    if (e->t0_ns[i] > w->not_before_ns)
        w->not_before_ns = e->t0_ns[i] < w->t1_ns ? e->t0_ns[i] : w->t1_ns;
    w->found_lane = done->lane;
    w->found = 1;
    return e->offset[i] != 1;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int gather_closed(struct joining *j)
{
    const struct iot_events *e = &j->r->trace->events;
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += e->op[i] == IOT_OP_WINDOW_CLOSE;
    if (!(j->closed_ns = malloc((n + 1) * sizeof *j->closed_ns)))
        return -1;
    for (size_t i = 0; i < e->n; i++)
        if (e->op[i] == IOT_OP_WINDOW_CLOSE)
            j->closed_ns[j->n_closed++] = e->t0_ns[i];
    if (n)
        qsort(j->closed_ns, n, sizeof *j->closed_ns, by_number);
    return 0;
}

/* Whether the window closed meanwhile: then what was under way may be over, and its token
 * another's. */
static int closed_between(const struct joining *j, int64_t from_ns, int64_t to_ns)
{
    size_t low = 0, high = j->n_closed;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (j->closed_ns[middle] < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < j->n_closed && j->closed_ns[low] <= to_ns;
}

/* Requests with one token are done in the order they were made in. What is found done without
 * having been made is left out: it was found twice, or made out of sight. */
static void join(struct joining *j)
{
    size_t oldest = 0; /* of the wholes: that is not done */
    for (size_t k = 0; k < j->n_items; k++) {
        const struct item *item = &j->items[k], *before = k ? item - 1 : NULL;
        if (!before || before->process != item->process || before->queue != item->queue ||
            before->token != item->token)
            oldest = j->n_wholes;
        while (item->done && oldest < j->n_wholes &&
               closed_between(j, j->wholes[oldest].t0_ns, item->t_ns))
            oldest++;
        if (!item->done)
            add_whole(j, item);
        else if (oldest < j->n_wholes && complete(j, &j->wholes[oldest], item))
            oldest++;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct whole *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind - y->kind;
    if (x->t0_ns != y->t0_ns)
        return x->t0_ns < y->t0_ns ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Lanes are in the order of their events still. */
static void take_out(struct iot_trace *t)
{
    struct iot_events *e = &t->events;
    size_t kept = 0;
    for (size_t l = 0; l < t->n_lanes; l++) {
        struct iot_lane *lane = &t->lanes[l];
        size_t first = kept;
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
            if (!is_request(e->op[i]) && e->op[i] != IOT_OP_ASYNC_DONE)
                iot_events_copy(e, kept++, i);
        lane->first_event = first;
        lane->n_events = kept - first;
    }
    e->n = kept;
}

static size_t event_in(const struct iot_trace *t, uint32_t lane)
{
    return t->lanes[lane].n_events ? t->lanes[lane].first_event : SIZE_MAX;
}

static void put_in(struct iot_trace *t, const struct whole *w, struct iot_request *request)
{
    struct iot_events *e = &t->events;
    size_t i = e->n++;
    e->t0_ns[i] = w->t0_ns;
    e->t1_ns[i] = w->t1_ns;
    e->bytes[i] = w->bytes;
    e->result[i] = w->result;
    e->offset[i] = w->offset;
    e->addr[i] = 0;
    e->file[i] = w->obj;
    e->file2[i] = w->obj2;
    e->arg[i] = 0;
    e->stack[i] = w->stack;
    e->fd[i] = -1;
    e->op[i] = w->op;
    e->err[i] = w->err;
    *request = (struct iot_request){.event = i,
                                    .made_in = event_in(t, w->made_lane),
                                    .found_in = w->found ? event_in(t, w->found_lane) : SIZE_MAX,
                                    .not_before_ns = w->not_before_ns,
                                    .queue = w->queue,
                                    .found = w->found};
}

/* Each whole gets the first lane of its kind that is free: how many they are by then. */
static size_t place(const struct joining *j, size_t from, size_t to, uint32_t *depth_of,
                    int64_t **ends)
{
    size_t n = 0, room = 0;
    for (size_t k = from; k < to; k++) {
        size_t d = 0;
        while (d < n && (*ends)[d] >= j->wholes[k].t0_ns)
            d++;
        if (d == n) {
            if (IOT_ROOM(*ends, n + 1, room))
                return 0;
            n++;
        }
        (*ends)[d] = j->wholes[k].t1_ns;
        depth_of[k] = (uint32_t)d;
    }
    return n;
}

/* Requests of one process and kind, by the lane they get and then in order. */
static int add_lanes(struct joining *j, size_t from, size_t to, uint32_t *depth_of,
                     uint32_t *number)
{
    struct iot_reading *r = j->r;
    struct iot_trace *t = r->trace;
    int64_t *ends = NULL;
    size_t depth = place(j, from, to, depth_of, &ends);
    free(ends);
    size_t *first = calloc(depth + 2, sizeof *first), *order = calloc(to - from + 1, sizeof *order);
    int failed = !depth || !first || !order;
    for (size_t k = from; k < to && !failed; k++)
        first[depth_of[k] + 2]++;
    for (size_t d = 2; d < depth + 2 && !failed; d++)
        first[d] += first[d - 1];
    for (size_t k = from; k < to && !failed; k++)
        order[first[depth_of[k] + 1]++] = k;
    for (size_t d = 0, at = 0; d < depth && !failed; d++) {
        uint32_t image = r->lane_image[j->wholes[from].made_lane];
        struct iot_lane lane = {.process = j->wholes[from].process,
                                .number = (*number)++,
                                .kind = j->wholes[from].kind,
                                .first_event = t->events.n};
        for (; at < first[d + 1]; at++)
            put_in(t, &j->wholes[order[at]], &t->requests[t->n_requests++]);
        lane.n_events = t->events.n - lane.first_event;
        failed = iot_reading_add_lane(r, image, &lane);
    }
    free(first);
    free(order);
    return failed ? -1 : 0;
}

static int add_all(struct joining *j)
{
    enum { NUMBERS_FROM = 1 << 30 }; /* of lanes that are no threads */
    uint32_t *depth_of = calloc(j->n_wholes + 1, sizeof *depth_of), number = NUMBERS_FROM;
    int failed = !depth_of;
    for (size_t from = 0, to; from < j->n_wholes && !failed; from = to) {
        const struct whole *w = &j->wholes[from];
        for (to = from + 1; to < j->n_wholes; to++)
            if (j->wholes[to].process != w->process || j->wholes[to].kind != w->kind)
                break;
        failed = add_lanes(j, from, to, depth_of, &number);
    }
    free(depth_of);
    return failed ? -1 : 0;
}

struct kept_lane {
    struct iot_lane lane;
    uint32_t image;
    size_t order;
};

static int by_process(const void *a, const void *b)
{
    const struct kept_lane *x = a, *y = b;
    if (x->lane.process != y->lane.process)
        return x->lane.process < y->lane.process ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* The lanes of one process are neighbours. */
static int sort_lanes(struct iot_reading *r)
{
    struct iot_trace *t = r->trace;
    struct kept_lane *lanes = calloc(t->n_lanes, sizeof *lanes);
    if (!lanes)
        return -1;
    for (size_t l = 0; l < t->n_lanes; l++)
        lanes[l] = (struct kept_lane){t->lanes[l], r->lane_image[l], l};
    qsort(lanes, t->n_lanes, sizeof *lanes, by_process);
    for (size_t l = 0; l < t->n_lanes; l++) {
        t->lanes[l] = lanes[l].lane;
        r->lane_image[l] = lanes[l].image;
    }
    free(lanes);
    return 0;
}

int iot_reading_requests(struct iot_reading *r)
{
    struct iot_trace *t = r->trace;
    struct joining j = {.r = r};
    size_t n = count(t);

    if (!n)
        return 0;
    j.items = calloc(n, sizeof *j.items);
    j.wholes = calloc(n, sizeof *j.wholes);
    t->requests = calloc(n, sizeof *t->requests);
    int failed = !j.items || !j.wholes || !t->requests || gather_closed(&j);
    if (!failed) {
        gather(&j);
        qsort(j.items, j.n_items, sizeof *j.items, by_token);
        join(&j);
        if (j.n_wholes)
            qsort(j.wholes, j.n_wholes, sizeof *j.wholes, by_place);
        take_out(t);
        failed = add_all(&j) || sort_lanes(r);
    }
    free(j.items);
    free(j.wholes);
    free(j.closed_ns);
    return failed ? -1 : 0;
}
