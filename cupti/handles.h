/* What is known of a stream or an event, by its handle. A table of a fixed size that threads use
 * without a lock: where it is too small, what was put in before goes.
 */
#ifndef IOT_CUPTI_HANDLES_H
#define IOT_CUPTI_HANDLES_H

#include <stdint.h>

enum { IOT_HANDLES = 1 << 14, IOT_HANDLES_NEAR = 8 };

struct iot_handle {
    uint64_t key; /* 0: free */
    uint64_t value;
};

/* key is not 0. A value of 0 forgets it. */
void iot_handles_set(struct iot_handle table[IOT_HANDLES], uint64_t key, uint64_t value);
/* 0: nothing is known. */
uint64_t iot_handles_get(const struct iot_handle table[IOT_HANDLES], uint64_t key);

#endif
