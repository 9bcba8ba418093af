/* What calls wait for of GPUs, where there is much of it: neither time nor edges grow with the
 * square of anything. */
#include "analyzer/gpu.h"
#include "analyzer/links.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

enum { SECONDS = 20 }; /* a hundred times what any of these takes */

struct run {
    struct iot_trace trace;
    struct iot_process process;
    size_t room;
};

/* Lane 0 is a thread, the others are streams 1, 2, .. */
static void init(struct run *r, size_t streams, size_t events)
{
    struct iot_events *e = &r->trace.events;
    *r = (struct run){.room = events};
    r->process = (struct iot_process){.root = 1, .n_lanes = (uint32_t)streams + 1};
    r->trace.processes = &r->process;
    r->trace.n_processes = 1;
    r->trace.lanes = calloc(streams + 1, sizeof *r->trace.lanes);
    r->trace.files = calloc(1, sizeof *r->trace.files);
    r->trace.n_files = 1;
    r->trace.wall_ns = INT64_MAX / 2;
    e->t0_ns = calloc(events, sizeof *e->t0_ns);
    e->t1_ns = calloc(events, sizeof *e->t1_ns);
    e->bytes = calloc(events, sizeof *e->bytes);
    e->result = calloc(events, sizeof *e->result);
    e->offset = calloc(events, sizeof *e->offset);
    e->addr = calloc(events, sizeof *e->addr);
    e->file = calloc(events, sizeof *e->file);
    e->file2 = calloc(events, sizeof *e->file2);
    e->arg = calloc(events, sizeof *e->arg);
    e->fd = calloc(events, sizeof *e->fd);
    e->op = calloc(events, sizeof *e->op);
    e->err = calloc(events, sizeof *e->err);
    e->stack = calloc(events, sizeof *e->stack);
}

static void done(struct run *r)
{
    struct iot_events *e = &r->trace.events;
    void *const all[] = {e->t0_ns, e->t1_ns, e->bytes, e->result,      e->offset,
                         e->addr,  e->file,  e->file2, e->arg,         e->fd,
                         e->op,    e->err,   e->stack, r->trace.lanes, r->trace.files};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

static void next_lane(struct run *r)
{
    struct iot_lane *lane = &r->trace.lanes[r->trace.n_lanes];
    lane->first_event = r->trace.events.n;
    if (r->trace.n_lanes) {
        lane->kind = IOT_LANE_STREAM;
        lane->stream = (int64_t)r->trace.n_lanes;
        lane->stream_kind = IOT_STREAM_BY_ITSELF;
    }
    r->trace.n_lanes++;
}

static size_t add(struct run *r, unsigned op, int64_t t0, int64_t t1)
{
    struct iot_events *e = &r->trace.events;
    size_t i = e->n++;
    cr_assert(i < r->room);
    e->op[i] = (uint16_t)op;
    e->t0_ns[i] = t0;
    e->t1_ns[i] = t1;
    r->trace.lanes[r->trace.n_lanes - 1].n_events++;
    return i;
}

static void add_stream(struct run *r)
{
    next_lane(r);
    add(r, IOT_OP_GPU_STREAM, 0, 0);
}

/* A deep stream, and calls that wait for events of which nothing is known, each of which may be the
 * end of whatever had ended by then. */
Test(links_awaited, unknown_events_of_a_deep_stream, .timeout = SECONDS)
{
    enum { N = 400000, TOOK = 10, LAUNCH = 7 };
    struct run r;
    struct iot_links links;

    init(&r, 1, 2 * N + 2);
    next_lane(&r);
    r.trace.events.offset[add(&r, IOT_OP_GPU_LAUNCH, 0, 1)] = LAUNCH;
    for (int64_t k = 0; k < N; k++) {
        size_t i = add(&r, IOT_OP_GPU_SYNC, 1000 + k, 1001 + k);
        r.trace.events.addr[i] = IOT_SYNC_EVENT;
    }
    add_stream(&r);
    size_t first = r.trace.events.n, last = 0;
    for (int64_t k = 0; k < N; k++)
        last = add(&r, IOT_OP_GPU_KERNEL, k * TOOK, (k + 1) * TOOK);
    r.trace.events.offset[last] = LAUNCH; /* those before it were not launched later */
    cr_assert(eq(int, iot_links_find(&links, &r.trace), 0));
    for (size_t k = 1; k <= N; k++) {
        cr_expect(eq(int, links.waker[k].kind, IOT_WAKER_RETURN));
        cr_expect(eq(sz, links.waker[k].index, first + (1000 + k) / TOOK - 1));
    }
    iot_links_free(&links);
    done(&r);
}

/* Streams that calls alone name, the highest first. */
Test(links_awaited, many_streams_without_work, .timeout = SECONDS)
{
    enum { N = 400000 };
    struct run r;
    struct iot_links links;

    init(&r, 1, N + 2);
    next_lane(&r);
    for (int64_t k = 0; k < N; k++) {
        size_t i = add(&r, IOT_OP_GPU_EVENT_WAIT, k, k);
        r.trace.events.result[i] = 2 * N - k;
        r.trace.events.arg[i] = 2;
    }
    add_stream(&r);
    add(&r, IOT_OP_GPU_KERNEL, N, N + 1);
    cr_assert(eq(int, iot_links_find(&links, &r.trace), 0));
    iot_links_free(&links);
    done(&r);
}

/* A stream for each request, and after each a wait for all of them: those that were waited for
 * before need no edge, and the last to end has one. */
Test(links_awaited, what_was_waited_for_needs_no_edge, .timeout = SECONDS)
{
    enum { N = 2000 };
    struct run r;
    struct iot_links links;

    init(&r, N, 4 * N);
    next_lane(&r);
    for (int64_t k = 0; k < N; k++)
        for (int64_t again = 0; again < 2; again++) {
            size_t i =
                add(&r, IOT_OP_GPU_SYNC, 100 * k + 10 + 20 * again, 100 * k + 25 + 20 * again);
            r.trace.events.addr[i] = IOT_SYNC_CONTEXT;
        }
    for (int64_t k = 0; k < N; k++) {
        add_stream(&r);
        add(&r, IOT_OP_GPU_KERNEL, 100 * k, 100 * k + 20);
    }
    cr_assert(eq(int, iot_links_find(&links, &r.trace), 0));
    for (size_t k = 0; k < 2 * N; k++) {
        cr_expect(eq(int, links.waker[k].kind, IOT_WAKER_RETURN));
        cr_expect(eq(sz, links.waker[k].index, 2 * N + 2 * (k / 2) + 1));
    }
    cr_expect(links.n_more < 2 * N, "%zu further edges", links.n_more);
    iot_links_free(&links);
    done(&r);
}
