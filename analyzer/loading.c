#include "analyzer/loading.h"

#include <stdlib.h>

#include "analyzer/events.h"
#include "analyzer/op_sets.h"

enum {
    PIECES_MIN = 3, /* so many a file, on average */
    JUMP_SHARE = 8, /* once a file, and in one of so many pieces, it may jump: headers, tables */
    GAP_BYTES = 64 * 1024,
    SAID_SHARE = 2, /* a line of progress comes with less than every other piece */
};

struct progress {
    int64_t position;   /* of its descriptor */
    int64_t begin, end; /* of all reads */
    int64_t at;         /* the end of the one before */
    uint32_t reads;
};

struct load {
    const struct iot_trace *trace;
    struct progress *files;
    size_t n_files, pieces, jumps, said;
    int64_t bytes, extent;
};

static int note_read(struct load *l, size_t i)
{
    const struct iot_events *e = &l->trace->events;
    struct progress *p = &l->files[e->file[i]];
    int64_t placed = iot_event_offset(e, i), begin = placed >= 0 ? placed : p->position;
    if (!e->file[i] || l->trace->files[e->file[i]].kind != IOT_FILE_REGULAR)
        return 0;
    if (!p->reads++) {
        l->n_files++;
        p->begin = p->end = p->at = begin;
    }
    l->pieces++;
    l->jumps += begin < p->at || begin > p->at + GAP_BYTES;
    l->bytes += e->bytes[i];
    l->extent -= p->end - p->begin;
    p->begin = begin < p->begin ? begin : p->begin;
    p->at = begin + e->bytes[i];
    p->end = p->at > p->end ? p->at : p->end;
    l->extent += p->end - p->begin;
    if (placed < 0)
        p->position += e->bytes[i];
    return 1;
}

static void note_place(struct load *l, size_t i)
{
    const struct iot_events *e = &l->trace->events;
    struct progress *p = &l->files[e->file[i]];
    if (iot_op_opens(e->op[i]))
        p->position = 0;
    else if (e->op[i] == IOT_OP_LSEEK)
        p->position = e->result[i] > 0 ? e->result[i] : 0;
}

static int is_loading(struct load *l, size_t i)
{
    const struct iot_events *e = &l->trace->events;
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    switch (op->class_) {
    case IOT_DATA:
        if (op->moves == IOT_IN)
            return e->bytes[i] <= 0 || note_read(l, i);
        l->said++;
        return l->trace->files[e->file[i]].standard != 0;
    case IOT_META:
        note_place(l, i);
        return 1;
    default:
        return op->class_ != IOT_SYNC;
    }
}

/* Each byte about once, most bytes, and in their order. */
static int reads_through(const struct load *l)
{
    return l->bytes <= l->extent + l->extent / 4 && l->bytes >= l->extent / 2 &&
           l->jumps <= l->n_files + l->pieces / JUMP_SHARE;
}

int iot_only_loads(const struct iot_anchors *a, size_t kind, const uint32_t *places, size_t n)
{
    struct load load = {.trace = a->trace};
    if (a->kinds[kind].flags & IOT_ANCHOR_GIVES)
        return 0;
    load.files = calloc(a->trace->n_files + 1, sizeof *load.files);
    if (!load.files)
        return -1;
    int only = 1;
    for (size_t p = places[0]; p <= places[n - 1] && only; p++)
        only = is_loading(&load, a->events[p]);
    free(load.files);
    return only && load.n_files && load.pieces >= PIECES_MIN * load.n_files &&
           load.said * SAID_SHARE <= n && reads_through(&load);
}
