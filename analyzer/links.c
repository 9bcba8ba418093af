#include "analyzer/links.h"

#include <stdlib.h>

#include "analyzer/room.h"

int64_t iot_waker_time(const struct iot_trace *trace, struct iot_waker waker)
{
    switch (waker.kind) {
    case IOT_WAKER_ENTRY:
        return trace->events.t0_ns[waker.index];
    case IOT_WAKER_RETURN:
        return trace->events.t1_ns[waker.index];
    case IOT_WAKER_LANE:
        return trace->lanes[waker.index].end_ns;
    default:
        return INT64_MIN;
    }
}

int iot_links_add(struct iot_links *links, uint32_t event, struct iot_waker waker)
{
    if (waker.kind == IOT_WAKER_NONE ||
        (waker.kind != IOT_WAKER_LANE && links->lane_of[event] == links->lane_of[waker.index]))
        return 0;
    if (links->waker[event].kind == IOT_WAKER_NONE) {
        links->waker[event] = waker;
        return 0;
    }
    if (IOT_ROOM(links->more, links->n_more + 1, links->more_room))
        return -1;
    links->more[links->n_more++] = (struct iot_more_wakers){event, waker};
    return 0;
}

/* A lane does one thing at a time: what begins before the last call has returned was done by a
 * signal handler inside it, or by the library behind it. */
static void find_lanes(struct iot_links *links, const struct iot_trace *trace)
{
    for (size_t l = 0; l < trace->n_lanes; l++) {
        const struct iot_lane *lane = &trace->lanes[l];
        int64_t until = INT64_MIN;
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            links->lane_of[i] = (uint32_t)l;
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
    links->lane_of = calloc(trace->events.n + 1, sizeof *links->lane_of);
    if (!links->waker || !links->creator || !links->flags || !links->lane_of)
        return -1;
    find_lanes(links, trace);
    if (iot_link_life(links, trace) || iot_link_streams(links, trace) ||
        iot_link_counters(links, trace) || iot_link_locks(links, trace) ||
        iot_link_file_locks(links, trace) || iot_link_signals(links, trace) ||
        iot_link_requests(links, trace) || iot_link_gpu(links, trace))
        return -1;
    iot_link_polls(links, trace);
    return 0;
}

void iot_links_free(struct iot_links *links)
{
    free(links->waker);
    free(links->creator);
    free(links->flags);
    free(links->more);
    free(links->lane_of);
    free(links->stream_source);
    *links = (struct iot_links){0};
}
