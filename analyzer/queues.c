#include "analyzer/queues.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/lane_names.h"
#include "analyzer/queue_moves.h"
#include "analyzer/report.h"
#include "analyzer/room.h"

/* --- which lanes --- */

/* The lanes that moved a queue in one direction: one, or how many. */
struct side {
    uint32_t first;
    size_t n, loaders; /* loaders: of a DataLoader's workers */
};

static struct side side_of(const struct iot_trace *trace, const struct iot_move *moves, size_t n,
                           int puts, uint32_t *seen, uint32_t stamp)
{
    struct side side = {IOT_NO_INDEX, 0, 0};
    for (size_t k = 0; k < n; k++) {
        if ((moves[k].by > 0) != puts || seen[moves[k].lane] == stamp)
            continue;
        seen[moves[k].lane] = stamp;
        side.first = side.n++ ? side.first : moves[k].lane;
        side.loaders += trace->processes[trace->lanes[moves[k].lane].process].loader;
    }
    return side;
}

static const char *side_name(struct iot_report *r, struct side side)
{
    char text[48];
    if (side.n == 1)
        return iot_lane_name(r->trace, side.first, r->arena);
    snprintf(text, sizeof text, "%zu %s", side.n,
             side.loaders == side.n ? "DataLoader workers" : "lanes");
    return iot_arena_text(r->arena, text, strlen(text));
}

/* --- whose bytes --- */

static void add_bytes(const struct iot_report *r, uint32_t l, int read, int64_t bytes[IOT_OBJECTS])
{
    const struct iot_events *e = &r->trace->events;
    const struct iot_lane *lane = &r->trace->lanes[l];
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
        const struct iot_op_info *op = iot_op_info(e->op[i]);
        if (op->class_ == IOT_DATA && op->moves == (read ? IOT_IN : IOT_OUT) && e->bytes[i] > 0 &&
            r->of_event[i] != IOT_NO_INDEX)
            bytes[r->files[r->of_event[i]].object] += e->bytes[i];
    }
}

/* IOT_STATE if nothing of the others was moved. */
static int most_of(const int64_t bytes[IOT_OBJECTS])
{
    int most = IOT_STATE;
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (o != IOT_STATE && o != IOT_OTHER && bytes[o] > (most == IOT_STATE ? 0 : bytes[most]))
            most = o;
    return most;
}

/* Of one lane that puts in and one that takes out. A process that hands on to another one may read
 * in one lane and put in by another. */
static int object_of(const struct iot_report *r, struct side puts, struct side takes)
{
    const struct iot_lane *lanes = r->trace->lanes;
    uint32_t from = lanes[puts.first].process, to = lanes[takes.first].process;
    int64_t read[IOT_OBJECTS] = {0}, read_by_all[IOT_OBJECTS] = {0}, written[IOT_OBJECTS] = {0};
    add_bytes(r, puts.first, 1, read);
    add_bytes(r, takes.first, 0, written);
    const struct iot_process *p = &r->trace->processes[from];
    for (uint32_t l = p->first_lane; from != to && l < p->first_lane + p->n_lanes; l++)
        add_bytes(r, l, 1, read_by_all);
    int object = most_of(read);
    object = object != IOT_STATE ? object : most_of(read_by_all);
    return object != IOT_STATE ? object : most_of(written);
}

/* --- how long --- */

/* The integral of the length over [from, to]; moves are in order of time. */
static double filled(const struct iot_move *moves, size_t n, int64_t from, int64_t to)
{
    double sum = 0;
    int64_t length = 0, since = from;
    for (size_t k = 0; k < n && moves[k].t_ns < to; k++) {
        if (moves[k].t_ns > since) {
            sum += (double)length * (double)(moves[k].t_ns - since);
            since = moves[k].t_ns;
        }
        length += moves[k].by;
        length = length > 0 ? length : 0;
    }
    return sum + (double)length * (double)(to - since);
}

static void measure(struct iot_queue *q, const struct iot_move *moves, size_t n)
{
    int64_t from = moves[0].t_ns, to = moves[n - 1].t_ns, third = (to - from) / 3, length = 0;
    for (size_t k = 0; k < n; k++) {
        length += moves[k].by;
        length = length > 0 ? length : 0;
        q->max_length = length > q->max_length ? length : q->max_length;
        q->messages += moves[k].by > 0;
    }
    if (!third)
        return;
    q->mean_length = filled(moves, n, from, to) / (double)(to - from);
    double first = filled(moves, n, from, from + third) / (double)third;
    double last = (filled(moves, n, from, to) - filled(moves, n, from, to - third)) / (double)third;
    q->growing = last >= first + 1 && last >= 1.5 * first;
}

/* --- all of them --- */

struct adding {
    struct iot_report *report;
    uint32_t *seen; /* by lane: the last stamp it was met with */
    uint32_t stamp;
    size_t room;
};

static int add(void *user, const char *name, const struct iot_move *moves, size_t n)
{
    struct adding *a = user;
    struct iot_report *r = a->report;
    struct iot_queue q = {.name = name};
    struct side puts = side_of(r->trace, moves, n, 1, a->seen, ++a->stamp);
    struct side takes = side_of(r->trace, moves, n, 0, a->seen, ++a->stamp);

    if (!puts.n || !takes.n || (puts.n == 1 && takes.n == 1 && puts.first == takes.first))
        return 0;
    measure(&q, moves, n);
    if (q.messages < IOT_QUEUE_MESSAGES)
        return 0;
    q.object = (uint8_t)object_of(r, puts, takes);
    q.producer = side_name(r, puts);
    q.consumer = side_name(r, takes);
    if (IOT_ROOM(r->queues, r->n_queues + 1, a->room))
        return -1;
    if (!q.producer || !q.consumer)
        return -1;
    r->queues[r->n_queues++] = q;
    return 0;
}

static int by_length(const void *a, const void *b)
{
    const struct iot_queue *x = a, *y = b;
    if (x->mean_length != y->mean_length)
        return x->mean_length > y->mean_length ? -1 : 1;
    return strcmp(x->name, y->name);
}

int iot_report_queues(struct iot_report *r)
{
    struct adding a = {.report = r, .seen = calloc(r->trace->n_lanes + 1, sizeof *a.seen)};
    int failed = !a.seen || !r->model->stream_source
                     ? !a.seen
                     : iot_queue_moves(r->trace, r->model->stream_source, r->arena, add, &a);
    free(a.seen);
    if (!failed && r->n_queues)
        qsort(r->queues, r->n_queues, sizeof *r->queues, by_length);
    return failed ? -1 : 0;
}
