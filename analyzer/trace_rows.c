/* The rows of all images into events and lanes: each image by itself, by whichever worker, into
 * room that was set apart for it; then one behind the other. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/events.h"
#include "analyzer/progress.h"
#include "analyzer/room.h"
#include "analyzer/sum.h"
#include "analyzer/trace_reading.h"
#include "format/ops.h"

/* Beyond 104 days a time is not from a clock; sums of what is below do not overflow. */
static const int64_t LATEST_NS = ((int64_t)1 << 53) - 1;

/* A child of vfork. Its rows stand among its parent's. */
struct vfork_child {
    uint32_t lane; /* of the parent */
    uint32_t pid, ppid;
    uint32_t outer; /* the child whose child it is; IOT_NO_INDEX: the image itself */
};

struct vfork_row {
    uint32_t child;
    size_t order;
    struct iot_row row;
};

/* What one image comes to. */
struct rows {
    struct iot_reading *r;
    struct iot_arena *arena;
    uint32_t image;
    struct iot_lane *lanes;
    size_t n_lanes, lanes_room;
    size_t first, end;  /* its events */
    uint64_t unknown;   /* events of operations that this version does not know */
    uint32_t lane;      /* number */
    size_t first_event; /* of the lane */
    uint32_t current;   /* child of vfork that the rows are of; IOT_NO_INDEX: the image itself */
    struct vfork_child *children;
    struct vfork_row *moved;
    size_t n_children, n_moved, children_room, moved_room;
    int failed;
};

int64_t iot_reading_time(const struct iot_reading *r, uint64_t mono_ns)
{
    if (mono_ns < r->start_mono)
        return 0;
    uint64_t since = mono_ns - r->start_mono;
    return since < (uint64_t)LATEST_NS ? (int64_t)since : LATEST_NS;
}

static int64_t since_start(struct iot_reading *r, struct iot_image *image, uint64_t ticks)
{
    int64_t ns = iot_reading_time(r, iot_clock_mono(&image->clock, ticks));
    if (ns == LATEST_NS)
        iot_container_damage(&image->file, 0, "rows with times that cannot be");
    return ns;
}

/* Bytes that are summed up; of other calls the number is something else. */
static int has_bytes(unsigned op)
{
    return iot_op_info(op)->class_ == IOT_DATA || op == IOT_OP_RESIDENT;
}

/* More than an address space holds no call moves, and none less than nothing: that is the length of
 * a request that the kernel refused. Of what is resident alone there may be less than before. */
static int64_t bytes_moved(struct iot_image *image, const struct iot_row *row)
{
    static const int64_t MOST = (int64_t)1 << 48;
    int64_t bytes = row->bytes;
    if (!has_bytes(row->op))
        return bytes;
    if (bytes > MOST || bytes < -MOST) {
        iot_container_damage(&image->file, 0, "rows with bytes that cannot be");
        bytes = bytes < 0 ? -MOST : MOST;
    }
    return bytes < 0 && row->op != IOT_OP_RESIDENT ? 0 : bytes;
}

void iot_reading_bound_bytes(struct iot_reading *r)
{
    /* Some bytes are counted at both ends of a call, and figures are made of sums. */
    static const int64_t MOST_IN_ALL = IOT_SUM_MAX / 4;
    const struct iot_trace *t = r->trace;
    const struct iot_events *e = &t->events;
    int64_t sum = 0;
    for (size_t i = 0; i < e->n; i++)
        if (has_bytes(e->op[i]))
            sum = iot_sum(sum, e->bytes[i] < 0 ? -(e->bytes[i] + 1) : e->bytes[i]);
    if (sum < MOST_IN_ALL)
        return;
    int64_t most = MOST_IN_ALL / (int64_t)e->n;
    for (size_t k = 0; k < t->n_lanes; k++)
        for (size_t i = t->lanes[k].first_event, n = t->lanes[k].n_events; n--; i++) {
            if (!has_bytes(e->op[i]) || (e->bytes[i] <= most && e->bytes[i] >= -most))
                continue;
            e->bytes[i] = e->bytes[i] < 0 ? -most : most;
            iot_container_damage(&r->images[r->lane_image[k]].file, 0,
                                 "rows with more bytes in all than a run can move");
        }
}

/* In a column that is mostly 0, as its room is: a page that is not written to takes no memory. */
#define SET(place, value)                                                                          \
    do {                                                                                           \
        if ((place) != (value))                                                                    \
            (place) = (value);                                                                     \
    } while (0)

/* Numbers stay as they are until iot_reading_resolve(). */
static void append(struct iot_reading *r, uint32_t image, size_t i, const struct iot_row *row)
{
    struct iot_events *e = &r->trace->events;
    e->t0_ns[i] = since_start(r, &r->images[image], row->t0);
    e->t1_ns[i] = since_start(r, &r->images[image], row->t1);
    if (e->t1_ns[i] < e->t0_ns[i])
        e->t1_ns[i] = e->t0_ns[i];
    e->bytes[i] = bytes_moved(&r->images[image], row);
    e->result[i] = row->result;
    e->offset[i] = row->offset;
    SET(e->addr[i], row->addr);
    e->file[i] = row->obj;
    SET(e->file2[i], row->obj2);
    SET(e->arg[i], 0);
    SET(e->stack[i], row->site);
    e->fd[i] = -1;
    e->op[i] = row->op;
    SET(e->err[i], row->err);
}

int iot_reading_add_lane(struct iot_reading *r, uint32_t image, const struct iot_lane *lane)
{
    struct iot_trace *t = r->trace;
    if (IOT_ROOM(t->lanes, t->n_lanes + 1, r->lanes_room) ||
        IOT_ROOM(r->lane_image, t->n_lanes + 1, r->images_room))
        return -1;
    r->lane_image[t->n_lanes] = image;
    t->lanes[t->n_lanes++] = *lane;
    return 0;
}

/* A lane of the image. */
static struct iot_lane *add_lane(struct rows *rows, uint32_t number, uint32_t tid)
{
    if (IOT_ROOM(rows->lanes, rows->n_lanes + 1, rows->lanes_room))
        return NULL;
    rows->lanes[rows->n_lanes] = (struct iot_lane){
        .process = rows->image, .number = number, .tid = tid, .first_event = rows->end};
    return &rows->lanes[rows->n_lanes++];
}

static int add_process(struct iot_reading *r, const struct iot_process *process)
{
    struct iot_trace *t = r->trace;
    if (IOT_ROOM(t->processes, t->n_processes + 1, r->processes_room))
        return -1;
    t->processes[t->n_processes++] = *process;
    return 0;
}

static void enter_child(struct rows *rows, const struct iot_row *start)
{
    if (IOT_ROOM(rows->children, rows->n_children + 1, rows->children_room)) {
        rows->failed = 1;
        return;
    }
    rows->children[rows->n_children] = (struct vfork_child){
        rows->lane, (uint32_t)start->offset, (uint32_t)start->result, rows->current};
    rows->current = (uint32_t)rows->n_children++;
}

static void move(struct rows *rows, const struct iot_row *row)
{
    if (IOT_ROOM(rows->moved, rows->n_moved + 1, rows->moved_room)) {
        rows->failed = 1;
        return;
    }
    rows->moved[rows->n_moved] = (struct vfork_row){rows->current, rows->n_moved, *row};
    rows->n_moved++;
}

/* The row of an exec is written before the call, as nothing can be after it. If the call came back,
 * a second one takes its place. */
static void take_back_exec(struct rows *rows, const struct iot_row *failed)
{
    const struct iot_events *e = &rows->r->trace->events;
    if (rows->current == IOT_NO_INDEX) {
        size_t n = rows->end;
        if (n > rows->first_event && e->op[n - 1] == IOT_OP_EXEC && e->result[n - 1] != -1 &&
            e->t0_ns[n - 1] == since_start(rows->r, &rows->r->images[rows->image], failed->t0))
            rows->end--;
    } else if (rows->n_moved) {
        const struct vfork_row *last = &rows->moved[rows->n_moved - 1];
        if (last->child == rows->current && last->row.op == IOT_OP_EXEC &&
            last->row.t0 == failed->t0 && last->row.result != -1)
            rows->n_moved--;
    }
}

static void on_event(void *user, const struct iot_row *row)
{
    struct rows *rows = user;
    if (!iot_op_info(row->op)->class_) {
        rows->unknown++;
        return;
    }
    if (row->op == IOT_OP_START && row->obj2 == 1)
        enter_child(rows, row);
    else if (row->op == IOT_OP_VFORK && rows->current != IOT_NO_INDEX &&
             row->result == (int64_t)rows->children[rows->current].pid)
        rows->current = rows->children[rows->current].outer; /* the parent goes on */
    if (row->op == IOT_OP_EXEC && row->result == -1)
        take_back_exec(rows, row);
    if (rows->current == IOT_NO_INDEX)
        append(rows->r, rows->image, rows->end++, row);
    else if (!rows->failed)
        move(rows, row);
}

static void on_definition(void *user, const struct iot_definition *definition)
{
    struct rows *rows = user;
    if (iot_names_define(&rows->r->names[rows->image], rows->arena, definition))
        rows->failed = 1;
}

/* There is none where names are; a damaged file may say otherwise. */
static void on_no_event(void *user, const struct iot_row *row)
{
    (void)user;
    (void)row;
}

static int read_image(void *user, size_t index, unsigned worker)
{
    struct rows *rows = (struct rows *)user + index;
    struct iot_reading *r = rows->r;
    struct iot_image *image = &r->images[rows->image];
    struct iot_container *c = &image->file;
    const struct iot_row_visitor visitor = {on_event, on_definition, rows};
    const struct iot_row_visitor names_only = {on_no_event, on_definition, rows};
    struct iot_lane *lane = NULL;

    if (!worker)
        iot_progress("reading the trace files", index, r->n_images);
    if (iot_reading_room_of(r, worker))
        return -1;
    rows->arena = r->arenas[worker];
    if (!c->n_pieces || c->pieces[0].lane != 0)
        if (!add_lane(rows, 0, image->process.pid))
            return -1;
    if (iot_container_reopen(c, r->folder, image->process.source))
        return 0; /* gone since the scan: counted as damage */
    for (size_t i = 0; i < c->n_names; i++)
        iot_container_rows(c, r->readers[worker], &c->names[i], &names_only);
    for (size_t i = 0; i < c->n_pieces; i++) {
        const struct iot_piece *p = &c->pieces[i];
        if (!lane || lane->number != p->lane) {
            if (lane && lane->number && lane->first_event == rows->end)
                rows->n_lanes--; /* nothing was in it */
            if (!(lane = add_lane(rows, p->lane, p->tid)))
                return -1;
            rows->lane = p->lane;
            rows->first_event = lane->first_event;
            rows->current = IOT_NO_INDEX;
        } else if (p->slot != p[-1].slot || p->epoch != p[-1].epoch + 1) {
            rows->current = IOT_NO_INDEX; /* rows are missing: perhaps the parent's own */
        }
        iot_container_rows(c, r->readers[worker], p, &visitor);
        lane->n_events = rows->end - lane->first_event;
        if (rows->failed)
            return -1;
    }
    if (lane && lane->number && !lane->n_events)
        rows->n_lanes--;
    iot_container_close(c);
    return 0;
}

static int by_child(const void *a, const void *b)
{
    const struct vfork_row *x = a, *y = b;
    if (x->child != y->child)
        return x->child < y->child ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The pids of all images, sorted; NULL if out of memory. */
static uint32_t *pids_of_images(const struct iot_reading *r)
{
    uint32_t *pids = malloc((r->n_images + 1) * sizeof *pids);
    for (size_t i = 0; pids && i < r->n_images; i++)
        pids[i] = r->images[i].process.pid;
    if (pids)
        qsort(pids, r->n_images, sizeof *pids, by_number);
    return pids;
}

/* How the child left its parent's memory. */
static enum iot_end end_of(const struct vfork_row *rows, size_t n, uint32_t pid,
                           const uint32_t *pids, size_t n_pids)
{
    const struct iot_row *last = &rows[n - 1].row;
    if (last->op == IOT_OP_EXIT)
        return IOT_END_EXIT;
    if (last->op == IOT_OP_EXEC && last->result != -1)
        return IOT_END_EXEC;
    return bsearch(&pid, pids, n_pids, sizeof *pids, by_number) ? IOT_END_EXEC : IOT_END_OPEN;
}

/* Puts the image's events and lanes behind those that are there. */
static int place_image(struct rows *rows)
{
    struct iot_trace *t = rows->r->trace;
    size_t back = rows->first - t->events.n;
    iot_events_move(&t->events, t->events.n, rows->first, rows->end - rows->first);
    t->events.n += rows->end - rows->first;
    t->unknown_events += rows->unknown;
    for (size_t k = 0; k < rows->n_lanes; k++) {
        rows->lanes[k].first_event -= back;
        if (iot_reading_add_lane(rows->r, rows->image, &rows->lanes[k]))
            return -1;
    }
    return 0;
}

/* Each child of vfork becomes a process of one lane, with its parent's numbers and clock. */
static int place_children(struct rows *rows, const uint32_t *pids)
{
    struct iot_reading *r = rows->r;
    qsort(rows->moved, rows->n_moved, sizeof *rows->moved, by_child);
    for (size_t i = 0, end; i < rows->n_moved; i = end) {
        const struct vfork_child *child = &rows->children[rows->moved[i].child];
        for (end = i + 1; end < rows->n_moved; end++)
            if (rows->moved[end].child != rows->moved[i].child)
                break;

        struct iot_process p = r->images[rows->image].process;
        struct iot_events *events = &r->trace->events;
        struct iot_lane lane = {.process = (uint32_t)r->trace->n_processes,
                                .tid = child->pid,
                                .first_event = events->n,
                                .n_events = end - i};
        for (size_t k = i; k < end; k++)
            append(r, rows->image, events->n++, &rows->moved[k].row);
        if (iot_reading_add_lane(r, rows->image, &lane))
            return -1;

        uint64_t start = r->start_mono + (uint64_t)events->t0_ns[lane.first_event];
        p.root = p.salvaged = 0;
        p.pid = child->pid;
        p.ppid = child->ppid;
        p.end = (uint8_t)end_of(&rows->moved[i], end - i, child->pid, pids, r->n_images);
        p.start_realtime_ns += start - p.start_mono_ns;
        p.start_mono_ns = start;
        p.parent_lane_number = child->lane;
        p.dropped_events = p.older_events = 0;
        p.usage_start = p.usage_end = (struct iot_usage){0, 0, 0};
        p.called_start = p.called_end = (struct iot_called){0, 0};
        p.own_read_bytes = 0;
        if (add_process(r, &p))
            return -1;
    }
    return 0;
}

static size_t events_of(const struct iot_container *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_pieces; i++)
        n += c->pieces[i].events;
    return n;
}

static int place_all(struct iot_reading *r, struct rows *rows)
{
    int failed = 0, vforks = 0;
    for (size_t i = 0; i < r->n_images && !failed; i++) {
        failed = place_image(&rows[i]);
        vforks |= rows[i].n_moved > 0;
    }
    uint32_t *pids = !failed && vforks ? pids_of_images(r) : NULL;
    for (size_t i = 0; i < r->n_images && !failed && vforks; i++)
        if (rows[i].n_moved)
            failed = pids ? place_children(&rows[i], pids) : -1;
    free(pids);
    return failed;
}

int iot_reading_rows(struct iot_reading *r)
{
    struct rows *rows = calloc(r->n_images, sizeof *rows);
    int failed = rows ? 0 : -1;
    size_t first = 0;

    for (size_t i = 0; i < r->n_images && !failed; i++) {
        failed = add_process(r, &r->images[i].process);
        rows[i] = (struct rows){
            .r = r, .image = (uint32_t)i, .first = first, .end = first, .current = IOT_NO_INDEX};
        first += events_of(&r->images[i].file);
    }
    if (!failed)
        failed = iot_workers_run(r->n_images, read_image, rows);
    if (!failed)
        failed = place_all(r, rows);
    for (size_t i = 0; rows && i < r->n_images; i++) {
        free(rows[i].lanes);
        free(rows[i].children);
        free(rows[i].moved);
    }
    free(rows);
    return failed;
}
