#include "tests/cuda/standin_gpu.h"

#include <cupti.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/cuda/standin.h"

enum { MEMORIES = 4096, DEFAULT_STREAM = 7 };

/* No mutex of libc: a recorder would take it for one of the program's. */
static int locked;
int gpu_moves_nothing;
_Thread_local struct gpu_times gpu_last;
static struct gpu_stream defaults[GPU_DEVICES] = {
    {.number = DEFAULT_STREAM, .context = 1, .next = &defaults[1]},
    {.number = DEFAULT_STREAM, .context = 2},
};
static struct gpu_stream *streams = defaults;

static void take(void)
{
    while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void give(void)
{
    __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

uint64_t gpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct gpu_stream *gpu_stream_default(uint32_t context)
{
    return &defaults[context - 1];
}

struct gpu_stream *gpu_stream_new(uint32_t context, enum gpu_stream_kind kind)
{
    static uint32_t number = DEFAULT_STREAM + 6;
    struct gpu_stream *s = calloc(1, sizeof *s);
    take();
    if (s) {
        s->number = number++;
        s->context = context;
        s->kind = kind;
        s->next = streams;
        streams = s;
    }
    give();
    return s;
}

/* --- memory --- */

static struct {
    const char *at;
    size_t bytes;
    enum gpu_memory kind;
} memories[MEMORIES];

void *gpu_memory_new(enum gpu_memory kind, size_t bytes)
{
    char *memory = malloc(bytes);
    take();
    for (size_t k = 0; memory && k <= MEMORIES; k++) {
        if (k == MEMORIES)
            abort();
        if (memories[k].at)
            continue;
        memories[k].at = memory;
        memories[k].bytes = bytes;
        memories[k].kind = kind;
        break;
    }
    give();
    return memory;
}

void gpu_memory_free(void *memory)
{
    take();
    for (size_t k = 0; memory && k < MEMORIES; k++)
        if (memories[k].at == memory)
            memories[k].at = NULL;
    give();
    free(memory);
}

static enum gpu_memory kind_of(const char *memory)
{
    for (size_t k = 0; k < MEMORIES; k++)
        if (memories[k].at && memory >= memories[k].at &&
            memory < memories[k].at + memories[k].bytes)
            return memories[k].kind;
    return GPU_PAGEABLE;
}

enum gpu_memory gpu_memory_kind(const void *memory)
{
    take();
    enum gpu_memory kind = kind_of(memory);
    give();
    return kind;
}

/* --- what runs --- */

/* What was asked for and has not moved, in that order. */
static struct gpu_op *pending;
static size_t n_pending, pending_room;

static void put_off(const struct gpu_op *op)
{
    if (n_pending == pending_room) {
        pending_room = 2 * pending_room + 64;
        if (!(pending = realloc(pending, pending_room * sizeof *pending)))
            abort();
    }
    pending[n_pending++] = *op;
}

static void move(const struct gpu_op *op)
{
    for (size_t row = 0; row < op->height && op->what != GPU_KERNEL; row++) {
        char *to = (char *)op->to + row * op->to_pitch;
        if (op->what == GPU_SET)
            memset(to, op->value, op->width);
        else
            memmove(to, (const char *)op->from + row * op->from_pitch, op->width);
    }
}

static void move_all(void)
{
    for (size_t k = 0; k < n_pending; k++)
        move(&pending[k]);
    n_pending = 0;
}

static int on_device(enum gpu_memory kind)
{
    return kind == GPU_DEVICE || kind == GPU_MANAGED;
}

static uint64_t duration(const struct gpu_op *op, enum gpu_memory from, enum gpu_memory to)
{
    uint64_t rate = GPU_DEVICE_RATE;
    if (op->what == GPU_KERNEL)
        return op->kernel_ns;
    if (op->what == GPU_COPY && !(on_device(from) && on_device(to)))
        rate = from == GPU_PAGEABLE || to == GPU_PAGEABLE ? GPU_PAGEABLE_RATE : GPU_PINNED_RATE;
    return GPU_FIXED_NS + op->width * op->height * 1000 / rate;
}

static void report_copy(const struct gpu_op *op, enum gpu_memory from, enum gpu_memory to,
                        const struct gpu_stream *s, uint64_t start, uint64_t end,
                        uint32_t correlation)
{
    CUpti_ActivityMemcpy6 r = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY};
    r.copyKind = on_device(from) && on_device(to) ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD
                 : on_device(to)                  ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
                 : on_device(from)                ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
                                                  : CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
    r.srcKind = (uint8_t)from;
    r.dstKind = (uint8_t)to;
    r.flags = op->asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
    r.bytes = op->width * op->height;
    r.start = start;
    r.end = end;
    r.contextId = s->context;
    r.deviceId = s->context - 1;
    r.streamId = s->number;
    r.correlationId = correlation;
    r.copyCount = 1;
    standin_record(&r, sizeof r);
}

static void report(const struct gpu_op *op, enum gpu_memory from, enum gpu_memory to,
                   const struct gpu_stream *s, uint64_t start, uint64_t end, uint32_t correlation)
{
    if (op->what == GPU_COPY) {
        report_copy(op, from, to, s, start, end, correlation);
    } else if (op->what == GPU_SET) {
        CUpti_ActivityMemset4 r = {.kind = CUPTI_ACTIVITY_KIND_MEMSET};
        r.contextId = s->context;
        r.deviceId = s->context - 1;
        r.value = (uint32_t)op->value;
        r.bytes = op->width * op->height;
        r.start = start;
        r.end = end;
        r.streamId = s->number;
        r.correlationId = correlation;
        r.memoryKind = (uint16_t)to;
        standin_record(&r, sizeof r);
    } else {
        CUpti_ActivityKernel10 r = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
        r.contextId = s->context;
        r.deviceId = s->context - 1;
        r.start = start;
        r.end = end;
        r.streamId = s->number;
        r.correlationId = correlation;
        r.name = "spin(long long)";
        standin_record(&r, sizeof r);
    }
}

/* A call waits for a copy of pageable memory, but for its tail, and for one that is not
 * asynchronous. */
static uint64_t returns_at(const struct gpu_op *op, enum gpu_memory from, enum gpu_memory to,
                           uint64_t start, uint64_t end)
{
    if (op->what != GPU_COPY || (on_device(from) && on_device(to)))
        return 0;
    if (from == GPU_PAGEABLE && op->width * op->height <= GPU_INTO_LAUNCH)
        return 0;
    if (from == GPU_PAGEABLE)
        return end - start > 2 * GPU_TAIL_NS ? end - GPU_TAIL_NS : end;
    return to == GPU_PAGEABLE || !op->asynchronous ? end : 0;
}

/* Whether one waits for the other by itself. */
static int follows(const struct gpu_stream *s, const struct gpu_stream *other)
{
    return s->context == other->context &&
           ((s->kind == GPU_DEFAULT && other->kind == GPU_BLOCKING) ||
            (s->kind == GPU_BLOCKING && other->kind == GPU_DEFAULT));
}

static void raise_to(uint64_t *ns, uint64_t to)
{
    *ns = *ns > to ? *ns : to;
}

/* Whatever is asked of a default stream waits for all that its blocking ones do, */
static void gather(struct gpu_stream *s)
{
    for (const struct gpu_stream *o = streams; o; o = o->next)
        if (s->kind == GPU_DEFAULT && follows(s, o)) {
            raise_to(&s->wait_ns, o->last_ns);
            raise_to(&s->wait_ns, o->wait_ns);
        }
}

/* and what is asked of those afterwards waits for it. */
static void spread(const struct gpu_stream *s)
{
    for (struct gpu_stream *o = streams; o; o = o->next)
        if (s->kind == GPU_DEFAULT && follows(s, o)) {
            raise_to(&o->wait_ns, s->last_ns);
            raise_to(&o->wait_ns, s->wait_ns);
        }
}

static uint64_t reached(const struct gpu_stream *s)
{
    return s->last_ns > s->wait_ns ? s->last_ns : s->wait_ns;
}

uint64_t gpu_mark(struct gpu_stream *s)
{
    take();
    gather(s);
    spread(s);
    uint64_t ns = reached(s);
    give();
    return ns;
}

void gpu_hold(struct gpu_stream *s, uint64_t until_ns)
{
    take();
    gather(s);
    raise_to(&s->wait_ns, until_ns);
    spread(s);
    give();
}

uint64_t gpu_add(struct gpu_stream *s, const struct gpu_op *op, uint32_t correlation)
{
    take();
    if (s->capture) {
        if (s->capture->n == sizeof s->capture->ops / sizeof *s->capture->ops)
            abort();
        s->capture->ops[s->capture->n++] = *op;
        give();
        return 0;
    }
    gather(s);
    uint64_t ready = gpu_now() + GPU_LAUNCH_NS, start = reached(s) + GPU_GAP_NS;
    raise_to(&start, ready);
    enum gpu_memory from = op->what == GPU_COPY ? kind_of(op->from) : GPU_DEVICE;
    enum gpu_memory to = op->what == GPU_KERNEL ? GPU_DEVICE : kind_of(op->to);
    uint64_t end = s->last_ns = start + duration(op, from, to);
    spread(s);
    if (!gpu_moves_nothing)
        put_off(op);
    give();
    gpu_last = (struct gpu_times){ready, start, end};
    report(op, from, to, s, start, end, correlation);
    return returns_at(op, from, to, start, end);
}

uint64_t gpu_end(struct gpu_stream *s)
{
    take();
    gather(s);
    uint64_t end = reached(s);
    give();
    return end;
}

uint64_t gpu_end_of_context(uint32_t context)
{
    uint64_t end = 0;
    take();
    for (const struct gpu_stream *s = streams; s; s = s->next)
        if (s->context == context)
            raise_to(&end, reached(s));
    give();
    return end;
}

/* It does not sleep: that is a call that a recorder would see. */
void gpu_wait(uint64_t until_ns)
{
    take();
    move_all();
    give();
    while (gpu_now() < until_ns)
        sched_yield();
}
