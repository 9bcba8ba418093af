/* Signals: who ended a wait by one. It was sent by the run, or told of a child's end; else it came
 * from outside or from a timer. */
#include "analyzer/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHILD_ENDED = 17 }; /* SIGCHLD, on every architecture that is recorded */

struct sent {
    int64_t t_ns;
    uint32_t event;
};

struct ended {
    int64_t t_ns;
    uint32_t ppid, process;
};

struct signals {
    const struct iot_trace *trace;
    struct sent *sent;
    struct ended *ended;
    size_t n_sent, n_ended;
};

static int by_time(const void *a, const void *b)
{
    const struct sent *x = a, *y = b;
    return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

static int by_parent(const void *a, const void *b)
{
    const struct ended *x = a, *y = b;
    if (x->ppid != y->ppid)
        return x->ppid < y->ppid ? -1 : 1;
    return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

static int gather(struct signals *s)
{
    const struct iot_trace *trace = s->trace;
    const struct iot_events *e = &trace->events;
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += e->op[i] == IOT_OP_KILL || e->op[i] == IOT_OP_THREAD_KILL;
    s->sent = malloc((n + 1) * sizeof *s->sent);
    s->ended = malloc((trace->n_processes + 1) * sizeof *s->ended);
    if (!s->sent || !s->ended)
        return -1;
    for (size_t i = 0; i < e->n; i++)
        if (e->op[i] == IOT_OP_KILL || e->op[i] == IOT_OP_THREAD_KILL)
            s->sent[s->n_sent++] = (struct sent){e->t0_ns[i], (uint32_t)i};
    for (uint32_t p = 0; p < trace->n_processes; p++)
        if (trace->processes[p].end != IOT_END_EXEC && trace->processes[p].n_lanes)
            s->ended[s->n_ended++] =
                (struct ended){trace->processes[p].end_ns, trace->processes[p].ppid, p};
    qsort(s->sent, s->n_sent, sizeof *s->sent, by_time);
    qsort(s->ended, s->n_ended, sizeof *s->ended, by_parent);
    return 0;
}

/* Whether a signal that was sent was for a lane. Negative numbers mean groups, and may mean any. */
static int is_for(const struct iot_trace *trace, uint32_t event, const struct iot_lane *lane)
{
    int64_t to = trace->events.result[event];
    if (trace->events.op[event] == IOT_OP_THREAD_KILL)
        return to == lane->tid;
    return to <= 0 || to == trace->processes[lane->process].pid;
}

/* The last one that was sent while the lane waited; `number`: 0 any. */
static struct iot_waker last_sent(const struct signals *s, const struct iot_lane *lane,
                                  int64_t from, int64_t to, int64_t number)
{
    size_t low = 0, high = s->n_sent;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->sent[middle].t_ns <= to)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && s->sent[low - 1].t_ns >= from; low--) {
        uint32_t event = s->sent[low - 1].event;
        if (is_for(s->trace, event, lane) && (!number || s->trace->events.offset[event] == number))
            return (struct iot_waker){event, IOT_WAKER_ENTRY};
    }
    return (struct iot_waker){0, IOT_WAKER_NONE};
}

/* Of the process's children, the one that ended last while it waited. */
static struct iot_waker last_child(const struct signals *s, uint32_t pid, int64_t from, int64_t to)
{
    size_t low = 0, high = s->n_ended;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct ended *at = &s->ended[middle];
        if (at->ppid < pid || (at->ppid == pid && at->t_ns <= to))
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || s->ended[low - 1].ppid != pid || s->ended[low - 1].t_ns < from)
        return (struct iot_waker){0, IOT_WAKER_NONE};
    return (struct iot_waker){iot_last_lane(s->trace, s->ended[low - 1].process), IOT_WAKER_LANE};
}

static int is_signalfd(const struct iot_trace *trace, uint32_t file)
{
    return trace->files[file].kind == IOT_FILE_ANON &&
           strcmp(trace->files[file].name, "anon:signalfd") == 0;
}

/* Whether a wait was for a signal or ended by one. */
static int by_signal(const struct iot_trace *trace, size_t i)
{
    const struct iot_events *e = &trace->events;
    unsigned class_ = iot_op_info(e->op[i])->class_;
    if (e->op[i] == IOT_OP_SIGWAIT)
        return e->result[i] > 0;
    if (class_ == IOT_WAIT && e->err[i] == EINTR)
        return 1;
    return (class_ == IOT_WAIT || class_ == IOT_DATA) && e->result[i] > 0 &&
           is_signalfd(trace, e->file[i]);
}

static int link_one(struct iot_links *links, const struct signals *s, size_t i)
{
    const struct iot_events *e = &s->trace->events;
    const struct iot_lane *lane = &s->trace->lanes[links->lane_of[i]];
    int64_t number = e->op[i] == IOT_OP_SIGWAIT ? e->result[i] : 0;
    struct iot_waker sender = last_sent(s, lane, e->t0_ns[i], e->t1_ns[i], number);
    struct iot_waker child = {0, IOT_WAKER_NONE};
    if (!number || number == CHILD_ENDED)
        child = last_child(s, s->trace->processes[lane->process].pid, e->t0_ns[i], e->t1_ns[i]);
    struct iot_waker last =
        iot_waker_time(s->trace, child) > iot_waker_time(s->trace, sender) ? child : sender;
    if (last.kind == IOT_WAKER_NONE)
        links->flags[i] |= IOT_LINK_EXTERNAL;
    return iot_links_add(links, (uint32_t)i, last);
}

int iot_link_signals(struct iot_links *links, const struct iot_trace *trace)
{
    struct signals s = {.trace = trace};
    int failed = gather(&s);
    for (size_t i = 0; i < trace->events.n && !failed; i++) {
        if (links->flags[i] & IOT_LINK_NESTED || links->waker[i].kind)
            continue;
        if (by_signal(trace, i))
            failed = link_one(links, &s, i);
        else if (trace->events.op[i] == IOT_OP_SIGWAIT) /* its time was up */
            links->flags[i] |= IOT_LINK_SLEEP;
    }
    free(s.sent);
    free(s.ended);
    return failed ? -1 : 0;
}
