#include "analyzer/report_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/collectives.h"
#include "analyzer/gpu.h"

const char *const iot_copy_rule_names[IOT_COPY_RULES] = {
    [IOT_COPY_BY_FILE] = "file",          [IOT_COPY_BY_USER] = "user",
    [IOT_COPY_BY_EARLY] = "before_steps", [IOT_COPY_BY_STEPS] = "in_steps",
    [IOT_COPY_BY_OUT] = "from_gpu",       [IOT_COPY_BY_STATE] = "state",
};

/* By what the trace has, where there is one. */
static const char *const directions[] = {
    [0] = "other",
    [IOT_COPY_HTOD] = "HtoD",
    [IOT_COPY_DTOH] = "DtoH",
    [IOT_COPY_DTOD] = "DtoD",
    [IOT_COPY_PTOP] = "PtoP",
};
static const char *const memories[] = {
    [0] = "", [IOT_HOST_PAGEABLE] = "pageable", [IOT_HOST_PINNED] = "pinned"};

static size_t index_of(const char *const *names, size_t n, const char *name)
{
    for (size_t k = 1; k < n; k++)
        if (names[k] && !strcmp(names[k], name))
            return k;
    return 0;
}

const char *iot_copy_direction_name(unsigned direction)
{
    const size_t n = sizeof directions / sizeof *directions;
    const char *name = direction < n ? directions[direction] : NULL;
    return name ? name : directions[0];
}

uint8_t iot_copy_direction(const char *name)
{
    return (uint8_t)index_of(directions, sizeof directions / sizeof *directions, name);
}

uint8_t iot_copy_rule(const char *name)
{
    return (uint8_t)index_of(iot_copy_rule_names, IOT_COPY_RULES, name);
}

const char *iot_host_memory_name(unsigned memory)
{
    return memory < sizeof memories / sizeof *memories ? memories[memory] : memories[0];
}

uint8_t iot_host_memory(const char *name)
{
    return (uint8_t)index_of(memories, sizeof memories / sizeof *memories, name);
}

/* --- copies --- */

static enum iot_copy_rule rule_of(const struct iot_file *file, const struct iot_file_class *c)
{
    if (c->by[IOT_READING] == IOT_BY_USER)
        return IOT_COPY_BY_USER;
    if (file->carried)
        return IOT_COPY_BY_FILE;
    switch (file->kind) {
    case IOT_FILE_GPU_EARLY:
        return IOT_COPY_BY_EARLY;
    case IOT_FILE_GPU_IN:
        return IOT_COPY_BY_STEPS;
    case IOT_FILE_GPU_OUT:
        return IOT_COPY_BY_OUT;
    default:
        return IOT_COPY_BY_STATE;
    }
}

static uint8_t direction_of(int64_t kind)
{
    return kind == IOT_COPY_HTOD || kind == IOT_COPY_DTOH || kind == IOT_COPY_DTOD ||
                   kind == IOT_COPY_PTOP
               ? (uint8_t)kind
               : 0;
}

static struct iot_gpu_copies *alike(struct iot_report_gpu *g, const struct iot_gpu_copies *c)
{
    for (size_t k = 0; k < g->n_copies; k++)
        if (g->copies[k].direction == c->direction && g->copies[k].rule == c->rule &&
            g->copies[k].object == c->object && g->copies[k].memory == c->memory)
            return &g->copies[k];
    struct iot_gpu_copies *more = realloc(g->copies, (g->n_copies + 1) * sizeof *more);
    if (!more)
        return NULL;
    g->copies = more;
    more[g->n_copies] = *c;
    return &more[g->n_copies++];
}

static int by_weight(const void *a, const void *b)
{
    const struct iot_gpu_copies *x = a, *y = b;
    if (x->direction != y->direction)
        return x->direction < y->direction ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->rule != y->rule)
        return x->rule < y->rule ? -1 : 1;
    return x->object != y->object ? (x->object < y->object ? -1 : 1)
                                  : (x->memory > y->memory) - (x->memory < y->memory);
}

static int sum_copies(struct iot_report *r, const struct iot_classes *classes)
{
    const struct iot_events *e = &r->trace->events;
    struct iot_gpu_copies *to = NULL;
    for (size_t i = 0; i < e->n; i++) {
        if (e->op[i] == IOT_OP_GPU_MEMCPY_REST && to)
            to->service_ns += r->model->service_ns[i]; /* right behind its copy */
        if (e->op[i] != IOT_OP_GPU_MEMCPY)
            continue;
        const struct iot_file_class *c = &classes->files[e->file[i]];
        struct iot_gpu_copies one = {
            .direction = direction_of(e->result[i]),
            .rule = (uint8_t)rule_of(&r->trace->files[e->file[i]], c),
            .object = c->object[IOT_READING],
            .memory = iot_gpu_host_memory(e, i),
        };
        to = alike(r->gpu, &one);
        if (!to)
            return -1;
        to->copies++;
        to->bytes += e->bytes[i];
        to->service_ns += r->model->service_ns[i];
    }
    if (r->gpu->n_copies)
        qsort(r->gpu->copies, r->gpu->n_copies, sizeof *r->gpu->copies, by_weight);
    return 0;
}

/* --- ranks --- */

static struct iot_gpu_rank *rank_of_lane(struct iot_report *r, size_t l)
{
    struct iot_report_gpu *g = r->gpu;
    const struct iot_process *process = &r->trace->processes[r->trace->lanes[l].process];
    uint32_t pid = process->pid, device = r->trace->lanes[l].device;
    for (size_t k = 0; k < g->n_ranks; k++)
        if (g->ranks[k].pid == pid && g->ranks[k].device == device)
            return &g->ranks[k];
    struct iot_gpu_rank *more = realloc(g->ranks, (g->n_ranks + 1) * sizeof *more);
    if (!more)
        return NULL;
    g->ranks = more;
    more[g->n_ranks] =
        (struct iot_gpu_rank){.pid = pid, .device = device, .rank = process->identity.rank};
    return &more[g->n_ranks++];
}

static int sum_ranks(struct iot_report *r)
{
    const struct iot_trace *t = r->trace;
    const struct iot_events *e = &t->events;
    for (size_t l = 0; l < t->n_lanes; l++)
        for (size_t i = t->lanes[l].first_event; i < t->lanes[l].first_event + t->lanes[l].n_events;
             i++) {
            if (e->op[i] != IOT_OP_GPU_COLLECTIVE && e->op[i] != IOT_OP_GPU_COLLECTIVE_WAIT)
                continue;
            struct iot_gpu_rank *rank = rank_of_lane(r, l);
            if (!rank)
                return -1;
            rank->collectives += e->op[i] == IOT_OP_GPU_COLLECTIVE;
            *(e->op[i] == IOT_OP_GPU_COLLECTIVE ? &rank->transfer_ns : &rank->waited_ns) +=
                e->t1_ns[i] - e->t0_ns[i];
        }
    struct iot_collectives c;
    int failed = iot_collectives_find(&c, t);
    for (size_t k = 0; k < c.n_members && !failed; k++)
        rank_of_lane(r, c.members[k].lane)->matched++;
    iot_collectives_free(&c);
    return failed ? -1 : 0;
}

int iot_report_gpu_make(struct iot_report *r, const struct iot_classes *classes)
{
    if (!iot_has_streams(r->trace))
        return 0;
    r->gpu = calloc(1, sizeof *r->gpu);
    return !r->gpu || sum_copies(r, classes) || sum_ranks(r) || iot_report_gpu_idle(r) ? -1 : 0;
}

void iot_report_gpu_free(struct iot_report_gpu *g)
{
    if (!g)
        return;
    free(g->copies);
    free(g->devices);
    free(g->ranks);
    free(g);
}
