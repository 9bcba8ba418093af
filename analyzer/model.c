#include "analyzer/model.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/carrier.h"
#include "analyzer/expose.h"
#include "analyzer/progress.h"
#include "analyzer/schedule.h"

/* The time of one lane edge on the path, without its I/O. */
static void add_lane_edge(struct iot_model *m, const struct iot_edge *edge)
{
    const struct iot_events *e = &m->trace->events;
    int64_t rest = edge->base_ns;
    for (size_t i = edge->call_first; i < (size_t)edge->call_first + edge->call_count; i++) {
        int64_t span = e->t1_ns[i] - e->t0_ns[i];
        switch (m->part[i]) {
        case IOT_PART_SLEEP:
            m->path.sleep_ns += span;
            break;
        case IOT_PART_EXTERNAL:
            m->path.external_ns += span;
            break;
        case IOT_PART_UNEXPLAINED:
            m->path.unexplained_ns += span;
            break;
        case IOT_PART_WAIT: /* its edge was cut, and it keeps its time */
            span = rest;
            m->path.unexplained_ns += span;
            break;
        default:
            span = 0;
            break;
        }
        rest -= span;
    }
    m->path.compute_ns += rest;
}

/* What the run would take with all I/O at zero is what its path at lambda 0 is made of. */
static void compose(struct iot_model *m, const struct iot_exposure *x)
{
    const struct iot_schedule *s = m->schedule;
    for (size_t k = 0; k < x->path0.n_edges; k++) {
        uint32_t n = x->path0.edges[k];
        const struct iot_edge *edge = &s->graph.edges[n];
        if (edge->kind == IOT_EDGE_LANE)
            add_lane_edge(m, edge);
        else if (edge->kind == IOT_EDGE_START)
            m->path.unexplained_ns += edge->base_ns;
        else if (n < s->n_use && s->use[n] == IOT_USE_WAKE)
            m->path.wake_ns += edge->base_ns;
        else
            m->path.compute_ns += edge->base_ns;
    }
    m->path.io_ns = x->t1_ns - x->t0_ns;
}

static int copy_curve(struct iot_model *m, const struct iot_exposure *x)
{
    m->n_curve = IOT_CURVE_STEPS + 1;
    m->curve = calloc(m->n_curve, sizeof *m->curve);
    if (!m->curve)
        return -1;
    for (size_t k = 0; k < m->n_curve; k++) {
        m->curve[k].lambda = (double)x->curve[k].lambda.num / (double)x->curve[k].lambda.den;
        m->curve[k].time_ns = x->curve[k].t_ns;
    }
    return 0;
}

static int fill(struct iot_model *m, struct iot_links *links)
{
    iot_schedule_parts(m->trace, links, m);
    if (iot_schedule_build(m->schedule, m->trace, links, m) ||
        iot_carrier_mark(m->trace, links, m->waited))
        return -1;
    m->unmatched_waits = links->unmatched;
    iot_links_free(links); /* the schedule has them, and what follows needs the room */
    iot_progress("replaying the run", 0, 0);
    struct iot_exposure x;
    int failed = iot_expose(&x, &m->schedule->replay, 0) || copy_curve(m, &x);
    if (!failed) {
        m->exposed_ns = x.exposed_ns;
        x.exposed_ns = NULL;
        m->wall_ns = x.t1_ns;
        compose(m, &x);
        m->exposed_error_ns = x.exposed_error_ns;
        m->replay_error_ns = m->schedule->graph.replay_error_ns;
        m->cut_edges = m->schedule->graph.cut_edges;
    }
    iot_expose_free(&x);
    return failed ? -1 : 0;
}

struct iot_model *iot_model_build(const struct iot_trace *trace)
{
    size_t n = trace->events.n + 1;
    struct iot_model *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->trace = trace;
    m->part = calloc(n, 1);
    m->waited = calloc(n, 1);
    m->schedule = calloc(1, sizeof *m->schedule);
    if (m->schedule)
        m->service_ns = iot_graph_add_calls(&m->schedule->graph, trace->events.n);
    struct iot_links links = {0};
    iot_progress("finding who waited for whom", 0, 0);
    int failed = !m->part || !m->waited || !m->service_ns || iot_links_find(&links, trace) ||
                 fill(m, &links);
    iot_links_free(&links);
    if (failed) {
        iot_model_free(m);
        return NULL;
    }
    return m;
}

void iot_model_free(struct iot_model *m)
{
    if (!m)
        return;
    if (m->schedule)
        iot_schedule_free(m->schedule);
    free(m->schedule);
    free(m->part);
    free(m->waited);
    free(m->exposed_ns);
    free(m->curve);
    free(m);
}

int64_t iot_model_recoverable(const struct iot_model *m, const uint8_t *selected)
{
    return iot_replay_recoverable(&m->schedule->replay, selected, 1);
}
