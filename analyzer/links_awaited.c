/* GPUs: what streams, events and synchronising calls wait for.
 *
 * The launches and calls of a process are gone through in order of time, and of each stream it is
 * kept what comes next there begins after: the last that was launched there; what the events stand
 * for that it was told to wait for; what default streams add by themselves. An event stands for
 * what the next in its stream would have waited for when it was recorded, whether or not anything
 * ran there.
 */
#include <stdlib.h>

#include "analyzer/gpu_streams.h"
#include "analyzer/links_gpu.h"

/* An event's record. */
struct record {
    int64_t stream; /* -1: not known */
    int is_awaited;
    struct iot_gpu_ends ends; /* when all of them have come, so has the event */
};

struct pass {
    const struct iot_launched *launched;
    const struct iot_trace *trace;
    struct iot_correlated *correlated; /* the records, with their numbers */
    struct record *records;            /* likewise */
    size_t n_records;
    uint32_t process;
    struct iot_gpu_streams streams;
    uint32_t *order; /* what concerns streams in the process, in order of the calls */
    size_t n_order;
};

static int is_record(unsigned op)
{
    return op == IOT_OP_GPU_EVENT_RECORD;
}

static unsigned kind_of_sync(const struct iot_events *e, size_t i)
{
    return e->op[i] == IOT_OP_GPU_SYNC ? e->addr[i] & 0xff : 0;
}

/* The record of the event that a call speaks of; NULL: not known. */
static struct record *record_of(const struct pass *p, size_t i)
{
    const struct iot_events *e = &p->trace->events;
    uint64_t correlation =
        is_record(e->op[i]) ? (uint64_t)e->offset[i]
        : e->op[i] == IOT_OP_GPU_EVENT_WAIT || kind_of_sync(e, i) == IOT_SYNC_EVENT
            ? e->addr[i] >> 8
            : 0;
    size_t k = correlation
                   ? iot_correlated_index(p->correlated, p->n_records, p->process, correlation)
                   : p->n_records;
    return k < p->n_records ? &p->records[k] : NULL;
}

/* --- what there is --- */

/* Said of a stream beside an event's record or wait. */
static unsigned kind_said(const struct iot_events *e, size_t i)
{
    unsigned said = e->addr[i] & 0xff;
    return said >= IOT_EVENT_IN && said <= IOT_EVENT_IN + IOT_STREAM_BY_ITSELF ? said - IOT_EVENT_IN
                                                                               : IOT_STREAM_UNKNOWN;
}

/* A profile says of an event's record in which stream it was only where something waits for it. */
static int meet_call(struct pass *p, size_t i)
{
    const struct iot_events *e = &p->trace->events;
    int64_t stream = (int64_t)e->arg[i] - 1;
    struct record *record = record_of(p, i);
    unsigned kind = is_record(e->op[i])                     ? kind_said(e, i)
                    : kind_of_sync(e, i) == IOT_SYNC_LEGACY ? IOT_STREAM_LEGACY
                                                            : IOT_STREAM_UNKNOWN;
    if (record) {
        record->is_awaited |= !is_record(e->op[i]);
        record->stream = stream < 0 ? record->stream : stream;
    }
    if (e->op[i] == IOT_OP_GPU_EVENT_WAIT &&
        iot_streams_meet(&p->streams, e->result[i], kind_said(e, i), NULL))
        return -1;
    return kind_of_sync(e, i) == IOT_SYNC_CONTEXT
               ? 0
               : iot_streams_meet(&p->streams, stream, kind, NULL);
}

static int by_launch(const void *a, const void *b, void *of)
{
    const struct pass *p = of;
    const uint32_t *by = p->launched->by;
    const int64_t *t0_ns = p->trace->events.t0_ns;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (t0_ns[by[x]] != t0_ns[by[y]])
        return t0_ns[by[x]] < t0_ns[by[y]] ? -1 : 1;
    if (by[x] != by[y])
        return by[x] < by[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int meet(struct pass *p)
{
    const struct iot_trace *t = p->trace;
    const struct iot_process *process = &t->processes[p->process];
    p->n_order = 0;
    for (uint32_t l = process->first_lane; l < process->first_lane + process->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        if (iot_lane_is_stream(lane) &&
            iot_streams_meet(&p->streams, lane->stream, lane->stream_kind, lane))
            return -1;
    }
    for (uint32_t l = process->first_lane; l < process->first_lane + process->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            unsigned op = t->events.op[i];
            int is_call = op == IOT_OP_GPU_EVENT_RECORD || op == IOT_OP_GPU_EVENT_WAIT ||
                          op == IOT_OP_GPU_SYNC;
            if (is_call) {
                p->launched->by[i] = (uint32_t)i;
                if (meet_call(p, i))
                    return -1;
            }
            if (is_call || (iot_lane_is_stream(lane) && iot_gpu_runs(op)))
                p->order[p->n_order++] = (uint32_t)i;
        }
    }
    iot_streams_pair(&p->streams);
    qsort_r(p->order, p->n_order, sizeof *p->order, by_launch, p);
    return 0;
}

/* --- what runs --- */

static const struct iot_lane *lane_of(const struct pass *p, size_t event)
{
    return &p->trace->lanes[p->launched->links->lane_of[event]];
}

/* A profile of several GPUs counts the streams of each by itself: of which of them an event was is
 * not known. */
static int is_namesake(const struct iot_lane *lane, const struct iot_lane *waits)
{
    return lane->device != waits->device && iot_lane_context(lane) == iot_lane_context(waits);
}

/* Where an order is inferred, the recording must not speak against it. */
static int came_before(const struct iot_trace *t, size_t first, size_t then)
{
    return t->events.t1_ns[first] <= t->events.t0_ns[then];
}

static int run(struct pass *p, size_t i)
{
    struct iot_links *links = p->launched->links;
    const struct iot_lane *lane = lane_of(p, i);
    size_t n;
    struct iot_stream *s = iot_streams_of(&p->streams, lane->stream, &n);
    while (s->lane != lane)
        s++;
    if (iot_streams_ask(&p->streams, s))
        return -1;
    for (size_t k = 0; k < s->next.n; k++) {
        struct iot_gpu_end end = s->next.list[k];
        if (is_namesake(lane_of(p, end.event), lane) ||
            (!end.is_sure && !came_before(p->trace, end.event, i)))
            continue;
        if (iot_links_add(links, (uint32_t)i, iot_the_end(end.event)))
            return -1;
    }
    if (s->last == IOT_NO_INDEX || s->last < i)
        s->last = (uint32_t)i;
    s->next.n = 0;
    if (iot_gpu_ends_add(&s->next, links->lane_of, (struct iot_gpu_end){s->last, 1}))
        return -1;
    iot_streams_asked(s);
    return 0;
}

/* --- events --- */

/* Those that a call names; below 0 it does not. */
static struct iot_stream *named(const struct pass *p, int64_t stream, size_t *n)
{
    struct iot_stream *s = iot_streams_of(&p->streams, stream, n);
    *n = stream < 0 ? 0 : *n;
    return s;
}

static int record(struct pass *p, size_t i)
{
    struct record *r = record_of(p, i);
    size_t n = 0;
    struct iot_stream *s = r ? named(p, r->stream, &n) : NULL;
    for (size_t k = 0; k < n; k++) {
        if (iot_streams_ask(&p->streams, &s[k]) ||
            (r->is_awaited &&
             iot_gpu_ends_join(&r->ends, p->launched->links->lane_of, &s[k].next, 1)))
            return -1;
        iot_streams_asked(&s[k]);
    }
    return 0;
}

/* Where an event's record is not known: the last in the streams that it may have been. */
static int add_last(struct pass *p, int64_t stream, struct iot_gpu_ends *ends)
{
    size_t n;
    struct iot_stream *s = named(p, stream, &n);
    for (size_t k = 0; k < n; k++)
        if (s[k].last != IOT_NO_INDEX &&
            iot_gpu_ends_add(ends, p->launched->links->lane_of, (struct iot_gpu_end){s[k].last, 1}))
            return -1;
    return 0;
}

static int event_wait(struct pass *p, size_t i)
{
    const struct iot_events *e = &p->trace->events;
    const uint32_t *lanes = p->launched->links->lane_of;
    struct record *r = record_of(p, i);
    size_t n;
    struct iot_stream *s = named(p, e->result[i], &n);
    for (size_t k = 0; k < n && e->arg[i]; k++) { /* else it was never recorded */
        if (iot_streams_ask(&p->streams, &s[k]) ||
            (r ? iot_gpu_ends_join(&s[k].next, lanes, &r->ends, 1)
               : add_last(p, (int64_t)e->arg[i] - 1, &s[k].next)))
            return -1;
        iot_streams_asked(&s[k]);
    }
    return 0;
}

/* --- calls that wait --- */

/* Only what had ended by then was waited for. */
static int link_end(struct pass *p, size_t i, struct iot_gpu_end end)
{
    const struct iot_events *e = &p->trace->events;
    if (e->t1_ns[end.event] <= e->t1_ns[i])
        return iot_links_add(p->launched->links, (uint32_t)i, iot_the_end(end.event));
    p->launched->links->unmatched += end.is_sure;
    return 0;
}

static int link_ends(struct pass *p, size_t i, const struct iot_gpu_ends *ends)
{
    for (size_t k = 0; k < ends->n; k++)
        if (link_end(p, i, ends->list[k]))
            return -1;
    return 0;
}

/* The last of the stream that had ended when the call returned. What runs in a stream ends one
 * after the other. */
static uint32_t last_ended(const struct iot_events *e, const struct iot_stream *s, size_t i)
{
    size_t first = s->lane->first_event + 1, end = (size_t)s->last + 1;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (e->t1_ns[middle] <= e->t1_ns[i])
            first = middle + 1;
        else
            end = middle;
    }
    return first > s->lane->first_event + 1 ? (uint32_t)first - 1 : IOT_NO_INDEX;
}

/* The last of each, where it is not known which it was; of an event that may be the end of any that
 * had ended when the call returned. */
static int sync_any(struct pass *p, size_t i, const struct iot_stream *s, size_t n)
{
    const struct iot_events *e = &p->trace->events;
    int is_event = kind_of_sync(e, i) == IOT_SYNC_EVENT;
    for (size_t k = 0; k < n; k++) {
        uint32_t last = s[k].last;
        if (is_event && last != IOT_NO_INDEX)
            last = last_ended(e, &s[k], i);
        if (last != IOT_NO_INDEX && link_end(p, i, (struct iot_gpu_end){last, 0}))
            return -1;
    }
    return 0;
}

static int is_in(const struct iot_stream *s, int64_t context)
{
    return !context || iot_context_of(s->number) == context;
}

/* Of the streams of a context the last to end before the call returned; IOT_NO_INDEX: none. */
static uint32_t latest_end(const struct pass *p, size_t i, int64_t context)
{
    const int64_t *t1_ns = p->trace->events.t1_ns;
    uint32_t latest = IOT_NO_INDEX;
    for (size_t k = 0; k < p->streams.n; k++) {
        const struct iot_stream *s = &p->streams.list[k];
        if (is_in(s, context) && s->last != IOT_NO_INDEX && t1_ns[s->last] <= t1_ns[i] &&
            (latest == IOT_NO_INDEX || t1_ns[s->last] > t1_ns[latest]))
            latest = s->last;
    }
    return latest;
}

/* context: 0 any. Of the streams in it their last are enough; and of those that this lane has
 * waited for before, however many there are, none but the latest of all says more. */
static int sync_context(struct pass *p, size_t i, int64_t context)
{
    uint32_t lane = p->launched->links->lane_of[i], latest = latest_end(p, i, context);
    for (size_t k = 0; k < p->streams.n; k++) {
        struct iot_stream *s = &p->streams.list[k];
        if (!is_in(s, context))
            continue;
        if (iot_streams_ask(&p->streams, s))
            return -1;
        int is_old = s->awaited == s->last && s->awaited_by == lane && s->last != latest;
        for (size_t m = 0; m < s->next.n; m++) {
            int64_t its = iot_lane_context(lane_of(p, s->next.list[m].event));
            int is_own = s->next.list[m].event == s->last;
            if (((is_own && !is_old) || (context && its != context)) &&
                link_end(p, i, s->next.list[m]))
                return -1;
        }
        if (s->last != IOT_NO_INDEX &&
            p->trace->events.t1_ns[s->last] <= p->trace->events.t1_ns[i]) {
            s->awaited = s->last;
            s->awaited_by = lane;
        }
    }
    return 0;
}

static int sync(struct pass *p, size_t i)
{
    const struct iot_events *e = &p->trace->events;
    unsigned kind = kind_of_sync(e, i);
    int64_t stream = (int64_t)e->arg[i] - 1;
    struct record *r = record_of(p, i);
    size_t n;
    struct iot_stream *s = named(p, stream, &n);
    if (kind == IOT_SYNC_CONTEXT)
        return sync_context(p, i, e->arg[i]);
    if (r)
        return link_ends(p, i, &r->ends);
    if (stream < 0)
        return sync_any(p, i, p->streams.list, p->streams.n);
    if (kind == IOT_SYNC_EVENT)
        return sync_any(p, i, s, n);
    for (size_t k = 0; k < n; k++)
        if (iot_streams_ask(&p->streams, &s[k]) || link_ends(p, i, &s[k].next))
            return -1;
    return 0;
}

/* --- all of it --- */

static int go_through(struct pass *p)
{
    for (size_t k = 0; k < p->n_order; k++) {
        size_t i = p->order[k];
        unsigned op = p->trace->events.op[i];
        if (op == IOT_OP_GPU_EVENT_RECORD ? record(p, i)
            : op == IOT_OP_GPU_EVENT_WAIT ? event_wait(p, i)
            : op == IOT_OP_GPU_SYNC       ? sync(p, i)
                                          : run(p, i))
            return -1;
    }
    return 0;
}

int iot_link_awaited(const struct iot_launched *launched)
{
    struct pass p = {.launched = launched, .trace = launched->trace};
    p.streams.lane_of = launched->links->lane_of;
    p.correlated = iot_correlated_list(p.trace, is_record, &p.n_records);
    p.records = calloc(p.n_records + 1, sizeof *p.records);
    p.order = malloc((p.trace->events.n + 1) * sizeof *p.order);
    int failed = !p.correlated || !p.records || !p.order;
    for (size_t k = 0; k < p.n_records && !failed; k++)
        p.records[k].stream = -1;
    for (; p.process < p.trace->n_processes && !failed; p.process++) {
        failed = meet(&p) || go_through(&p);
        iot_streams_free(&p.streams);
        p.streams.lane_of = launched->links->lane_of;
    }
    for (size_t k = 0; p.records && k < p.n_records; k++)
        iot_gpu_ends_free(&p.records[k].ends);
    free(p.records);
    free(p.correlated);
    free(p.order);
    return failed ? -1 : 0;
}
