#include "analyzer/replay.h"

#include <errno.h>
#include <stdlib.h>

/* No path is longer than its bases, below IOT_TIME_MAX, and this. */
#define IO_SUM_MAX ((int64_t)1 << 61)

/* In via[]: of what is left out as nothing of it leads to the end. */
#define NOT_NEEDED (IOT_NO_NODE - 1)

static uint32_t n_slots(const struct iot_replay *r)
{
    return r->dag.in_first[r->dag.n_nodes];
}

/* --- which nodes are there --- */

/* Fills via[]. Returns how many nodes and slots are left, or -ENOMEM. */
static int find_nodes(struct iot_replay *r, size_t *n_nodes, size_t *slots)
{
    const struct iot_graph *g = r->graph;
    uint8_t *needed = calloc(g->n_nodes, 1);

    *n_nodes = *slots = 0;
    if (!needed)
        return -ENOMEM;
    needed[g->end] = 1;
    for (size_t p = g->n_nodes; p-- > 0;) {
        uint32_t v = g->order[p], first = g->in_first[p], n = g->in_first[p + 1] - first;
        for (uint32_t k = first; k < first + n && needed[v]; k++)
            needed[g->edges[g->in_edges[k]].src] = 1;
        if (!needed[v]) {
            r->via[v] = NOT_NEEDED;
        } else if (n == 1 && v != g->end) {
            r->via[v] = g->in_edges[first];
        } else {
            r->via[v] = IOT_NO_NODE;
            *n_nodes += 1;
            *slots += n;
        }
    }
    free(needed);
    return 0;
}

static int fill_dag(struct iot_replay *r)
{
    const struct iot_graph *g = r->graph;
    uint32_t *place = malloc(
        g->n_nodes * sizeof(*place)); /* of a node: its own, or of the one it is led to from */
    uint32_t node = 0, slot = 0;

    if (!place)
        return -ENOMEM;
    for (size_t p = 0; p < g->n_nodes; p++) {
        uint32_t v = g->order[p];
        if (r->via[v] == NOT_NEEDED)
            continue;
        if (r->via[v] != IOT_NO_NODE) {
            place[v] = place[g->edges[r->via[v]].src];
            continue;
        }
        place[v] = node;
        r->dag.in_first[node++] = slot;
        for (uint32_t k = g->in_first[p]; k < g->in_first[p + 1]; k++) {
            r->edge_of_slot[slot] = g->in_edges[k];
            r->dag.src[slot++] = place[g->edges[g->in_edges[k]].src];
        }
    }
    r->dag.in_first[node] = slot;
    free(place);
    return 0;
}

/* --- how long they take --- */

typedef int64_t figure_of(const void *user, const struct iot_graph *g, uint32_t edge);

static int64_t recorded_base(const void *less_ns, const struct iot_graph *g, uint32_t edge)
{
    return g->edges[edge].base_ns - (less_ns ? ((const int64_t *)less_ns)[edge] : 0);
}

static int64_t recorded_io(const void *user, const struct iot_graph *g, uint32_t edge)
{
    (void)user;
    return g->edges[edge].io_ns;
}

/* Of each slot: the sum over its edges, from the node of the dag before. */
static int sum_up(const struct iot_replay *r, figure_of *figure, const void *user, int64_t *sums)
{
    const struct iot_graph *g = r->graph;
    int64_t *until = calloc(g->n_nodes, sizeof(*until)); /* by node that is left out; else 0 */
    uint32_t slot = 0;

    if (!until)
        return -ENOMEM;
    for (size_t p = 0; p < g->n_nodes; p++) {
        uint32_t v = g->order[p], via = r->via[v];
        if (via == NOT_NEEDED)
            continue;
        if (via != IOT_NO_NODE) {
            until[v] = until[g->edges[via].src] + figure(user, g, via);
            continue;
        }
        for (uint32_t k = g->in_first[p]; k < g->in_first[p + 1]; k++) {
            uint32_t edge = g->in_edges[k];
            sums[slot++] = until[g->edges[edge].src] + figure(user, g, edge);
        }
    }
    free(until);
    return 0;
}

static int as_recorded(struct iot_replay *r)
{
    if (!r->changed)
        return 0;
    int err = sum_up(r, recorded_io, NULL, r->dag.io_ns);
    r->changed = err != 0;
    return err;
}

int iot_replay_init(struct iot_replay *r, const struct iot_graph *g)
{
    size_t n, slots;

    *r = (struct iot_replay){
        .graph = g, .changed = true, .via = malloc(g->n_nodes * sizeof(*r->via))};
    if (!r->via || find_nodes(r, &n, &slots))
        return -ENOMEM;
    r->dag = (struct iot_dag){
        .n_nodes = n,
        .in_first = malloc((n + 1) * sizeof(*r->dag.in_first)),
        .src = malloc((slots + 1) * sizeof(*r->dag.src)),
        .base_ns = malloc((slots + 1) * sizeof(*r->dag.base_ns)),
        .io_ns = malloc((slots + 1) * sizeof(*r->dag.io_ns)),
    };
    r->edge_of_slot = malloc((slots + 1) * sizeof(*r->edge_of_slot));
    r->longest.at = malloc(n * sizeof(*r->longest.at));
    r->longest.slot = malloc(n * sizeof(*r->longest.slot));
    bool complete = r->dag.in_first && r->dag.src && r->dag.base_ns && r->dag.io_ns &&
                    r->edge_of_slot && r->longest.at && r->longest.slot;
    return complete && !fill_dag(r) && !iot_replay_set_less(r, NULL) && !as_recorded(r) ? 0
                                                                                        : -ENOMEM;
}

void iot_replay_free(struct iot_replay *r)
{
    free(r->via);
    free(r->dag.in_first);
    free(r->dag.src);
    free(r->dag.base_ns);
    free(r->dag.io_ns);
    free(r->edge_of_slot);
    free(r->longest.at);
    free(r->longest.slot);
    *r = (struct iot_replay){0};
}

static int64_t given_io(const void *service_ns, const struct iot_graph *g, uint32_t edge)
{
    const struct iot_edge *e = &g->edges[edge];
    const int64_t *service = (const int64_t *)service_ns + e->call_first;
    int64_t sum = 0;
    for (uint32_t i = 0; i < e->call_count; i++)
        sum += service[i];
    return sum;
}

int iot_replay_set_service(struct iot_replay *r, const int64_t *service_ns)
{
    int64_t total = 0;

    if (!service_ns)
        return as_recorded(r);
    for (size_t i = 0; i < r->graph->n_calls; i++) {
        if (service_ns[i] < 0 || service_ns[i] > IO_SUM_MAX - total)
            return -ERANGE;
        total += service_ns[i];
    }
    r->changed = true;
    return sum_up(r, given_io, service_ns, r->dag.io_ns);
}

int iot_replay_set_less(struct iot_replay *r, const int64_t *less_ns)
{
    return sum_up(r, recorded_base, less_ns, r->dag.base_ns);
}

struct iot_line iot_replay_run(struct iot_replay *r, struct iot_lambda lambda)
{
    iot_dag_run(&r->dag, lambda, &r->longest);
    r->lambda = lambda;
    return r->longest.at[r->dag.n_nodes - 1];
}

/* The edge before, of the same slot; IOT_NO_NODE: it is the slot's first. */
static uint32_t edge_before(const struct iot_replay *r, uint32_t edge)
{
    return r->via[r->graph->edges[edge].src];
}

/* The slot that the path comes in by: where the node was held, its lane's, which is the first. */
static uint32_t slot_into(const struct iot_replay *r, uint32_t p)
{
    uint32_t slot = r->longest.slot[p];
    bool held = r->graph->edges[r->edge_of_slot[slot]].kind == IOT_EDGE_HOLD;
    return held ? r->dag.in_first[p] : slot;
}

int iot_replay_path(const struct iot_replay *r, struct iot_path *path)
{
    uint32_t end = (uint32_t)r->dag.n_nodes - 1;
    size_t length = 0;

    *path = (struct iot_path){0};
    for (uint32_t p = end, slot; p != 0; p = r->dag.src[slot]) {
        slot = slot_into(r, p);
        path->held_ns += iot_line_ns(r->longest.at[p], r->lambda) -
                         iot_line_ns(iot_dag_extend(&r->dag, slot, r->longest.at), r->lambda);
        for (uint32_t e = r->edge_of_slot[slot]; e != IOT_NO_NODE; e = edge_before(r, e))
            length++;
    }
    path->n_edges = length;
    path->edges = malloc((length ? length : 1) * sizeof(*path->edges));
    if (!path->edges)
        return -ENOMEM;
    for (uint32_t p = end, slot; p != 0; p = r->dag.src[slot]) {
        slot = slot_into(r, p);
        for (uint32_t e = r->edge_of_slot[slot]; e != IOT_NO_NODE; e = edge_before(r, e))
            path->edges[--length] = e;
    }
    return 0;
}

int iot_replay_spread(const struct iot_replay *r, const int64_t *of_slot, int64_t *of_edge)
{
    const struct iot_graph *g = r->graph;
    int64_t *from =
        calloc(g->n_nodes, sizeof(*from)); /* by node: the sum of what goes on from it */
    uint32_t slot = n_slots(r);

    if (!from)
        return -ENOMEM;
    for (size_t p = g->n_nodes; p-- > 0;) {
        uint32_t v = g->order[p], via = r->via[v];
        if (via == NOT_NEEDED)
            continue;
        if (via != IOT_NO_NODE) {
            of_edge[via] = from[v];
            from[g->edges[via].src] += from[v];
            continue;
        }
        for (uint32_t k = g->in_first[p + 1]; k-- > g->in_first[p];) {
            of_edge[g->in_edges[k]] = of_slot[--slot];
            from[g->edges[g->in_edges[k]].src] += of_slot[slot];
        }
    }
    free(from);
    return 0;
}

struct without {
    const uint8_t *class_of_call;
    uint8_t class_id;
};

static int64_t io_without(const void *user, const struct iot_graph *g, uint32_t edge)
{
    const struct without *w = user;
    const struct iot_edge *e = &g->edges[edge];
    const uint8_t *class = w->class_of_call + e->call_first;
    const int64_t *service = g->call_service_ns + e->call_first;
    int64_t removed = 0;
    for (uint32_t i = 0; i < e->call_count && e->io_ns; i++)
        removed += class[i] == w->class_id ? service[i] : 0;
    return e->io_ns - removed;
}

int64_t iot_replay_recoverable(struct iot_replay *r, const uint8_t *class_of_call, uint8_t class_id)
{
    const struct iot_graph *g = r->graph;
    int64_t with =
        g->nodes[g->end].time_ns + g->replay_error_ns - g->nodes[g->start].time_ns; /* T(1) */

    if (as_recorded(r))
        return 0; /* the least that is true */
    struct without without = {class_of_call, class_id};
    int64_t *recorded = r->dag.io_ns, gain = 0;
    r->dag.io_ns = malloc((n_slots(r) + (size_t)1) * sizeof(*r->dag.io_ns));
    if (r->dag.io_ns && !sum_up(r, io_without, &without, r->dag.io_ns))
        gain = with - iot_line_ns(iot_replay_run(r, IOT_LAMBDA_1), IOT_LAMBDA_1);
    free(r->dag.io_ns);
    r->dag.io_ns = recorded;
    return gain;
}
