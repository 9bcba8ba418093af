/* The functions that the CUPTI subscriber writes with (format/gpu_writer.h). */
#include "format/gpu_writer.h"

#include <sched.h>
#include <string.h>

#include "format/gpu_unseen.h"
#include "preload/gpu.h"
#include "preload/lineage.h"
#include "preload/own_threads.h"
#include "preload/process.h"
#include "preload/record.h"
#include "preload/sys.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT const struct iot_gpu_writer *iotrace_gpu_writer(void);

/* --- the clock --- */

/* CUPTI wants a clock in ns and hands its records over late, at the process's exit if there are
 * few. A rate taken over hours is not that of each second: so anchors are kept as time goes by, and
 * a record's ticks come from the two that it lies between, as a reader will go back. */
enum { ANCHORS = 1024, LOOKS = 1000, LANES = 2048 };

static struct {
    uint32_t busy;
    uint32_t n;
    uint64_t apart_ns; /* doubles when the table is full */
    struct iot_anchor kept[ANCHORS];
} anchors = {.apart_ns = 100 * 1000 * 1000};

static int anchors_take(void)
{
    return !__atomic_exchange_n(&anchors.busy, 1, __ATOMIC_ACQUIRE);
}

static void anchors_release(void)
{
    __atomic_store_n(&anchors.busy, 0, __ATOMIC_RELEASE);
}

static void thin_out(void)
{
    anchors.n /= 2;
    for (uint32_t k = 1; k < anchors.n; k++)
        anchors.kept[k] = anchors.kept[2 * k];
    anchors.apart_ns *= 2;
}

/* Who finds it busy leaves it: another will come by. */
static void keep_anchor(void)
{
    if (!anchors_take())
        return;
    struct iot_anchor now = iot_anchor_now();
    if (!anchors.n)
        anchors.kept[anchors.n++] = iot_process->file->start;
    if (now.mono_ns >= anchors.kept[anchors.n - 1].mono_ns + anchors.apart_ns) {
        if (anchors.n == ANCHORS)
            thin_out();
        anchors.kept[anchors.n++] = now;
    }
    anchors_release();
}

static uint64_t now(void)
{
    return iot_now();
}

static uint64_t mono_ns(void)
{
    uint64_t ns = iot_clock_monotonic();
    uint32_t n = __atomic_load_n(&anchors.n, __ATOMIC_RELAXED);
    if (iot_clock_kind != IOT_CLOCK_MONOTONIC &&
        (!n || n > ANCHORS || ns >= anchors.kept[n - 1].mono_ns + anchors.apart_ns))
        keep_anchor();
    return ns;
}

/* Rounded up: a reader rounds down. */
static uint64_t between(struct iot_anchor a, struct iot_anchor b, uint64_t ns)
{
    uint64_t apart = b.mono_ns - a.mono_ns;
    if (!apart)
        return a.ticks;
    unsigned __int128 rate = b.ticks - a.ticks;
    if (ns >= a.mono_ns)
        return a.ticks + (uint64_t)(((ns - a.mono_ns) * rate + apart - 1) / apart);
    return a.ticks - (uint64_t)((a.mono_ns - ns) * rate / apart);
}

static uint64_t ticks_of(uint64_t ns)
{
    if (iot_clock_kind == IOT_CLOCK_MONOTONIC)
        return ns;
    struct iot_anchor a = iot_process->file->start, b = {0, 0};
    int mine = 0;
    for (int k = 0; k < LOOKS && !(mine = anchors_take()); k++)
        sched_yield();
    if (mine) {
        uint32_t low = 0, high = anchors.n;
        while (low < high) { /* the first that is later */
            uint32_t middle = low + (high - low) / 2;
            if (anchors.kept[middle].mono_ns <= ns)
                low = middle + 1;
            else
                high = middle;
        }
        if (low)
            a = anchors.kept[low - 1];
        if (low < anchors.n)
            b = anchors.kept[low];
        if (!b.mono_ns && low > 1 &&
            anchors.kept[low - 1].mono_ns + anchors.apart_ns > iot_clock_monotonic())
            a = anchors.kept[low - 2]; /* two that are near say little about the rate */
        anchors_release();
    }
    return between(a, b.mono_ns ? b : iot_anchor_now(), ns);
}

/* --- rows --- */

static struct iot_gpu_call *call(void)
{
    struct iot_thread *t = iot_enter_always();
    return t && !t->vfork_pid ? &t->gpu : NULL;
}

static int is_open(void)
{
    return iot_enter() != NULL;
}

static uint32_t string(const char *text, size_t bytes)
{
    struct iot_thread *t = iot_enter_always();
    return t ? iot_string(t, "", 0, text, bytes) : 0;
}

static void put(const struct iot_row *row, int always)
{
    struct iot_thread *t = always ? iot_enter_always() : iot_enter();
    if (row->op == IOT_OP_GPU_UNSEEN && row->result == IOT_GPU_FOLLOWED)
        iot_lineage_of_gpus(); /* from here on there may be copies to join buffers with */
    if (t)
        iot_event(t, row);
}

/* A lane that is a stream, and its first row: that may make room like any other (in a trace that
 * keeps the newest) or be lost (on a full disk), so each filling of the lane's buffer has it. */
static struct lane {
    struct iot_thread *t;
    struct iot_row first;
} lanes[LANES];
static uint32_t n_lanes;

/* Whatever thread hands it over: its own time has nothing to do with it, so no look at that
 * (iot_event). */
static int put_row(struct iot_thread *t, const struct iot_row *event)
{
    struct iot_row *row = iot_is_here(t) ? iot_reserve(t, 1) : NULL;
    if (!row)
        return -1;
    struct iot_row copy = *event;
    copy.op = 0;
    *row = copy;
    iot_commit(t, row, event->op);
    return 0;
}

static int put_in(void *stream, const struct iot_row *event)
{
    struct lane *lane = stream;
    if (put_row(lane->t, event))
        return -1;
    if (lane->t->current->header->head == 1) /* alone there */
        put_row(lane->t, &lane->first);
    return 0;
}

/* Asked for by a thread that records nothing itself (CUPTI's own), too. */
static void *stream(int64_t device, int64_t number, uint64_t context, enum iot_stream_kind kind)
{
    int is_here = *iot_generation & IOT_GENERATION_NUMBER && !iot_process->off;
    struct iot_thread *t = n_lanes < LANES && is_here ? iot_thread_take() : NULL;
    if (!t)
        return NULL;
    iot_thread_label(t, 0);
    uint64_t start = iot_process->file->start.ticks;
    struct lane *lane = &lanes[n_lanes++];
    *lane = (struct lane){.t = t,
                          .first = {.t0 = start,
                                    .t1 = start,
                                    .result = device,
                                    .offset = number,
                                    .addr = context,
                                    .obj2 = kind,
                                    .op = IOT_OP_GPU_STREAM}};
    return put_row(t, &lane->first) ? NULL : lane;
}

static uint32_t string_in(void *stream, const char *text, size_t bytes)
{
    struct lane *lane = stream;
    return iot_is_here(lane->t) ? iot_string(lane->t, "", 0, text, bytes) : 0;
}

static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
    return iot_sys(number, a, b, c, d, e, f);
}

const struct iot_gpu_writer *iotrace_gpu_writer(void)
{
    static struct iot_gpu_writer writer = {
        .version = IOT_GPU_WRITER_VERSION,
        .now = now,
        .mono_ns = mono_ns,
        .ticks_of = ticks_of,
        .call = call,
        .is_open = is_open,
        .string = string,
        .put = put,
        .stream = stream,
        .kernel = kernel,
        .put_in = put_in,
        .string_in = string_in,
        .own_code = iot_own_code_is,
    };
    writer.kernels = iot_gpu_wanted == IOT_GPU_WANTS_KERNELS;
    /* A driver that looks into the environment by itself is not told that nothing is wanted. */
    return iot_gpu_wanted != IOT_GPU_WANTS_NOTHING && iot_enter_always() ? &writer : NULL;
}
