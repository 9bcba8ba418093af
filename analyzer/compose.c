#include "analyzer/compose.h"

#include "analyzer/schedule.h"

/* The part of a lane edge's time without I/O that an event in it takes; NULL: it is computing. */
static int64_t *part_of(struct iot_path_parts *parts, uint8_t part)
{
    switch (part) {
    case IOT_PART_SLEEP:
        return &parts->sleep_ns;
    case IOT_PART_GPU:
        return &parts->gpu_ns;
    case IOT_PART_EXTERNAL:
        return &parts->external_ns;
    case IOT_PART_UNEXPLAINED:
    case IOT_PART_WAIT: /* its edge was cut, and it keeps its time */
        return &parts->unexplained_ns;
    default:
        return NULL;
    }
}

static void add_lane_edge(const struct iot_model *m, const struct iot_edge *edge,
                          const int64_t *service_ns, struct iot_path_parts *parts)
{
    const struct iot_events *e = &m->trace->events;
    int64_t rest = edge->base_ns; /* 0 over a wait whose waker is known */
    for (size_t i = edge->call_first; i < (size_t)edge->call_first + edge->call_count; i++) {
        parts->io_ns += service_ns ? service_ns[i] : 0;
        int64_t *to = part_of(parts, m->part[i]);
        if (!to)
            continue;
        int64_t span = e->t1_ns[i] - e->t0_ns[i];
        span = span < rest ? span : rest;
        *to += span;
        rest -= span;
    }
    /* What a stream does between its operations is the GPU's time, too. */
    uint32_t lane = m->schedule->graph.nodes[edge->src].lane;
    int stream = m->trace->lanes[lane].kind == IOT_LANE_STREAM;
    *(stream ? &parts->gpu_ns : &parts->compute_ns) += rest;
    parts->gpu_gap_ns += stream ? rest : 0;
}

void iot_compose(const struct iot_model *m, const struct iot_path *path, const int64_t *service_ns,
                 struct iot_path_parts *parts)
{
    const struct iot_schedule *s = m->schedule;
    *parts = (struct iot_path_parts){.sleep_ns = path->held_ns};
    for (size_t k = 0; k < path->n_edges; k++) {
        uint32_t n = path->edges[k];
        const struct iot_edge *edge = &s->graph.edges[n];
        if (edge->kind == IOT_EDGE_LANE)
            add_lane_edge(m, edge, service_ns, parts);
        else if (edge->kind == IOT_EDGE_START)
            parts->unexplained_ns += edge->base_ns;
        else if (n < s->n_use && s->use[n] == IOT_USE_WAKE)
            parts->wake_ns += edge->base_ns;
        else if (n < s->n_use && s->use[n] == IOT_USE_GPU) {
            parts->gpu_ns += edge->base_ns;
            parts->gpu_launch_ns += edge->base_ns;
        } else
            parts->compute_ns += edge->base_ns;
    }
}
