#include "analyzer/carrier.h"

#include <string.h>

/* Children wait for children: so deep is followed. */
enum { DEPTH_MAX = 64 };

static void carry(const struct iot_trace *trace, const struct iot_links *links, uint8_t *waited,
                  uint32_t pid, int64_t from, int64_t to, int depth)
{
    const struct iot_events *e = &trace->events;
    for (uint32_t p = 0; p < trace->n_processes; p++) {
        const struct iot_process *process = &trace->processes[p];
        if (process->pid != pid || process->start_ns > to || process->end_ns < from ||
            process->n_lanes == 0)
            continue;
        const struct iot_lane *lane = &trace->lanes[process->first_lane];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            if (e->t0_ns[i] < from || e->t0_ns[i] > to)
                continue;
            waited[i] = 0;
            struct iot_waker waker = links->waker[i];
            if (waker.kind != IOT_WAKER_LANE || e->op[i] == IOT_OP_JOIN || depth >= DEPTH_MAX)
                continue;
            uint32_t child = trace->processes[trace->lanes[waker.index].process].pid;
            if (child != pid)
                carry(trace, links, waited, child, e->t0_ns[i], e->t1_ns[i], depth + 1);
        }
    }
}

static int has_steps(const struct iot_trace *trace, const struct iot_lane *lane)
{
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
        if (trace->events.op[i] == IOT_OP_MARK && trace->events.result[i] == 1)
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

void iot_carrier_mark(const struct iot_trace *trace, const struct iot_links *links, uint8_t *waited)
{
    memset(waited, 1, trace->events.n);
    if (trace->n_processes)
        carry(trace, links, waited, trace->processes[0].pid, INT64_MIN, INT64_MAX, 0);
    carry_marked(trace, waited);
}
