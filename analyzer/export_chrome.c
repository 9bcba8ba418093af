/* A run in the Trace Event Format: chrome://tracing, Perfetto, speedscope and others read it. Times
 * there are microseconds; they are written to the nanosecond. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/export_timeline.h"
#include "analyzer/json_out.h"
#include "analyzer/progress.h"
#include "analyzer/time_columns.h"

/* The critical path and the counters are processes of their own, beyond the kernel's numbers. */
enum { PATH_PID = 1 << 22, COUNTER_PID, OTHER_TIDS = 1 << 23 };

struct writer {
    struct iot_json json;
    const struct iot_exported *x;
};

static void put_us(struct iot_json *json, const char *key, int64_t ns)
{
    iot_json_put_double(json, key, (double)ns / 1e3);
}

static uint64_t tid_of(const struct iot_exported *x, uint32_t lane)
{
    const struct iot_lane *l = &x->trace->lanes[lane];
    return l->kind == IOT_LANE_THREAD ? l->tid : OTHER_TIDS + (uint64_t)lane;
}

static void begin(struct writer *w, const char *phase, const char *name, uint64_t pid, uint64_t tid)
{
    iot_json_begin_object(&w->json);
    iot_json_put_string(&w->json, "ph", phase);
    iot_json_put_string(&w->json, "name", name);
    iot_json_put_uint(&w->json, "pid", pid);
    iot_json_put_uint(&w->json, "tid", tid);
}

static void begin_in(struct writer *w, const char *phase, const char *name, uint32_t lane)
{
    const struct iot_trace *t = w->x->trace;
    begin(w, phase, name, t->processes[t->lanes[lane].process].pid, tid_of(w->x, lane));
}

static void put_name(struct writer *w, const char *what, uint64_t pid, uint64_t tid,
                     const char *name)
{
    begin(w, "M", what, pid, tid);
    iot_json_put_object(&w->json, "args");
    iot_json_put_string(&w->json, "name", name);
    iot_json_end_object(&w->json);
    iot_json_end_object(&w->json);
}

static void put_names(struct writer *w)
{
    const struct iot_trace *t = w->x->trace;
    put_name(w, "process_name", PATH_PID, 0, "critical path");
    put_name(w, "process_name", COUNTER_PID, 0, "counters");
    for (size_t p = 0; p < t->n_processes; p++)
        put_name(w, "process_name", t->processes[p].pid, t->processes[p].pid, t->processes[p].exe);
    for (uint32_t l = 0; l < t->n_lanes; l++)
        put_name(w, "thread_name", t->processes[t->lanes[l].process].pid, tid_of(w->x, l),
                 w->x->lane_names[l]);
}

static void put_event(struct writer *w, size_t i)
{
    const struct iot_exported *x = w->x;
    const struct iot_events *e = &x->trace->events;
    unsigned object = iot_exported_object(x, i);
    const char *path = x->trace->files[e->file[i]].name;

    begin_in(w, "X", iot_op_info(e->op[i])->name, x->links.lane_of[i]);
    put_us(&w->json, "ts", e->t0_ns[i]);
    put_us(&w->json, "dur", e->t1_ns[i] - e->t0_ns[i]);
    if (object != IOT_OBJECTS)
        iot_json_put_string(&w->json, "cat", iot_object_names[object]);
    if (*path || e->bytes[i] || x->model->service_ns[i]) {
        iot_json_put_object(&w->json, "args");
        if (*path)
            iot_json_put_string(&w->json, "path", path);
        if (e->bytes[i])
            iot_json_put_int(&w->json, "bytes", e->bytes[i]);
        if (x->model->service_ns[i]) {
            iot_json_put_int(&w->json, "service_ns", x->model->service_ns[i]);
            iot_json_put_int(&w->json, "exposed_ns", x->model->exposed_ns[i]);
        }
        iot_json_end_object(&w->json);
    }
    iot_json_end_object(&w->json);
}

/* An arrow from the waker to where the other goes on: just inside its slice. */
static void put_flow(struct writer *w, size_t i)
{
    const struct iot_exported *x = w->x;
    const struct iot_events *e = &x->trace->events;
    uint32_t waker = iot_timeline_waker(x, i);
    int64_t from_ns = iot_waker_time(x->trace, x->links.waker[i]);

    if (waker == IOT_NO_INDEX || x->links.lane_of[waker] == x->links.lane_of[i])
        return;
    for (int end = 0; end < 2; end++) {
        begin_in(w, end ? "f" : "s", "wakes", x->links.lane_of[end ? i : waker]);
        iot_json_put_string(&w->json, "cat", "wakes");
        iot_json_put_uint(&w->json, "id", i);
        put_us(&w->json, "ts", end ? e->t1_ns[i] - (e->t1_ns[i] > e->t0_ns[i]) : from_ns);
        if (end)
            iot_json_put_string(&w->json, "bp", "e");
        iot_json_end_object(&w->json);
    }
}

static int put_stretch(void *user, const struct iot_stretch *s)
{
    struct writer *w = user;
    char name[160];
    iot_timeline_stretch(w->x, s, name);
    begin(w, "X", name, PATH_PID, PATH_PID);
    put_us(&w->json, "ts", s->start_ns);
    put_us(&w->json, "dur", s->end_ns - s->start_ns);
    iot_json_put_string(&w->json, "cat", iot_stretch_names[s->kind]);
    iot_json_end_object(&w->json);
    return 0;
}

static void put_rates(struct writer *w, const struct iot_timeline_rates *rates)
{
    for (int c = 0; c < IOT_TIMELINE_COLUMNS; c++) {
        begin(w, "C", "bytes a second", COUNTER_PID, 0);
        put_us(&w->json, "ts", iot_column_start(w->x->model->wall_ns, IOT_TIMELINE_COLUMNS, c));
        iot_json_put_object(&w->json, "args");
        for (int o = 0; o < IOT_OBJECTS; o++)
            iot_json_put_double(&w->json, iot_object_names[o],
                                iot_timeline_rate(w->x, rates, o, c));
        iot_json_end_object(&w->json);
        iot_json_end_object(&w->json);
    }
}

static void put_length(void *user, size_t queue, const char *name, int64_t t_ns, int64_t length)
{
    struct writer *w = user;
    (void)queue;
    begin(w, "C", name, COUNTER_PID, 0);
    put_us(&w->json, "ts", t_ns);
    iot_json_put_object(&w->json, "args");
    iot_json_put_int(&w->json, "messages", length);
    iot_json_end_object(&w->json);
    iot_json_end_object(&w->json);
}

int iot_export_chrome(const struct iot_exported *x, FILE *out)
{
    struct writer w = {.x = x};
    struct iot_timeline_rates *rates = iot_timeline_rates(x);
    if (!rates)
        return -1;
    iot_json_init(&w.json, out, IOT_JSON_COMPACT);
    iot_json_begin_object(&w.json);
    iot_json_put_string(&w.json, "displayTimeUnit", "ns");
    iot_json_put_array(&w.json, "traceEvents");
    put_names(&w);
    for (size_t i = 0; i < x->trace->events.n && !ferror(out); i++) {
        iot_progress("writing events", i, x->trace->events.n);
        put_event(&w, i);
        put_flow(&w, i);
    }
    int failed = iot_path_walk(x->model, put_stretch, &w);
    put_rates(&w, rates);
    failed |= iot_timeline_queues(x, put_length, &w);
    iot_json_end_array(&w.json);
    iot_json_end_object(&w.json);
    free(rates);
    return failed ? -1 : 0;
}
