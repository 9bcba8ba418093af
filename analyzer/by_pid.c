#include "analyzer/by_pid.h"

#include <stdlib.h>

static int compare(const void *a, const void *b, void *trace)
{
    const struct iot_process *processes = ((const struct iot_trace *)trace)->processes;
    const struct iot_process *p = &processes[*(const uint32_t *)a];
    const struct iot_process *q = &processes[*(const uint32_t *)b];
    if (p->pid != q->pid)
        return p->pid < q->pid ? -1 : 1;
    if (p->start_ns != q->start_ns)
        return p->start_ns < q->start_ns ? -1 : 1;
    return p < q ? -1 : p > q;
}

int iot_by_pid_make(struct iot_by_pid *index, const struct iot_trace *trace)
{
    index->trace = trace;
    index->processes = malloc((trace->n_processes + 1) * sizeof *index->processes);
    if (!index->processes)
        return -1;
    for (uint32_t i = 0; i < trace->n_processes; i++)
        index->processes[i] = i;
    qsort_r(index->processes, trace->n_processes, sizeof *index->processes, compare,
            (void *)(uintptr_t)trace);
    return 0;
}

void iot_by_pid_free(struct iot_by_pid *index)
{
    free(index->processes);
    index->processes = NULL;
}

/* How many images come before those of pid that start after t_ns. */
static size_t place(const struct iot_by_pid *index, uint32_t pid, int64_t t_ns)
{
    size_t low = 0, high = index->trace->n_processes;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct iot_process *p = &index->trace->processes[index->processes[middle]];
        if (p->pid < pid || (p->pid == pid && p->start_ns <= t_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t iot_by_pid_range(const struct iot_by_pid *index, uint32_t pid, int64_t t_ns, size_t *first)
{
    *first = place(index, pid, INT64_MIN);
    return place(index, pid, t_ns);
}

uint32_t iot_by_pid_at(const struct iot_by_pid *index, uint32_t pid, int64_t t_ns)
{
    size_t n = place(index, pid, t_ns);
    uint32_t found = n ? index->processes[n - 1] : IOT_NO_INDEX;
    return n && index->trace->processes[found].pid == pid ? found : IOT_NO_INDEX;
}
