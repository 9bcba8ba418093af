#include "analyzer/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/gpu.h"
#include "analyzer/gpu_starts.h"
#include "analyzer/room.h"

/* Whether a waker let it go on only after it had come. */
static int late(const struct iot_trace *trace, const struct iot_links *links, size_t i,
                struct iot_waker waker)
{
    return waker.kind != IOT_WAKER_NONE &&
           iot_waker_time(trace, waker) > trace->events.t0_ns[iot_wait_start(links, i)];
}

/* A link to or from what a signal handler did cannot be placed: it lies inside another call. */
static int usable(const struct iot_links *links, struct iot_waker waker)
{
    return waker.kind == IOT_WAKER_LANE ||
           (waker.kind != IOT_WAKER_NONE && !(links->flags[waker.index] & IOT_LINK_NESTED));
}

/* A rank that waits for the others within a collective. */
static int waits_in_collective(const struct iot_trace *trace, const struct iot_links *links,
                               size_t i, struct iot_waker waker)
{
    return trace->events.op[i] == IOT_OP_GPU_COLLECTIVE_WAIT && iot_waker_is_rank(trace, waker) &&
           usable(links, waker) && late(trace, links, i, waker);
}

static enum iot_part part_of(const struct iot_trace *trace, const struct iot_links *links, size_t i)
{
    const struct iot_events *e = &trace->events;
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    unsigned flags = links->flags[i];
    if (flags & IOT_LINK_NESTED)
        return IOT_PART_NONE;
    if (iot_gpu_runs(e->op[i]))
        return op->class_ == IOT_DATA           ? IOT_PART_IO
               : waits_in_collective(trace, links, i, links->waker[i]) ? IOT_PART_WAIT
                                                                       : IOT_PART_GPU;
    if (late(trace, links, i, links->waker[i]))
        return usable(links, links->waker[i]) ? IOT_PART_WAIT : IOT_PART_UNEXPLAINED;
    if (flags & IOT_LINK_COMPUTES)
        return IOT_PART_NONE;
    if (flags & IOT_LINK_CONTINUES)
        return IOT_PART_SLEEP; /* unless what it goes on in turns out to be a wait */
    if (flags & IOT_LINK_SLEEP)
        return IOT_PART_SLEEP;
    if (flags & IOT_LINK_EXTERNAL)
        return IOT_PART_EXTERNAL;
    if (flags & IOT_LINK_UNEXPLAINED)
        return IOT_PART_UNEXPLAINED;
    if (e->op[i] == IOT_OP_FAULTS)
        return IOT_PART_IO;
    switch (op->class_) {
    case IOT_DATA:
    case IOT_META:
    case IOT_SYNC:
        return IOT_PART_IO;
    case IOT_WAIT:
        /* For a child or thread that left no trace. One that did, and had ended, was no wait. */
        return e->result[i] > 0 && links->waker[i].kind == IOT_WAKER_NONE ? IOT_PART_UNEXPLAINED
                                                                          : IOT_PART_NONE;
    default:
        return IOT_PART_NONE;
    }
}

void iot_schedule_parts(const struct iot_trace *trace, const struct iot_links *links,
                        struct iot_model *model)
{
    for (size_t i = 0; i < trace->events.n; i++) {
        model->part[i] = (uint8_t)part_of(trace, links, i);
        model->service_ns[i] = model->part[i] == IOT_PART_IO
                                   ? trace->events.t1_ns[i] - trace->events.t0_ns[i]
                                   : 0;
    }
    for (size_t k = 0; k < links->n_more; k++) {
        size_t i = links->more[k].event;
        if (waits_in_collective(trace, links, i, links->more[k].waker))
            model->part[i] = IOT_PART_WAIT;
        if (!iot_gpu_runs(trace->events.op[i]) &&
            late(trace, links, i, links->more[k].waker) && usable(links, links->more[k].waker) &&
            !(links->flags[i] & IOT_LINK_NESTED))
            model->part[i] = IOT_PART_WAIT;
    }
    for (size_t i = trace->events.n; i-- > 0;)
        if (links->flags[i] & IOT_LINK_CONTINUES && model->part[i + 1] == IOT_PART_WAIT)
            model->part[i] = IOT_PART_WAIT;
}

/* --- the graph --- */

enum { BEFORE = 1, AFTER = 2, IDLE = 4 };

struct builder {
    struct iot_schedule *schedule;
    const struct iot_trace *trace;
    const struct iot_links *links;
    const struct iot_model *model;
    uint8_t *need;             /* by event: the nodes that stand at it; IDLE: its lane had nothing
                                * to do before it, and waited for it */
    uint32_t *before, *after;  /* by event: those nodes */
    uint32_t *start, *end;     /* by lane */
    struct iot_gpu_starts gpu;
    int failed;
};

static void need_waker(struct builder *b, struct iot_waker waker)
{
    if (waker.kind == IOT_WAKER_ENTRY)
        b->need[waker.index] |= BEFORE;
    else if (waker.kind == IOT_WAKER_RETURN)
        b->need[waker.index] |= AFTER;
}

/* A wait in pieces lets go of its mutex at the beginning of each: when that was is a timer's doing,
 * and holds nobody back. Who waited for the mutex just then keeps that time. */
static int looks_again(const struct iot_links *links, struct iot_waker waker)
{
    return waker.kind == IOT_WAKER_ENTRY && iot_wait_start(links, waker.index) != waker.index;
}

static int linked(const struct builder *b, size_t i, struct iot_waker waker)
{
    return !(b->links->flags[i] & IOT_LINK_NESTED) && usable(b->links, waker) &&
           !looks_again(b->links, waker);
}

static void need_link(struct builder *b, size_t i, struct iot_waker waker)
{
    if (!linked(b, i, waker))
        return;
    b->need[iot_wait_start(b->links, i)] |= BEFORE;
    if (b->model->part[i] == IOT_PART_WAIT)
        b->need[i] |= AFTER;
    need_waker(b, waker);
}

/* A sleep until a moment of the clock, whenever it began. One that found it passed is held before
 * it, else its end is. */
static int is_held(const struct builder *b, size_t i)
{
    return b->links->flags[i] & IOT_LINK_HELD && b->model->part[i] == IOT_PART_SLEEP;
}

static int is_passed(const struct builder *b, size_t i)
{
    return b->trace->events.offset[i] < 0;
}

static void find_needs(struct builder *b)
{
    for (size_t i = 0; i < b->trace->events.n; i++) {
        need_link(b, i, b->links->waker[i]);
        if (is_held(b, i))
            b->need[i] |= is_passed(b, i) ? BEFORE : BEFORE | AFTER;
    }
    for (size_t k = 0; k < b->links->n_more; k++)
        need_link(b, b->links->more[k].event, b->links->more[k].waker);
    for (size_t l = 0; l < b->trace->n_lanes; l++) {
        const struct iot_lane *lane = &b->trace->lanes[l];
        if (usable(b->links, b->links->creator[l]))
            need_waker(b, b->links->creator[l]);
        if (!iot_lane_is_stream(lane))
            continue;
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
            if (iot_gpu_runs(b->trace->events.op[i]) && !(b->links->flags[i] & IOT_LINK_NESTED))
                b->need[i] |= (uint8_t)(BEFORE | AFTER | (b->gpu.idle[i] ? IDLE : 0));
    }
}

static uint32_t node(struct builder *b, int64_t t, uint32_t lane)
{
    uint32_t n = iot_graph_add_node(&b->schedule->graph, t < 0 ? 0 : t, lane);
    b->failed |= n == IOT_NO_NODE;
    return n;
}

/* The edge from the lane's node before to this one, with the events in between. */
static void lane_edge(struct builder *b, uint32_t src, uint32_t dst, size_t first, size_t end,
                      int wait)
{
    if (b->failed)
        return;
    const struct iot_graph *g = &b->schedule->graph;
    int64_t base = g->nodes[dst].time_ns - g->nodes[src].time_ns;
    for (size_t i = first; i < end; i++)
        base -= b->model->service_ns[i];
    b->failed |= iot_graph_add_lane(&b->schedule->graph, src, dst, wait ? 0 : base, (uint32_t)first,
                                    (uint32_t)(end - first)) == IOT_NO_NODE;
}

/* Each request stands alone: that another one was in its lane before means nothing. */
static void cut_requests(struct builder *b, uint32_t l)
{
    const struct iot_lane *lane = &b->trace->lanes[l];
    const struct iot_events *e = &b->trace->events;
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
        b->before[i] = node(b, e->t0_ns[i], l);
        b->after[i] = node(b, e->t1_ns[i], l);
        lane_edge(b, b->before[i], b->after[i], i, i + 1, b->model->part[i] == IOT_PART_WAIT);
        b->end[l] = b->after[i];
    }
    b->start[l] = lane->n_events ? b->before[lane->first_event] : node(b, lane->start_ns, l);
}

static void cut_lane(struct builder *b, uint32_t l)
{
    const struct iot_lane *lane = &b->trace->lanes[l];
    const struct iot_events *e = &b->trace->events;
    size_t first = lane->first_event, end = first + lane->n_events;
    int64_t start_ns = l == 0 ? 0 : lane->start_ns;
    uint32_t last = b->start[l] = node(b, start_ns, l);
    for (size_t i = first; i < end; i++) {
        if (b->need[i] & BEFORE) {
            b->before[i] = node(b, e->t0_ns[i], l);
            lane_edge(b, last, b->before[i], first, i, b->need[i] & IDLE);
            last = b->before[i];
            first = i;
        }
        if (b->need[i] & AFTER) {
            b->after[i] = node(b, e->t1_ns[i], l);
            lane_edge(b, last, b->after[i], first, i + 1,
                      b->model->part[i] == IOT_PART_WAIT || (is_held(b, i) && !is_passed(b, i)));
            last = b->after[i];
            first = i + 1;
        }
    }
    b->end[l] = node(b, lane->end_ns, l);
    lane_edge(b, last, b->end[l], first, end, 0);
}

static int by_events(const void *a, const void *b, void *all)
{
    const struct iot_lane *lanes = all, *x = &lanes[*(const uint32_t *)a],
                          *y = &lanes[*(const uint32_t *)b];
    return x->first_event < y->first_event ? -1 : x->first_event > y->first_event;
}

/* In the order of their events, which is the order of the graph's calls. */
static void cut_lanes(struct builder *b)
{
    uint32_t *order = malloc((b->trace->n_lanes + 1) * sizeof *order);
    b->failed |= !order;
    for (uint32_t l = 0; !b->failed && l < b->trace->n_lanes; l++)
        order[l] = l;
    if (!b->failed)
        qsort_r(order, b->trace->n_lanes, sizeof *order, by_events, b->trace->lanes);
    for (uint32_t k = 0; !b->failed && k < b->trace->n_lanes; k++)
        if (b->trace->lanes[order[k]].kind == IOT_LANE_THREAD ||
            b->trace->lanes[order[k]].kind == IOT_LANE_STREAM)
            cut_lane(b, order[k]);
        else
            cut_requests(b, order[k]);
    free(order);
}

/* Until the moment: where it had not passed, and where it had, so that a sleep that begins sooner
 * lasts until then. */
static void hold(struct builder *b)
{
    const struct iot_events *e = &b->trace->events;
    for (size_t i = 0; i < e->n && !b->failed; i++) {
        if (!is_held(b, i))
            continue;
        int64_t until = is_passed(b, i) ? e->t0_ns[i] + e->offset[i] : e->t1_ns[i];
        b->failed |= iot_graph_add_hold(&b->schedule->graph, b->start[0],
                                        is_passed(b, i) ? b->before[i] : b->after[i],
                                        until > 0 ? until : 0) == IOT_NO_NODE;
    }
}

/* `most`: what of the time between the two is latency, ns. */
static void cross(struct builder *b, struct iot_waker from, uint32_t dst, int64_t most,
                  enum iot_edge_use use)
{
    struct iot_graph *g = &b->schedule->graph;
    uint32_t src = from.kind == IOT_WAKER_LANE     ? b->end[from.index]
                   : from.kind == IOT_WAKER_RETURN ? b->after[from.index]
                                                   : b->before[from.index];
    int64_t latency = g->nodes[dst].time_ns - g->nodes[src].time_ns;
    if (b->failed)
        return;
    if (latency > most)
        latency = most;
    /* One against the clock is for the graph to cut and count. */
    uint32_t n = iot_graph_add_cross(g, src, dst, latency > 0 ? latency : 0);
    b->failed |= n == IOT_NO_NODE;
    if (n == IOT_NO_NODE)
        return;
    if (n >= b->schedule->n_use) {
        size_t before = b->schedule->n_use;
        if (IOT_ROOM(b->schedule->use, (size_t)n + 1, b->schedule->n_use)) {
            b->failed = 1;
            return;
        }
        memset(b->schedule->use + before, IOT_USE_NONE, b->schedule->n_use - before);
    }
    b->schedule->use[n] = (uint8_t)use;
}

/* A child that was killed went on after its last event: what lies between is its computing. */
static enum iot_edge_use waking(const struct builder *b, struct iot_waker waker)
{
    if (waker.kind == IOT_WAKER_LANE &&
        b->trace->processes[b->trace->lanes[waker.index].process].end == IOT_END_OPEN)
        return IOT_USE_CREATE;
    return IOT_USE_WAKE;
}

/* A waker that was late ends the wait, by its latency; one that was not only must not come
 * later than what it had made possible. */
static void join_event(struct builder *b, size_t i, struct iot_waker waker)
{
    if (!linked(b, i, waker))
        return;
    unsigned op = b->trace->events.op[i];
    if (iot_waker_is_rank(b->trace, waker)) {
        int waits = b->model->part[i] == IOT_PART_WAIT;
        cross(b, waker, waits ? b->after[i] : b->before[i], 0, IOT_USE_WAKE);
    } else if (iot_gpu_runs(op)) {
        cross(b, waker, b->before[i], iot_gpu_latency(&b->gpu, b->trace, i, waker), IOT_USE_GPU);
    } else if (late(b->trace, b->links, i, waker)) {
        int64_t most = op == IOT_OP_GPU_SYNC && waker.kind == IOT_WAKER_RETURN
                           ? iot_gpu_latency(&b->gpu, b->trace, i, waker)
                           : INT64_MAX;
        cross(b, waker, b->after[i], most, waking(b, waker));
    } else {
        cross(b, waker, b->before[iot_wait_start(b->links, i)], 0, waking(b, waker));
    }
}

static void join_lanes(struct builder *b)
{
    for (uint32_t l = 1; l < b->trace->n_lanes; l++)
        if (usable(b->links, b->links->creator[l]))
            cross(b, b->links->creator[l], b->start[l], INT64_MAX, IOT_USE_CREATE);
    for (size_t i = 0; i < b->trace->events.n; i++)
        join_event(b, i, b->links->waker[i]);
    for (size_t k = 0; k < b->links->n_more; k++)
        join_event(b, b->links->more[k].event, b->links->more[k].waker);
}

/* The end of the run is the end of the lane that ended the root process, in its last image. */
static uint32_t last_lane(const struct iot_trace *trace)
{
    uint32_t root = trace->processes[0].pid, found = 0;
    for (uint32_t l = 0; l < trace->n_lanes; l++)
        if (trace->processes[trace->lanes[l].process].pid == root &&
            trace->lanes[l].kind == IOT_LANE_THREAD &&
            trace->lanes[l].end_ns <= trace->wall_ns &&
            trace->lanes[l].end_ns > trace->lanes[found].end_ns)
            found = l;
    return found;
}

int iot_schedule_build(struct iot_schedule *schedule, const struct iot_trace *trace,
                       const struct iot_links *links, const struct iot_model *model)
{
    size_t n = trace->events.n + 1, lanes = trace->n_lanes + 1;
    struct builder b = {schedule,
                        trace,
                        links,
                        model,
                        calloc(n, 1),
                        calloc(n, sizeof *b.before),
                        calloc(n, sizeof *b.after),
                        calloc(lanes, sizeof *b.start),
                        calloc(lanes, sizeof *b.end),
                        {0},
                        0};
    b.failed = !b.need || !b.before || !b.after || !b.start || !b.end ||
               iot_gpu_starts_find(&b.gpu, trace, links);
    if (!b.failed)
        find_needs(&b);
    if (!b.failed)
        cut_lanes(&b);
    if (!b.failed) {
        join_lanes(&b);
        hold(&b);
        schedule->graph.start = b.start[0];
        schedule->graph.end = b.end[last_lane(trace)];
    }
    free(b.need);
    free(b.before);
    free(b.after);
    free(b.start);
    free(b.end);
    iot_gpu_starts_free(&b.gpu);
    return b.failed || iot_graph_finish(&schedule->graph) ||
                   iot_replay_init(&schedule->replay, &schedule->graph)
               ? -1
               : 0;
}

void iot_schedule_free(struct iot_schedule *schedule)
{
    iot_replay_free(&schedule->replay);
    iot_graph_free(&schedule->graph);
    free(schedule->use);
    *schedule = (struct iot_schedule){0};
}
