/* What the parts share that find out what an operation of a GPU waited for. */
#ifndef IOT_ANALYZER_LINKS_GPU_H
#define IOT_ANALYZER_LINKS_GPU_H

#include "analyzer/gpu.h"
#include "analyzer/links.h"

struct iot_streams {
    struct iot_links *links;
    const struct iot_trace *trace;
    struct iot_correlated *launches, *records;
    size_t n_launches, n_records;
    int64_t *launched_ns; /* by event: when what runs was launched */
};

/* The first in a stream that was launched at `ns` or later; the lane's end if none was. */
size_t iot_launched_from(const struct iot_streams *streams, const struct iot_lane *lane,
                         int64_t ns);

static inline struct iot_waker iot_the_end(size_t event)
{
    return (struct iot_waker){(uint32_t)event, IOT_WAKER_RETURN};
}

/* Whether one had ended when the other began: where an order is inferred, the recording must not
 * speak against it. */
static inline int iot_came_before(const struct iot_trace *t, size_t first, size_t then)
{
    return t->events.t1_ns[first] <= t->events.t0_ns[then];
}

/* The order between each legacy default stream and the streams that wait for it. 0, or -1 without
 * memory. */
int iot_link_legacy(struct iot_streams *streams);

#endif
