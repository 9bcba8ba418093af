/* Building a graph; graph_finish.c checks and orders it. */
#include "analyzer/graph.h"

#include <stdlib.h>

#include "analyzer/room.h"

uint32_t iot_graph_add_node(struct iot_graph *g, int64_t time_ns, uint32_t lane)
{
    if (g->n_nodes >= IOT_NO_NODE || IOT_ROOM(g->nodes, g->n_nodes + 1, g->cap_nodes))
        return IOT_NO_NODE;
    g->nodes[g->n_nodes] = (struct iot_node){.time_ns = time_ns, .lane = lane};
    return (uint32_t)g->n_nodes++;
}

uint32_t iot_graph_add_call(struct iot_graph *g, int64_t service_ns)
{
    if (g->n_calls >= IOT_NO_NODE ||
        IOT_ROOM(g->call_service_ns, g->n_calls + 1, g->cap_calls))
        return IOT_NO_NODE;
    g->call_service_ns[g->n_calls] = service_ns;
    return (uint32_t)g->n_calls++;
}

int64_t *iot_graph_add_calls(struct iot_graph *g, size_t n)
{
    g->call_service_ns = n < IOT_NO_NODE ? calloc(n + 1, sizeof(*g->call_service_ns)) : NULL;
    g->n_calls = g->call_service_ns ? n : 0;
    g->cap_calls = g->call_service_ns ? n + 1 : 0;
    return g->call_service_ns;
}

static uint32_t add_edge(struct iot_graph *g, const struct iot_edge *edge)
{
    if (g->n_edges >= IOT_NO_NODE || IOT_ROOM(g->edges, g->n_edges + 1, g->cap_edges))
        return IOT_NO_NODE;
    g->edges[g->n_edges] = *edge;
    return (uint32_t)g->n_edges++;
}

uint32_t iot_graph_add_cross(struct iot_graph *g, uint32_t src, uint32_t dst, int64_t base_ns)
{
    return add_edge(
        g, &(struct iot_edge){.src = src, .dst = dst, .base_ns = base_ns, .kind = IOT_EDGE_CROSS});
}

uint32_t iot_graph_add_hold(struct iot_graph *g, uint32_t start, uint32_t dst, int64_t base_ns)
{
    return add_edge(
        g, &(struct iot_edge){.src = start, .dst = dst, .base_ns = base_ns, .kind = IOT_EDGE_HOLD});
}

uint32_t iot_graph_add_lane(struct iot_graph *g, uint32_t src, uint32_t dst, int64_t base_ns,
                            uint32_t call_first, uint32_t call_count)
{
    struct iot_edge edge = {.src = src,
                            .dst = dst,
                            .base_ns = base_ns,
                            .call_first = call_first,
                            .call_count = call_count,
                            .kind = IOT_EDGE_LANE};
    for (size_t i = call_first; i < (size_t)call_first + call_count && i < g->n_calls; i++)
        if (__builtin_add_overflow(edge.io_ns, g->call_service_ns[i], &edge.io_ns)) {
            edge.io_ns = INT64_MAX; /* iot_graph_finish() will say so */
            break;
        }
    return add_edge(g, &edge);
}

void iot_graph_free(struct iot_graph *g)
{
    free(g->nodes);
    free(g->edges);
    free(g->call_service_ns);
    free(g->order);
    free(g->in_first);
    free(g->in_edges);
    *g = (struct iot_graph){0};
}
