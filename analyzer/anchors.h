/* The calls of a lane by kind: what was called, on which family of files or which lock. Names
 * that differ in their numbers alone are one family. Locks, conditions and semaphores are left out
 * unless asked for: an interpreter takes and gives its own at every call.
 */
#ifndef IOT_ANALYZER_ANCHORS_H
#define IOT_ANALYZER_ANCHORS_H

#include "analyzer/trace.h"

enum iot_anchor_flag {
    IOT_ANCHOR_USABLE = 1, /* steps may be told from it: no start-up file, no sleep, … */
    IOT_ANCHOR_GIVES = 2,  /* it hands something on (write, sync, wake), not gets something */
};

struct iot_anchor_kind {
    size_t first, n; /* its calls are places[first] .. */
    uint64_t key;
    uint32_t file; /* if all its calls are on one file, else IOT_NO_INDEX */
    uint8_t flags; /* enum iot_anchor_flag */
};

struct iot_anchors {
    const struct iot_trace *trace;
    uint32_t *events; /* of the lane, in order of time; the places are indexes into it */
    size_t n;
    uint32_t *kind_of; /* by place; IOT_NO_INDEX: it moved nothing, and is of no kind */
    struct iot_anchor_kind *kinds;
    size_t n_kinds, room;
    uint32_t *places; /* by kind, then time */
};

/* Returns 0, -1 without memory; free in either case. */
int iot_anchors_gather(struct iot_anchors *anchors, const struct iot_trace *trace,
                       const uint32_t *events, size_t n, int with_locks);
void iot_anchors_free(struct iot_anchors *anchors);

static inline int64_t iot_anchor_t0(const struct iot_anchors *a, size_t place)
{
    return a->trace->events.t0_ns[a->events[place]];
}

static inline int64_t iot_anchor_t1(const struct iot_anchors *a, size_t place)
{
    return a->trace->events.t1_ns[a->events[place]];
}

#endif
