/* How long calls took and how large they were. */
#include <stdlib.h>

#include "analyzer/view.h"

enum {
    PER_OCTAVE = 16, /* of the fixed histogram's 64 buckets */
    LATENCIES = IOT_LATENCY_BUCKETS / PER_OCTAVE,
    SIZES = 64
};

struct calls {
    int64_t latency[IOT_OBJECTS][LATENCIES];
    int64_t (*sizes)[IOT_DIRECTIONS][SIZES]; /* by row, of the first ones */
    size_t n_sizes;
};

/* Timed are data calls whose time is service, as for the report's percentiles. */
static void add_event(struct calls *c, const struct iot_report *r, size_t i)
{
    const struct iot_events *e = &r->trace->events;
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    uint32_t row = r->of_event[i];

    if (row == IOT_NO_INDEX || op->class_ != IOT_DATA)
        return;
    if (r->model->part[i] == IOT_PART_IO && e->op[i] != IOT_OP_GPU_MEMCPY_REST)
        c->latency[r->files[row].object]
                  [iot_latency_bucket(r->model->service_ns[i]) / PER_OCTAVE]++;
    if (row < c->n_sizes && e->bytes[i] > 0)
        c->sizes[row][op->moves == IOT_OUT ? IOT_WRITING : IOT_READING]
                [63 - __builtin_clzll((uint64_t)e->bytes[i])]++;
}

static int64_t lowest(int bucket)
{
    int64_t low = 0, high = INT64_MAX; /* buckets ascend with what is in them */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((int)iot_latency_bucket(middle) / PER_OCTAVE < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put_latency(struct iot_json *json, const struct iot_report *r, const struct calls *c)
{
    iot_json_put_array(json, "latency");
    for (int o = 0; o < IOT_OBJECTS; o++) {
        iot_json_begin_object(json);
        iot_json_put_array(json, "buckets");
        for (int b = 0; b < LATENCIES; b++) {
            if (!c->latency[o][b])
                continue;
            iot_json_begin_array(json);
            iot_json_int(json, lowest(b));
            iot_json_int(json, c->latency[o][b]);
            iot_json_end_array(json);
        }
        iot_json_end_array(json);
        iot_json_put_int(json, "opened_bytes", (int64_t)r->objects[o].figures.opened_bytes);
        iot_json_put_int(json, "resident_bytes", (int64_t)r->objects[o].figures.resident_bytes);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

static void put_sizes(struct iot_json *json, const struct calls *c)
{
    iot_json_put_array(json, "sizes");
    for (size_t row = 0; row < c->n_sizes; row++) {
        iot_json_begin_array(json);
        for (int k = 0; k < SIZES; k++) {
            int64_t reads = c->sizes[row][IOT_READING][k], writes = c->sizes[row][IOT_WRITING][k];
            if (!reads && !writes)
                continue;
            iot_json_begin_array(json);
            iot_json_int(json, k);
            iot_json_int(json, reads);
            iot_json_int(json, writes);
            iot_json_end_array(json);
        }
        iot_json_end_array(json);
    }
    iot_json_end_array(json);
}

int iot_view_put_calls(struct iot_json *json, const struct iot_reporting *reporting)
{
    const struct iot_report *r = &reporting->report;
    size_t n = r->n_files < IOT_VIEW_FILES ? r->n_files : IOT_VIEW_FILES;
    struct calls *c = calloc(1, sizeof *c);
    int failed = !c || !(c->sizes = calloc(n + 1, sizeof *c->sizes));
    if (!failed) {
        c->n_sizes = n;
        for (size_t i = 0; i < reporting->trace->events.n; i++)
            add_event(c, r, i);
        put_latency(json, r, c);
        put_sizes(json, c);
    }
    if (c)
        free(c->sizes);
    free(c);
    return failed ? -1 : 0;
}
