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

/* A call's; of one that moves no bytes, and of the kind of sendfile, FIRST and IOT_PLACE_UNKNOWN.
 */
struct iot_placed {
    enum iot_order order;
    int64_t begin; /* in the file */
};
#define IOT_PLACE_UNKNOWN INT64_C(-1)

/* Goes through the events of one file, by time. Positions are followed through open, read, write,
 * seek and dup, and from a process to its children. */
struct iot_order_walk;

/* NULL without memory. */
struct iot_order_walk *iot_order_walk_begin(const struct iot_trace *trace);
/* The next event, and its process. Returns 0, -1 without memory. */
int iot_order_walk_next(struct iot_order_walk *walk, size_t event, uint32_t process,
                        struct iot_placed *placed);
void iot_order_walk_end(struct iot_order_walk *walk); /* NULL: nothing */

#endif
