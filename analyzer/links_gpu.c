/* GPUs: what let an operation of a stream start, and whose end a call of a thread waited for.
 *
 * A stream does one thing after the other, in the order of the launches; that order is the lane's.
 * Here are the edges from launch to start, from a blocking copy to its call, and those between the
 * ranks of a collective; links_awaited.c has the others.
 */
#include <stdlib.h>

#include "analyzer/collectives.h"
#include "analyzer/links_gpu.h"

static int is_launch(unsigned op)
{
    return op == IOT_OP_GPU_LAUNCH;
}

/* A call that blocks for its copy waits for its end, as far as that came before it returned. */
static int link_launch(struct iot_launched *l, const struct iot_correlated *launches, size_t n,
                       uint32_t process, size_t i)
{
    const struct iot_events *e = &l->trace->events;
    l->by[i] = (uint32_t)i;
    if (!e->offset[i])
        return 0;
    if (e->op[i] == IOT_OP_GPU_MEMCPY_REST ||
        (e->op[i] == IOT_OP_GPU_COLLECTIVE && e->op[i - 1] == IOT_OP_GPU_COLLECTIVE_WAIT)) {
        l->by[i] = l->by[i - 1];
        return 0;
    }
    uint32_t call = iot_correlated_find(launches, n, process, (uint64_t)e->offset[i]);
    if (call == IOT_NO_INDEX) {
        l->links->unmatched++;
        return 0;
    }
    l->by[i] = call;
    if (iot_links_add(l->links, (uint32_t)i, (struct iot_waker){call, IOT_WAKER_ENTRY}))
        return -1;
    return iot_gpu_blocks(e, i) && e->t1_ns[i] <= e->t1_ns[call]
               ? iot_links_add(l->links, call, iot_the_end(i))
               : 0;
}

/* One of which the launch is not known was launched before the next in its stream. */
static void assume_launches(struct iot_launched *launched, size_t first, size_t end)
{
    const struct iot_events *e = &launched->trace->events;
    for (size_t i = end - 1; i-- > first;)
        if (iot_gpu_runs(e->op[i]) && iot_gpu_runs(e->op[i + 1]) && launched->by[i] == i &&
            e->t0_ns[launched->by[i + 1]] < e->t0_ns[i])
            launched->by[i] = launched->by[i + 1];
}

static int link_launches(struct iot_launched *launched)
{
    const struct iot_trace *t = launched->trace;
    size_t n;
    struct iot_correlated *launches = iot_correlated_list(t, is_launch, &n);
    int failed = !launches;
    for (size_t l = 0; l < t->n_lanes && !failed; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        size_t end = lane->first_event + lane->n_events;
        for (size_t i = lane->first_event; iot_lane_is_stream(lane) && i < end && !failed; i++)
            if (iot_gpu_runs(t->events.op[i]))
                failed = link_launch(launched, launches, n, lane->process, i);
        if (iot_lane_is_stream(lane) && !failed)
            assume_launches(launched, lane->first_event, end);
    }
    free(launches);
    return failed;
}

/* --- collectives --- */

enum { RANKS_MAX = 16 }; /* of more, each waits for the last one alone */

/* What a collective of several ranks moves it moves when all of them have begun: those that came in
 * time may come last when the run is replayed. */
static int link_group(struct iot_links *links, const struct iot_trace *t,
                      const struct iot_collectives *c, const struct iot_collective_group *g)
{
    for (size_t m = g->first; m < g->first + g->n; m++)
        for (size_t k = g->first; k < g->first + g->n; k++) {
            const struct iot_collective *from = &c->members[k];
            if (k == m || (g->n > RANKS_MAX && k != g->last))
                continue;
            /* One that did not wait is held by those that had begun; of two that began at once by
             * one. */
            if (t->events.op[c->members[m].event] != IOT_OP_GPU_COLLECTIVE_WAIT &&
                (from->t0_ns > c->members[m].t0_ns ||
                 (from->t0_ns == c->members[m].t0_ns && k > m)))
                continue;
            if (iot_links_add(links, c->members[m].event,
                              (struct iot_waker){from->event, IOT_WAKER_ENTRY}))
                return -1;
        }
    return 0;
}

static int link_collectives(struct iot_links *links, const struct iot_trace *t)
{
    struct iot_collectives c;
    int failed = iot_collectives_find(&c, t);
    for (size_t k = 0; k < c.n_groups && !failed; k++)
        failed = link_group(links, t, &c, &c.groups[k]);
    iot_collectives_free(&c);
    return failed ? -1 : 0;
}

int iot_link_gpu(struct iot_links *links, const struct iot_trace *trace)
{
    struct iot_launched launched = {links, trace, NULL};
    if (!iot_has_streams(trace))
        return 0;
    launched.by = calloc(trace->events.n + 1, sizeof *launched.by);
    int failed = !launched.by || link_launches(&launched) || iot_link_awaited(&launched) ||
                 link_collectives(links, trace);
    free(launched.by);
    return failed ? -1 : 0;
}
