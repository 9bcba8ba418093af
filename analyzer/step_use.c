#include "analyzer/step_use.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/room.h"

struct gathering {
    uint64_t *pairs; /* group << 32 | step */
    size_t n, room;
};

static int add(struct gathering *g, uint64_t pair)
{
    if (IOT_ROOM(g->pairs, g->n + 1, g->room))
        return -1;
    g->pairs[g->n++] = pair;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What is read through a mapping is seen only where it had to be fetched: that it was made counts,
 * and faults on it. */
static int is_read(const struct iot_events *e, size_t i)
{
    unsigned moves = iot_op_info(e->op[i])->moves;
    if (e->op[i] == IOT_OP_MMAP || e->op[i] == IOT_OP_FAULTS)
        return !e->err[i];
    return e->bytes[i] > 0 && (moves == IOT_IN || moves == IOT_BOTH);
}

/* A pair that comes several times in a row, as it does in a lane, is kept once. */
static int gather_pairs(struct gathering *g, const struct iot_trace *t,
                        const struct iot_groups *groups, const struct iot_steps *steps)
{
    const struct iot_events *e = &t->events;
    for (size_t i = 0; i < e->n; i++) {
        uint32_t group = groups->of_file[e->file[i]];
        if (!group || !is_read(e, i))
            continue;
        size_t step = iot_steps_at(steps, e->t1_ns[i]);
        uint64_t pair = (uint64_t)group << 32 | (step & UINT32_MAX);
        if (step != SIZE_MAX && (!g->n || g->pairs[g->n - 1] != pair) && add(g, pair))
            return -1;
    }
    return 0;
}

int iot_step_use_gather(struct iot_step_use *use, const struct iot_trace *t,
                        const struct iot_groups *groups, const struct iot_steps *steps)
{
    struct gathering g = {0};
    *use = (struct iot_step_use){.steps = steps};
    if (!steps || !steps->n)
        return 0;
    use->read_steps = calloc(groups->n + 1, sizeof *use->read_steps);
    int failed = !use->read_steps || gather_pairs(&g, t, groups, steps);
    if (!failed && g.n)
        qsort(g.pairs, g.n, sizeof *g.pairs, by_value);
    for (size_t k = 0; k < g.n && !failed; k++)
        use->read_steps[g.pairs[k] >> 32] += !k || g.pairs[k] != g.pairs[k - 1];
    free(g.pairs);
    return failed ? -1 : 0;
}

void iot_step_use_free(struct iot_step_use *use)
{
    free(use->read_steps);
    *use = (struct iot_step_use){0};
}
