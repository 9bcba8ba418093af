/* What ran on the GPU: CUPTI's records, from buffers that it asks us for and gives back full. */
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cupti/streams.h"
#include "format/ops.h"

enum {
    BUFFER_BYTES = 2 << 20,
    BUFFERS = 64,
    LANES = 1 << 12, /* a power of two; so many streams at most */
    COPY_ASYNC = 1 << 16,
    KERNEL_NAME_BYTES = 1024,
};

/* --- buffers --- */

static struct buffer {
    uint8_t *memory; /* all zero where it is free; NULL: was never needed */
    uint32_t busy;
} buffers[BUFFERS];

/* Handed out where there is none: declining can end in a crash before CUDA 12.9. What it holds then
 * is thrown away. */
static uint8_t *spare;

int iot_activity_start(void)
{
    spare = iot_cupti_pages(BUFFER_BYTES);
    return spare ? 0 : -1;
}

static uint8_t *take_buffer(void)
{
    for (int k = 0; k < BUFFERS; k++) {
        if (__atomic_exchange_n(&buffers[k].busy, 1, __ATOMIC_ACQUIRE))
            continue;
        uint8_t *memory = buffers[k].memory;
        if (!memory)
            __atomic_store_n(&buffers[k].memory, memory = iot_cupti_pages(BUFFER_BYTES),
                             __ATOMIC_RELAXED);
        if (memory)
            return memory;
        __atomic_store_n(&buffers[k].busy, 0, __ATOMIC_RELEASE);
        break;
    }
    return NULL;
}

/* All zero again, in the thread that hands it back: CUPTI would do it where the program waits. */
static void give_buffer_back(uint8_t *memory)
{
    for (int k = 0; k < BUFFERS; k++)
        if (__atomic_load_n(&buffers[k].memory, __ATOMIC_RELAXED) == memory) {
            if (iot_writer->kernel(SYS_madvise, (long)(uintptr_t)memory, BUFFER_BYTES,
                                   MADV_DONTNEED, 0, 0, 0))
                memset(memory, 0, BUFFER_BYTES);
            __atomic_store_n(&buffers[k].busy, 0, __ATOMIC_RELEASE);
        }
}

void iot_activity_requested(uint8_t **buffer, size_t *bytes, size_t *records)
{
    uint8_t *memory = iot_cupti_is_on() ? take_buffer() : NULL;
    *buffer = memory ? memory : spare;
    *bytes = BUFFER_BYTES;
    *records = 0;
}

/* --- lanes --- */

/* By context and stream. Under `busy`, as are the rows that go into them. */
static struct {
    uint32_t busy, n;
    struct {
        uint64_t key; /* 0: free */
        void *lane;   /* NULL: none could be had */
    } at[LANES];
} lanes;

static void lanes_take(void)
{
    while (__atomic_exchange_n(&lanes.busy, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void lanes_release(void)
{
    __atomic_store_n(&lanes.busy, 0, __ATOMIC_RELEASE);
}

static void *lane_of(uint32_t device, uint32_t context, uint32_t stream)
{
    uint64_t key = ((uint64_t)context << 32 | stream) + 1;
    uint32_t k = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % LANES;
    for (; lanes.at[k].key; k = (k + 1) % LANES)
        if (lanes.at[k].key == key)
            return lanes.at[k].lane;
    if (lanes.n == LANES / 2)
        return NULL;
    lanes.n++;
    lanes.at[k].key = key;
    int64_t number = iot_stream_number(context, stream);
    lanes.at[k].lane = iot_writer->stream(device, number, context, iot_stream_kind(number));
    return lanes.at[k].lane;
}

/* --- records --- */

/* What one buffer could not give. */
struct missing {
    int64_t dropped, untimed, unknown, cut, no_room;
};

/* What each record has that becomes a row. */
struct ran {
    uint64_t start, end;
    uint32_t device, context, stream, correlation;
    const char *name; /* NULL: none */
    struct iot_row row;
};

static void put(struct missing *missing, const struct ran *ran)
{
    if (!iot_calls_in_window(ran->correlation))
        return;
    if (!ran->start || ran->end < ran->start) {
        missing->untimed++;
        return;
    }
    struct iot_row row = ran->row;
    row.t0 = iot_writer->ticks_of(ran->start);
    row.t1 = iot_writer->ticks_of(ran->end);
    row.offset = iot_calls_outer(ran->correlation);
    lanes_take();
    void *lane = lane_of(ran->device, ran->context, ran->stream);
    if (lane && ran->name)
        row.obj = iot_writer->string_in(lane, ran->name, strnlen(ran->name, KERNEL_NAME_BYTES));
    missing->no_room += !lane || iot_writer->put_in(lane, &row);
    lanes_release();
}

static struct iot_row copy_row(const struct cupti_memcpy *c)
{
    return (struct iot_row){.op = IOT_OP_GPU_MEMCPY,
                            .result = c->copy_kind,
                            .bytes = (int64_t)c->bytes,
                            .addr = c->source_kind + 256u * c->target_kind +
                                    (c->flags & CUPTI_MEMCPY_ASYNC ? COPY_ASYNC : 0)};
}

static void take_memcpy(struct missing *missing, const void *record)
{
    const struct cupti_memcpy *c = record;
    put(missing, &(struct ran){c->start, c->end, c->device, c->context, c->stream, c->correlation,
                               NULL, copy_row(c)});
}

static void take_memcpy2(struct missing *missing, const void *record)
{
    const struct cupti_memcpy2 *c = record;
    struct iot_row row = copy_row(record);
    row.obj2 = 1 + (c->source_device == c->device ? c->target_device : c->source_device);
    put(missing, &(struct ran){c->start, c->end, c->device, c->context, c->stream, c->correlation,
                               NULL, row});
}

static void take_memset(struct missing *missing, const void *record)
{
    const struct cupti_memset *m = record;
    put(missing,
        &(struct ran){m->start, m->end, m->device, m->context, m->stream, m->correlation, NULL,
                      (struct iot_row){.op = IOT_OP_GPU_MEMSET, .bytes = (int64_t)m->bytes}});
}

/* NCCL's kernels move bytes between devices. A name of C++ starts with its length. */
static int is_collective(const char *name)
{
    if (name[0] == '_' && name[1] == 'Z')
        name += 2 + strspn(name + 2, "0123456789");
    return !strncmp(name, "nccl", 4);
}

static void take_kernel(struct missing *missing, const void *record)
{
    const struct cupti_kernel *k = record;
    struct iot_row row = {.op = IOT_OP_GPU_KERNEL};
    if (k->name && is_collective(k->name))
        row.op = IOT_OP_GPU_COLLECTIVE;
    put(missing, &(struct ran){k->start, k->end, k->device, k->context, k->stream, k->correlation,
                               k->name, row});
}

static const struct {
    uint32_t kind;
    size_t bytes; /* as far as we read */
    void (*take)(struct missing *missing, const void *record);
} kinds[] = {
    {CUPTI_KIND_MEMCPY, sizeof(struct cupti_memcpy), take_memcpy},
    {CUPTI_KIND_MEMCPY2, sizeof(struct cupti_memcpy2), take_memcpy2},
    {CUPTI_KIND_MEMSET, sizeof(struct cupti_memset), take_memset},
    {CUPTI_KIND_CONCURRENT_KERNEL, sizeof(struct cupti_kernel), take_kernel},
    {CUPTI_KIND_KERNEL, sizeof(struct cupti_kernel), take_kernel},
};

/* -1 if the buffer ends within the record. */
static int take(struct missing *missing, const uint8_t *record, size_t left)
{
    uint32_t kind;
    if (left < sizeof kind)
        return -1;
    memcpy(&kind, record, sizeof kind);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].kind == kind) {
            if (left < kinds[k].bytes)
                return -1;
            kinds[k].take(missing, record);
            return 0;
        }
    missing->unknown++;
    return 0;
}

static void take_all(struct missing *missing, uint8_t *buffer, size_t valid)
{
    void *record = NULL;
    int result = 0;
    while (!(result = iot_cupti.cuptiActivityGetNextRecord(buffer, valid, &record))) {
        size_t at = (size_t)((uint8_t *)record - buffer);
        if (at > valid || take(missing, record, valid - at))
            break;
    }
    missing->cut += result != CUPTI_MAX_LIMIT_REACHED;
}

/* --- what is missing --- */

/* The thread that hands a buffer over may be CUPTI's own, which has no lane: one of the program's
 * says it. */
static struct missing untold;
static uint32_t is_untold;

static void tell_later(const struct missing *missing)
{
    const int64_t *from = &missing->dropped;
    int64_t *to = &untold.dropped, all = 0;
    for (size_t k = 0; k < sizeof *missing / sizeof *from; k++) {
        __atomic_fetch_add(&to[k], from[k], __ATOMIC_RELAXED);
        all |= from[k];
    }
    if (all)
        __atomic_store_n(&is_untold, 1, __ATOMIC_RELEASE);
}

static void tell(enum iot_gpu_unseen what, int64_t *n)
{
    int64_t taken = __atomic_exchange_n(n, 0, __ATOMIC_RELAXED);
    if (taken)
        iot_cupti_note(what, "", taken);
}

void iot_activity_tell(void)
{
    if (__builtin_expect(!__atomic_load_n(&is_untold, __ATOMIC_RELAXED), 1) ||
        !__atomic_exchange_n(&is_untold, 0, __ATOMIC_ACQUIRE))
        return;
    tell(IOT_GPU_DROPPED, &untold.dropped);
    tell(IOT_GPU_UNTIMED, &untold.untimed);
    tell(IOT_GPU_UNKNOWN, &untold.unknown);
    tell(IOT_GPU_CUT, &untold.cut);
    tell(IOT_GPU_NO_ROOM, &untold.no_room);
}

void iot_activity_completed(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                            size_t valid)
{
    struct missing missing = {0};
    size_t dropped = 0;
    (void)context;
    (void)stream;
    if (valid > bytes)
        valid = bytes;
    if (!iot_cupti_is_on() || !buffer)
        return;
    if (buffer != spare && valid)
        take_all(&missing, buffer, valid);
    else
        missing.no_room += valid != 0;
    /* No lock of ours is held here. */
    if (!iot_cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped))
        missing.dropped = (int64_t)dropped;
    tell_later(&missing);
    give_buffer_back(buffer);
}
