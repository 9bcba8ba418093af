/* What runs on a GPU and is two things, one after the other, becomes two events. */
#include <stdlib.h>

#include "analyzer/collectives.h"
#include "analyzer/events.h"
#include "analyzer/gpu.h"

static int is_launch(unsigned op)
{
    return op == IOT_OP_GPU_LAUNCH;
}

struct cut {
    size_t event;
    int64_t at_ns;
};

static int by_event(const void *a, const void *b)
{
    const struct cut *x = a, *y = b;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* How many cuts are in events below `event`. */
static size_t cuts_below(const struct cut *cuts, size_t n, size_t event)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cuts[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From pageable memory the call returns when the last piece is in the driver's own memory, while
 * that still is on its way: only what came before is what the call waited for. */
static size_t find_cuts(const struct iot_trace *t, const struct iot_correlated *launches,
                        size_t n_launches, struct cut *cuts)
{
    const struct iot_events *e = &t->events;
    size_t n = 0;
    for (size_t l = 0; l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            uint32_t call = iot_gpu_blocks(e, i)
                                ? iot_correlated_find(launches, n_launches, lane->process,
                                                      (uint64_t)e->offset[i])
                                : IOT_NO_INDEX;
            if (call != IOT_NO_INDEX && e->t1_ns[call] > e->t0_ns[i] &&
                e->t1_ns[call] < e->t1_ns[i])
                cuts[n++] = (struct cut){i, e->t1_ns[call]};
        }
    }
    return n;
}

static int split(struct iot_trace *t, const struct cut *cuts, size_t n)
{
    struct iot_events *e = &t->events;
    size_t *which = malloc((n + 1) * sizeof *which);
    for (size_t k = 0; which && k < n; k++)
        which[k] = cuts[k].event;
    int failed = !which || iot_events_double(e, which, n);
    free(which);
    for (size_t k = 0; !failed && k < n; k++) {
        size_t first = cuts[k].event + k, rest = first + 1;
        e->t1_ns[first] = e->t0_ns[rest] = cuts[k].at_ns;
        if (e->op[first] == IOT_OP_GPU_COLLECTIVE) {
            e->op[first] = IOT_OP_GPU_COLLECTIVE_WAIT;
            e->bytes[first] = 0;
        } else {
            e->op[rest] = IOT_OP_GPU_MEMCPY_REST;
            e->bytes[rest] = 0;
        }
    }
    for (size_t l = 0; !failed && l < t->n_lanes; l++) {
        struct iot_lane *lane = &t->lanes[l];
        size_t earlier = cuts_below(cuts, n, lane->first_event);
        lane->n_events += cuts_below(cuts, n, lane->first_event + lane->n_events) - earlier;
        lane->first_event += earlier;
    }
    for (size_t k = 0; !failed && k < t->n_requests; k++) {
        struct iot_request *r = &t->requests[k];
        r->event += cuts_below(cuts, n, r->event);
        r->made_in += r->made_in == SIZE_MAX ? 0 : cuts_below(cuts, n, r->made_in);
        r->found_in += r->found_in == SIZE_MAX ? 0 : cuts_below(cuts, n, r->found_in);
    }
    return failed ? -1 : 0;
}

/* A rank that came early only waits in its collective until the last one has come. */
static size_t find_waits(const struct iot_collectives *c, struct cut *cuts)
{
    size_t n = 0;
    for (size_t k = 0; k < c->n_groups; k++) {
        const struct iot_collective_group *g = &c->groups[k];
        int64_t latest = c->members[g->last].t0_ns;
        for (size_t m = g->first; m < g->first + g->n; m++)
            if (c->members[m].t0_ns < latest && c->members[m].t1_ns > latest)
                cuts[n++] = (struct cut){c->members[m].event, latest};
    }
    return n;
}

int iot_gpu_split(struct iot_trace *t)
{
    size_t n_launches, n = 0;
    struct iot_collectives collectives;
    struct iot_correlated *launches = iot_correlated_list(t, is_launch, &n_launches);
    struct cut *cuts = malloc((t->events.n + 1) * sizeof *cuts);
    int failed = iot_collectives_find(&collectives, t) || !launches || !cuts;
    if (!failed) {
        n = find_cuts(t, launches, n_launches, cuts);
        n += find_waits(&collectives, &cuts[n]);
    }
    if (n) {
        qsort(cuts, n, sizeof *cuts, by_event);
        failed = split(t, cuts, n);
    }
    iot_collectives_free(&collectives);
    free(launches);
    free(cuts);
    return failed ? -1 : 0;
}
