/* What the parts share that find out what an operation of a GPU waited for. */
#ifndef IOT_ANALYZER_LINKS_GPU_H
#define IOT_ANALYZER_LINKS_GPU_H

#include "analyzer/gpu.h"
#include "analyzer/links.h"

struct iot_launched {
    struct iot_links *links;
    const struct iot_trace *trace;
    /* by event: the call that launched what runs; itself where that is not known */
    uint32_t *by;
};

static inline struct iot_waker iot_the_end(size_t event)
{
    return (struct iot_waker){(uint32_t)event, IOT_WAKER_RETURN};
}

/* What streams, events and synchronising calls wait for, other than launches. 0, or -1 without
 * memory. */
int iot_link_awaited(const struct iot_launched *launched);

#endif
