#include "analyzer/links.h"

#include <stdlib.h>

int64_t iot_waker_time(const struct iot_trace *trace, struct iot_waker waker)
{
    switch (waker.kind) {
    case IOT_WAKER_ENTRY:
        return trace->events.t0_ns[waker.index];
    case IOT_WAKER_LANE:
        return trace->lanes[waker.index].end_ns;
    default:
        return INT64_MIN;
    }
}

/* A lane does one thing at a time: what begins before the last call has returned was done by a
 * signal handler inside it, or by the library behind it. */
static void find_nested(struct iot_links *links, const struct iot_trace *trace)
{
    for (size_t l = 0; l < trace->n_lanes; l++) {
        const struct iot_lane *lane = &trace->lanes[l];
        int64_t until = INT64_MIN;
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            if (trace->events.t0_ns[i] < until)
                links->flags[i] |= IOT_LINK_NESTED;
            else
                until = trace->events.t1_ns[i];
        }
    }
}

int iot_links_find(struct iot_links *links, const struct iot_trace *trace)
{
    *links = (struct iot_links){0};
    links->waker = calloc(trace->events.n + 1, sizeof *links->waker);
    links->creator = calloc(trace->n_lanes + 1, sizeof *links->creator);
    links->flags = calloc(trace->events.n + 1, 1);
    if (!links->waker || !links->creator || !links->flags)
        return -1;
    find_nested(links, trace);
    if (iot_link_life(links, trace) || iot_link_streams(links, trace))
        return -1;
    iot_link_polls(links, trace);
    return 0;
}

void iot_links_free(struct iot_links *links)
{
    free(links->waker);
    free(links->creator);
    free(links->flags);
    *links = (struct iot_links){0};
}
