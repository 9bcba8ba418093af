#include "analyzer/gpu.h"

#include <stdlib.h>

int iot_has_streams(const struct iot_trace *t)
{
    int streams = 0;
    for (size_t l = 0; l < t->n_lanes; l++)
        streams |= iot_lane_is_stream(&t->lanes[l]);
    return streams;
}

int iot_gpu_blocks(const struct iot_events *e, size_t i)
{
    if (e->op[i] != IOT_OP_GPU_MEMCPY)
        return 0;
    unsigned from = (unsigned)e->addr[i] & 0xff, to = (unsigned)(e->addr[i] >> 8) & 0xff;
    return !(e->addr[i] & IOT_COPY_ASYNC) || from == IOT_MEMORY_PAGEABLE ||
           to == IOT_MEMORY_PAGEABLE;
}

/* Two clock readings of one moment differ by a little, and kernels of one stream may overlap by as
 * much: a stream does one thing at a time. */
void iot_gpu_lane(struct iot_trace *t, struct iot_lane *lane)
{
    struct iot_events *e = &t->events;
    size_t first = lane->first_event, end = first + lane->n_events;
    if (e->op[first] != IOT_OP_GPU_STREAM)
        return;
    lane->kind = IOT_LANE_STREAM;
    lane->device = (uint32_t)e->result[first];
    lane->stream = e->offset[first];
    lane->stream_kind =
        e->arg[first] <= IOT_STREAM_BY_ITSELF ? (uint8_t)e->arg[first] : IOT_STREAM_UNKNOWN;
    for (size_t i = first + 1; i < end; i++) {
        if (e->t0_ns[i] < e->t1_ns[i - 1])
            e->t0_ns[i] = e->t1_ns[i - 1];
        if (e->t1_ns[i] < e->t0_ns[i])
            e->t1_ns[i] = e->t0_ns[i];
    }
}

/* --- by correlation --- */

static int by_correlation(const void *a, const void *b)
{
    const struct iot_correlated *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

struct iot_correlated *iot_correlated_list(const struct iot_trace *t, int (*wanted)(unsigned op),
                                           size_t *n)
{
    const struct iot_events *e = &t->events;
    size_t count = 0;
    for (size_t i = 0; i < e->n; i++)
        count += wanted(e->op[i]) && e->offset[i];
    struct iot_correlated *list = malloc((count + 1) * sizeof *list);
    *n = 0;
    for (size_t l = 0; list && l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
            if (wanted(e->op[i]) && e->offset[i])
                list[(*n)++] =
                    (struct iot_correlated){(uint64_t)e->offset[i], lane->process, (uint32_t)i};
    }
    if (list)
        qsort(list, *n, sizeof *list, by_correlation);
    return list;
}

size_t iot_correlated_index(const struct iot_correlated *list, size_t n, uint32_t process,
                            uint64_t correlation)
{
    struct iot_correlated wanted = {correlation, process, 0};
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_correlation(&list[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && list[low].process == process && list[low].correlation == correlation ? low
                                                                                           : n;
}

uint32_t iot_correlated_find(const struct iot_correlated *list, size_t n, uint32_t process,
                             uint64_t correlation)
{
    size_t k = iot_correlated_index(list, n, process, correlation);
    return k < n ? list[k].event : IOT_NO_INDEX;
}

int iot_gpu_finish(struct iot_trace *t, struct iot_files *files)
{
    return iot_has_streams(t) && (iot_gpu_name_copies(t, files) || iot_gpu_split(t)) ? -1 : 0;
}
