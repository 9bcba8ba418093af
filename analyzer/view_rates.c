/* Bytes, calls and exposed time over the run, by object. */
#include <stdlib.h>

#include "analyzer/view.h"

struct rates {
    int64_t bytes[IOT_OBJECTS][IOT_VIEW_RATES];
    int64_t ops[IOT_OBJECTS][IOT_VIEW_RATES];
    int64_t exposed_ns[IOT_OBJECTS][IOT_VIEW_RATES];
    int64_t after[IOT_OBJECTS][3]; /* the same behind the run's end */
};

static void add_bytes(struct rates *rates, const struct iot_report *r, size_t i, int object)
{
    const struct iot_events *e = &r->trace->events;
    rates->after[object][0] +=
        iot_column_spread(rates->bytes[object], r->model->wall_ns, IOT_VIEW_RATES, e->t0_ns[i],
                          e->t1_ns[i], e->bytes[i]);
}

/* As report_rows.c counts: what sendfile and its kind move counts at both ends. */
static void add_event(struct rates *rates, const struct iot_reporting *w, size_t i)
{
    const struct iot_report *r = &w->report;
    const struct iot_events *e = &r->trace->events;
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    int64_t wall = r->model->wall_ns;
    uint32_t row = r->of_event[i];

    if (row == IOT_NO_INDEX)
        return;
    int object = r->files[row].object;
    if (op->class_ == IOT_DATA && e->bytes[i] > 0) {
        add_bytes(rates, r, i, object);
        if (op->moves == IOT_BOTH)
            add_bytes(rates, r, i, w->classes.files[e->file2[i]].object[IOT_WRITING]);
    }
    if (op->class_ == IOT_META || op->class_ == IOT_SYNC ||
        (op->class_ == IOT_DATA && e->op[i] != IOT_OP_GPU_MEMCPY_REST))
        rates->after[object][1] += iot_column_spread(rates->ops[object], wall, IOT_VIEW_RATES,
                                                     e->t1_ns[i], e->t1_ns[i], 1);
    if (r->model->exposed_ns[i])
        rates->after[object][2] +=
            iot_column_spread(rates->exposed_ns[object], wall, IOT_VIEW_RATES, e->t0_ns[i],
                              e->t1_ns[i], r->model->exposed_ns[i]);
}

static void put(struct iot_json *json, const char *key, const int64_t *values, int n)
{
    iot_json_put_array(json, key);
    for (int k = 0; k < n; k++)
        iot_json_int(json, values[k]);
    iot_json_end_array(json);
}

int iot_view_put_rates(struct iot_json *json, const struct iot_reporting *reporting)
{
    struct rates *rates = calloc(1, sizeof *rates);
    if (!rates)
        return -1;
    for (size_t i = 0; i < reporting->trace->events.n; i++)
        add_event(rates, reporting, i);
    iot_json_put_array(json, "rates");
    for (int o = 0; o < IOT_OBJECTS; o++) {
        iot_json_begin_object(json);
        put(json, "bytes", rates->bytes[o], IOT_VIEW_RATES);
        put(json, "ops", rates->ops[o], IOT_VIEW_RATES);
        put(json, "exposed_ns", rates->exposed_ns[o], IOT_VIEW_RATES);
        put(json, "after", rates->after[o], 3);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
    free(rates);
    return 0;
}
