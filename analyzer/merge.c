#include "analyzer/merge.h"

#include <stdlib.h>

static int sooner(const struct iot_merge *m, uint32_t a, uint32_t b)
{
    const int64_t *t0 = m->trace->events.t0_ns;
    return t0[m->at[a]] != t0[m->at[b]] ? t0[m->at[a]] < t0[m->at[b]] : a < b;
}

static void sift_down(struct iot_merge *m, size_t i)
{
    for (;;) {
        size_t first = i, child = 2 * i + 1;
        if (child < m->n && sooner(m, m->heap[child], m->heap[first]))
            first = child;
        if (child + 1 < m->n && sooner(m, m->heap[child + 1], m->heap[first]))
            first = child + 1;
        if (first == i)
            return;
        uint32_t lane = m->heap[i];
        m->heap[i] = m->heap[first];
        m->heap[first] = lane;
        i = first;
    }
}

int iot_merge_init(struct iot_merge *merge, const struct iot_trace *trace)
{
    *merge = (struct iot_merge){
        .trace = trace,
        .heap = malloc((trace->n_lanes + 1) * sizeof *merge->heap),
        .at = malloc((trace->n_lanes + 1) * sizeof *merge->at),
    };
    if (!merge->heap || !merge->at) {
        iot_merge_free(merge);
        return -1;
    }
    for (size_t k = 0; k < trace->n_lanes; k++) {
        merge->at[k] = trace->lanes[k].first_event;
        if (trace->lanes[k].n_events)
            merge->heap[merge->n++] = (uint32_t)k;
    }
    for (size_t i = merge->n / 2; i-- > 0;)
        sift_down(merge, i);
    return 0;
}

void iot_merge_free(struct iot_merge *merge)
{
    free(merge->heap);
    free(merge->at);
    merge->heap = NULL;
    merge->at = NULL;
}

int iot_merge_next(struct iot_merge *merge, size_t *event, uint32_t *lane)
{
    if (!merge->n)
        return 0;
    uint32_t first = merge->heap[0];
    const struct iot_lane *l = &merge->trace->lanes[first];
    *lane = first;
    *event = merge->at[first]++;
    if (merge->at[first] == l->first_event + l->n_events)
        merge->heap[0] = merge->heap[--merge->n];
    sift_down(merge, 0);
    return 1;
}
