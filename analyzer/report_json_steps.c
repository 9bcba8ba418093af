/* Phases, steps and advice as JSON. */
#include "analyzer/advice.h"
#include "analyzer/phases.h"
#include "analyzer/report_json_parts.h"

/* When each step began is listed for at most so many. */
enum { STARTS_MAX = 10000 };

static void put_times(struct iot_json *json, const char *key, const struct iot_step_times *times)
{
    iot_json_key(json, key);
    if (!times) {
        iot_json_null(json);
        return;
    }
    iot_json_begin_object(json);
    iot_json_put_int(json, "p50", times->p50_ns);
    iot_json_put_int(json, "p95", times->p95_ns);
    iot_json_end_object(json);
}

static void put_share(struct iot_json *json, const char *key, int64_t sum, size_t steps)
{
    iot_json_put_double(json, key, (double)sum / (double)steps);
}

static void put_per_step(struct iot_json *json, const struct iot_phase *phase)
{
    iot_json_key(json, "per_step");
    if (!phase->steps) {
        iot_json_null(json);
        return;
    }
    iot_json_begin_array(json);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        const struct iot_figures *f = &phase->objects[o].figures;
        int64_t n = (int64_t)phase->steps;
        iot_json_begin_object(json);
        iot_json_put_string(json, "object", iot_object_names[o]);
        put_share(json, "ops", f->data_ops + f->metadata_ops + f->sync_ops, phase->steps);
        put_share(json, "bytes", f->bytes, phase->steps);
        iot_json_put_int(json, "service_ns", (f->service_ns + n / 2) / n);
        iot_json_put_int(json, "exposed_ns", (f->exposed_ns + n / 2) / n);
        iot_json_put_int(json, "exposed_p50_ns", phase->objects[o].exposed.p50_ns);
        iot_json_put_int(json, "exposed_p95_ns", phase->objects[o].exposed.p95_ns);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

static void put_phase(struct iot_json *json, const struct iot_phase *phase)
{
    iot_json_begin_object(json);
    iot_json_put_string(json, "name", phase->name);
    iot_json_put_int(json, "start_ns", phase->start_ns);
    iot_json_put_int(json, "end_ns", phase->end_ns);
    iot_json_put_int(json, "steps", (int64_t)phase->steps);
    put_times(json, "step_ns", phase->steps > 1 ? &phase->length : NULL);
    iot_json_put_array(json, "objects");
    for (int o = 0; o < IOT_OBJECTS; o++) {
        iot_json_begin_object(json);
        iot_json_put_string(json, "object", iot_object_names[o]);
        iot_json_put_int(json, "files", (int64_t)phase->objects[o].files);
        iot_report_put_figures(json, &phase->objects[o].figures);
        iot_report_put_reads(json, &phase->objects[o].figures);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
    put_per_step(json, phase);
    put_times(json, "step_exposed", phase->steps ? &phase->exposed : NULL);
    iot_json_end_object(json);
}

void iot_report_put_phases(struct iot_json *json, const struct iot_report *r)
{
    iot_json_put_array(json, "phases");
    for (size_t p = 0; p < r->phases->n; p++)
        put_phase(json, &r->phases->phases[p]);
    iot_json_end_array(json);
}

void iot_report_put_advice(struct iot_json *json, const struct iot_report *r)
{
    iot_json_put_array(json, "advice");
    for (size_t i = 0; i < r->advice->n; i++) {
        const struct iot_advice *a = &r->advice->advice[i];
        iot_json_begin_object(json);
        iot_json_put_string(json, "object", a->object < 0 ? NULL : iot_object_names[a->object]);
        iot_json_put_string(json, "finding", a->finding);
        iot_json_put_string(json, "action", a->action);
        iot_json_put_int(json, "gain_ns", a->gain_ns);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

void iot_report_put_steps(struct iot_json *json, const struct iot_report *r)
{
    static const char *const sources[] = {NULL, "marks", "period"};
    const struct iot_steps *s = r->phases->steps;
    const struct iot_events *e = &r->trace->events;
    const char *name = s->n ? r->trace->files[e->file[s->anchor]].name : NULL;

    iot_json_put_object(json, "steps");
    iot_json_put_string(json, "source", sources[s->source]);
    iot_json_put_string(json, "op", s->n ? iot_op_info(e->op[s->anchor])->name : NULL);
    iot_json_put_string(json, "path", name && *name ? name : NULL);
    iot_json_key(json, "starts");
    if (s->n > STARTS_MAX) {
        iot_json_null(json);
    } else {
        iot_json_begin_array(json);
        for (size_t i = 0; i < s->n; i++)
            iot_json_int(json, s->starts_ns[i]);
        iot_json_end_array(json);
    }
    iot_json_end_object(json);
}

void iot_report_put_ranges(struct iot_json *json, const struct iot_report *r)
{
    iot_json_key(json, "ranges");
    iot_json_begin_array(json);
    for (size_t i = 0; i < r->n_ranges; i++) {
        const struct iot_range *range = &r->ranges[i];
        iot_json_begin_object(json);
        iot_json_put_string(json, "name", range->name);
        iot_json_put_int(json, "ranges", (int64_t)range->n);
        iot_json_put_int(json, "total_ns", range->total_ns);
        put_times(json, "range_ns", &(struct iot_step_times){range->p50_ns, range->p95_ns});
        iot_json_put_int(json, "ops", range->ops);
        iot_json_put_int(json, "bytes", range->bytes);
        iot_json_put_int(json, "service_ns", range->service_ns);
        iot_json_put_int(json, "exposed_ns", range->exposed_ns);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
    iot_json_key(json, "marks");
    iot_json_begin_array(json);
    for (size_t i = 0; i < r->n_marks; i++) {
        iot_json_begin_object(json);
        iot_json_put_string(json, "name", r->marks[i].name);
        iot_json_put_int(json, "marks", (int64_t)r->marks[i].n);
        iot_json_put_int(json, "first_ns", r->marks[i].first_ns);
        iot_json_put_int(json, "last_ns", r->marks[i].last_ns);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}
