#include "analyzer/replay.h"

#include <errno.h>
#include <stdlib.h>

/* No path is longer than its bases, below IOT_TIME_MAX, and this. */
#define IO_SUM_MAX ((int64_t)1 << 61)

static const struct iot_edge *edge_of(const struct iot_replay *r, uint32_t slot)
{
    return &r->graph->edges[r->graph->in_edges[slot]];
}

static uint32_t n_slots(const struct iot_replay *r)
{
    return r->dag.in_first[r->dag.n_nodes];
}

static void as_recorded(struct iot_replay *r)
{
    if (!r->changed)
        return;
    r->changed = false;
    for (uint32_t k = 0; k < n_slots(r); k++)
        r->dag.io_ns[k] = edge_of(r, k)->io_ns;
}

int iot_replay_init(struct iot_replay *r, const struct iot_graph *g)
{
    uint32_t *place = calloc(g->n_nodes, sizeof(*place)); /* of a node, in the order */

    *r = (struct iot_replay){.graph = g};
    if (!place)
        return -ENOMEM;
    for (size_t p = 0; p < g->n_nodes; p++)
        place[g->order[p]] = (uint32_t)p;
    size_t n = (size_t)place[g->end] + 1, slots = g->in_first[n] ? g->in_first[n] : 1;
    r->dag = (struct iot_dag){
        .n_nodes = n,
        .in_first = g->in_first,
        .src = malloc(slots * sizeof(*r->dag.src)),
        .base_ns = malloc(slots * sizeof(*r->dag.base_ns)),
        .io_ns = malloc(slots * sizeof(*r->dag.io_ns)),
    };
    r->longest.at = malloc(n * sizeof(*r->longest.at));
    r->longest.slot = malloc(n * sizeof(*r->longest.slot));
    bool complete = r->dag.src && r->dag.base_ns && r->dag.io_ns && r->longest.at &&
                    r->longest.slot;
    for (uint32_t k = 0; complete && k < n_slots(r); k++) {
        r->dag.src[k] = place[edge_of(r, k)->src];
        r->dag.base_ns[k] = edge_of(r, k)->base_ns;
        r->dag.io_ns[k] = edge_of(r, k)->io_ns;
    }
    free(place);
    return complete ? 0 : -ENOMEM;
}

void iot_replay_free(struct iot_replay *r)
{
    free(r->dag.src);
    free(r->dag.base_ns);
    free(r->dag.io_ns);
    free(r->longest.at);
    free(r->longest.slot);
    *r = (struct iot_replay){0};
}

int iot_replay_set_service(struct iot_replay *r, const int64_t *service_ns)
{
    int64_t total = 0;

    if (!service_ns) {
        as_recorded(r);
        return 0;
    }
    r->changed = true;
    for (uint32_t k = 0; k < n_slots(r); k++) {
        const struct iot_edge *e = edge_of(r, k);
        int64_t before = total;
        for (uint32_t i = 0; i < e->call_count; i++) {
            int64_t service = service_ns[e->call_first + i];
            if (service < 0 || service > IO_SUM_MAX - total)
                return -ERANGE;
            total += service;
        }
        r->dag.io_ns[k] = total - before;
    }
    return 0;
}

void iot_replay_set_less(struct iot_replay *r, const int64_t *less_ns)
{
    for (uint32_t k = 0; k < n_slots(r); k++)
        r->dag.base_ns[k] = edge_of(r, k)->base_ns - (less_ns ? less_ns[r->graph->in_edges[k]] : 0);
}

struct iot_line iot_replay_run(struct iot_replay *r, struct iot_lambda lambda)
{
    iot_dag_run(&r->dag, lambda, &r->longest);
    return r->longest.at[r->dag.n_nodes - 1];
}

int iot_replay_path(const struct iot_replay *r, struct iot_path *path)
{
    uint32_t end = (uint32_t)r->dag.n_nodes - 1;
    size_t length = 0;

    for (uint32_t p = end; p != 0; p = r->dag.src[r->longest.slot[p]])
        length++;
    path->n_edges = length;
    path->edges = malloc((length ? length : 1) * sizeof(*path->edges));
    if (!path->edges)
        return -ENOMEM;
    for (uint32_t p = end; p != 0; p = r->dag.src[r->longest.slot[p]])
        path->edges[--length] = r->graph->in_edges[r->longest.slot[p]];
    return 0;
}

/* Sets the I/O of the slots with calls of the class to what is left without them, and lists these
 * slots. Returns how many they are. */
static size_t set_without(struct iot_replay *r, const uint8_t *class_of_call, uint8_t class_id,
                          uint32_t *changed)
{
    const struct iot_graph *g = r->graph;
    size_t n_changed = 0;
    for (uint32_t k = 0; k < n_slots(r); k++) {
        const struct iot_edge *e = edge_of(r, k);
        const uint8_t *class = class_of_call + e->call_first;
        const int64_t *service = g->call_service_ns + e->call_first;
        int64_t removed = 0;
        for (uint32_t i = 0; i < e->call_count && e->io_ns; i++)
            removed += class[i] == class_id ? service[i] : 0;
        if (!removed)
            continue;
        r->dag.io_ns[k] = e->io_ns - removed;
        changed[n_changed++] = k;
    }
    return n_changed;
}

int64_t iot_replay_recoverable(struct iot_replay *r, const uint8_t *class_of_call, uint8_t class_id)
{
    const struct iot_graph *g = r->graph;
    int64_t with =
        g->nodes[g->end].time_ns + g->replay_error_ns - g->nodes[g->start].time_ns; /* T(1) */
    uint32_t *changed = malloc((n_slots(r) + (size_t)1) * sizeof(*changed));

    if (!changed)
        return 0; /* the least that is true */
    as_recorded(r);
    size_t n = set_without(r, class_of_call, class_id, changed);
    struct iot_line line = iot_replay_run(r, IOT_LAMBDA_1);
    while (n-- > 0)
        r->dag.io_ns[changed[n]] = edge_of(r, changed[n])->io_ns;
    free(changed);
    return with - iot_line_ns(line, IOT_LAMBDA_1);
}
