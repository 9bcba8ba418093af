#include "analyzer/gpu_ends.h"

#include <stdlib.h>

#include "analyzer/room.h"

/* Whether who waits for a has waited for b. */
static int covers(const uint32_t *lane_of, struct iot_gpu_end a, struct iot_gpu_end b)
{
    return lane_of[a.event] == lane_of[b.event] && a.event >= b.event && a.is_sure >= b.is_sure;
}

int iot_gpu_ends_add(struct iot_gpu_ends *ends, const uint32_t *lane_of, struct iot_gpu_end end)
{
    size_t kept = 0;
    for (size_t k = 0; k < ends->n; k++) {
        if (covers(lane_of, ends->list[k], end))
            return 0;
        if (!covers(lane_of, end, ends->list[k]))
            ends->list[kept++] = ends->list[k];
    }
    ends->n = kept;
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
