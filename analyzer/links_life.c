/* Threads and processes: who started them, and who waited for their end. */
#include "analyzer/links.h"

#include <stdlib.h>

#include "analyzer/by_pid.h"

/* Children in order of their parent's pid, then of their end. */
struct children {
    const struct iot_trace *trace;
    uint32_t *list;
};

/* The image of the same process before this one; IOT_NO_INDEX for the first. */
static uint32_t image_before(const struct iot_by_pid *index, uint32_t process)
{
    const struct iot_process *p = &index->trace->processes[process];
    uint32_t before = iot_by_pid_at(index, p->pid, p->start_ns - 1);
    return before != IOT_NO_INDEX && index->trace->processes[before].end == IOT_END_EXEC
               ? before
               : IOT_NO_INDEX;
}

uint32_t iot_last_lane(const struct iot_trace *trace, uint32_t process)
{
    const struct iot_process *p = &trace->processes[process];
    uint32_t last = p->first_lane;
    for (uint32_t l = p->first_lane; l < p->first_lane + p->n_lanes; l++)
        if (trace->lanes[l].kind == IOT_LANE_THREAD &&
            trace->lanes[l].end_ns > trace->lanes[last].end_ns)
            last = l;
    return last;
}

static uint32_t lane_numbered(const struct iot_trace *trace, uint32_t process, uint32_t number)
{
    const struct iot_process *p = &trace->processes[process];
    uint32_t low = p->first_lane, high = p->first_lane + p->n_lanes;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (trace->lanes[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->first_lane + p->n_lanes && trace->lanes[low].number == number ? low
                                                                                : IOT_NO_INDEX;
}

/* Hands on who created what: a thread's creation to the new lane, a fork or spawn to the first
 * image of the child, an exec to the next image. */
static void link_creation(struct iot_links *links, const struct iot_by_pid *index)
{
    const struct iot_trace *trace = index->trace;
    const struct iot_events *e = &trace->events;
    for (uint32_t l = 0; l < trace->n_lanes; l++) {
        const struct iot_lane *lane = &trace->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            uint32_t started = IOT_NO_INDEX;
            uint32_t child;
            switch (e->op[i]) {
            case IOT_OP_THREAD_CREATE:
                started = e->err[i] ? IOT_NO_INDEX : lane_numbered(trace, lane->process, e->arg[i]);
                break;
            case IOT_OP_FORK:
            case IOT_OP_VFORK:
            case IOT_OP_SPAWN:
                if (e->result[i] <= 0)
                    break;
                /* The first image: later ones come from its execs. A spawned child may start its
                 * own preload only after the call has returned. */
                child = iot_by_pid_at(index, (uint32_t)e->result[i], INT64_MAX);
                while (child != IOT_NO_INDEX &&
                       (trace->processes[child].start_ns < e->t0_ns[i] ||
                        image_before(index, child) != IOT_NO_INDEX)) {
                    int64_t start = trace->processes[child].start_ns;
                    child = start > e->t0_ns[i]
                                ? iot_by_pid_at(index, (uint32_t)e->result[i], start - 1)
                                : IOT_NO_INDEX;
                }
                if (child != IOT_NO_INDEX)
                    started = trace->processes[child].first_lane;
                break;
            default:
                break;
            }
            if (started != IOT_NO_INDEX && trace->lanes[started].start_ns >= e->t0_ns[i] &&
                links->creator[started].kind == IOT_WAKER_NONE)
                links->creator[started] = (struct iot_waker){(uint32_t)i, IOT_WAKER_ENTRY};
        }
    }
    for (uint32_t p = 0; p < trace->n_processes; p++) {
        uint32_t before = image_before(index, p);
        if (before != IOT_NO_INDEX && trace->processes[p].n_lanes)
            links->creator[trace->processes[p].first_lane] =
                (struct iot_waker){iot_last_lane(trace, before), IOT_WAKER_LANE};
    }
}

static int by_parent(const void *a, const void *b, void *trace)
{
    const struct iot_process *processes = ((const struct iot_trace *)trace)->processes;
    const struct iot_process *p = &processes[*(const uint32_t *)a];
    const struct iot_process *q = &processes[*(const uint32_t *)b];
    if (p->ppid != q->ppid)
        return p->ppid < q->ppid ? -1 : 1;
    if (p->end_ns != q->end_ns)
        return p->end_ns < q->end_ns ? -1 : 1;
    return p > q ? -1 : p < q;
}

static int children_make(struct children *children, const struct iot_trace *trace)
{
    *children = (struct children){trace, malloc((trace->n_processes + 1) * sizeof(uint32_t))};
    if (!children->list)
        return -1;
    for (uint32_t i = 0; i < trace->n_processes; i++)
        children->list[i] = i;
    qsort_r(children->list, trace->n_processes, sizeof *children->list, by_parent,
            (void *)(uintptr_t)trace);
    return 0;
}

/* Of the children that libc started inside a call (system, popen), the one that ended last. */
static uint32_t hidden_child(const struct children *children, uint32_t parent_pid, int64_t from,
                             int64_t to)
{
    const struct iot_process *processes = children->trace->processes;
    size_t low = 0, high = children->trace->n_processes;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct iot_process *p = &processes[children->list[middle]];
        if (p->ppid < parent_pid || (p->ppid == parent_pid && p->end_ns <= to))
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t k = low; k-- > 0;) {
        const struct iot_process *child = &processes[children->list[k]];
        if (child->ppid != parent_pid || child->end_ns < from)
            break;
        if (child->n_lanes && child->start_ns >= from)
            return children->list[k];
    }
    return IOT_NO_INDEX;
}

static void link_ends(struct iot_links *links, const struct iot_by_pid *index,
                      const struct children *children)
{
    const struct iot_trace *trace = index->trace;
    const struct iot_events *e = &trace->events;
    for (uint32_t l = 0; l < trace->n_lanes; l++) {
        const struct iot_lane *lane = &trace->lanes[l];
        const struct iot_process *process = &trace->processes[lane->process];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            uint32_t ended = IOT_NO_INDEX, child;
            switch (e->op[i]) {
            case IOT_OP_JOIN:
                if (e->err[i])
                    break;
                ended = lane_numbered(trace, lane->process, e->arg[i]);
                if (ended == IOT_NO_INDEX) {
                    links->flags[i] |= IOT_LINK_UNEXPLAINED;
                    links->unmatched++;
                }
                break;
            case IOT_OP_WAIT:
            case IOT_OP_WAITPID:
            case IOT_OP_WAITID:
                if (e->result[i] <= 0)
                    break;
                child = iot_by_pid_at(index, (uint32_t)e->result[i], e->t1_ns[i]);
                if (child != IOT_NO_INDEX && trace->processes[child].n_lanes)
                    ended = iot_last_lane(trace, child);
                break;
            case IOT_OP_SYSTEM:
                child = hidden_child(children, process->pid, e->t0_ns[i], e->t1_ns[i]);
                if (child != IOT_NO_INDEX) {
                    ended = iot_last_lane(trace, child);
                    links->creator[trace->processes[child].first_lane] =
                        (struct iot_waker){(uint32_t)i, IOT_WAKER_ENTRY};
                }
                break;
            default:
                break;
            }
            if (ended == IOT_NO_INDEX)
                continue;
            if (trace->lanes[ended].end_ns <= e->t1_ns[i])
                links->waker[i] = (struct iot_waker){ended, IOT_WAKER_LANE};
            else
                links->unmatched++;
        }
    }
}

int iot_link_life(struct iot_links *links, const struct iot_trace *trace)
{
    struct iot_by_pid index = {0};
    struct children children = {0};
    int failed = iot_by_pid_make(&index, trace) || children_make(&children, trace);
    if (!failed) {
        link_creation(links, &index);
        link_ends(links, &index, &children);
    }
    iot_by_pid_free(&index);
    free(children.list);
    return failed ? -1 : 0;
}
