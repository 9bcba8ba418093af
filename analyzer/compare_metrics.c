#include "analyzer/compare_metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/objects.h"
#include "analyzer/path_glob.h"

const struct iot_metric_figure iot_metric_figures[] = {
    {"exposed", "exposed_ns", IOT_METRIC_TIME, true, true, NULL, NULL},
    {"blocking", "blocking_ns", IOT_METRIC_TIME, false, true, NULL, NULL},
    {"waited", "waited_ns", IOT_METRIC_TIME, false, true, NULL, NULL},
    {"service", "service_ns", IOT_METRIC_TIME, true, true, NULL, NULL},
    {"recoverable", "recoverable_ns", IOT_METRIC_TIME, true, false, NULL, NULL},
    {"fault", "fault_ns", IOT_METRIC_TIME, false, true, NULL, NULL},
    {"fixed_latency", "fixed_latency_ns", IOT_METRIC_TIME, false, false, NULL, NULL},
    {"bandwidth", "bandwidth_gbps", IOT_METRIC_RATE, false, false, NULL, NULL},
    {"data_ops", "data_ops", IOT_METRIC_COUNT, true, true, NULL, NULL},
    {"metadata_ops", "metadata_ops", IOT_METRIC_COUNT, true, true, NULL, NULL},
    {"sync_ops", "sync_ops", IOT_METRIC_COUNT, true, true, NULL, NULL},
    {"small_ops", "small_ops", IOT_METRIC_COUNT, false, true, NULL, NULL},
    {"opens", "opens", IOT_METRIC_COUNT, false, true, NULL, NULL},
    {"files", "files", IOT_METRIC_COUNT, false, false, NULL, NULL},
    {"bytes", "bytes", IOT_METRIC_BYTES, true, true, NULL, NULL},
    {"read_bytes", "read_bytes", IOT_METRIC_BYTES, false, true, NULL, NULL},
    {"write_bytes", "write_bytes", IOT_METRIC_BYTES, false, true, NULL, NULL},
    {"mapped_bytes", "mapped_bytes", IOT_METRIC_BYTES, false, true, NULL, NULL}, /* an estimate */
    {"read_amplification", "read_amplification", IOT_METRIC_RATIO, false, true, "placed_bytes",
     "distinct_bytes"},
};
const size_t iot_metric_n_figures = sizeof iot_metric_figures / sizeof *iot_metric_figures;

const struct iot_metric_run iot_metric_runs[] = {
    [IOT_METRIC_WALL] = {"wall", IOT_METRIC_TIME},
    [IOT_METRIC_P50] = {"step.p50", IOT_METRIC_TIME},
    [IOT_METRIC_P95] = {"step.p95", IOT_METRIC_TIME},
};

enum iot_metric_kind iot_metric_kind(const struct iot_metric *m)
{
    return m->object == IOT_METRIC_WHOLE ? iot_metric_runs[m->figure].kind
                                         : iot_metric_figures[m->figure].kind;
}

bool iot_metric_varies(const struct iot_metric *m)
{
    enum iot_metric_kind kind = iot_metric_kind(m);
    return kind == IOT_METRIC_TIME || kind == IOT_METRIC_RATE;
}

void iot_metric_name(const struct iot_metric *m, char *text, size_t n)
{
    if (m->object == IOT_METRIC_WHOLE)
        snprintf(text, n, "%s", iot_metric_runs[m->figure].name);
    else if (m->object == IOT_METRIC_FILES)
        snprintf(text, n, "file:\"%s\".%s", m->glob, iot_metric_figures[m->figure].name);
    else
        snprintf(text, n, "%s.%s",
                 m->object == IOT_METRIC_TOTAL ? "total" : iot_object_names[m->object],
                 iot_metric_figures[m->figure].name);
}

static double number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* --- the run --- */

static const json_t *steady(const json_t *report)
{
    size_t i;
    const json_t *phase;
    json_array_foreach(json_object_get(report, "phases"), i, phase)
    {
        const char *name = json_string_value(json_object_get(phase, "name"));
        if (name && !strcmp(name, "steady"))
            return phase;
    }
    return NULL;
}

static double of_run(size_t figure, const json_t *report)
{
    switch (figure) {
    case IOT_METRIC_WALL:
        return number(report, "wall_ns");
    default:
        return number(json_object_get(steady(report), "step_ns"),
                      figure == IOT_METRIC_P50 ? "p50" : "p95");
    }
}

/* --- files --- */

bool iot_metric_cut_row(const json_t *file)
{
    const char *path = json_string_value(json_object_get(file, "path"));
    size_t n = path ? strlen(path) : 0;
    return n > 6 && path[0] == '(' && !strcmp(path + n - 6, " more)");
}

static double sum_of_files(const struct iot_metric *m, const char *key, const json_t *report)
{
    double sum = (double)NAN;
    size_t i;
    const json_t *file;
    json_array_foreach(json_object_get(report, "files"), i, file)
    {
        const char *path = json_string_value(json_object_get(file, "path"));
        double value = number(file, key);
        if (path && !isnan(value) && !iot_metric_cut_row(file) && iot_path_matches(path, m->glob))
            sum = isnan(sum) ? value : sum + value;
    }
    return sum;
}

static double of_files(const struct iot_metric *m, const json_t *report)
{
    const struct iot_metric_figure *f = &iot_metric_figures[m->figure];
    return f->of ? sum_of_files(m, f->of, report) / sum_of_files(m, f->to, report)
                 : sum_of_files(m, f->key, report);
}

/* --- objects --- */

static const json_t *object_row(const json_t *report, int object)
{
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(report, "objects"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "object"));
        if (name && !strcmp(name, iot_object_names[object]))
            return row;
    }
    return NULL;
}

/* Older reports lack a key in all rows. */
bool iot_metric_known(const struct iot_metric *m, const json_t *report)
{
    return m->object == IOT_METRIC_WHOLE ||
           json_object_get(object_row(report, 0), iot_metric_figures[m->figure].key);
}

double iot_metric_value(const struct iot_metric *m, const json_t *report)
{
    const char *key = m->object == IOT_METRIC_WHOLE ? "" : iot_metric_figures[m->figure].key;
    switch (m->object) {
    case IOT_METRIC_WHOLE:
        return of_run(m->figure, report);
    case IOT_METRIC_FILES:
        return of_files(m, report);
    case IOT_METRIC_TOTAL:
        return number(json_object_get(report, "total"), key);
    default:
        return number(object_row(report, m->object), key);
    }
}
