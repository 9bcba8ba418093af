/* How long GPUs idled because of I/O.
 *
 * A GPU idles where nothing runs in any of its streams, from the start of the run to the last that
 * ran. Whatever ended such a gap began when the last had come of what it needed. From there one
 * goes back in the graph, at each moment by the edge that held it (the walk of the critical path,
 * from another end), to where the gap begins. The I/O met on the way, as far as it lies in the gap,
 * made that part of it.
 */
#include <stdlib.h>

#include "analyzer/gpu.h"
#include "analyzer/report_gpu.h"
#include "analyzer/schedule.h"

struct work {
    const struct iot_report *report;
    const struct iot_graph *graph;
    uint32_t *position; /* by node: in graph->order */
    size_t n_lane_edges;
};

/* An operation of a device. */
struct run {
    int64_t t0_ns, t1_ns;
    uint32_t event, device;
};

static int by_start(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->t0_ns != y->t0_ns)
        return x->t0_ns < y->t0_ns ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* --- the walk --- */

/* The node before an operation: each has an edge of its own. Lane edges come first, in the order of
 * their calls. */
static uint32_t node_before(const struct work *w, size_t event)
{
    const struct iot_graph *g = w->graph;
    size_t low = 0, high = w->n_lane_edges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct iot_edge *edge = &g->edges[middle];
        if ((size_t)edge->call_first + edge->call_count <= event)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->n_lane_edges && g->edges[low].call_first == event ? g->edges[low].src
                                                                      : IOT_NO_NODE;
}

/* The edge that held a node at its time as recorded; NULL: none. */
static const struct iot_edge *held_by(const struct work *w, uint32_t node)
{
    const struct iot_graph *g = w->graph;
    uint32_t p = w->position[node];
    for (uint32_t k = g->in_first[p]; k < g->in_first[p + 1]; k++) {
        const struct iot_edge *edge = &g->edges[g->in_edges[k]];
        if (g->nodes[edge->src].time_ns + edge->base_ns + edge->io_ns == g->nodes[node].time_ns)
            return edge;
    }
    return NULL;
}

static void count_calls(const struct work *w, const struct iot_edge *edge, int64_t from_ns,
                        int64_t to_ns, int64_t of_ns[IOT_OBJECTS])
{
    const struct iot_report *r = w->report;
    const struct iot_events *e = &r->trace->events;
    for (size_t i = (size_t)edge->call_first + edge->call_count; i-- > edge->call_first;) {
        int64_t t0 = e->t0_ns[i] > from_ns ? e->t0_ns[i] : from_ns;
        int64_t t1 = e->t1_ns[i] < to_ns ? e->t1_ns[i] : to_ns;
        if (r->model->service_ns[i] && t1 > t0 && r->of_event[i] != IOT_NO_INDEX)
            of_ns[r->files[r->of_event[i]].object] += t1 - t0;
        if (e->t1_ns[i] <= from_ns && r->model->service_ns[i])
            return; /* what is before it ended before it */
    }
}

static void walk(const struct work *w, size_t event, int64_t from_ns, int64_t to_ns,
                 int64_t of_ns[IOT_OBJECTS])
{
    const struct iot_graph *g = w->graph;
    uint32_t node = node_before(w, event);
    while (node != IOT_NO_NODE && g->nodes[node].time_ns > from_ns) {
        const struct iot_edge *edge = held_by(w, node);
        if (!edge || edge->kind == IOT_EDGE_START)
            return;
        if (edge->kind == IOT_EDGE_LANE && edge->io_ns)
            count_calls(w, edge, from_ns, to_ns, of_ns);
        node = edge->src;
    }
}

/* --- devices --- */

static int add_device(struct iot_report_gpu *g, uint32_t device)
{
    struct iot_gpu_device *more = realloc(g->devices, (g->n_devices + 1) * sizeof *more);
    if (!more)
        return -1;
    g->devices = more;
    more[g->n_devices++] = (struct iot_gpu_device){.device = device};
    return 0;
}

static void of_device(const struct work *w, struct iot_gpu_device *d, const struct run *runs,
                      size_t n)
{
    const struct iot_events *e = &w->report->trace->events;
    int64_t busy_to = 0;
    for (size_t k = 0; k < n; k++)
        d->kernels |= e->op[runs[k].event] == IOT_OP_GPU_KERNEL;
    for (size_t k = 0; k < n && d->kernels; k++) {
        if (runs[k].t0_ns > busy_to) {
            d->idle_ns += runs[k].t0_ns - busy_to;
            walk(w, runs[k].event, busy_to, runs[k].t0_ns, d->idle_of_ns);
            busy_to = runs[k].t0_ns;
        }
        if (runs[k].t1_ns > busy_to) {
            d->busy_ns += runs[k].t1_ns - busy_to;
            busy_to = runs[k].t1_ns;
        }
    }
}

static size_t list_runs(const struct iot_trace *t, struct run *runs)
{
    const struct iot_events *e = &t->events;
    size_t n = 0;
    for (size_t l = 0; l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event;
             iot_lane_is_stream(lane) && i < lane->first_event + lane->n_events; i++) {
            if (!iot_gpu_runs(e->op[i]))
                continue;
            if (runs)
                runs[n] = (struct run){e->t0_ns[i], e->t1_ns[i], (uint32_t)i, lane->device};
            n++;
        }
    }
    return n;
}

int iot_report_gpu_idle(struct iot_report *r)
{
    const struct iot_graph *g = &r->model->schedule->graph;
    struct work w = {.report = r, .graph = g};
    size_t n = list_runs(r->trace, NULL);
    struct run *runs = malloc((n + 1) * sizeof *runs);
    w.position = malloc((g->n_nodes + 1) * sizeof *w.position);
    int failed = !runs || !w.position;
    if (!failed) {
        list_runs(r->trace, runs);
        qsort(runs, n, sizeof *runs, by_start);
        for (uint32_t p = 0; p < g->n_nodes; p++)
            w.position[g->order[p]] = p;
        while (w.n_lane_edges < g->n_edges && g->edges[w.n_lane_edges].kind == IOT_EDGE_LANE)
            w.n_lane_edges++;
    }
    for (size_t k = 0, end; k < n && !failed; k = end) {
        for (end = k + 1; end < n && runs[end].device == runs[k].device;)
            end++;
        failed = add_device(r->gpu, runs[k].device);
        if (!failed)
            of_device(&w, &r->gpu->devices[r->gpu->n_devices - 1], &runs[k], end - k);
    }
    free(runs);
    free(w.position);
    return failed ? -1 : 0;
}
