/* The figures of a run as OpenMetrics text, for a time series of runs. */
#include <inttypes.h>
#include <stddef.h>

#include "analyzer/compare_words.h"
#include "analyzer/export.h"

static const struct iot_escape label[] = {{'\\', "\\\\"}, {'"', "\\\""}, {0}};

/* Of seconds: whole nanoseconds. */
enum { NS_DIGITS = 9 };

/* By object, of its figures. */
static const struct family {
    const char *name, *unit, *help;
    size_t at;
    double per; /* one of `unit` is so many of the figure's */
} families[] = {
#define FIGURE(member) offsetof(struct iot_figures, member)
    {"service", "seconds", "Time in calls.", FIGURE(service_ns), 1e9},
    {"exposed", "seconds", "The part of service that makes the run longer.", FIGURE(exposed_ns),
     1e9},
    {"waited", "seconds", "The part of exposed in lanes that were waited for.", FIGURE(waited_ns),
     1e9},
    {"recoverable", "seconds", "How much shorter the run is if it takes no time.",
     FIGURE(recoverable_ns), 1e9},
    {"read", "bytes", "Bytes read.", FIGURE(read_bytes), 1},
    {"written", "bytes", "Bytes written.", FIGURE(write_bytes), 1},
    {"data_operations", "", "Calls that move bytes.", FIGURE(data_ops), 1},
    {"metadata_operations", "", "Calls such as open and stat.", FIGURE(metadata_ops), 1},
    {"sync_operations", "", "Calls such as fsync.", FIGURE(sync_ops), 1},
    {"small_operations", "", "Data calls of less than 4096 bytes.", FIGURE(small_ops), 1},
    {"opens", "", "Calls that open.", FIGURE(opens), 1},
#undef FIGURE
};

/* What the path is made of, after exposed I/O. */
static const struct part {
    const char *name;
    size_t at;
} parts[] = {
#define PART(member) offsetof(struct iot_path_parts, member)
    {"compute", PART(compute_ns)},
    {"io", PART(io_ns)},
    {"gpu", PART(gpu_ns)},
    {"sleep", PART(sleep_ns)},
    {"wake", PART(wake_ns)},
    {"external", PART(external_ns)},
    {"unexplained", PART(unexplained_ns)},
#undef PART
};

static void put_help(FILE *out, const char *name, const char *unit, const char *help)
{
    const char *between = *unit ? "_" : "";
    fprintf(out, "# TYPE iotrace_%s%s%s gauge\n", name, between, unit);
    if (*unit)
        fprintf(out, "# UNIT iotrace_%s%s%s %s\n", name, between, unit, unit);
    fprintf(out, "# HELP iotrace_%s%s%s %s\n", name, between, unit, help);
}

static int64_t at(const void *base, size_t offset)
{
    return *(const int64_t *)((const char *)base + offset);
}

static void put_family(FILE *out, const struct iot_report *r, const struct family *f)
{
    put_help(out, f->name, f->unit, f->help);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        int64_t value = at(&r->objects[o].figures, f->at);
        if (value != IOT_NOT_COMPUTED)
            fprintf(out, "iotrace_%s%s%s{object=\"%s\"} %.*f\n", f->name, *f->unit ? "_" : "",
                    f->unit, iot_object_names[o], f->per > 1 ? NS_DIGITS : 0,
                    (double)value / f->per);
    }
}

int iot_export_openmetrics(const struct iot_exported *x, FILE *out)
{
    const struct iot_report *r = x->report;

    fputs(
        "# TYPE iotrace_run info\n# HELP iotrace_run What was traced.\niotrace_run_info{program=\"",
        out);
    iot_write_escaped(out, x->trace->processes[0].exe, label, "\\\\");
    fputs("\",host=\"", out);
    iot_write_escaped(out, r->run.host, label, "\\\\");
    fputs("\"} 1\n", out);
    put_help(out, "wall", "seconds", "How long the run took.");
    fprintf(out, "iotrace_wall_seconds %.*f\n", NS_DIGITS, (double)x->model->wall_ns / 1e9);
    put_help(out, "path", "seconds", "What the wall time is made of.");
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        fprintf(out, "iotrace_path_seconds{part=\"%s\"} %.*f\n", parts[k].name, NS_DIGITS,
                (double)at(&x->model->path, parts[k].at) / 1e9);
    for (size_t k = 0; k < sizeof families / sizeof *families; k++)
        put_family(out, r, &families[k]);
    put_help(out, "dropped_events", "", "Events that were not recorded for want of room.");
    fprintf(out, "iotrace_dropped_events %" PRIu64 "\n# EOF\n", x->trace->dropped_events);
    return 0;
}
