/* Ends of what runs on a GPU, for which something waits. Of a stream the last ones are enough: it
 * keeps its own order. */
#ifndef IOT_ANALYZER_GPU_ENDS_H
#define IOT_ANALYZER_GPU_ENDS_H

#include <stddef.h>
#include <stdint.h>

struct iot_gpu_end {
    uint32_t event;
    uint8_t is_sure; /* asked for by an event; else it is what default streams do by themselves */
};

struct iot_gpu_ends {
    /* Of each stream the last that is sure, and a later one that is not: the recording may speak
     * against that. */
    struct iot_gpu_end *list;
    size_t n, room;
};

/* lane_of: by event. Both return 0, or -1 without memory. */
int iot_gpu_ends_add(struct iot_gpu_ends *ends, const uint32_t *lane_of, struct iot_gpu_end end);
/* All that `more` has; as sure as they are there if `is_sure`, else none of them. */
int iot_gpu_ends_join(struct iot_gpu_ends *ends, const uint32_t *lane_of,
                      const struct iot_gpu_ends *more, int is_sure);
void iot_gpu_ends_free(struct iot_gpu_ends *ends);

#endif
