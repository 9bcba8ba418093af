/* Checks a graph, cuts what contradicts the clock or itself, and orders it (Kahn). */
#include "analyzer/graph.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct finish {
    struct iot_graph *g;
    uint32_t *waiting;   /* a node: edges into it from nodes that are not ordered yet */
    uint32_t *out_first; /* n_nodes + 1 offsets into out_edges */
    uint32_t *out_edges; /* edges by source, without those against the clock */
    uint32_t *lane_in;   /* a node: its lane edge, or IOT_NO_NODE */
    int64_t *reach; /* a node: the latest recorded arrival by the edges that are left; -1 none */
    uint8_t *lost;  /* a node: 1 if an edge into it was cut */
    size_t n_ordered;
    size_t top; /* of the stack of nodes that can be ordered: from here to the end of g->order */
    /* For cycles, made when the first is met. */
    uint32_t *by_time; /* the nodes that were left then, by time */
    uint32_t *in_at, *in_end, *in_edges; /* a node: edges into it that it may wait for */
    uint32_t *trail;   /* nodes, each waiting for the next one */
    uint32_t *on_trail; /* a node: its place there + 1; 0: not there */
    size_t n_by_time, next_by_time, n_trail;
};

static int refuse(struct iot_graph *g, const char *why, size_t index)
{
    g->error = why;
    g->error_index = index;
    return -EINVAL;
}

static bool in_time(int64_t ns)
{
    return ns >= 0 && ns < IOT_TIME_MAX;
}

static const char *check_calls(const struct iot_graph *g, const struct iot_edge *e, size_t used)
{
    if (e->call_first < used || e->call_first + (size_t)e->call_count > g->n_calls)
        return "an edge's calls are not there, or not after those of the edge before";
    int64_t sum = 0;
    for (size_t i = e->call_first; i < e->call_first + (size_t)e->call_count; i++) {
        if (!in_time(g->call_service_ns[i]))
            return "a call on this edge has a service out of range";
        sum += g->call_service_ns[i];
        if (!in_time(sum))
            return "the services on this edge add up to a time out of range";
    }
    return sum == e->io_ns ? NULL : "an edge's io is not the sum of its calls";
}

static const char *check_edge(const struct iot_graph *g, const struct iot_edge *e)
{
    if (e->src >= g->n_nodes || e->dst >= g->n_nodes)
        return "an edge's node is not there";
    if (!in_time(e->base_ns) || !in_time(e->io_ns))
        return "an edge's base or io is out of range";
    if (e->kind == IOT_EDGE_CROSS)
        return e->io_ns || e->call_count ? "a cross edge with I/O" : NULL;
    if (e->kind == IOT_EDGE_HOLD)
        return e->src != g->start || e->io_ns || e->call_count ||
                       g->nodes[g->start].time_ns + e->base_ns > g->nodes[e->dst].time_ns
                   ? "a node held until after its time, or not from start"
                   : NULL;
    if (e->kind != IOT_EDGE_LANE)
        return "an edge of unknown kind";
    if (g->nodes[e->src].lane != g->nodes[e->dst].lane)
        return "a lane edge between two lanes";
    if (e->src == e->dst || e->dst == g->start ||
        g->nodes[e->src].time_ns > g->nodes[e->dst].time_ns)
        return "a lane that runs backwards";
    return NULL;
}

static int check(struct finish *f)
{
    struct iot_graph *g = f->g;
    size_t used = 0;

    for (size_t v = 0; v < g->n_nodes; v++)
        if (!in_time(g->nodes[v].time_ns) || g->nodes[v].time_ns < g->nodes[g->start].time_ns)
            return refuse(g, "a node's time is out of range", v);
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct iot_edge *e = &g->edges[i];
        const char *why = check_edge(g, e);
        if (!why && e->call_count) {
            why = check_calls(g, e, used);
            used = e->call_first + (size_t)e->call_count;
        } else if (!why && e->io_ns) {
            why = "an edge's io is not the sum of its calls";
        }
        if (!why && e->kind == IOT_EDGE_LANE && f->lane_in[e->dst] != IOT_NO_NODE)
            why = "two lane edges into one node";
        if (why)
            return refuse(g, why, i);
        if (e->kind == IOT_EDGE_LANE)
            f->lane_in[e->dst] = (uint32_t)i;
    }
    return 0;
}

static void cut(struct finish *f, struct iot_edge *e, enum iot_cut why)
{
    e->cut = (uint8_t)why;
    f->lost[e->dst] = 1;
    f->g->cut_edges++;
}

static void cut_against_clock(struct finish *f)
{
    struct iot_graph *g = f->g;
    for (size_t i = 0; i < g->n_edges; i++) {
        struct iot_edge *e = &g->edges[i];
        e->cut = IOT_CUT_NONE;
        if (e->kind != IOT_EDGE_CROSS)
            continue;
        if (e->src == e->dst || e->dst == g->start)
            cut(f, e, IOT_CUT_CYCLE); /* nothing lets go the start, or itself */
        else if (g->nodes[e->src].time_ns + e->base_ns > g->nodes[e->dst].time_ns)
            cut(f, e, IOT_CUT_CLOCK);
    }
}

/* The offsets of a counting sort: counts at first[k + 1] become where k's entries start, in
 * first[k + 1] too, so that filling with first[k + 1]++ leaves the finished table. */
static void offsets(uint32_t *first, size_t n)
{
    uint32_t sum = 0;
    first[0] = 0;
    for (size_t k = 0; k < n; k++) {
        uint32_t count = first[k + 1];
        first[k + 1] = sum;
        sum += count;
    }
}

static void index_by_source(struct finish *f)
{
    const struct iot_graph *g = f->g;
    for (size_t i = 0; i < g->n_edges; i++)
        if (!g->edges[i].cut) {
            f->out_first[g->edges[i].src + 1]++;
            f->waiting[g->edges[i].dst]++;
        }
    offsets(f->out_first, g->n_nodes);
    for (size_t i = 0; i < g->n_edges; i++)
        if (!g->edges[i].cut)
            f->out_edges[f->out_first[g->edges[i].src + 1]++] = (uint32_t)i;
}

static int by_time(const void *a, const void *b, void *graph)
{
    const struct iot_graph *g = graph;
    uint32_t v = *(const uint32_t *)a, w = *(const uint32_t *)b;
    if (g->nodes[v].time_ns != g->nodes[w].time_ns)
        return g->nodes[v].time_ns < g->nodes[w].time_ns ? -1 : 1;
    return v < w ? -1 : v > w;
}

static int prepare_cycles(struct finish *f)
{
    const struct iot_graph *g = f->g;
    size_t n = g->n_nodes;
    f->by_time = calloc(n, sizeof(*f->by_time));
    f->in_at = calloc(n + 1, sizeof(*f->in_at));
    f->in_end = calloc(n, sizeof(*f->in_end));
    f->in_edges = calloc(g->n_edges ? g->n_edges : 1, sizeof(*f->in_edges));
    f->trail = calloc(n, sizeof(*f->trail));
    f->on_trail = calloc(n, sizeof(*f->on_trail));
    if (!f->by_time || !f->in_at || !f->in_end || !f->in_edges || !f->trail || !f->on_trail)
        return -ENOMEM;
    for (size_t v = 0; v < n; v++)
        if (f->waiting[v])
            f->by_time[f->n_by_time++] = (uint32_t)v;
    qsort_r(f->by_time, f->n_by_time, sizeof(*f->by_time), by_time, f->g);
    for (size_t i = 0; i < g->n_edges; i++)
        if (!g->edges[i].cut && f->waiting[g->edges[i].src])
            f->in_at[g->edges[i].dst + 1]++;
    for (size_t v = 0; v < n; v++)
        f->in_end[v] = f->in_at[v + 1] += f->in_at[v];
    for (size_t v = n; v-- > 0;)
        f->in_at[v] = f->in_end[v];
    for (size_t i = g->n_edges; i-- > 0;)
        if (!g->edges[i].cut && f->waiting[g->edges[i].src])
            f->in_edges[--f->in_at[g->edges[i].dst]] = (uint32_t)i;
    return 0;
}

/* An edge into a node that is left, from another that is. What is ordered or cut stays so, so that
 * no edge is looked at twice. */
static struct iot_edge *waits_for(struct finish *f, uint32_t v)
{
    struct iot_graph *g = f->g;
    for (; f->in_at[v] < f->in_end[v]; f->in_at[v]++) {
        struct iot_edge *e = &g->edges[f->in_edges[f->in_at[v]]];
        if (!e->cut && f->waiting[e->src])
            return e;
    }
    return NULL;
}

static void cut_trail(struct finish *f, size_t n)
{
    while (f->n_trail > n)
        f->on_trail[f->trail[--f->n_trail]] = 0;
}

static void go_to(struct finish *f, uint32_t v)
{
    f->trail[f->n_trail++] = v;
    f->on_trail[v] = (uint32_t)f->n_trail;
}

/* Nothing more can be ordered, so there is a cycle: finds one and cuts one cross edge of it.
 *
 * The trail begins at a node that is left at the earliest moment with any left. There is always one
 * to go on to: a node that is left waits for one that is left, which is not later (what was against
 * the clock is cut), and not earlier. The trail stays from cut to cut: up to the edge that is cut
 * all of it still waits, but for its end, which may be ordered by then, and what waited for that.
 */
static int cut_cycle(struct finish *f)
{
    struct iot_graph *g = f->g;

    if (!f->by_time && prepare_cycles(f))
        return -ENOMEM;
    while (f->n_trail && !f->waiting[f->trail[f->n_trail - 1]])
        cut_trail(f, f->n_trail - 1);
    if (!f->n_trail) {
        while (!f->waiting[f->by_time[f->next_by_time]])
            f->next_by_time++;
        go_to(f, f->by_time[f->next_by_time]);
    }
    struct iot_edge *e = waits_for(f, f->trail[f->n_trail - 1]);
    for (; !f->on_trail[e->src]; e = waits_for(f, f->trail[f->n_trail - 1]))
        go_to(f, e->src);

    size_t first = f->on_trail[e->src] - 1; /* of the cycle, which ends with the trail */
    for (size_t k = f->n_trail; k-- > first;) {
        e = waits_for(f, f->trail[k]);
        if (e->kind != IOT_EDGE_CROSS)
            continue;
        cut(f, e, IOT_CUT_CYCLE);
        cut_trail(f, k + 1);
        if (--f->waiting[e->dst] == 0)
            g->order[--f->top] = e->dst;
        return 0;
    }
    return refuse(g, "a lane that runs in a circle", f->trail[first]);
}

/* The last that has become possible is the next: so a lane is followed as far as it goes by itself,
 * and what is near in the order is near in memory, where nodes and edges lie by lane. First come,
 * first served goes through all lanes at once, and took a report of ten million events a fifth
 * longer. */
static int order(struct finish *f)
{
    struct iot_graph *g = f->g;

    f->top = g->n_nodes;
    for (size_t v = g->n_nodes; v-- > 0;)
        if (!f->waiting[v] && v != g->start)
            g->order[--f->top] = (uint32_t)v;
    g->order[--f->top] = g->start; /* first, as others may yet get an edge from it */
    while (f->n_ordered < g->n_nodes) {
        if (f->top == g->n_nodes) {
            int err = cut_cycle(f);
            if (err)
                return err;
            continue;
        }
        uint32_t v = g->order[f->top++];
        g->order[f->n_ordered++] = v;
        /* its lane's is the first */
        for (uint32_t i = f->out_first[v + 1]; i-- > f->out_first[v];) {
            const struct iot_edge *e = &g->edges[f->out_edges[i]];
            if (!e->cut && --f->waiting[e->dst] == 0)
                g->order[--f->top] = e->dst;
        }
    }
    return 0;
}

/* Nodes that would come too early: because they lost an edge, or as nothing in the graph says why
 * their lane began when it did. A lane edge that falls short by itself is the caller's to see. */
static int keep_waits(struct finish *f)
{
    struct iot_graph *g = f->g;

    for (size_t v = 0; v < g->n_nodes; v++)
        f->reach[v] = -1;
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct iot_edge *e = &g->edges[i];
        int64_t at = g->nodes[e->src].time_ns + e->base_ns + e->io_ns;
        if (!e->cut && at > f->reach[e->dst])
            f->reach[e->dst] = at;
    }
    for (size_t v = 0; v < g->n_nodes; v++) {
        int64_t time = g->nodes[v].time_ns;
        bool in_lane = f->lane_in[v] != IOT_NO_NODE;
        if (v == g->start || f->reach[v] >= time || (in_lane && !f->lost[v]))
            continue;
        g->kept_waits += f->lost[v];
        if (in_lane) {
            struct iot_edge *e = &g->edges[f->lane_in[v]];
            e->base_ns = time - g->nodes[e->src].time_ns - e->io_ns;
            continue;
        }
        uint32_t added =
            iot_graph_add_cross(g, g->start, (uint32_t)v, time - g->nodes[g->start].time_ns);
        if (added == IOT_NO_NODE)
            return -ENOMEM;
        g->edges[added].kind = IOT_EDGE_START;
    }
    return 0;
}

/* The order in which the walk prefers edges into one node. */
static int by_preference(const void *a, const void *b, void *graph)
{
    const struct iot_graph *g = graph;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    bool lane_i = g->edges[i].kind == IOT_EDGE_LANE, lane_j = g->edges[j].kind == IOT_EDGE_LANE;
    if (lane_i != lane_j)
        return lane_i ? -1 : 1;
    uint32_t from_i = g->nodes[g->edges[i].src].lane, from_j = g->nodes[g->edges[j].src].lane;
    if (from_i != from_j)
        return from_i < from_j ? -1 : 1;
    return i < j ? -1 : i > j;
}

static int index_by_destination(struct finish *f)
{
    struct iot_graph *g = f->g;
    uint32_t *place = f->waiting; /* all ordered, so nothing waits any more */

    g->in_edges = calloc(g->n_edges ? g->n_edges : 1, sizeof(*g->in_edges));
    if (!g->in_edges)
        return -ENOMEM;
    for (size_t p = 0; p < g->n_nodes; p++)
        place[g->order[p]] = (uint32_t)p;
    for (size_t i = 0; i < g->n_edges; i++)
        if (!g->edges[i].cut)
            g->in_first[place[g->edges[i].dst] + 1]++;
    offsets(g->in_first, g->n_nodes);
    for (size_t i = 0; i < g->n_edges; i++)
        if (!g->edges[i].cut)
            g->in_edges[g->in_first[place[g->edges[i].dst] + 1]++] = (uint32_t)i;
    for (size_t p = 0; p < g->n_nodes; p++) {
        uint32_t *in = g->in_edges + g->in_first[p];
        size_t n = g->in_first[p + 1] - g->in_first[p];
        for (size_t k = 1; k < n; k++)
            if (by_preference(&in[k - 1], &in[k], g) > 0) {
                qsort_r(in, n, sizeof(*in), by_preference, g);
                break;
            }
    }
    return 0;
}

/* What lambda = 1 gives, against the recording. */
static int verify(struct finish *f)
{
    struct iot_graph *g = f->g;
    int64_t *time = f->reach;

    time[g->start] = g->nodes[g->start].time_ns;
    for (size_t p = 1; p < g->n_nodes; p++) {
        int64_t latest = 0;
        for (uint32_t k = g->in_first[p]; k < g->in_first[p + 1]; k++) {
            const struct iot_edge *e = &g->edges[g->in_edges[k]];
            int64_t at = time[e->src] + e->base_ns + e->io_ns;
            latest = at > latest ? at : latest;
        }
        uint32_t v = g->order[p];
        if (latest >= IOT_TIME_MAX)
            return refuse(g, "the times on the way to a node add up to more than it can have", v);
        time[v] = latest;
        g->node_errors += latest != g->nodes[v].time_ns;
    }
    g->replay_error_ns = time[g->end] - g->nodes[g->end].time_ns;
    return 0;
}

static int make_tables(struct finish *f)
{
    struct iot_graph *g = f->g;
    size_t n = g->n_nodes;

    g->order = calloc(n, sizeof(*g->order));
    g->in_first = calloc(n + 1, sizeof(*g->in_first));
    f->waiting = calloc(n, sizeof(*f->waiting));
    f->out_first = calloc(n + 1, sizeof(*f->out_first));
    f->out_edges = calloc(g->n_edges ? g->n_edges : 1, sizeof(*f->out_edges));
    f->lane_in = malloc(n * sizeof(*f->lane_in));
    f->reach = malloc(n * sizeof(*f->reach));
    f->lost = calloc(n, sizeof(*f->lost));
    if (!g->order || !g->in_first || !f->waiting || !f->out_first || !f->out_edges || !f->lane_in ||
        !f->reach || !f->lost)
        return -ENOMEM;
    for (size_t v = 0; v < n; v++)
        f->lane_in[v] = IOT_NO_NODE;
    return 0;
}

/* From here on few are added, if any. */
static void trim(struct iot_graph *g)
{
    struct iot_edge *edges = reallocarray(g->edges, g->n_edges + 1, sizeof(*edges));
    struct iot_node *nodes = reallocarray(g->nodes, g->n_nodes + 1, sizeof(*nodes));
    if (edges) {
        g->edges = edges;
        g->cap_edges = g->n_edges + 1;
    }
    if (nodes) {
        g->nodes = nodes;
        g->cap_nodes = g->n_nodes + 1;
    }
}

static int run(struct finish *f)
{
    trim(f->g);
    int err = make_tables(f);
    if (!err)
        err = check(f);
    if (err)
        return err;
    cut_against_clock(f);
    index_by_source(f);
    err = order(f);
    if (!err)
        err = keep_waits(f);
    if (!err)
        err = index_by_destination(f);
    return err ? err : verify(f);
}

int iot_graph_finish(struct iot_graph *g)
{
    if (g->order)
        return refuse(g, "the graph is finished already", 0);
    if (g->start >= g->n_nodes || g->end >= g->n_nodes)
        return refuse(g, "the graph has no start or no end", 0);

    struct finish f = {.g = g};
    int err = run(&f);
    free(f.waiting);
    free(f.out_first);
    free(f.out_edges);
    free(f.lane_in);
    free(f.reach);
    free(f.lost);
    free(f.by_time);
    free(f.in_at);
    free(f.in_end);
    free(f.in_edges);
    free(f.trail);
    free(f.on_trail);
    return err;
}
