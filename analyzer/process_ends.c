#include "analyzer/process_ends.h"

#include <stdlib.h>

/* The last of equals is the first process among them. */
static int by_time(const void *a, const void *b)
{
    const struct iot_process_end *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return x->lane > y->lane ? -1 : x->lane < y->lane;
}

int iot_process_ends_make(struct iot_process_ends *ends, const struct iot_trace *trace)
{
    *ends = (struct iot_process_ends){malloc((trace->n_processes + 1) * sizeof *ends->list), 0};
    if (!ends->list)
        return -1;
    for (size_t p = 0; p < trace->n_processes; p++) {
        const struct iot_process *process = &trace->processes[p];
        if (!process->n_lanes || process->end != IOT_END_EXIT)
            continue;
        uint32_t last = process->first_lane;
        for (uint32_t l = last; l < process->first_lane + process->n_lanes; l++)
            if (trace->lanes[l].end_ns == process->end_ns)
                last = l;
        ends->list[ends->n++] = (struct iot_process_end){process->end_ns, last};
    }
    if (ends->n)
        qsort(ends->list, ends->n, sizeof *ends->list, by_time);
    return 0;
}

void iot_process_ends_free(struct iot_process_ends *ends)
{
    free(ends->list);
    *ends = (struct iot_process_ends){0};
}

size_t iot_process_ends_until(const struct iot_process_ends *ends, int64_t until_ns)
{
    size_t low = 0, high = ends->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ends->list[middle].end_ns <= until_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
