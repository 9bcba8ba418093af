/* How long queues were over the run. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/queue_moves.h"
#include "analyzer/view.h"

struct drawn {
    const struct iot_report *report;
    struct {
        int64_t filled[IOT_VIEW_RATES]; /* length times ns */
        int64_t max[IOT_VIEW_RATES];
        int done;
    } queues[IOT_VIEW_QUEUES];
};

static int put_in(const struct iot_move *moves, size_t n)
{
    int64_t messages = 0;
    for (size_t k = 0; k < n; k++)
        messages += moves[k].by > 0;
    return messages < INT32_MAX ? (int)messages : INT32_MAX;
}

/* Names need not be unique. */
static int index_of(const struct drawn *d, const char *name, int messages)
{
    const struct iot_report *r = d->report;
    for (size_t k = 0; k < r->n_queues && k < IOT_VIEW_QUEUES; k++)
        if (!d->queues[k].done && !strcmp(r->queues[k].name, name) &&
            r->queues[k].messages == messages)
            return (int)k;
    return -1;
}

static int draw(void *user, const char *name, const struct iot_move *moves, size_t n)
{
    struct drawn *d = user;
    int64_t wall = d->report->model->wall_ns, length = 0;
    int q = index_of(d, name, put_in(moves, n));
    if (q < 0)
        return 0;
    d->queues[q].done = 1;
    for (size_t k = 0; k < n; k++) {
        int64_t until = k + 1 < n ? moves[k + 1].t_ns : moves[k].t_ns;
        length += moves[k].by;
        length = length > 0 ? length : 0;
        iot_column_spread(d->queues[q].filled, wall, IOT_VIEW_RATES, moves[k].t_ns, until,
                          length * (until - moves[k].t_ns));
        if (moves[k].t_ns > wall)
            continue;
        int64_t *max = &d->queues[q].max[iot_column_of(wall, IOT_VIEW_RATES, moves[k].t_ns)];
        *max = length > *max ? length : *max;
    }
    return 0;
}

static void put(struct iot_json *json, const struct drawn *d)
{
    const struct iot_report *r = d->report;
    int64_t wall = r->model->wall_ns;
    iot_json_put_array(json, "queues");
    for (size_t q = 0; q < r->n_queues && q < IOT_VIEW_QUEUES; q++) {
        iot_json_begin_object(json);
        iot_json_put_array(json, "mean");
        for (int k = 0; k < IOT_VIEW_RATES; k++) {
            int64_t width = iot_column_start(wall, IOT_VIEW_RATES, k + 1) -
                            iot_column_start(wall, IOT_VIEW_RATES, k);
            int64_t tenths = width > 0 ? (d->queues[q].filled[k] * 10 + width / 2) / width : 0;
            iot_json_double(json, (double)tenths / 10);
        }
        iot_json_end_array(json);
        iot_json_put_array(json, "max");
        for (int k = 0; k < IOT_VIEW_RATES; k++)
            iot_json_int(json, d->queues[q].max[k]);
        iot_json_end_array(json);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

int iot_view_put_queues(struct iot_json *json, const struct iot_reporting *reporting)
{
    const struct iot_report *r = &reporting->report;
    struct drawn *d = calloc(1, sizeof *d);
    if (!d)
        return -1;
    d->report = r;
    int failed =
        r->n_queues && iot_queue_moves(r->trace, r->model->stream_source, r->arena, draw, d);
    if (!failed)
        put(json, d);
    free(d);
    return failed ? -1 : 0;
}
