/* The events of all lanes in one order: by t0, then by lane. */
#ifndef IOT_ANALYZER_MERGE_H
#define IOT_ANALYZER_MERGE_H

#include "analyzer/trace.h"

struct iot_merge {
    const struct iot_trace *trace;
    uint32_t *heap; /* lanes that have events left, the next one first */
    size_t *at;     /* of each lane: its next event */
    size_t n;
};

/* Returns 0, -1 if out of memory. */
int iot_merge_init(struct iot_merge *merge, const struct iot_trace *trace);
void iot_merge_free(struct iot_merge *merge);

/* The next event, with its lane; 0 when there is none left. */
int iot_merge_next(struct iot_merge *merge, size_t *event, uint32_t *lane);

#endif
