#include "analyzer/export_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/queue_moves.h"
#include "analyzer/time_columns.h"

struct iot_timeline_rates *iot_timeline_rates(const struct iot_exported *x)
{
    const struct iot_events *e = &x->trace->events;
    struct iot_timeline_rates *rates = calloc(1, sizeof *rates);

    for (size_t i = 0; rates && i < e->n; i++) {
        unsigned object = iot_exported_object(x, i);
        if (object != IOT_OBJECTS && iot_op_info(e->op[i])->class_ == IOT_DATA && e->bytes[i] > 0)
            iot_column_spread(rates->bytes[object], x->model->wall_ns, IOT_TIMELINE_COLUMNS,
                              e->t0_ns[i], e->t1_ns[i], e->bytes[i]);
    }
    return rates;
}

double iot_timeline_rate(const struct iot_exported *x, const struct iot_timeline_rates *rates,
                         int object, int column)
{
    int64_t wall_ns = x->model->wall_ns;
    int64_t ns = iot_column_start(wall_ns, IOT_TIMELINE_COLUMNS, column + 1) -
                 iot_column_start(wall_ns, IOT_TIMELINE_COLUMNS, column);
    return ns > 0 ? (double)rates->bytes[object][column] / (double)ns * 1e9 : 0;
}

struct lengths {
    const struct iot_exported *x;
    iot_timeline_length *put;
    void *user;
    size_t queues;
};

/* Within so short a time only the last length counts. */
enum { LENGTHS = 10000 };

static int is_listed(const struct iot_report *r, const char *name)
{
    size_t k = 0;
    while (k < r->n_queues && strcmp(r->queues[k].name, name))
        k++;
    return k < r->n_queues;
}

static int put_lengths(void *user, const char *name, const struct iot_move *moves, size_t n)
{
    struct lengths *l = user;
    int64_t wall_ns = l->x->model->wall_ns, length = 0;
    if (!is_listed(l->x->report, name))
        return 0;
    for (size_t k = 0; k < n; k++) {
        length = length + moves[k].by > 0 ? length + moves[k].by : 0;
        if (k + 1 == n ||
            moves[k + 1].t_ns / (wall_ns / LENGTHS + 1) != moves[k].t_ns / (wall_ns / LENGTHS + 1))
            l->put(l->user, l->queues, name, moves[k].t_ns, length);
    }
    l->queues++;
    return 0;
}

int iot_timeline_queues(const struct iot_exported *x, iot_timeline_length *put, void *user)
{
    struct lengths lengths = {.x = x, .put = put, .user = user};
    return x->report->n_queues
               ? iot_queue_moves(x->trace, x->model->stream_source, x->arena, put_lengths, &lengths)
               : 0;
}

void iot_timeline_stretch(const struct iot_exported *x, const struct iot_stretch *stretch,
                          char name[160])
{
    int called = stretch->event != IOT_NO_INDEX && stretch->kind != IOT_STRETCH_COMPUTE;
    snprintf(name, 160, "%s %s %s",
             called ? iot_op_info(x->trace->events.op[stretch->event])->name
                    : iot_stretch_names[stretch->kind],
             called ? "by" : "in", x->lane_names[stretch->lane]);
}

uint32_t iot_timeline_waker(const struct iot_exported *x, size_t event)
{
    struct iot_waker w = x->links.waker[event];
    if (w.kind == IOT_WAKER_NONE)
        return IOT_NO_INDEX;
    if (w.kind != IOT_WAKER_LANE)
        return w.index;
    const struct iot_lane *lane = &x->trace->lanes[w.index];
    return lane->n_events ? (uint32_t)(lane->first_event + lane->n_events - 1) : IOT_NO_INDEX;
}
