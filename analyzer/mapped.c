#include "analyzer/mapped.h"

#include <stdlib.h>

/* An msync looks at so many mappings before it. */
enum { LOOK_BACK = 4096 };

struct mapping {
    int64_t t0_ns;
    uint64_t address, bytes;
    uint32_t file;
};

static int by_time(const void *a, const void *b)
{
    const struct mapping *x = a, *y = b;
    return (x->t0_ns > y->t0_ns) - (x->t0_ns < y->t0_ns);
}

static int by_event(const void *a, const void *b)
{
    const struct iot_mapped_sync *x = a, *y = b;
    return (x->event > y->event) - (x->event < y->event);
}

static int is_mapping(const struct iot_events *e, size_t i)
{
    return e->op[i] == IOT_OP_MMAP && !e->err[i];
}

/* The latest of the mappings made before that holds the address. */
static uint32_t file_at(const struct mapping *maps, size_t n, int64_t t0_ns, uint64_t address)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (maps[middle].t0_ns <= t0_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t k = low; k-- > 0 && low - k <= LOOK_BACK;)
        if (address - maps[k].address < maps[k].bytes)
            return maps[k].file;
    return 0;
}

static void find_in(struct iot_mapped *mapped, const struct iot_trace *t,
                    const struct iot_process *p, struct mapping *maps)
{
    const struct iot_events *e = &t->events;
    const struct iot_lane *lanes = &t->lanes[p->first_lane];
    size_t n = 0, before = mapped->n;

    for (uint32_t k = 0; k < p->n_lanes; k++)
        for (size_t i = lanes[k].first_event; i < lanes[k].first_event + lanes[k].n_events; i++)
            if (is_mapping(e, i))
                maps[n++] =
                    (struct mapping){e->t0_ns[i], (uint64_t)e->result[i], e->addr[i], e->file[i]};
            else if (e->op[i] == IOT_OP_MSYNC)
                mapped->syncs[mapped->n++].event = i;
    if (n && mapped->n > before)
        qsort(maps, n, sizeof *maps, by_time);
    for (size_t s = before; s < mapped->n; s++) {
        size_t i = mapped->syncs[s].event;
        mapped->syncs[s].file = file_at(maps, n, e->t0_ns[i], e->addr[i]);
    }
}

int iot_mapped_find(struct iot_mapped *mapped, const struct iot_trace *t)
{
    size_t n_syncs = 0, n_maps = 0;
    *mapped = (struct iot_mapped){0};
    for (size_t i = 0; i < t->events.n; i++) {
        n_syncs += t->events.op[i] == IOT_OP_MSYNC;
        n_maps += (size_t)is_mapping(&t->events, i);
    }
    if (!n_syncs)
        return 0;
    struct mapping *maps = malloc((n_maps + 1) * sizeof *maps);
    mapped->syncs = malloc(n_syncs * sizeof *mapped->syncs);
    int failed = !maps || !mapped->syncs;
    for (size_t i = 0; i < t->n_processes && !failed; i++)
        find_in(mapped, t, &t->processes[i], maps);
    if (!failed)
        qsort(mapped->syncs, mapped->n, sizeof *mapped->syncs, by_event);
    free(maps);
    return failed ? -1 : 0;
}

void iot_mapped_free(struct iot_mapped *mapped)
{
    free(mapped->syncs);
    *mapped = (struct iot_mapped){0};
}

uint32_t iot_mapped_file(const struct iot_mapped *mapped, const struct iot_trace *t, size_t event)
{
    if (t->events.op[event] != IOT_OP_MSYNC || !mapped->n)
        return t->events.file[event];
    const struct iot_mapped_sync key = {.event = event};
    const struct iot_mapped_sync *found =
        bsearch(&key, mapped->syncs, mapped->n, sizeof *mapped->syncs, by_event);
    return found ? found->file : 0;
}
