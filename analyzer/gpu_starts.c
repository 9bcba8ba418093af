#include "analyzer/gpu_starts.h"

#include <stdlib.h>

#include "analyzer/gpu.h"

/* What a waker lets go on: the start of what runs in a stream, the return of a call that waits. */
static int64_t goes_on(const struct iot_trace *t, size_t i)
{
    return iot_gpu_runs(t->events.op[i]) ? t->events.t0_ns[i] : t->events.t1_ns[i];
}

/* When a waker lets the operation start, if nothing else holds it back. */
static int64_t arrival(const struct iot_gpu_starts *s, const struct iot_trace *t, size_t i,
                       struct iot_waker waker)
{
    int64_t ns = iot_waker_time(t, waker) + (waker.kind == IOT_WAKER_ENTRY ? s->launch_ns : 0);
    return ns < goes_on(t, i) ? ns : goes_on(t, i);
}

static void note(struct iot_gpu_starts *s, const struct iot_trace *t, const struct iot_links *links,
                 size_t i, struct iot_waker waker)
{
    if (waker.kind == IOT_WAKER_NONE || iot_waker_is_rank(t, waker) ||
        (!iot_gpu_runs(t->events.op[i]) && t->events.op[i] != IOT_OP_GPU_SYNC) ||
        (waker.kind != IOT_WAKER_LANE && links->flags[waker.index] & IOT_LINK_NESTED) ||
        iot_waker_time(t, waker) > goes_on(t, i)) /* against the clock: it will be cut */
        return;
    int64_t ns = arrival(s, t, i, waker);
    if (ns > s->latest_ns[i])
        s->latest_ns[i] = ns;
}

static void note_all(struct iot_gpu_starts *s, const struct iot_trace *t,
                     const struct iot_links *links)
{
    for (size_t i = 0; i < t->events.n; i++) {
        s->latest_ns[i] = INT64_MIN;
        note(s, t, links, i, links->waker[i]);
    }
    for (size_t k = 0; k < links->n_more; k++)
        note(s, t, links, links->more[k].event, links->more[k].waker);
}

static int by_length(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Those of which the launch came last, and to an idle stream: their latencies, if asked for. */
static size_t find_idle(struct iot_gpu_starts *s, const struct iot_trace *t,
                        const struct iot_links *links, int64_t *latencies)
{
    const struct iot_events *e = &t->events;
    size_t n = 0;
    for (size_t l = 0; l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event + 1;
             iot_lane_is_stream(lane) && i < lane->first_event + lane->n_events; i++) {
            struct iot_waker launch = links->waker[i];
            s->idle[i] = s->latest_ns[i] >= e->t1_ns[i - 1];
            if (latencies && s->idle[i] && launch.kind == IOT_WAKER_ENTRY &&
                iot_waker_time(t, launch) == s->latest_ns[i])
                latencies[n++] = e->t0_ns[i] - s->latest_ns[i];
        }
    }
    return n;
}

/* First without latencies, to find the usual one, then with it. */
int iot_gpu_starts_find(struct iot_gpu_starts *s, const struct iot_trace *t,
                        const struct iot_links *links)
{
    if (!iot_has_streams(t))
        return 0;
    int64_t *latencies = malloc((t->events.n + 1) * sizeof *latencies);
    s->idle = calloc(t->events.n + 1, 1);
    s->latest_ns = malloc((t->events.n + 1) * sizeof *s->latest_ns);
    if (!latencies || !s->idle || !s->latest_ns) {
        free(latencies);
        return -1;
    }
    note_all(s, t, links);
    size_t n = find_idle(s, t, links, latencies);
    if (n)
        qsort(latencies, n, sizeof *latencies, by_length);
    s->launch_ns = n ? latencies[n / 2] : 0;
    free(latencies);
    note_all(s, t, links);
    find_idle(s, t, links, NULL);
    return 0;
}

void iot_gpu_starts_free(struct iot_gpu_starts *s)
{
    free(s->idle);
    free(s->latest_ns);
    *s = (struct iot_gpu_starts){0};
}

int64_t iot_gpu_latency(const struct iot_gpu_starts *s, const struct iot_trace *t, size_t i,
                        struct iot_waker waker)
{
    if (!iot_gpu_runs(t->events.op[i]))
        return s->latest_ns[i] == INT64_MIN ? 0 : t->events.t1_ns[i] - s->latest_ns[i];
    if (s->idle[i] && arrival(s, t, i, waker) == s->latest_ns[i])
        return INT64_MAX;
    return waker.kind == IOT_WAKER_ENTRY ? s->launch_ns : 0;
}
