#include "analyzer/replay.h"

#include <errno.h>
#include <stdlib.h>

/* No path is longer than all bases below IOT_TIME_MAX and this. */
#define IO_SUM_MAX ((int64_t)1 << 61)

static void as_recorded(struct iot_replay *r)
{
    const struct iot_graph *g = r->graph;
    for (uint32_t k = 0; k < g->in_first[g->n_nodes]; k++)
        r->slot_io[k] = g->edges[g->in_edges[k]].io_ns;
}

int iot_replay_init(struct iot_replay *r, const struct iot_graph *g)
{
    size_t n = g->n_nodes, n_slots = g->in_first[n] ? g->in_first[n] : 1;

    *r = (struct iot_replay){.graph = g};
    r->slot_src = malloc(n_slots * sizeof(*r->slot_src));
    r->slot_base = malloc(n_slots * sizeof(*r->slot_base));
    r->slot_io = malloc(n_slots * sizeof(*r->slot_io));
    r->at = calloc(n, sizeof(*r->at));
    r->slot_in = calloc(n, sizeof(*r->slot_in));
    if (!r->slot_src || !r->slot_base || !r->slot_io || !r->at || !r->slot_in)
        return -ENOMEM;

    uint32_t *place = r->slot_in; /* of a node, in the order; only until the first replay */
    for (size_t p = 0; p < n; p++)
        place[g->order[p]] = (uint32_t)p;
    r->end = place[g->end];
    for (uint32_t k = 0; k < g->in_first[n]; k++) {
        const struct iot_edge *e = &g->edges[g->in_edges[k]];
        r->slot_src[k] = place[e->src];
        r->slot_base[k] = e->base_ns;
    }
    as_recorded(r);
    return 0;
}

void iot_replay_free(struct iot_replay *r)
{
    free(r->slot_src);
    free(r->slot_base);
    free(r->slot_io);
    free(r->at);
    free(r->slot_in);
    *r = (struct iot_replay){0};
}

int iot_replay_set_service(struct iot_replay *r, const int64_t *service_ns)
{
    const struct iot_graph *g = r->graph;
    int64_t total = 0;

    if (!service_ns) {
        as_recorded(r);
        return 0;
    }
    for (uint32_t k = 0; k < g->in_first[g->n_nodes]; k++) {
        const struct iot_edge *e = &g->edges[g->in_edges[k]];
        int64_t before = total;
        for (uint32_t i = 0; i < e->call_count; i++) {
            int64_t service = service_ns[e->call_first + i];
            if (service < 0 || service > IO_SUM_MAX - total)
                return -ERANGE;
            total += service;
        }
        r->slot_io[k] = total - before;
    }
    return 0;
}

void iot_replay_remove(struct iot_replay *r, const uint8_t *class_of_call, uint8_t class_id)
{
    const struct iot_graph *g = r->graph;

    for (uint32_t k = 0; k < g->in_first[g->n_nodes]; k++) {
        const struct iot_edge *e = &g->edges[g->in_edges[k]];
        const uint8_t *class = class_of_call + e->call_first;
        const int64_t *service = g->call_service_ns + e->call_first;
        int64_t sum = 0;
        for (uint32_t i = 0; i < e->call_count; i++)
            sum += class[i] == class_id ? 0 : service[i];
        r->slot_io[k] = sum;
    }
}

/* a longer than b at lambda? Exact: the differences are below 2^62, a denominator below 2^54. */
static inline bool longer(struct iot_line a, struct iot_line b, struct iot_lambda lambda)
{
    return (__int128)(a.base_ns - b.base_ns) * lambda.den +
               (__int128)(a.io_ns - b.io_ns) * lambda.num >
           0;
}

struct iot_line iot_replay_run(struct iot_replay *r, struct iot_lambda lambda)
{
    const uint32_t *in_first = r->graph->in_first, *src = r->slot_src;
    const int64_t *base = r->slot_base, *io = r->slot_io;
    struct iot_line *at = r->at;
    uint32_t *slot_in = r->slot_in;
    size_t n = r->graph->n_nodes;

    at[0] = (struct iot_line){0, 0};
    for (size_t p = 1; p < n; p++) {
        uint32_t slot = in_first[p], slots_end = in_first[p + 1];
        struct iot_line best = at[src[slot]];
        best.base_ns += base[slot];
        best.io_ns += io[slot];
        for (uint32_t k = slot + 1; k < slots_end; k++) {
            struct iot_line by = at[src[k]];
            by.base_ns += base[k];
            by.io_ns += io[k];
            /* Only if longer: the slots are in the order of the walk's preference. */
            if (longer(by, best, lambda)) {
                best = by;
                slot = k;
            }
        }
        at[p] = best;
        slot_in[p] = slot;
    }
    return at[r->end];
}

int64_t iot_line_ns(struct iot_line line, struct iot_lambda lambda)
{
    return line.base_ns + (int64_t)((__int128)line.io_ns * lambda.num / lambda.den);
}

int iot_replay_path(const struct iot_replay *r, uint32_t **edges, size_t *n)
{
    uint32_t place = r->end, slot;
    size_t length = 0;

    while (iot_replay_step_back(r, &place, &slot))
        length++;
    *n = length;
    *edges = malloc((length ? length : 1) * sizeof(**edges));
    if (!*edges)
        return -ENOMEM;
    place = r->end;
    while (iot_replay_step_back(r, &place, &slot))
        (*edges)[--length] = r->graph->in_edges[slot];
    return 0;
}

int64_t iot_replay_recoverable(struct iot_replay *r, const uint8_t *class_of_call, uint8_t class_id)
{
    const struct iot_graph *g = r->graph;
    int64_t with =
        g->nodes[g->end].time_ns + g->replay_error_ns - g->nodes[g->start].time_ns; /* T(1) */

    iot_replay_remove(r, class_of_call, class_id);
    struct iot_line without = iot_replay_run(r, IOT_LAMBDA_1);
    as_recorded(r);
    return with - iot_line_ns(without, IOT_LAMBDA_1);
}
