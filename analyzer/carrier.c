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

void iot_carrier_mark(const struct iot_trace *trace, const struct iot_links *links, uint8_t *waited)
{
    memset(waited, 1, trace->events.n);
    if (trace->n_processes)
        carry(trace, links, waited, trace->processes[0].pid, INT64_MIN, INT64_MAX, 0);
}
