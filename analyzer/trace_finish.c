/* From rows that were read to the model: names, order, ends. */
#include <stdlib.h>

#include "analyzer/events.h"
#include "analyzer/collectives.h"
#include "analyzer/gpu.h"
#include "analyzer/op_sets.h"
#include "analyzer/trace_reading.h"

enum other_end { OTHER_NONE, OTHER_DESC, OTHER_PATH, OTHER_NAME, OTHER_ADDRESS };

/* What obj2 is: FORMAT.md, "What the rows mean". NAME: of what was to be opened, and the only
 * thing known of it if that failed. ADDRESS: of a socket, that becomes part of its name. A
 * duplicate and the second end of a pipe have the name of the first: they add nothing. */
static const uint8_t other_ends[IOT_OP_LIMIT] = {
    [IOT_OP_SENDFILE] = OTHER_DESC,     [IOT_OP_COPY_FILE_RANGE] = OTHER_DESC,
    [IOT_OP_ASYNC_SPLICE] = OTHER_DESC, [IOT_OP_BUFFER] = OTHER_DESC,
    [IOT_OP_SPLICE] = OTHER_DESC,       [IOT_OP_SOCKETPAIR] = OTHER_DESC,
    [IOT_OP_ACCEPT] = OTHER_DESC,       [IOT_OP_ACCEPT4] = OTHER_DESC,
    [IOT_OP_RENAME] = OTHER_PATH,       [IOT_OP_RENAMEAT] = OTHER_PATH,
    [IOT_OP_RENAMEAT2] = OTHER_PATH,    [IOT_OP_LINK] = OTHER_PATH,
    [IOT_OP_SYMLINK] = OTHER_PATH,      [IOT_OP_CONNECT] = OTHER_ADDRESS,
    [IOT_OP_BIND] = OTHER_ADDRESS,      [IOT_OP_TEE] = OTHER_DESC,
    [IOT_OP_SHM_OPEN] = OTHER_NAME,     [IOT_OP_OPEN] = OTHER_NAME,
    [IOT_OP_OPENAT] = OTHER_NAME,       [IOT_OP_CREAT] = OTHER_NAME,
    [IOT_OP_FOPEN] = OTHER_NAME,        [IOT_OP_FREOPEN] = OTHER_NAME,
    [IOT_OP_OPENDIR] = OTHER_NAME,
};

static int names_a_lane(unsigned op)
{
    return op == IOT_OP_JOIN || op == IOT_OP_THREAD_CREATE || op == IOT_OP_START ||
           op == IOT_OP_THREAD_START;
}

static int resolve_event(struct iot_reading *r, struct iot_names *names, size_t i)
{
    struct iot_events *e = &r->trace->events;
    unsigned op = e->op[i];
    uint32_t obj = e->file[i], obj2 = e->file2[i];
    uint32_t file = 0, file2 = 0;
    const struct iot_desc *d;

    switch (iot_op_info(op)->subject) {
    case IOT_SUBJECT_DESC:
        if ((d = iot_names_desc(names, obj))) {
            file = d->file;
            e->fd[i] = d->fd;
        }
        break;
    case IOT_SUBJECT_PATH:
        file = iot_names_path(names, &r->files, obj);
        break;
    default:
        if (names_a_lane(op))
            e->arg[i] = obj;
    }
    if (iot_gpu_op(op) || op == IOT_OP_SLEEP || op == IOT_OP_MMAP || iot_op_has_buffer(op))
        e->arg[i] = obj2;
    if (op == IOT_OP_GPU_COLLECTIVE && iot_collective_named(names, &r->files, obj, obj2, &file2))
        return -1;
    if (op == IOT_OP_LOAD && file && file != IOT_NO_INDEX)
        r->files.files[file].kind = IOT_FILE_LOADER;
    switch (other_ends[op]) {
    case OTHER_DESC:
        if ((d = iot_names_desc(names, obj2)))
            file2 = d->file;
        break;
    case OTHER_PATH:
        file2 = iot_names_path(names, &r->files, obj2);
        break;
    case OTHER_NAME:
        if (!file)
            file = iot_names_path(names, &r->files, obj2);
        break;
    case OTHER_ADDRESS:
        if (iot_names_address(names, &r->files, file, obj2))
            return -1;
        break;
    default:
        break;
    }
    e->file[i] = file;
    if (e->file2[i] != file2) /* see append() */
        e->file2[i] = file2;
    return file == IOT_NO_INDEX || file2 == IOT_NO_INDEX ? -1 : 0;
}

static int resolve_stack(struct iot_reading *r, uint32_t image, size_t i)
{
    uint32_t *stack = &r->trace->events.stack[i];
    if (*stack)
        *stack = iot_stacks_of(&r->trace->stacks, &r->names[image], *stack,
                               r->images[image].process.pid, r->trace->arena);
    return *stack == UINT32_MAX ? -1 : 0;
}

int iot_reading_resolve(struct iot_reading *r)
{
    const struct iot_trace *t = r->trace;
    for (size_t k = 0; k < t->n_lanes; k++) {
        const struct iot_lane *lane = &t->lanes[k];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
            if (resolve_event(r, &r->names[r->lane_image[k]], i) ||
                resolve_stack(r, r->lane_image[k], i))
                return -1;
    }
    return iot_files_addresses(&r->files);
}

static int finish_lane(void *trace, size_t k, unsigned worker)
{
    (void)worker;
    struct iot_trace *t = trace;
    struct iot_lane *lane = &t->lanes[k];
    const struct iot_process *p = &t->processes[lane->process];
    const struct iot_events *e = &t->events;
    lane->start_ns = lane->end_ns = p->start_ns;
    if (!lane->n_events)
        return 0;
    if (iot_events_sort(&t->events, lane->first_event, lane->n_events))
        return -1;
    iot_gpu_lane(t, lane);
    lane->start_ns = lane->end_ns = e->t0_ns[lane->first_event];
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
        if (e->t1_ns[i] > lane->end_ns)
            lane->end_ns = e->t1_ns[i];
    return 0;
}

/* A process before it gets its place, with the lanes that were read for it. */
struct place {
    struct iot_process process;
    size_t first_lane, n_lanes, order;
};

static int by_start(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->process.root != y->process.root)
        return x->process.root ? -1 : 1;
    if (x->process.start_mono_ns != y->process.start_mono_ns)
        return x->process.start_mono_ns < y->process.start_mono_ns ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Processes by start, and their lanes in the same order. */
static int order(struct iot_trace *t)
{
    struct place *places = calloc(t->n_processes, sizeof *places);
    struct iot_lane *lanes = malloc(t->n_lanes * sizeof *lanes);
    if (!places || !lanes) {
        free(places);
        free(lanes);
        return -1;
    }
    for (size_t i = 0; i < t->n_processes; i++) {
        places[i].process = t->processes[i];
        places[i].order = i;
    }
    for (size_t k = t->n_lanes; k-- > 0;) { /* of one process they are neighbours */
        places[t->lanes[k].process].first_lane = k;
        places[t->lanes[k].process].n_lanes++;
    }
    qsort(places, t->n_processes, sizeof *places, by_start);

    uint32_t n = 0;
    for (size_t i = 0; i < t->n_processes; i++) {
        struct iot_process *p = &t->processes[i];
        *p = places[i].process;
        p->first_lane = n;
        p->n_lanes = (uint32_t)places[i].n_lanes;
        for (size_t k = 0; k < places[i].n_lanes; k++) {
            struct iot_lane *lane = &lanes[n++];
            *lane = t->lanes[places[i].first_lane + k];
            lane->process = (uint32_t)i;
            if (lane->kind == IOT_LANE_THREAD && lane->end_ns > p->end_ns)
                p->end_ns = lane->end_ns;
        }
    }
    free(places);
    free(t->lanes);
    t->lanes = lanes;
    return 0;
}

/* The root's last event, in whatever it has become by exec. */
static int64_t wall(const struct iot_trace *t)
{
    const struct iot_process *now = &t->processes[0];
    int64_t end = now->end_ns;
    for (size_t i = 1; i < t->n_processes; i++) {
        const struct iot_process *p = &t->processes[i];
        if (p->pid != now->pid || now->end != IOT_END_EXEC)
            continue;
        now = p;
        if (p->end_ns > end)
            end = p->end_ns;
    }
    return end;
}

int iot_reading_finish(struct iot_reading *r)
{
    struct iot_trace *t = r->trace;
    iot_events_trim(&t->events);
    for (size_t i = 0; i < t->n_processes; i++) {
        struct iot_process *p = &t->processes[i];
        p->start_ns = p->end_ns = iot_reading_time(r, p->start_mono_ns);
        t->dropped_events += p->dropped_events;
        if (i < r->n_images && r->images[i].file.header.older_until_ns)
            p->older_until_ns =
                iot_reading_time(r, r->images[i].file.header.older_until_ns);
    }
    if (iot_workers_run(t->n_lanes, finish_lane, t) || order(t) || iot_gpu_finish(t, &r->files))
        return -1;
    t->wall_ns = wall(t);
    return 0;
}
