#include "analyzer/model.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/carrier.h"
#include "analyzer/compose.h"
#include "analyzer/expose.h"
#include "analyzer/progress.h"
#include "analyzer/schedule.h"

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
    m->stream_source = links->stream_source;
    links->stream_source = NULL;
    iot_links_free(links); /* the schedule has them, and what follows needs the room */
    iot_progress("replaying the run", 0, 0);
    struct iot_exposure x;
    int failed = iot_expose(&x, &m->schedule->replay, 0) || copy_curve(m, &x);
    if (!failed) {
        m->exposed_ns = x.exposed_ns;
        x.exposed_ns = NULL;
        m->wall_ns = x.t1_ns;
        /* What the run would take with all I/O at zero is what its path at lambda 0 is made of. */
        iot_compose(m, &x.path0, NULL, &m->path);
        m->path.io_ns = x.t1_ns - x.t0_ns;
        m->edge_share = x.edge_share;
        x.edge_share = NULL;
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
    free(m->edge_share);
    free(m->stream_source);
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
