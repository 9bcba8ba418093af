/* In which order the calls on one file go through it, and where in it they begin. */
#ifndef IOT_ANALYZER_ORDER_H
#define IOT_ANALYZER_ORDER_H

#include "analyzer/trace.h"

/* Each call is held against the one before it in its direction on the same open file. */
enum iot_order {
    IOT_ORDER_FIRST,      /* nothing before it, or it is not known where it begins */
    IOT_ORDER_SEQUENTIAL, /* begins where that one ended; all that append */
    IOT_ORDER_STRIDED,    /* begins as far from where that one began as that one from its own
                           * predecessor */
    IOT_ORDER_RANDOM,
    IOT_ORDERS
};

/* An event and the lane it is in. */
struct iot_lane_event {
    size_t event;
    uint32_t lane;
};

/* A call's; of one that moves no bytes, and of the kind of sendfile, FIRST and IOT_PLACE_UNKNOWN. */
struct iot_placed {
    enum iot_order order;
    int64_t begin; /* in the file */
};
#define IOT_PLACE_UNKNOWN INT64_C(-1)

/* Of each of the events of one file, which are sorted by time. Positions are followed through
 * open, read, write, seek and dup, and from a process to its children. Returns 0, -1 without
 * memory. */
int iot_orders_find(struct iot_placed *placed, const struct iot_trace *trace,
                    const struct iot_lane_event *events, size_t n);

#endif
