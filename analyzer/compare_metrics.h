/* The figures that a comparison knows, by name, and how they are read from a report. */
#ifndef IOT_ANALYZER_COMPARE_METRICS_H
#define IOT_ANALYZER_COMPARE_METRICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Times differ from run to run, counts hardly. */
enum iot_metric_kind {
    IOT_METRIC_TIME,  /* ns */
    IOT_METRIC_RATE,  /* 10^9 bytes a second: varies as times do; more is better */
    IOT_METRIC_COUNT, /* of calls, files, steps */
    IOT_METRIC_BYTES,
    IOT_METRIC_RATIO, /* of counts: as near to exact as they are */
};

/* What a row of an object, or of a file, has: of each of them a metric "OBJECT.FIGURE". */
struct iot_metric_figure {
    const char *name, *key; /* in the policy, and in the report */
    enum iot_metric_kind kind;
    bool in_total, in_files; /* the report's total and its files have it, and it adds up */
    const char *of, *to;     /* of a ratio: what adds up instead */
};

extern const struct iot_metric_figure iot_metric_figures[];
extern const size_t iot_metric_n_figures;

/* Of the run as a whole. */
enum iot_metric_of_run {
    IOT_METRIC_WALL,
    IOT_METRIC_P50,
    IOT_METRIC_P95,
    IOT_METRIC_RUN
};
struct iot_metric_run {
    const char *name;
    enum iot_metric_kind kind;
};
extern const struct iot_metric_run iot_metric_runs[IOT_METRIC_RUN];

#define IOT_METRIC_TOTAL IOT_OBJECTS /* as an object: the sum of all */
#define IOT_METRIC_WHOLE (IOT_OBJECTS + 1)
#define IOT_METRIC_FILES (IOT_OBJECTS + 2)

struct iot_metric {
    int object; /* one of them, or _TOTAL, _WHOLE (figure: iot_metric_of_run) or _FILES */
    size_t figure;
    const char *glob; /* of _FILES (path_glob.h) */
};

enum iot_metric_kind iot_metric_kind(const struct iot_metric *metric);
bool iot_metric_varies(const struct iot_metric *metric); /* a time or a rate */

/* "wall", "artifact.exposed", "file:\"*.bin\".service". Cut where it does not fit. */
void iot_metric_name(const struct iot_metric *metric, char *text, size_t n);

/* Whether the report is of a version that knows the figure. */
bool iot_metric_known(const struct iot_metric *metric, const json_t *report);

/* What the report says; NAN: nothing. */
double iot_metric_value(const struct iot_metric *metric, const json_t *report);


/* "(12 more)": what --top cut from the files of a report. */
bool iot_metric_cut_row(const json_t *file);

#endif
