/* The calls of threads. A callback comes at the entry and the return of each that is followed; a
 * driver's call inside one of the runtime is part of that, and known by its correlation alone.
 *
 * Streams and events are told by what their handles stood for when the call was made: so a wait is
 * joined to the record that it waits for without a record of CUPTI's about either.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/copies.h"
#include "cupti/handles.h"
#include "cupti/streams.h"
#include "format/ops.h"

enum what {
    NOTHING,
    COPY,
    LAUNCH,
    KERNEL,
    SYNC,
    RECORD,
    WAIT,
    FORGET,
    CAPTURE,
    CAPTURED,
    STREAM,
    CALL
};

enum {
    IDS = 1024,
    BATCH_ROWS = 4096, /* of the copies of one call */
    STREAM_BITS = 32,
    SYNC_CONTEXT_NAMED = 255, /* of a row: CUPTI_SYNC_CONTEXT */
};

struct known {
    uint8_t what, argument;
    const char *name;
};

#define ARG_LINEAR IOT_COPY_LINEAR
#define ARG_TO_SYMBOL IOT_COPY_TO_SYMBOL
#define ARG_FROM_SYMBOL IOT_COPY_FROM_SYMBOL
#define ARG_TO_ARRAY IOT_COPY_TO_ARRAY
#define ARG_FROM_ARRAY IOT_COPY_FROM_ARRAY
#define ARG_PITCHED IOT_COPY_PITCHED
#define ARG_PITCHED_TO_ARRAY IOT_COPY_PITCHED_TO_ARRAY
#define ARG_PITCHED_FROM_ARRAY IOT_COPY_PITCHED_FROM_ARRAY
#define ARG_BLOCK IOT_COPY_BLOCK
#define ARG_BATCH IOT_COPY_BATCH
#define ARG_BLOCKS IOT_COPY_BLOCKS
#define ARG_NO_HOST IOT_COPY_NO_HOST
#define ARG_DRIVER_HTOD IOT_COPY_DRIVER_HTOD
#define ARG_DRIVER_DTOH IOT_COPY_DRIVER_DTOH
#define ARG_DRIVER_HTOA IOT_COPY_DRIVER_HTOA
#define ARG_DRIVER_ATOH IOT_COPY_DRIVER_ATOH
#define ARG_DRIVER_LINEAR IOT_COPY_DRIVER_LINEAR
#define ARG_DRIVER_PITCHED IOT_COPY_DRIVER_PITCHED
#define ARG_DRIVER_BLOCK IOT_COPY_DRIVER_BLOCK
#define ARG_EVENT CUPTI_SYNC_EVENT
#define ARG_STREAM CUPTI_SYNC_STREAM
#define ARG_CONTEXT CUPTI_SYNC_CONTEXT
#define ARG_CONTEXT_NAMED SYNC_CONTEXT_NAMED
#define ARG_PLAIN IOT_STREAM_FORM_PLAIN
#define ARG_FLAGS IOT_STREAM_FORM_FLAGS
#define ARG_GREEN IOT_STREAM_FORM_GREEN
#define ARG_0 0

/* By domain and number. */
static const struct known known[2][IDS] = {
#define CALL(domain, id, name, what, argument)                                                     \
    [CUPTI_DOMAIN_##domain - 1][id] = {what, ARG_##argument, #name},
#include "cupti/calls.def"
#undef CALL
};

static struct iot_handle events[IOT_HANDLES]; /* correlation of the record << 32 | its stream + 1 */

static const struct known *find(uint32_t domain, uint32_t id)
{
    return (domain == CUPTI_DOMAIN_DRIVER || domain == CUPTI_DOMAIN_RUNTIME) && id < IDS &&
                   known[domain - 1][id].name
               ? &known[domain - 1][id]
               : NULL;
}

/* --- correlations --- */

enum { NESTED = 1 << 12, CHANGES = 64 };

/* Calls inside others that have a number of their own, the latest: its number << 32 | the outer
 * one's. */
static uint64_t nested[NESTED];

static void note_nested(uint32_t inner, uint32_t outer)
{
    if (inner != outer)
        __atomic_store_n(&nested[inner % NESTED], (uint64_t)inner << 32 | outer, __ATOMIC_RELEASE);
}

uint32_t iot_calls_outer(uint32_t correlation)
{
    uint64_t at = __atomic_load_n(&nested[correlation % NESTED], __ATOMIC_ACQUIRE);
    return at >> 32 == correlation ? (uint32_t)at : correlation;
}

/* From which number on calls lie in the window of the run, or outside. CUPTI counts up. Who sees a
 * change adds it, one at a time; where an older call comes later, what it saw was before. */
static struct {
    uint32_t busy, n, is_shut;
    struct {
        uint32_t from, is_shut;
    } at[CHANGES];
} changes;

static void follow_window(uint32_t correlation, uint32_t is_shut)
{
    if (__atomic_load_n(&changes.is_shut, __ATOMIC_RELAXED) == is_shut)
        return;
    while (__atomic_exchange_n(&changes.busy, 1, __ATOMIC_ACQUIRE))
        sched_yield();
    uint32_t n = changes.n;
    int is_later = !n || changes.at[n - 1].from < correlation;
    if (changes.is_shut != is_shut && is_later) {
        if (n < CHANGES) {
            changes.at[n].from = correlation;
            changes.at[n].is_shut = is_shut;
            __atomic_store_n(&changes.n, n + 1, __ATOMIC_RELEASE);
        }
        __atomic_store_n(&changes.is_shut, is_shut, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&changes.busy, 0, __ATOMIC_RELEASE);
}

int iot_calls_in_window(uint32_t correlation)
{
    uint32_t is_shut = 0, n = __atomic_load_n(&changes.n, __ATOMIC_ACQUIRE);
    for (uint32_t k = 0; k < n && changes.at[k].from <= correlation; k++)
        is_shut = changes.at[k].is_shut;
    return !is_shut;
}

/* --- rows --- */

/* One that has ended: at t1. */
struct ended {
    const struct known *known;
    const struct cupti_call *call;
    const uint64_t *parameters;
    int per_thread;
    struct iot_row row;
};

static uint32_t plain_name(const char *name)
{
    size_t n = strlen(name);
    const char *cut;
    for (const char *p = name; (cut = strstr(p, "_")) != NULL; p = cut + 1)
        if (!strncmp(cut, "_pts", 4) || !strncmp(cut, "_ptd", 4) ||
            (cut[1] == 'v' && cut[2] >= '0' && cut[2] <= '9')) {
            n = (size_t)(cut - name);
            break;
        }
    return iot_writer->string(name, n);
}

static void put_copies(struct ended *e)
{
    enum iot_copy_form form = e->known->argument;
    uint64_t n = iot_copies_of(form, e->parameters);
    for (uint64_t k = 0; k < n && k < BATCH_ROWS; k++) {
        struct iot_touched touched = iot_copy_touched(form, e->parameters, k);
        e->row.addr = touched.source;
        e->row.result = (int64_t)touched.target;
        e->row.bytes = (int64_t)touched.bytes;
        iot_writer->put(&e->row, 0);
        e->row.t1 = e->row.t0;
    }
}

/* Of an event: the record's correlation, and its stream + 1; both 0 where it was not recorded. */
static void join_event(struct iot_row *row, uint64_t event)
{
    uint64_t known_event = iot_handles_get(events, event);
    row->obj2 = (uint32_t)known_event;
    row->addr |= known_event >> STREAM_BITS << 8;
}

/* The context that a call waits for; 0: not known. */
static uint32_t context_of(const struct ended *e)
{
    uint32_t id;
    if (e->known->argument == CUPTI_SYNC_CONTEXT)
        return e->call->context_id;
    return iot_cupti.cuptiGetContextId((void *)(uintptr_t)e->parameters[0], &id) ? 0 : id;
}

/* What is said of it beside an event. */
static uint64_t said_of(int64_t stream)
{
    enum iot_stream_kind kind = iot_stream_kind(stream);
    return kind == IOT_STREAM_UNKNOWN ? 0 : IOT_EVENT_IN + (uint64_t)kind;
}

static void put_sync(struct ended *e)
{
    int64_t stream;
    switch (e->known->argument) {
    case CUPTI_SYNC_STREAM:
        stream = iot_stream_named(e->call, e->parameters[0], e->per_thread);
        e->row.addr =
            iot_stream_kind(stream) == IOT_STREAM_LEGACY ? IOT_SYNC_LEGACY : CUPTI_SYNC_STREAM;
        e->row.obj2 = (uint32_t)(stream + 1);
        break;
    case CUPTI_SYNC_EVENT:
        e->row.addr = CUPTI_SYNC_EVENT;
        join_event(&e->row, e->parameters[0]);
        break;
    default:
        e->row.addr = CUPTI_SYNC_CONTEXT;
        e->row.obj2 = context_of(e);
    }
    iot_writer->put(&e->row, 0);
}

static void put_wait(struct ended *e)
{
    e->row.result = iot_stream_named(e->call, e->parameters[0], e->per_thread);
    e->row.addr = said_of(e->row.result);
    join_event(&e->row, e->parameters[1]);
    iot_writer->put(&e->row, 0);
}

/* What is known from now on is so whether or not it is recorded. */
static void put_record(struct ended *e, int is_open)
{
    int64_t stream = iot_stream_named(e->call, e->parameters[1], e->per_thread);
    e->row.obj2 = (uint32_t)(stream + 1);
    e->row.addr = said_of(stream);
    iot_handles_set(events, e->parameters[0],
                    (uint64_t)e->call->correlation << STREAM_BITS | e->row.obj2);
    if (is_open)
        iot_writer->put(&e->row, 0);
}

static const uint16_t operations[] = {
    [COPY] = IOT_OP_GPU_LAUNCH,  [LAUNCH] = IOT_OP_GPU_LAUNCH,       [KERNEL] = IOT_OP_GPU_LAUNCH,
    [SYNC] = IOT_OP_GPU_SYNC,    [RECORD] = IOT_OP_GPU_EVENT_RECORD, [WAIT] = IOT_OP_GPU_EVENT_WAIT,
    [CAPTURE] = IOT_OP_GPU_CALL, [CAPTURED] = IOT_OP_GPU_CALL,       [STREAM] = IOT_OP_GPU_CALL,
    [CALL] = IOT_OP_GPU_CALL,
};

static void put_done(struct ended *e, int is_open)
{
    switch ((enum what)e->known->what) {
    case RECORD:
        put_record(e, is_open);
        return;
    case COPY:
        if (is_open)
            put_copies(e);
        return;
    case SYNC:
        if (is_open)
            put_sync(e);
        return;
    case WAIT:
        if (is_open)
            put_wait(e);
        return;
    default:
        if (is_open)
            iot_writer->put(&e->row, 0);
    }
}

/* What failed, and what only became part of a graph, is a call and nothing else. */
static void put_call(struct ended *e)
{
    e->row.op = IOT_OP_GPU_CALL;
    iot_writer->put(&e->row, 0);
}

static int per_thread(const struct known *k)
{
    return strstr(k->name, "_pts") || strstr(k->name, "_ptd");
}

static void returned(const struct known *k, const struct cupti_call *call, struct iot_gpu_call *own)
{
    struct ended e = {
        .known = k,
        .call = call,
        .parameters = call->parameters,
        .per_thread = per_thread(k),
        .row = {.t0 = own->t0, .offset = call->correlation, .op = operations[k->what]}};
    int is_open = own->t0 != 0, failed = call->result && *(const int *)call->result != 0;
    if (k->what == FORGET)
        return;
    if (is_open) {
        e.row.t1 = iot_writer->now();
        e.row.obj = plain_name(k->name);
    }
    int captures = own->captures != 0;
    if (!failed && k->what == STREAM)
        iot_stream_made(call, k->argument);
    if (!failed && k->what == CAPTURE)
        own->captures++;
    else if (k->what == CAPTURED && captures)
        own->captures--;
    if (!failed && !captures)
        put_done(&e, is_open);
    else if (is_open)
        put_call(&e);
}

/* A runtime's call is never inside another. So one of which the return was not seen is over. What
 * is destroyed is forgotten before it is: when the call returns, another may have its handle. */
static void entered(uint32_t domain, uint32_t id, const struct cupti_call *call,
                    struct iot_gpu_call *own, enum what what)
{
    if (domain == CUPTI_DOMAIN_DRIVER && own->domain) {
        note_nested(call->correlation, own->correlation);
        return;
    }
    if (what == FORGET)
        iot_handles_set(events, *(const uint64_t *)call->parameters, 0);
    own->domain = domain;
    own->id = id;
    own->correlation = call->correlation;
    int is_open = iot_writer->is_open();
    follow_window(call->correlation, !is_open);
    own->t0 = is_open ? iot_writer->now() : 0;
}

void iot_calls_callback(uint32_t domain, uint32_t id, const void *data)
{
    if (domain == CUPTI_DOMAIN_RESOURCE) {
        const struct cupti_resource *r = data;
        if (id == CUPTI_RESOURCE_STREAM_CREATED)
            iot_stream_created(r);
        else if (id == CUPTI_RESOURCE_STREAM_DESTROY_STARTING)
            iot_stream_destroyed(r);
        return;
    }
    const struct known *k = find(domain, id);
    struct iot_gpu_call *own = k ? iot_writer->call() : NULL;
    const struct cupti_call *call = data;
    if (!own)
        return;
    if (k->what == COPY || k->what == LAUNCH || k->what == KERNEL)
        iot_streams_meet(call, per_thread(k), own);
    if (call->site == CUPTI_SITE_ENTER) {
        entered(domain, id, call, own, k->what);
    } else if (own->domain == domain && own->id == id && own->correlation == call->correlation) {
        returned(k, call, own);
        own->domain = 0;
        iot_activity_tell();
    }
}

/* --- which are followed --- */

/* A CUPTI that is older than a call refuses it alone. */
static int follow(void *subscriber, uint32_t domain, uint32_t id, int may_lack)
{
    enum { INVALID_PARAMETER = 1 };
    int result = iot_cupti.cuptiEnableCallback(1, subscriber, domain, id);
    return may_lack && result == INVALID_PARAMETER ? 0 : result;
}

int iot_calls_follow(void *subscriber)
{
    static const struct {
        uint32_t domain, id, may_lack;
    } others[] = {
        {CUPTI_DOMAIN_RESOURCE, CUPTI_RESOURCE_STREAM_CREATED, 0},
        {CUPTI_DOMAIN_RESOURCE, CUPTI_RESOURCE_STREAM_DESTROY_STARTING, 0},
        {CUPTI_DOMAIN_STATE, CUPTI_STATE_FATAL_ERROR, 1},
    };
    int result = 0;
    for (size_t k = 0; k < sizeof others / sizeof *others && !result; k++)
        result = follow(subscriber, others[k].domain, others[k].id, others[k].may_lack != 0);
    for (uint32_t domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_RUNTIME; domain++)
        for (uint32_t id = 0; id < IDS && !result; id++)
            if (known[domain - 1][id].name &&
                (known[domain - 1][id].what != KERNEL || iot_writer->kernels))
                result = follow(subscriber, domain, id, 1);
    return result;
}
