#include "analyzer/gpu_ends.h"

#include <stdlib.h>

#include "analyzer/room.h"

int iot_gpu_ends_add(struct iot_gpu_ends *ends, const uint32_t *lane_of, struct iot_gpu_end end)
{
    for (size_t k = 0; k < ends->n; k++) {
        struct iot_gpu_end *known = &ends->list[k];
        if (lane_of[known->event] != lane_of[end.event])
            continue;
        if (known->event < end.event)
            *known = end;
        else if (known->event == end.event)
            known->is_sure |= end.is_sure;
        return 0;
    }
    if (IOT_ROOM(ends->list, ends->n + 1, ends->room))
        return -1;
    ends->list[ends->n++] = end;
    return 0;
}

int iot_gpu_ends_join(struct iot_gpu_ends *ends, const uint32_t *lane_of,
                      const struct iot_gpu_ends *more, int is_sure)
{
    for (size_t k = 0; k < more->n; k++) {
        struct iot_gpu_end end = {more->list[k].event, is_sure && more->list[k].is_sure};
        if (iot_gpu_ends_add(ends, lane_of, end))
            return -1;
    }
    return 0;
}

void iot_gpu_ends_free(struct iot_gpu_ends *ends)
{
    free(ends->list);
    *ends = (struct iot_gpu_ends){0};
}
