#include "analyzer/whatif.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/compose.h"
#include "analyzer/fit.h"
#include "analyzer/schedule.h"

/* --- the fixed part --- */

static int is_data(const struct iot_model *m, size_t i)
{
    return m->part[i] == IOT_PART_IO && m->trace->events.bytes[i] > 0 &&
           iot_op_info(m->trace->events.op[i])->class_ == IOT_DATA;
}

/* IOT_NOT_COMPUTED where sizes do not differ; -ENOMEM. */
static int64_t fixed_part(const struct iot_model *m, const uint8_t *selected)
{
    struct iot_fit_sample *sample = malloc(sizeof *sample);
    if (!sample)
        return -ENOMEM;
    iot_fit_begin(sample);
    for (size_t i = 0; i < m->trace->events.n; i++)
        if (selected[i] && is_data(m, i))
            iot_fit_add(sample, m->trace->events.bytes[i], m->service_ns[i]);
    struct iot_fit fit = iot_fit_line(sample);
    free(sample);
    return fit.known ? (int64_t)(fit.latency_ns + 0.5) : IOT_NOT_COMPUTED;
}

/* --- other services --- */

static int64_t whole(double ns)
{
    return ns < (double)IOT_TIME_MAX ? (int64_t)(ns + 0.5) : IOT_TIME_MAX;
}

static void scale(const struct iot_model *m, const uint8_t *selected, double by, int64_t *service)
{
    for (size_t i = 0; i < m->trace->events.n; i++)
        if (selected[i])
            service[i] = whole((double)service[i] * by);
}

static int transfer(struct iot_whatif *w, const struct iot_model *m, const uint8_t *selected,
                    const struct iot_whatif_change *change, int64_t *service)
{
    int with_latency = change->latency_ns >= 0, with_bandwidth = change->bandwidth_gbps > 0;
    if (!with_latency || !with_bandwidth) {
        w->fixed_ns = fixed_part(m, selected);
        if (w->fixed_ns == -ENOMEM)
            return -ENOMEM;
        if (w->fixed_ns == IOT_NOT_COMPUTED)
            return -EDOM;
    }
    double fixed = (double)(with_latency ? change->latency_ns : w->fixed_ns);
    for (size_t i = 0; i < m->trace->events.n; i++) {
        if (!selected[i] || !is_data(m, i))
            continue;
        if (with_bandwidth) {
            int64_t ns =
                whole(fixed + (double)m->trace->events.bytes[i] / change->bandwidth_gbps);
            service[i] = ns < service[i] ? ns : service[i];
        } else {
            int64_t moving = service[i] - w->fixed_ns;
            service[i] = (moving > 0 ? moving : 0) + change->latency_ns;
        }
    }
    return 0;
}

static void overlap(const struct iot_model *m, const uint8_t *selected, int64_t *service)
{
    const struct iot_graph *g = &m->schedule->graph;
    for (size_t n = 0; n < g->n_edges; n++) {
        const struct iot_edge *edge = &g->edges[n];
        size_t end = (size_t)edge->call_first + edge->call_count;
        int64_t beside = edge->base_ns;
        for (size_t i = edge->call_first; i < end; i++)
            beside += selected[i] ? 0 : service[i];
        for (size_t i = edge->call_first; i < end; i++) {
            if (!selected[i])
                continue;
            int64_t hidden = service[i] < beside ? service[i] : beside;
            service[i] -= hidden;
            beside -= hidden;
        }
    }
}

/* --- the replay --- */

static void sum_objects(const struct iot_report *r, const struct iot_path *path,
                        const int64_t *service, int64_t io_ns[IOT_OBJECTS])
{
    const struct iot_graph *g = &r->model->schedule->graph;
    for (size_t k = 0; k < path->n_edges; k++) {
        const struct iot_edge *edge = &g->edges[path->edges[k]];
        for (size_t i = edge->call_first; i < (size_t)edge->call_first + edge->call_count; i++) {
            uint32_t row = r->of_event[i];
            io_ns[row == IOT_NO_INDEX ? IOT_OTHER : r->files[row].object] += service[i];
        }
    }
}

static int walk(const struct iot_report *r, const int64_t *service, int64_t *wall_ns,
                struct iot_path_parts *parts, int64_t io_ns[IOT_OBJECTS])
{
    struct iot_replay *replay = &r->model->schedule->replay;
    struct iot_path path = {0};
    int error = iot_replay_set_service(replay, service);
    if (!error) {
        *wall_ns = iot_line_ns(iot_replay_run(replay, IOT_LAMBDA_1), IOT_LAMBDA_1);
        error = iot_replay_path(replay, &path);
    }
    if (!error) {
        iot_compose(r->model, &path, service, parts);
        sum_objects(r, &path, service, io_ns);
    }
    free(path.edges);
    iot_replay_set_service(replay, NULL);
    return error;
}

int iot_whatif_run(struct iot_whatif *w, const struct iot_report *report, const uint8_t *selected,
                   const struct iot_whatif_change *change)
{
    const struct iot_model *m = report->model;
    size_t n = m->trace->events.n;
    int64_t *service = malloc((n + 1) * sizeof *service);
    int error = service ? 0 : -ENOMEM;

    *w = (struct iot_whatif){.fixed_ns = IOT_NOT_COMPUTED};
    for (size_t i = 0; i < n && !error; i++) {
        service[i] = m->service_ns[i];
        if (!selected[i])
            continue;
        w->calls += m->trace->events.op[i] != IOT_OP_GPU_MEMCPY_REST;
        w->service_ns += service[i];
        if (iot_op_info(m->trace->events.op[i])->class_ == IOT_DATA) /* also where it waited */
            w->bytes += m->trace->events.bytes[i];
    }
    if (!error)
        error = walk(report, m->service_ns, &w->wall_ns, &w->path, w->io_ns);
    if (!error && change->kind == IOT_WHATIF_SCALE)
        scale(m, selected, change->scale, service);
    else if (!error && change->kind == IOT_WHATIF_TRANSFER)
        error = transfer(w, m, selected, change, service);
    else if (!error)
        overlap(m, selected, service);
    for (size_t i = 0; i < n && !error; i++)
        if (selected[i] && (w->new_service_ns += service[i]) >= IOT_TIME_MAX)
            error = -ERANGE;
    if (!error)
        error = walk(report, service, &w->new_wall_ns, &w->new_path, w->new_io_ns);
    free(service);
    return error;
}
