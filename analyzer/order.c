#include "analyzer/order.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/events.h"
#include "analyzer/op_sets.h"
#include "analyzer/room.h"
#include "analyzer/table.h"

enum { NOT_KNOWN = IOT_PLACE_UNKNOWN, DEPTH_MAX = 64 };

/* One open file: what descriptors that were duplicated or inherited have in common. */
struct open_file {
    int64_t position; /* NOT_KNOWN after a seek whose end was not recorded */
    int appends;
    struct {
        int64_t begin, end; /* of the call before; NOT_KNOWN: none */
        int64_t stride;     /* 0: not two calls yet */
    } before[2];
};

struct slot {
    uint64_t key; /* process and descriptor */
    uint32_t open_file;
};

struct iot_order_walk {
    const struct iot_trace *trace;
    struct open_file *opens;
    struct slot *slots;
    struct iot_table by_key;
    size_t n_opens, opens_room, n_slots, slots_room;
    size_t recent; /* the slot that was found last; calls on one descriptor come in rows */
};

static uint64_t key_of(uint32_t process, int64_t fd)
{
    return (uint64_t)process << 32 | (uint32_t)fd;
}

static int same_key(const void *user, uint32_t index)
{
    const void *const *look = user;
    const struct iot_order_walk *w = look[0];
    return w->slots[index].key == *(const uint64_t *)look[1];
}

static struct slot *find_slot(struct iot_order_walk *w, uint64_t key)
{
    if (w->recent < w->n_slots && w->slots[w->recent].key == key)
        return &w->slots[w->recent];
    const void *look[2] = {w, &key};
    uint32_t i = iot_table_find(&w->by_key, iot_table_hash(&key, sizeof key), same_key, look);
    if (i == IOT_NO_INDEX)
        return NULL;
    w->recent = i;
    return &w->slots[i];
}

static int bind(struct iot_order_walk *w, uint64_t key, uint32_t open_file)
{
    struct slot *slot = find_slot(w, key);
    if (slot) {
        slot->open_file = open_file;
        return 0;
    }
    if (IOT_ROOM(w->slots, w->n_slots + 1, w->slots_room))
        return -1;
    w->slots[w->n_slots] = (struct slot){key, open_file};
    return iot_table_add(&w->by_key, iot_table_hash(&key, sizeof key), (uint32_t)w->n_slots++);
}

/* IOT_NO_INDEX without memory. */
static uint32_t add_open(struct iot_order_walk *w, int64_t position, int appends)
{
    if (IOT_ROOM(w->opens, w->n_opens + 1, w->opens_room))
        return IOT_NO_INDEX;
    w->opens[w->n_opens] = (struct open_file){
        position, appends, {{NOT_KNOWN, NOT_KNOWN, 0}, {NOT_KNOWN, NOT_KNOWN, 0}}};
    return (uint32_t)w->n_opens++;
}

/* The process before: the image that exec replaced, or the parent. */
static uint32_t ancestor_of(const struct iot_trace *t, uint32_t process)
{
    const struct iot_process *p = &t->processes[process];
    for (uint32_t k = process; k-- > 0;)
        if (t->processes[k].pid == p->pid)
            return k;
    for (uint32_t k = process; k-- > 0;)
        if (t->processes[k].pid == p->ppid)
            return k;
    return IOT_NO_INDEX;
}

/* Of a descriptor that was not seen opened in its process: an ancestor's, else a new one. */
static struct open_file *open_of(struct iot_order_walk *w, uint32_t process, int64_t fd)
{
    uint32_t p = process;
    for (int depth = 0; depth < DEPTH_MAX && p != IOT_NO_INDEX; depth++) {
        const struct slot *slot = find_slot(w, key_of(p, fd));
        if (slot) {
            uint32_t open_file = slot->open_file;
            return p != process && bind(w, key_of(process, fd), open_file) ? NULL
                                                                           : &w->opens[open_file];
        }
        p = ancestor_of(w->trace, p);
    }
    uint32_t made = add_open(w, NOT_KNOWN, 0);
    if (made == IOT_NO_INDEX || bind(w, key_of(process, fd), made))
        return NULL;
    return &w->opens[made];
}

static enum iot_order follow(struct open_file *o, int writes, int64_t begin, int64_t bytes)
{
    enum iot_order order = IOT_ORDER_FIRST;
    if (writes && o->appends)
        return IOT_ORDER_SEQUENTIAL;
    if (begin == NOT_KNOWN) {
        o->before[writes].begin = o->before[writes].end = NOT_KNOWN;
        return order;
    }
    if (o->before[writes].begin != NOT_KNOWN) {
        int64_t stride = begin - o->before[writes].begin;
        if (begin == o->before[writes].end)
            order = IOT_ORDER_SEQUENTIAL;
        else if (stride && stride == o->before[writes].stride)
            order = IOT_ORDER_STRIDED;
        else
            order = IOT_ORDER_RANDOM;
        o->before[writes].stride = stride;
    }
    o->before[writes].begin = begin;
    o->before[writes].end = begin + bytes;
    return order;
}

static int note_data(struct iot_order_walk *w, uint32_t process, size_t i,
                     struct iot_placed *placed)
{
    const struct iot_events *e = &w->trace->events;
    unsigned moves = iot_op_info(e->op[i])->moves;
    struct open_file *o;
    if (e->bytes[i] <= 0 || moves == IOT_BOTH)
        return 0;
    if (!(o = open_of(w, process, e->fd[i])))
        return -1;
    int64_t named = iot_event_offset(e, i);
    if (named > INT64_MAX - e->bytes[i] || o->position > INT64_MAX - e->bytes[i])
        return 0; /* beyond where a file can end */
    placed->begin = named >= 0 ? named : moves == IOT_OUT && o->appends ? NOT_KNOWN : o->position;
    placed->order = follow(o, moves == IOT_OUT, placed->begin, e->bytes[i]);
    if (named < 0 && o->position != NOT_KNOWN)
        o->position += e->bytes[i];
    return 0;
}

static int note_open(struct iot_order_walk *w, uint32_t process, size_t i)
{
    const struct iot_events *e = &w->trace->events;
    int64_t fd = e->fd[i] >= 0 ? e->fd[i] : e->result[i];
    uint32_t made = add_open(w, 0, (e->offset[i] & O_APPEND) != 0);
    return made == IOT_NO_INDEX ? -1 : bind(w, key_of(process, fd), made);
}

static int note_seek(struct iot_order_walk *w, uint32_t process, size_t i, int64_t position)
{
    struct open_file *o = open_of(w, process, w->trace->events.fd[i]);
    if (o)
        o->position = position;
    return o ? 0 : -1;
}

static int note_dup(struct iot_order_walk *w, uint32_t process, size_t i)
{
    const struct iot_events *e = &w->trace->events;
    struct open_file *o = open_of(w, process, e->fd[i]);
    return o ? bind(w, key_of(process, e->result[i]), (uint32_t)(o - w->opens)) : -1;
}

struct iot_order_walk *iot_order_walk_begin(const struct iot_trace *trace)
{
    struct iot_order_walk *w = calloc(1, sizeof *w);
    if (w)
        w->trace = trace;
    return w;
}

int iot_order_walk_next(struct iot_order_walk *w, size_t i, uint32_t process,
                        struct iot_placed *placed)
{
    const struct iot_events *e = &w->trace->events;

    *placed = (struct iot_placed){IOT_ORDER_FIRST, IOT_PLACE_UNKNOWN};
    if (iot_op_info(e->op[i])->class_ == IOT_DATA)
        return note_data(w, process, i, placed);
    if (e->err[i])
        return 0;
    if (iot_op_opens(e->op[i]) || e->op[i] == IOT_OP_FREOPEN)
        return note_open(w, process, i);
    switch (e->op[i]) {
    case IOT_OP_LSEEK:
        return note_seek(w, process, i, e->result[i]);
    case IOT_OP_FSEEK: /* from where is not recorded */
    case IOT_OP_FSETPOS:
        return note_seek(w, process, i, NOT_KNOWN);
    case IOT_OP_REWIND:
        return note_seek(w, process, i, 0);
    case IOT_OP_FCNTL: /* only one that makes a duplicate says no command */
        return e->offset[i] ? 0 : note_dup(w, process, i);
    case IOT_OP_DUP:
    case IOT_OP_DUP2:
    case IOT_OP_DUP3:
        return note_dup(w, process, i);
    default:
        return 0;
    }
}

void iot_order_walk_end(struct iot_order_walk *w)
{
    if (!w)
        return;
    iot_table_free(&w->by_key);
    free(w->opens);
    free(w->slots);
    free(w);
}
