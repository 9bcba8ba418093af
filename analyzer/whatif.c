#include "analyzer/whatif.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/compose.h"
#include "analyzer/schedule.h"

/* --- the fixed part --- */

struct sample {
    double bytes, service;
};

static int by_bytes(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->service > y->service) - (x->service < y->service);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static struct sample middle_of(const struct sample *samples, size_t n, double *room)
{
    struct sample m;
    for (size_t k = 0; k < n; k++)
        room[k] = samples[k].bytes;
    m.bytes = median(room, n);
    for (size_t k = 0; k < n; k++)
        room[k] = samples[k].service;
    m.service = median(room, n);
    return m;
}

static int is_data(const struct iot_model *m, size_t i)
{
    return m->part[i] == IOT_PART_IO && m->trace->events.bytes[i] > 0 &&
           iot_op_info(m->trace->events.op[i])->class_ == IOT_DATA;
}

static int64_t fixed_of(struct sample *samples, size_t n, double *room)
{
    size_t third = (n + 2) / 3;
    qsort(samples, n, sizeof *samples, by_bytes);
    struct sample low = middle_of(samples, third, room);
    struct sample high = middle_of(samples + n - third, third, room);
    if (low.bytes >= high.bytes)
        return IOT_NOT_COMPUTED;
    double slope = (high.service - low.service) / (high.bytes - low.bytes);
    slope = slope > 0 ? slope : 0;
    for (size_t k = 0; k < n; k++)
        room[k] = samples[k].service - slope * samples[k].bytes;
    double fixed = median(room, n);
    return fixed > 0 ? (int64_t)(fixed + 0.5) : 0;
}

int64_t iot_whatif_fixed(const struct iot_model *m, const uint8_t *selected)
{
    size_t n = 0, events = m->trace->events.n;
    for (size_t i = 0; i < events; i++)
        n += selected[i] && is_data(m, i);
    struct sample *samples = malloc((n + 1) * sizeof *samples);
    double *room = malloc((n + 1) * sizeof *room);
    int64_t fixed = -2;
    if (samples && room) {
        n = 0;
        for (size_t i = 0; i < events; i++)
            if (selected[i] && is_data(m, i))
                samples[n++] = (struct sample){(double)m->trace->events.bytes[i],
                                               (double)m->service_ns[i]};
        fixed = n ? fixed_of(samples, n, room) : IOT_NOT_COMPUTED;
    }
    free(samples);
    free(room);
    return fixed;
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
        w->fixed_ns = iot_whatif_fixed(m, selected);
        if (w->fixed_ns < IOT_NOT_COMPUTED)
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
    struct iot_path path = {NULL, 0};
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
        w->calls++;
        w->service_ns += service[i];
        w->bytes += is_data(m, i) ? m->trace->events.bytes[i] : 0;
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
        if (selected[i] && __builtin_add_overflow(w->new_service_ns, service[i],
                                                  &w->new_service_ns))
            error = -ERANGE;
    if (!error)
        error = walk(report, service, &w->new_wall_ns, &w->new_path, w->new_io_ns);
    free(service);
    return error;
}
