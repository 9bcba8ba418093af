/* Asynchronous requests: who handed them over, and who waited for them. */
#include "analyzer/links.h"

#include <stdlib.h>

struct requests {
    struct iot_links *links;
    const struct iot_trace *trace;
    uint32_t *by_queue; /* requests that were found done: by process, queue and end */
    size_t n;
};

static int is_call(unsigned op)
{
    return (op >= IOT_OP_IO_SUBMIT && op <= IOT_OP_AIO_CANCEL);
}

/* Whether the call waits for what it finds: FORMAT.md, the offsets of these operations. */
static int waits(const struct iot_events *e, size_t i)
{
    switch (e->op[i]) {
    case IOT_OP_IO_GETEVENTS:
    case IOT_OP_IO_URING_ENTER:
    case IOT_OP_AIO_SUSPEND:
    case IOT_OP_LIO_LISTIO:
        return e->offset[i] > 0;
    default:
        return 0;
    }
}

static const struct iot_lane *lane_of(const struct requests *r, size_t event)
{
    return event < r->trace->events.n ? &r->trace->lanes[r->links->lane_of[event]] : NULL;
}

/* The lane's first event that begins at `t` or later. */
static size_t from(const struct iot_events *e, const struct iot_lane *lane, int64_t t)
{
    size_t low = lane->first_event, high = low + lane->n_events;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->t0_ns[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The call of a lane that began at `t` and hands over; SIZE_MAX: none. */
static size_t call_at(const struct requests *r, size_t in, int64_t t)
{
    const struct iot_events *e = &r->trace->events;
    const struct iot_lane *lane = lane_of(r, in);
    size_t end = lane ? lane->first_event + lane->n_events : 0;
    for (size_t i = lane ? from(e, lane, t) : 0; i < end && e->t0_ns[i] == t; i++)
        if (is_call(e->op[i]))
            return i;
    return SIZE_MAX;
}

/* The call of a lane at whose end something was found at `t`; SIZE_MAX: none. */
static size_t call_until(const struct requests *r, size_t in, int64_t t)
{
    const struct iot_events *e = &r->trace->events;
    const struct iot_lane *lane = lane_of(r, in);
    if (!lane)
        return SIZE_MAX;
    for (size_t i = from(e, lane, t); i-- > lane->first_event;)
        if (is_call(e->op[i]) || e->t1_ns[i] < t)
            return e->t1_ns[i] >= t ? i : SIZE_MAX;
    return SIZE_MAX;
}

static int add(struct requests *r, size_t to, size_t waker, enum iot_waker_kind kind)
{
    return to == SIZE_MAX || waker == SIZE_MAX
               ? 0
               : iot_links_add(r->links, (uint32_t)to,
                               (struct iot_waker){(uint32_t)waker, (uint8_t)kind});
}

/* The call that found it waited for it, if it waited at all or had handed it over itself: that made
 * it block. Else what comes next in the lane must not come before it. */
static int link_found(struct requests *r, const struct iot_request *q, size_t made)
{
    const struct iot_events *e = &r->trace->events;
    int64_t t = e->t1_ns[q->event];
    const struct iot_lane *lane = lane_of(r, q->found_in);
    size_t call = call_until(r, q->found_in, t);
    if (!lane)
        return 0;
    if (call != SIZE_MAX && (call == made || waits(e, call)))
        return add(r, call, q->event, IOT_WAKER_RETURN);
    size_t next = from(e, lane, t);
    return next < lane->first_event + lane->n_events ? add(r, next, q->event, IOT_WAKER_RETURN) : 0;
}

static int link_request(struct requests *r, const struct iot_request *q)
{
    const struct iot_events *e = &r->trace->events;
    size_t made = call_at(r, q->made_in, e->t0_ns[q->event]);
    if (add(r, q->event, made, IOT_WAKER_ENTRY))
        return -1;
    if (e->op[q->event] == IOT_OP_ASYNC_WAIT) /* for a timer, or for somebody who is not followed */
        r->links->flags[q->event] |= e->file[q->event] ? IOT_LINK_EXTERNAL : IOT_LINK_SLEEP;
    return q->found ? link_found(r, q, made) : 0;
}

/* --- waits whose completions another thread found --- */

static uint32_t process_of(const struct requests *r, size_t event)
{
    return r->trace->lanes[r->links->lane_of[event]].process;
}

static int compare(const struct requests *r, uint32_t k, uint32_t process, unsigned queue,
                   int64_t t)
{
    const struct iot_request *q = &r->trace->requests[k];
    uint32_t p = process_of(r, q->event);
    if (p != process)
        return p < process ? -1 : 1;
    if (q->queue != queue)
        return q->queue < queue ? -1 : 1;
    int64_t end = r->trace->events.t1_ns[q->event];
    return end < t ? -1 : end > t;
}

static int by_queue(const void *a, const void *b, void *user)
{
    const struct requests *r = user;
    const struct iot_request *q = &r->trace->requests[*(const uint32_t *)b];
    return compare(r, *(const uint32_t *)a, process_of(r, q->event), q->queue,
                   r->trace->events.t1_ns[q->event]);
}

/* The last request of a queue that was found done during a call. */
static size_t found_during(const struct requests *r, size_t call)
{
    const struct iot_events *e = &r->trace->events;
    uint32_t process = process_of(r, call);
    unsigned queue = (unsigned)(e->addr[call] & UINT16_MAX);
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(r, r->by_queue[middle], process, queue, e->t1_ns[call]) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || compare(r, r->by_queue[low - 1], process, queue, e->t0_ns[call] + 1) < 0)
        return SIZE_MAX;
    return r->trace->requests[r->by_queue[low - 1]].event;
}

static int is_timeout(const struct iot_events *e, size_t i)
{
    enum { NONE = 0, AGAIN = 11, TIME = 62 };
    return e->op[i] == IOT_OP_IO_GETEVENTS && !e->err[i] ? e->result[i] == 0
                                                         : e->err[i] == AGAIN || e->err[i] == TIME;
}

static int link_calls(struct requests *r)
{
    const struct iot_events *e = &r->trace->events;
    for (size_t i = 0; i < e->n; i++) {
        if (!is_call(e->op[i]))
            continue;
        if (!waits(e, i)) {
            r->links->flags[i] |= IOT_LINK_COMPUTES;
            continue;
        }
        if (is_timeout(e, i)) {
            r->links->flags[i] |= IOT_LINK_SLEEP;
            continue;
        }
        if (r->links->waker[i].kind)
            continue;
        size_t found = found_during(r, i);
        if (found == SIZE_MAX) {
            r->links->flags[i] |= IOT_LINK_UNEXPLAINED;
            r->links->unmatched++;
        } else if (add(r, i, found, IOT_WAKER_RETURN)) {
            return -1;
        }
    }
    return 0;
}

int iot_link_requests(struct iot_links *links, const struct iot_trace *trace)
{
    struct requests r = {links, trace, calloc(trace->n_requests + 1, sizeof(uint32_t)), 0};
    int failed = !r.by_queue;
    for (size_t k = 0; k < trace->n_requests && !failed; k++) {
        failed = link_request(&r, &trace->requests[k]);
        if (trace->requests[k].found)
            r.by_queue[r.n++] = (uint32_t)k;
    }
    if (!failed) {
        qsort_r(r.by_queue, r.n, sizeof *r.by_queue, by_queue, &r);
        failed = link_calls(&r);
    }
    free(r.by_queue);
    return failed ? -1 : 0;
}
