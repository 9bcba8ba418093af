#include "analyzer/requests.h"

void iot_requests_lane_moved(const struct iot_lane *lane, size_t first, size_t n, uint32_t *to)
{
    if (n && lane->kind == IOT_LANE_THREAD)
        to[first] = lane->n_events ? (uint32_t)lane->first_event : IOT_NO_INDEX;
}

static size_t moved(size_t event, const uint32_t *to)
{
    return event == SIZE_MAX || to[event] == IOT_NO_INDEX ? SIZE_MAX : to[event];
}

void iot_requests_moved(struct iot_trace *trace, const uint32_t *to)
{
    size_t kept = 0;
    for (size_t k = 0; k < trace->n_requests; k++) {
        struct iot_request q = trace->requests[k];
        q.event = moved(q.event, to);
        q.made_in = moved(q.made_in, to);
        q.found_in = moved(q.found_in, to);
        if (q.event != SIZE_MAX)
            trace->requests[kept++] = q;
    }
    trace->n_requests = kept;
}
