#include "analyzer/stream_holders.h"

#include <stdlib.h>

enum { ANCESTORS_MAX = 64 };

static int is_stream(const struct iot_trace *trace, uint32_t file)
{
    return file && (trace->files[file].kind == IOT_FILE_PIPE ||
                    trace->files[file].kind == IOT_FILE_SOCKET);
}

/* What event i did to that file of it. */
static struct iot_hold hold_of(const struct iot_trace *trace, size_t i, uint32_t file, uint32_t pid)
{
    const struct iot_events *e = &trace->events;
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    struct iot_hold h = {file, pid, INT64_MIN, INT64_MAX, 0, 0};
    switch (e->op[i]) {
    case IOT_OP_PIPE:
    case IOT_OP_PIPE2:
    case IOT_OP_SOCKET:
    case IOT_OP_SOCKETPAIR:
    case IOT_OP_ACCEPT:
    case IOT_OP_ACCEPT4:
    case IOT_OP_OPEN:
    case IOT_OP_OPENAT:
        h.first_ns = e->t0_ns[i];
        break;
    case IOT_OP_CLOSE:
    case IOT_OP_FCLOSE:
    case IOT_OP_PCLOSE:
        h.closed_ns = e->t0_ns[i];
        break;
    default:
        h.reads = op->class_ == IOT_DATA && file == e->file[i] && op->moves != IOT_OUT;
        h.writes = op->class_ == IOT_DATA && !h.reads;
    }
    return h;
}

static int by_file(const void *a, const void *b)
{
    const struct iot_hold *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Adds the holds of a lane; those of neighbours that are alike, once. */
static size_t add_lane(const struct iot_trace *trace, const struct iot_lane *lane,
                       struct iot_hold *to)
{
    const struct iot_events *e = &trace->events;
    uint32_t pid = trace->processes[lane->process].pid, last = 0;
    unsigned last_op = 0;
    size_t n = 0;
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
        for (int second = 0; second < 2; second++) {
            uint32_t file = second ? e->file2[i] : e->file[i];
            if (!is_stream(trace, file) || e->err[i] ||
                (!second && file == last && e->op[i] == last_op))
                continue;
            last = second ? last : file;
            last_op = second ? last_op : e->op[i];
            if (to)
                to[n] = hold_of(trace, i, file, pid);
            n++;
        }
    }
    return n;
}

static void join(struct iot_holders *holders)
{
    size_t kept = 0;
    for (size_t k = 0; k < holders->n; k++) {
        const struct iot_hold *h = &holders->list[k];
        struct iot_hold *to = kept ? &holders->list[kept - 1] : NULL;
        if (!to || by_file(h, to)) {
            holders->list[kept++] = *h;
            continue;
        }
        if (h->first_ns != INT64_MIN && (to->first_ns == INT64_MIN || h->first_ns < to->first_ns))
            to->first_ns = h->first_ns;
        if (h->closed_ns != INT64_MAX &&
            (to->closed_ns == INT64_MAX || h->closed_ns > to->closed_ns))
            to->closed_ns = h->closed_ns;
        to->reads |= h->reads;
        to->writes |= h->writes;
    }
    holders->n = kept;
}

int iot_holders_make(struct iot_holders *holders, const struct iot_trace *trace,
                     const struct iot_links *links)
{
    *holders = (struct iot_holders){.trace = trace, .links = links};
    if (iot_by_pid_make(&holders->by_pid, trace))
        return -1;
    for (size_t l = 0; l < trace->n_lanes; l++)
        holders->n += add_lane(trace, &trace->lanes[l], NULL);
    holders->list = malloc((holders->n + 1) * sizeof *holders->list);
    if (!holders->list)
        return -1;
    size_t n = 0;
    for (size_t l = 0; l < trace->n_lanes; l++)
        n += add_lane(trace, &trace->lanes[l], holders->list + n);
    if (n)
        qsort(holders->list, n, sizeof *holders->list, by_file);
    join(holders);
    return 0;
}

void iot_holders_free(struct iot_holders *holders)
{
    iot_by_pid_free(&holders->by_pid);
    free(holders->list);
    *holders = (struct iot_holders){0};
}

static const struct iot_hold *find(const struct iot_holders *holders, uint32_t file, uint32_t pid)
{
    struct iot_hold wanted = {.file = file, .pid = pid};
    return holders->n
               ? bsearch(&wanted, holders->list, holders->n, sizeof *holders->list, by_file)
               : NULL;
}

/* The process before this one, and when it made it: the image before an exec, or the parent.
 * IOT_NO_INDEX: not known. */
static uint32_t maker_of(const struct iot_holders *holders, uint32_t process, int64_t *when)
{
    const struct iot_trace *t = holders->trace;
    const struct iot_process *p = &t->processes[process];
    struct iot_waker by = {0, IOT_WAKER_NONE};
    if (p->n_lanes)
        by = holders->links->creator[p->first_lane];
    *when = by.kind == IOT_WAKER_NONE ? p->start_ns : iot_waker_time(t, by);
    if (by.kind == IOT_WAKER_LANE)
        return t->lanes[by.index].process;
    if (by.kind == IOT_WAKER_ENTRY)
        return t->lanes[holders->links->lane_of[by.index]].process;
    return iot_by_pid_at(&holders->by_pid, p->ppid, p->start_ns - 1);
}

int iot_holds(const struct iot_holders *holders, uint32_t file, uint32_t process)
{
    const struct iot_trace *t = holders->trace;
    const struct iot_hold *own = find(holders, file, t->processes[process].pid);
    if (own)
        return own->writes || !own->reads || t->files[file].kind != IOT_FILE_PIPE;
    for (int k = 0; k < ANCESTORS_MAX; k++) {
        int64_t when;
        uint32_t maker = maker_of(holders, process, &when);
        if (maker == IOT_NO_INDEX || maker == process)
            return 0;
        const struct iot_hold *h = find(holders, file, t->processes[maker].pid);
        if (h)
            return h->first_ns <= when && h->closed_ns >= when;
        process = maker;
    }
    return 0;
}
