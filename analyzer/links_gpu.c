/* GPUs: what let an operation of a stream start, and whose end a call of a thread waited for.
 *
 * A stream does one thing after the other, in the order of the launches; that order is the lane's.
 * Here are the edges between lanes: launch to start, the end before an event's record to the start
 * behind the event's wait, and the end of a copy, a stream or a device to the call that waits.
 */
#include <stdlib.h>

#include "analyzer/collectives.h"
#include "analyzer/links_gpu.h"

static int is_launch(unsigned op)
{
    return op == IOT_OP_GPU_LAUNCH;
}

static int is_record(unsigned op)
{
    return op == IOT_OP_GPU_EVENT_RECORD;
}

/* A call that blocks for its copy waits for its end, as far as that came before it returned. */
static int link_launch(struct iot_streams *s, uint32_t process, size_t i)
{
    const struct iot_events *e = &s->trace->events;
    s->launched_ns[i] = e->t0_ns[i];
    if (!e->offset[i])
        return 0;
    if (e->op[i] == IOT_OP_GPU_MEMCPY_REST ||
        (e->op[i] == IOT_OP_GPU_COLLECTIVE && e->op[i - 1] == IOT_OP_GPU_COLLECTIVE_WAIT)) {
        s->launched_ns[i] = s->launched_ns[i - 1];
        return 0;
    }
    uint32_t call =
        iot_correlated_find(s->launches, s->n_launches, process, (uint64_t)e->offset[i]);
    if (call == IOT_NO_INDEX) {
        s->links->unmatched++;
        return 0;
    }
    s->launched_ns[i] = e->t0_ns[call];
    if (iot_links_add(s->links, (uint32_t)i, (struct iot_waker){call, IOT_WAKER_ENTRY}))
        return -1;
    return iot_gpu_blocks(e, i) && e->t1_ns[i] <= e->t1_ns[call]
               ? iot_links_add(s->links, call, iot_the_end(i))
               : 0;
}

static int link_launches(struct iot_streams *s)
{
    const struct iot_trace *t = s->trace;
    for (size_t l = 0; l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event;
             iot_lane_is_stream(lane) && i < lane->first_event + lane->n_events; i++)
            if (iot_gpu_runs(t->events.op[i]) && link_launch(s, lane->process, i))
                return -1;
    }
    return 0;
}

size_t iot_launched_from(const struct iot_streams *s, const struct iot_lane *lane, int64_t ns)
{
    size_t low = lane->first_event + 1, high = lane->first_event + lane->n_events;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->launched_ns[middle] < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last before `ns`, in launching; IOT_NO_INDEX: none. */
static uint32_t launched_before(const struct iot_streams *s, const struct iot_lane *lane,
                                int64_t ns)
{
    size_t i = iot_launched_from(s, lane, ns);
    return i > lane->first_event + 1 ? (uint32_t)(i - 1) : IOT_NO_INDEX;
}

/* The record of the event that a call speaks of; IOT_NO_INDEX: not known. */
static uint32_t record_of(const struct iot_streams *s, uint32_t process, size_t call)
{
    uint64_t correlation = s->trace->events.addr[call] >> 8;
    return correlation ? iot_correlated_find(s->records, s->n_records, process, correlation)
                       : IOT_NO_INDEX;
}

static int is_stream(const struct iot_lane *lane, int64_t stream)
{
    return iot_lane_is_stream(lane) && lane->stream == stream;
}

/* Of a legacy default stream: it waits for this one. */
static int is_awaited_by(const struct iot_lane *lane, int64_t legacy)
{
    return iot_lane_is_stream(lane) && lane->stream_kind == IOT_STREAM_BLOCKING &&
           lane->stream / IOT_STREAMS_OF_CONTEXT == legacy / IOT_STREAMS_OF_CONTEXT;
}

/* Streams of one number are one, but where a profile of several GPUs counts those of each by
 * itself. */
static int is_namesake(const struct iot_lane *lane, const struct iot_lane *waits)
{
    return lane->device != waits->device &&
           lane->stream / IOT_STREAMS_OF_CONTEXT == waits->stream / IOT_STREAMS_OF_CONTEXT;
}

/* Of the stream that an event's record or wait is about. */
static enum iot_stream_kind kind_of_stream(const struct iot_events *e, size_t call)
{
    unsigned said = e->addr[call] & 0xff;
    return said >= IOT_EVENT_IN && said <= IOT_EVENT_IN + IOT_STREAM_BY_ITSELF
               ? (enum iot_stream_kind)(said - IOT_EVENT_IN)
               : IOT_STREAM_UNKNOWN;
}

/* Which streams what was asked of a call is about. */
struct awaited {
    int64_t stream;   /* -1: all, or all of a context */
    int64_t context;  /* 0: of any */
    int and_blocking; /* the stream is a legacy default one: and those that it waits for */
    int known; /* else those that had ended when the call returned: an event's may be the end of any
                */
    int64_t until; /* what was launched before that */
};

static int is_among(const struct awaited *a, const struct iot_lane *lane)
{
    if (!iot_lane_is_stream(lane) || (a->context && iot_lane_context(lane) != a->context))
        return 0;
    return a->stream < 0 || lane->stream == a->stream ||
           (a->and_blocking && is_awaited_by(lane, a->stream));
}

static struct awaited awaited_by(const struct iot_streams *s, uint32_t process, size_t i)
{
    const struct iot_events *e = &s->trace->events;
    unsigned kind = e->op[i] == IOT_OP_GPU_EVENT_WAIT ? IOT_SYNC_EVENT : e->addr[i] & 0xff;
    struct awaited a = {.stream = (int64_t)e->arg[i] - 1, .known = 1, .until = e->t0_ns[i]};
    if (kind == IOT_SYNC_EVENT) {
        uint32_t record = record_of(s, process, i);
        a.known = record != IOT_NO_INDEX;
        if (a.known) {
            a.until = e->t0_ns[record];
            a.and_blocking = kind_of_stream(e, record) == IOT_STREAM_LEGACY;
        }
    } else if (kind == IOT_SYNC_CONTEXT) {
        a.context = e->arg[i];
        a.stream = -1;
    }
    a.and_blocking |= kind == IOT_SYNC_LEGACY;
    return a;
}

/* Of a stream that is named, its last operation; of all of them, where no one is. */
static int link_sync(struct iot_streams *s, uint32_t process, size_t i)
{
    const struct iot_trace *t = s->trace;
    const struct iot_events *e = &t->events;
    const struct iot_process *p = &t->processes[process];
    struct awaited a = awaited_by(s, process, i);
    int is_context = (e->addr[i] & 0xff) == IOT_SYNC_CONTEXT;

    for (uint32_t l = p->first_lane; l < p->first_lane + p->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        if (!is_among(&a, lane))
            continue;
        uint32_t last = launched_before(s, lane, a.until);
        while (!a.known && last != IOT_NO_INDEX && e->t1_ns[last] > e->t1_ns[i])
            last = last - 1 > lane->first_event ? last - 1 : IOT_NO_INDEX;
        if (last == IOT_NO_INDEX)
            continue;
        if (e->t1_ns[last] > e->t1_ns[i]) {
            s->links->unmatched += is_context || lane->stream == a.stream;
            continue;
        }
        if (iot_links_add(s->links, (uint32_t)i, iot_the_end(last)))
            return -1;
    }
    return 0;
}

/* `next` goes on behind what was launched before the event. */
static int link_next(struct iot_streams *s, const struct iot_lane *waits, const struct awaited *a,
                     size_t next, int is_sure)
{
    const struct iot_trace *t = s->trace;
    const struct iot_process *p = &t->processes[waits->process];
    for (uint32_t l = p->first_lane; l < p->first_lane + p->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        if (!is_among(a, lane) || lane == waits || is_namesake(lane, waits))
            continue;
        uint32_t last = launched_before(s, lane, a->until);
        if (last == IOT_NO_INDEX ||
            (!(is_sure && lane->stream == a->stream) && !iot_came_before(t, last, next)))
            continue;
        if (iot_links_add(s->links, (uint32_t)next, iot_the_end(last)))
            return -1;
    }
    return 0;
}

/* Whether a stream waits for what another does, by themselves: one of them is the legacy default
 * one. */
static int follows(const struct iot_lane *lane, int64_t other, enum iot_stream_kind its_kind)
{
    if (its_kind == IOT_STREAM_LEGACY)
        return is_awaited_by(lane, other);
    return its_kind == IOT_STREAM_BLOCKING && iot_lane_is_stream(lane) &&
           lane->stream_kind == IOT_STREAM_LEGACY &&
           lane->stream / IOT_STREAMS_OF_CONTEXT == other / IOT_STREAMS_OF_CONTEXT;
}

/* What comes next in the stream that waits, and in those that follow it. */
static int link_event_wait(struct iot_streams *s, uint32_t process, size_t i)
{
    const struct iot_trace *t = s->trace;
    const struct iot_events *e = &t->events;
    const struct iot_process *p = &t->processes[process];
    struct awaited a = awaited_by(s, process, i);
    enum iot_stream_kind kind = kind_of_stream(e, i);

    for (uint32_t w = p->first_lane; e->arg[i] && w < p->first_lane + p->n_lanes; w++) {
        const struct iot_lane *waits = &t->lanes[w];
        int is_itself = is_stream(waits, e->result[i]);
        if (!is_itself && !follows(waits, e->result[i], kind))
            continue;
        size_t next = iot_launched_from(s, waits, e->t0_ns[i]);
        if (next < waits->first_event + waits->n_events && link_next(s, waits, &a, next, is_itself))
            return -1;
    }
    return 0;
}

static int link_waits(struct iot_streams *s)
{
    const struct iot_trace *t = s->trace;
    for (size_t l = 0; l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            unsigned op = t->events.op[i];
            if ((op == IOT_OP_GPU_SYNC && link_sync(s, lane->process, i)) ||
                (op == IOT_OP_GPU_EVENT_WAIT && link_event_wait(s, lane->process, i)))
                return -1;
        }
    }
    return 0;
}

/* --- collectives --- */

enum { RANKS_MAX = 16 }; /* of more, each waits for the last one alone */

/* What a collective of several ranks moves it moves when all of them have begun: those that came in
 * time may come last when the run is replayed. */
static int link_group(struct iot_links *links, const struct iot_trace *t,
                      const struct iot_collectives *c, const struct iot_collective_group *g)
{
    for (size_t m = g->first; m < g->first + g->n; m++)
        for (size_t k = g->first; k < g->first + g->n; k++) {
            const struct iot_collective *from = &c->members[k];
            if (k == m || (g->n > RANKS_MAX && k != g->last))
                continue;
            /* One that did not wait is held by those that had begun; of two that began at once by
             * one. */
            if (t->events.op[c->members[m].event] != IOT_OP_GPU_COLLECTIVE_WAIT &&
                (from->t0_ns > c->members[m].t0_ns ||
                 (from->t0_ns == c->members[m].t0_ns && k > m)))
                continue;
            if (iot_links_add(links, c->members[m].event,
                              (struct iot_waker){from->event, IOT_WAKER_ENTRY}))
                return -1;
        }
    return 0;
}

static int link_collectives(struct iot_links *links, const struct iot_trace *t)
{
    struct iot_collectives c;
    int failed = iot_collectives_find(&c, t);
    for (size_t k = 0; k < c.n_groups && !failed; k++)
        failed = link_group(links, t, &c, &c.groups[k]);
    iot_collectives_free(&c);
    return failed ? -1 : 0;
}

int iot_link_gpu(struct iot_links *links, const struct iot_trace *trace)
{
    struct iot_streams s = {.links = links, .trace = trace};
    if (!iot_has_streams(trace))
        return 0;
    s.launches = iot_correlated_list(trace, is_launch, &s.n_launches);
    s.records = iot_correlated_list(trace, is_record, &s.n_records);
    s.launched_ns = calloc(trace->events.n + 1, sizeof *s.launched_ns);
    int failed = !s.launches || !s.records || !s.launched_ns || link_launches(&s) ||
                 link_waits(&s) || iot_link_legacy(&s) || link_collectives(links, trace);
    free(s.launches);
    free(s.records);
    free(s.launched_ns);
    return failed ? -1 : 0;
}
