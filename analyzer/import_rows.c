#include "analyzer/import_rows.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/gpu.h"
#include "format/mark.h"

/* A name longer than that is cut: it must fit a half beside its rows. */
enum { NAME_MAX_BYTES = 4096 };

int iot_import_rows_begin(struct iot_import *im)
{
    im->half = malloc(sizeof *im->half);
    im->string_of = calloc(im->profile->n_names + 64, sizeof *im->string_of);
    return im->half && im->string_of ? 0 : -1;
}

void iot_import_rows_end(struct iot_import *im)
{
    free(im->half);
    free(im->string_of);
}

/* --- halves --- */

static void flush(struct iot_import *im)
{
    if (!im->half->n || im->failed)
        return;
    struct iot_block_header header = {.codec = IOT_CODEC_ZSTD,
                                      .lane = im->lane,
                                      .tid = im->tid,
                                      .slot = im->lane,
                                      .epoch = ++im->epoch};
    im->failed = iot_written_append(&im->file, &im->place, header, im->half) != 0;
    im->half->n = 0;
}

void iot_import_lane(struct iot_import *im, uint32_t number, uint32_t tid)
{
    im->lane = number;
    im->tid = tid;
    im->epoch = 0;
    im->place = (struct iot_written_place){0, 0};
    im->half->n = 0;
    iot_written_header(&im->file)->lanes = number + 1;
}

int iot_import_lane_end(struct iot_import *im)
{
    flush(im);
    return im->failed ? -1 : 0;
}

int iot_import_nothing(struct iot_import *im)
{
    uint64_t start = iot_import_ns(im, im->profile->start_ns);
    uint64_t end = iot_import_ns(im, im->profile->end_ns);
    iot_import_lane(im, 0, 0);
    iot_import_row(
        im, (struct iot_row){.op = IOT_OP_START, .t0 = start, .t1 = start, .obj = UINT32_MAX});
    iot_import_row(im, (struct iot_row){.op = IOT_OP_EXIT, .t0 = end, .t1 = end});
    return iot_import_lane_end(im);
}

void iot_import_row(struct iot_import *im, struct iot_row row)
{
    if (im->half->n == IOT_HALF_ROWS)
        flush(im);
    if (!im->failed)
        iot_rows_add(im->half, row);
}

static uint32_t define(struct iot_import *im, const char *text)
{
    char cut[NAME_MAX_BYTES + 1];
    size_t n = strnlen(text, NAME_MAX_BYTES);
    memcpy(cut, text, n);
    cut[n] = '\0';
    if (im->half->n + 1 + iot_text_rows(n) > IOT_HALF_ROWS)
        flush(im);
    if (im->failed)
        return 0;
    iot_rows_string(im->half, ++im->n_strings, cut);
    return im->n_strings;
}

uint32_t iot_import_string(struct iot_import *im, const char *text)
{
    uint32_t *own = &im->string_of[im->profile->n_names]; /* the one that is not the profile's */
    if (!*own)
        *own = define(im, text);
    return *own;
}

static uint32_t string(struct iot_import *im, uint32_t name)
{
    if (!name)
        return 0;
    if (!im->string_of[name])
        im->string_of[name] = define(im, im->profile->names[name]);
    return im->string_of[name];
}

static struct iot_row row_of(const struct iot_import *im, const struct iot_item *item, unsigned op)
{
    return (struct iot_row){.op = (uint16_t)op,
                            .t0 = iot_import_ns(im, item->t0_ns),
                            .t1 = iot_import_ns(im, item->t1_ns),
                            .offset = item->correlation};
}

/* --- calls --- */

/* By name without its "cuda", "cu" or "hip". */
static const struct {
    const char *name;
    uint16_t op;
    uint8_t sync;
} calls[] = {
    {"StreamSynchronize", IOT_OP_GPU_SYNC, IOT_SYNC_STREAM},
    {"DeviceSynchronize", IOT_OP_GPU_SYNC, IOT_SYNC_CONTEXT},
    {"ThreadSynchronize", IOT_OP_GPU_SYNC, IOT_SYNC_CONTEXT},
    {"CtxSynchronize", IOT_OP_GPU_SYNC, IOT_SYNC_CONTEXT},
    {"EventSynchronize", IOT_OP_GPU_SYNC, IOT_SYNC_EVENT},
    {"Free", IOT_OP_GPU_SYNC, IOT_SYNC_CONTEXT}, /* waits for the whole device */
    {"FreeHost", IOT_OP_GPU_SYNC, IOT_SYNC_CONTEXT},
    {"MemFree", IOT_OP_GPU_SYNC, IOT_SYNC_CONTEXT},
    {"MemFree_v2", IOT_OP_GPU_SYNC, IOT_SYNC_CONTEXT},
    {"EventRecord", IOT_OP_GPU_EVENT_RECORD, 0},
    {"EventRecordWithFlags", IOT_OP_GPU_EVENT_RECORD, 0},
    {"StreamWaitEvent", IOT_OP_GPU_EVENT_WAIT, IOT_SYNC_STREAM_WAIT},
};

static const char *plain(const char *name)
{
    if (!strncmp(name, "cuda", 4))
        return name + 4;
    if (!strncmp(name, "cu", 2))
        return name + 2;
    return !strncmp(name, "hip", 3) ? name + 3 : name;
}

static uint32_t stream_number(int32_t stream)
{
    return stream < 0 ? 0 : (uint32_t)stream + 1;
}

/* `correlation` may be that of a call inside this one. */
static void put_call(struct iot_import *im, const struct iot_item *item, uint32_t correlation)
{
    const char *name = plain(im->profile->names[item->name]);
    const struct iot_item *sync = iot_import_sync(im, correlation);
    unsigned op = iot_import_has_work(im, correlation) ? IOT_OP_GPU_LAUNCH : IOT_OP_GPU_CALL;
    unsigned kind = sync ? sync->sync : 0;
    for (size_t k = 0; k < sizeof calls / sizeof *calls && op == IOT_OP_GPU_CALL; k++)
        if (!strcmp(name, calls[k].name)) {
            op = calls[k].op;
            kind = kind ? kind : calls[k].sync;
        }
    if (sync && op == IOT_OP_GPU_CALL)
        op = sync->sync == IOT_SYNC_STREAM_WAIT ? IOT_OP_GPU_EVENT_WAIT : IOT_OP_GPU_SYNC;

    struct iot_row row = row_of(im, item, op);
    row.obj = string(im, item->name);
    row.offset = correlation;
    if (op == IOT_OP_GPU_SYNC || op == IOT_OP_GPU_EVENT_WAIT)
        row.addr = kind | (sync ? (uint64_t)sync->record << 8 : 0);
    if (op == IOT_OP_GPU_SYNC && sync && kind != IOT_SYNC_CONTEXT)
        row.obj2 = stream_number(kind == IOT_SYNC_EVENT ? sync->other : sync->stream);
    if (op == IOT_OP_GPU_EVENT_WAIT) {
        row.result = sync ? sync->stream : -1;
        row.obj2 = sync ? stream_number(sync->other) : 0;
    }
    im->done->calls++;
    im->done->syncs += sync != NULL;
    im->done->unplaced -= sync != NULL;
    iot_import_row(im, row);
}

/* --- threads --- */

/* A loader's range, without the calls inside it: they are not the loader's. */
struct load {
    const struct iot_item *item;
    int64_t from_ns; /* what is not written yet */
};

static void put_load(struct iot_import *im, struct load *load, int64_t to_ns)
{
    if (!load->item)
        return;
    int64_t end = load->item->t1_ns < to_ns ? load->item->t1_ns : to_ns;
    if (end > load->from_ns || load->item->t0_ns == load->item->t1_ns) {
        struct iot_row row = row_of(im, load->item, IOT_OP_LOAD);
        row.obj = string(im, load->item->name);
        row.offset = 0;
        row.t0 = iot_import_ns(im, load->from_ns);
        row.t1 = iot_import_ns(im, end);
        iot_import_row(im, row);
    }
    if (to_ns >= load->item->t1_ns)
        load->item = NULL;
}

/* A step lasts until the next one; any other range has an end. */
static void put_mark(struct iot_import *im, const struct iot_item *item)
{
    struct iot_row row = {.op = IOT_OP_MARK,
                          .t0 = iot_import_ns(im, item->t0_ns),
                          .t1 = iot_import_ns(im, item->t0_ns),
                          .obj = string(im, item->name),
                          .result = item->kind == IOT_ITEM_STEP ? IOT_MARK_STEP : IOT_MARK_BEGIN};
    iot_import_row(im, row);
    *(item->kind == IOT_ITEM_STEP ? &im->done->steps : &im->done->ranges) += 1;
    if (item->kind == IOT_ITEM_STEP)
        return;
    row.t0 = row.t1 = iot_import_ns(im, item->t1_ns);
    row.result = IOT_MARK_END;
    row.obj = 0;
    iot_import_row(im, row);
}

/* A driver's call inside one of the runtime: the outer one takes its work. Returns how many items
 * the call is. */
static size_t take_call(struct iot_import *im, const uint32_t *items, size_t n)
{
    const struct iot_item *outer = &im->profile->items[items[0]];
    uint32_t correlation = outer->correlation;
    int works = iot_import_has_work(im, correlation);
    size_t k = 1;
    for (; k < n; k++) {
        const struct iot_item *inner = &im->profile->items[items[k]];
        if (inner->kind != IOT_ITEM_CALL || inner->t1_ns > outer->t1_ns ||
            inner->t0_ns >= outer->t1_ns)
            break;
        if (!works && iot_import_has_work(im, inner->correlation)) {
            correlation = inner->correlation;
            works = 1;
        }
    }
    put_call(im, outer, correlation);
    return k;
}

void iot_import_thread(struct iot_import *im, const uint32_t *items, size_t n)
{
    struct load load = {NULL, 0};
    for (size_t k = 0; k < n;) {
        const struct iot_item *item = &im->profile->items[items[k]];
        if (item->kind == IOT_ITEM_LOAD) {
            if (load.item && load.item->t1_ns <= item->t0_ns)
                put_load(im, &load, item->t0_ns);
            if (!load.item) { /* one inside another is part of it */
                load = (struct load){item, item->t0_ns};
                im->done->loads++;
            }
            k++;
        } else if (item->kind == IOT_ITEM_CALL) {
            put_load(im, &load, item->t0_ns);
            k += take_call(im, &items[k], n - k);
            if (load.item && item->t1_ns > load.from_ns)
                load.from_ns = item->t1_ns;
        } else {
            put_mark(im, item);
            k++;
        }
    }
    put_load(im, &load, INT64_MAX);
}

/* --- streams --- */

static const char *const collectives[] = {"nccl", "rccl"};

static int is_collective(const char *name)
{
    for (size_t k = 0; k < sizeof collectives / sizeof *collectives; k++)
        if (!strncmp(name, collectives[k], strlen(collectives[k])))
            return 1;
    return 0;
}

static void put_copy(struct iot_import *im, const struct iot_item *item)
{
    struct iot_row row = row_of(im, item, IOT_OP_GPU_MEMCPY);
    row.result = iot_copy_of_name(im->profile->names[item->name], &row.addr);
    if (!iot_import_is_sync_copy(im, item->correlation))
        row.addr |= IOT_COPY_ASYNC;
    row.bytes = item->bytes;
    im->done->copies++;
    im->done->copied_bytes += (uint64_t)item->bytes;
    iot_import_row(im, row);
}

void iot_import_stream(struct iot_import *im, const uint32_t *items, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const struct iot_item *item = &im->profile->items[items[k]];
        const char *name = im->profile->names[item->name];
        struct iot_row row;
        switch (item->kind) {
        case IOT_ITEM_MEMCPY:
            put_copy(im, item);
            break;
        case IOT_ITEM_MEMSET:
            row = row_of(im, item, IOT_OP_GPU_MEMSET);
            row.bytes = item->bytes;
            im->done->memsets++;
            iot_import_row(im, row);
            break;
        default:
            row = row_of(im, item, is_collective(name) ? IOT_OP_GPU_COLLECTIVE : IOT_OP_GPU_KERNEL);
            row.obj = string(im, item->name);
            row.obj2 = row.op == IOT_OP_GPU_COLLECTIVE ? string(im, item->group) : 0;
            im->done->kernels++;
            iot_import_row(im, row);
        }
    }
}
