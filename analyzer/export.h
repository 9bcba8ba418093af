/* A run for other people's tools: tables for databases, timelines for viewers, figures for
 * monitors.
 *
 * Everything comes from the report and its model; nothing here computes figures of its own.
 */
#ifndef IOT_ANALYZER_EXPORT_H
#define IOT_ANALYZER_EXPORT_H

#include <stdio.h>

#include "analyzer/links.h"
#include "analyzer/reporting.h"
#include "analyzer/symbols.h"

/* A run among others: a process tree on one host. `number` tells it from all others, and is the
 * same whenever the trace is exported; it is exact in a double. */
struct iot_exported_unit {
    int64_t number;
    struct iot_identity identity; /* rank -1: none, or processes of several */
    const char *boot;             /* "" not known */
};

struct iot_exported {
    const struct iot_report *report;
    const struct iot_trace *trace;
    const struct iot_model *model;
    const struct iot_classes *classes;
    const struct iot_steps *steps;
    struct iot_links links;
    struct iot_exported_unit unit;
    const char **lane_names; /* by lane */
    /* by file: the report's row of what is written to it; IOT_NO_INDEX: none */
    uint32_t *written_row;
    uint32_t *stack_of;      /* by frame of the trace's stacks */
    struct iot_symbols *symbols;
    struct iot_arena *arena;
};

/* Returns 0, or -1 without memory; free in either case. `reporting` must outlive it. */
int iot_exported_make(struct iot_exported *x, const struct iot_reporting *reporting);
void iot_exported_free(struct iot_exported *x);

/* The object of what an event's call and time belong to, and of the other end of sendfile and its
 * kind; IOT_OBJECTS: none. */
unsigned iot_exported_object(const struct iot_exported *x, size_t event);
unsigned iot_exported_object2(const struct iot_exported *x, size_t event);
/* The report's row of that other end; IOT_NO_INDEX: none. */
uint32_t iot_exported_row2(const struct iot_exported *x, size_t event);

/* export_unit.c: sets x->unit. -1 without memory. */
int iot_exported_name_unit(struct iot_exported *x);

/* Each writes to the stream, whose errors stay in ferror; -1: out of memory. */
int iot_export_perfetto(const struct iot_exported *x, FILE *out);
int iot_export_chrome(const struct iot_exported *x, FILE *out);
int iot_export_stacks(const struct iot_exported *x, FILE *out);
int iot_export_openmetrics(const struct iot_exported *x, FILE *out);

#endif
