#include "analyzer/carrier.h"

#include <string.h>

#include "analyzer/by_pid.h"
#include "analyzer/steps.h"

/* Children wait for children: so deep is followed. */
enum { DEPTH_MAX = 64 };

struct carrier {
    const struct iot_trace *trace;
    const struct iot_links *links;
    struct iot_by_pid by_pid;
    uint8_t *waited;
};

/* The lane's first event that is entered at `from` or later. */
static size_t event_from(const struct iot_events *e, const struct iot_lane *lane, int64_t from)
{
    size_t low = lane->first_event, high = low + lane->n_events;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (e->t0_ns[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Only these: a read or poll that a child's end let go on leaves the lane what it is. */
static int waits_for_child(unsigned op)
{
    return op == IOT_OP_WAIT || op == IOT_OP_WAITPID || op == IOT_OP_WAITID ||
           op == IOT_OP_SYSTEM || op == IOT_OP_PCLOSE;
}

/* As event_from; or the wait for a child that the lane is in at that moment. */
static size_t event_or_wait_from(const struct iot_events *e, const struct iot_lane *lane,
                                 int64_t from)
{
    size_t i = event_from(e, lane, from);
    return i > lane->first_event && waits_for_child(e->op[i - 1]) && e->t1_ns[i - 1] > from ? i - 1
                                                                                            : i;
}

static void carry(const struct carrier *c, uint32_t pid, int64_t from, int64_t to, int depth)
{
    const struct iot_trace *trace = c->trace;
    const struct iot_events *e = &trace->events;
    size_t first, end = iot_by_pid_range(&c->by_pid, pid, to, &first);
    for (size_t k = first; k < end; k++) {
        const struct iot_process *process = &trace->processes[c->by_pid.processes[k]];
        if (process->end_ns < from || process->n_lanes == 0)
            continue;
        const struct iot_lane *lane = &trace->lanes[process->first_lane];
        size_t after = lane->first_event + lane->n_events;
        for (size_t i = event_or_wait_from(e, lane, from); i < after && e->t0_ns[i] <= to; i++) {
            c->waited[i] = 0;
            struct iot_waker waker = c->links->waker[i];
            if (waker.kind != IOT_WAKER_LANE || !waits_for_child(e->op[i]) || depth >= DEPTH_MAX)
                continue;
            uint32_t child = trace->processes[trace->lanes[waker.index].process].pid;
            if (child != pid)
                carry(c, child, e->t0_ns[i] > from ? e->t0_ns[i] : from, e->t1_ns[i], depth + 1);
        }
    }
}

static int has_steps(const struct iot_trace *trace, const struct iot_lane *lane)
{
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
        if (iot_is_step(trace, i))
            return 1;
    return 0;
}

/* A lane that marks its steps carries the run while it lives, in the place of the others. */
static void carry_marked(const struct iot_trace *trace, uint8_t *waited)
{
    const struct iot_events *e = &trace->events;
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (size_t l = 0; l < trace->n_lanes; l++)
        if (has_steps(trace, &trace->lanes[l])) {
            from = trace->lanes[l].start_ns < from ? trace->lanes[l].start_ns : from;
            to = trace->lanes[l].end_ns > to ? trace->lanes[l].end_ns : to;
        }
    for (size_t i = 0; i < e->n; i++)
        if (e->t0_ns[i] >= from && e->t0_ns[i] <= to)
            waited[i] = 1;
    for (size_t l = 0; l < trace->n_lanes && from <= to; l++)
        if (has_steps(trace, &trace->lanes[l]))
            memset(&waited[trace->lanes[l].first_event], 0, trace->lanes[l].n_events);
}

/* A copy that blocks its launcher is in the launcher's lane. What storage was asked for and is
 * waited for later is not. */
static void carry_copies(const struct iot_trace *trace, const struct iot_links *links,
                         uint8_t *waited)
{
    const struct iot_events *e = &trace->events;
    for (size_t i = 0; i < e->n; i++) {
        struct iot_waker copy = links->waker[i];
        if (copy.kind != IOT_WAKER_RETURN || e->op[copy.index] != IOT_OP_GPU_MEMCPY || waited[i])
            continue;
        waited[copy.index] = 0;
        if (copy.index + 1 < e->n && e->op[copy.index + 1] == IOT_OP_GPU_MEMCPY_REST)
            waited[copy.index + 1] = 0;
    }
}

int iot_carrier_mark(const struct iot_trace *trace, const struct iot_links *links, uint8_t *waited)
{
    struct carrier c = {.trace = trace, .links = links, .waited = waited};
    memset(waited, 1, trace->events.n);
    int failed = iot_by_pid_make(&c.by_pid, trace);
    if (!failed && trace->n_processes)
        carry(&c, trace->processes[0].pid, INT64_MIN, INT64_MAX, 0);
    carry_marked(trace, waited);
    carry_copies(trace, links, waited);
    iot_by_pid_free(&c.by_pid);
    return failed ? -1 : 0;
}
