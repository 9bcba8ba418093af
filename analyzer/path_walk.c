#include "analyzer/path_walk.h"

#include <stdlib.h>

#include "analyzer/schedule.h"

const char *const iot_stretch_names[IOT_STRETCH_KINDS] = {
    "compute", "io", "gpu", "sleep", "wake", "external", "unexplained"};

struct walk {
    const struct iot_model *model;
    uint32_t *into, *out_of;   /* by node: its lane edge; IOT_NO_INDEX: none */
    struct iot_hand_over over; /* for the next stretch */
    int64_t now_ns;
    int (*stretch)(void *user, const struct iot_stretch *stretch);
    void *user;
};

static const struct iot_hand_over no_hand_over = {IOT_NO_INDEX, IOT_NO_INDEX, IOT_NO_INDEX, 0};

static int go_to(struct walk *w, int64_t end_ns, uint32_t lane, uint32_t event,
                 enum iot_stretch_kind kind)
{
    if (end_ns <= w->now_ns)
        return 0;
    struct iot_stretch s = {w->now_ns, end_ns, lane, event, kind, w->over};
    w->over = no_hand_over;
    w->now_ns = end_ns;
    return w->stretch(w->user, &s);
}

/* What lies between the events of a lane. */
static enum iot_stretch_kind idle_kind(const struct iot_trace *trace, uint32_t lane)
{
    return trace->lanes[lane].kind == IOT_LANE_STREAM ? IOT_STRETCH_GPU : IOT_STRETCH_COMPUTE;
}

/* As compose.c has it. */
static enum iot_stretch_kind kind_of(const struct iot_model *m, size_t event, uint32_t lane)
{
    switch (m->part[event]) {
    case IOT_PART_IO:
        return IOT_STRETCH_IO;
    case IOT_PART_SLEEP:
        return IOT_STRETCH_SLEEP;
    case IOT_PART_GPU:
        return IOT_STRETCH_GPU;
    case IOT_PART_EXTERNAL:
        return IOT_STRETCH_EXTERNAL;
    case IOT_PART_UNEXPLAINED:
    case IOT_PART_WAIT:
        return IOT_STRETCH_UNEXPLAINED;
    default:
        return idle_kind(m->trace, lane);
    }
}

static int walk_lane_edge(struct walk *w, const struct iot_edge *edge)
{
    const struct iot_graph *g = &w->model->schedule->graph;
    const struct iot_events *e = &w->model->trace->events;
    uint32_t lane = g->nodes[edge->dst].lane;
    int64_t end_ns = g->nodes[edge->dst].time_ns;
    int status = 0;
    for (size_t i = edge->call_first; i < (size_t)edge->call_first + edge->call_count && !status;
         i++) {
        int64_t t0 = e->t0_ns[i] < end_ns ? e->t0_ns[i] : end_ns;
        int64_t t1 = e->t1_ns[i] < end_ns ? e->t1_ns[i] : end_ns;
        if (w->model->part[i] == IOT_PART_NONE)
            continue;
        status = go_to(w, t0, lane, IOT_NO_INDEX, idle_kind(w->model->trace, lane));
        if (!status)
            status = go_to(w, t1, lane, (uint32_t)i, kind_of(w->model, i, lane));
    }
    return status ? status : go_to(w, end_ns, lane, IOT_NO_INDEX, idle_kind(w->model->trace, lane));
}

/* The event that stands at a node: the one that its lane goes on with, or that ended there. */
static uint32_t waker_at(const struct walk *w, uint32_t node)
{
    const struct iot_graph *g = &w->model->schedule->graph;
    const struct iot_events *e = &w->model->trace->events;
    int64_t at = g->nodes[node].time_ns;
    if (w->out_of[node] != IOT_NO_INDEX) {
        const struct iot_edge *next = &g->edges[w->out_of[node]];
        if (next->call_count && e->t0_ns[next->call_first] == at)
            return next->call_first;
    }
    if (w->into[node] != IOT_NO_INDEX) {
        const struct iot_edge *last = &g->edges[w->into[node]];
        uint32_t i = last->call_first + last->call_count - 1;
        if (last->call_count && e->t1_ns[i] == at)
            return i;
    }
    return IOT_NO_INDEX;
}

static uint32_t wait_at(const struct walk *w, uint32_t node)
{
    const struct iot_graph *g = &w->model->schedule->graph;
    if (w->into[node] == IOT_NO_INDEX)
        return IOT_NO_INDEX;
    const struct iot_edge *last = &g->edges[w->into[node]];
    uint32_t i = last->call_first + last->call_count - 1;
    return last->call_count && w->model->part[i] == IOT_PART_WAIT ? i : IOT_NO_INDEX;
}

static int walk_cross_edge(struct walk *w, uint32_t n)
{
    const struct iot_schedule *s = w->model->schedule;
    const struct iot_edge *edge = &s->graph.edges[n];
    const struct iot_node *src = &s->graph.nodes[edge->src], *dst = &s->graph.nodes[edge->dst];
    enum iot_stretch_kind kind = IOT_STRETCH_COMPUTE;
    if (n < s->n_use && s->use[n] == IOT_USE_WAKE)
        kind = IOT_STRETCH_WAKE;
    else if (n < s->n_use && s->use[n] == IOT_USE_GPU)
        kind = IOT_STRETCH_GPU;
    if (src->lane != dst->lane)
        w->over = (struct iot_hand_over){src->lane, waker_at(w, edge->src), wait_at(w, edge->dst),
                                         src->time_ns};
    return go_to(w, dst->time_ns, dst->lane, IOT_NO_INDEX, kind);
}

static int walk(struct walk *w, const struct iot_path *path)
{
    const struct iot_graph *g = &w->model->schedule->graph;
    int status = 0;
    for (size_t k = 0; k < path->n_edges && !status; k++) {
        const struct iot_edge *edge = &g->edges[path->edges[k]];
        if (edge->kind == IOT_EDGE_LANE)
            status = walk_lane_edge(w, edge);
        else if (edge->kind == IOT_EDGE_CROSS)
            status = walk_cross_edge(w, path->edges[k]);
        else
            status = go_to(w, g->nodes[edge->dst].time_ns, g->nodes[edge->dst].lane, IOT_NO_INDEX,
                           IOT_STRETCH_UNEXPLAINED);
    }
    return status;
}

int iot_path_walk(const struct iot_model *model,
                  int (*stretch)(void *user, const struct iot_stretch *stretch), void *user)
{
    const struct iot_graph *g = &model->schedule->graph;
    struct iot_replay *replay = &model->schedule->replay;
    struct iot_path path = {0};
    struct walk w = {.model = model,
                     .into = malloc((g->n_nodes + 1) * sizeof *w.into),
                     .out_of = malloc((g->n_nodes + 1) * sizeof *w.out_of),
                     .over = no_hand_over,
                     .now_ns = g->nodes[g->start].time_ns,
                     .stretch = stretch,
                     .user = user};
    int status = w.into && w.out_of ? 0 : -1;

    for (size_t v = 0; v < g->n_nodes && !status; v++)
        w.into[v] = w.out_of[v] = IOT_NO_INDEX;
    for (uint32_t n = 0; n < g->n_edges && !status; n++)
        if (g->edges[n].kind == IOT_EDGE_LANE)
            w.into[g->edges[n].dst] = w.out_of[g->edges[n].src] = n;
    if (!status && !iot_replay_set_service(replay, NULL)) {
        iot_replay_set_less(replay, NULL);
        iot_replay_run(replay, IOT_LAMBDA_1);
        status = iot_replay_path(replay, &path) ? -1 : walk(&w, &path);
    }
    free(path.edges);
    free(w.into);
    free(w.out_of);
    return status;
}
