/* From a trace folder to a report: the steps that `report` and `run` share. */
#ifndef IOT_ANALYZER_REPORTING_H
#define IOT_ANALYZER_REPORTING_H

#include "analyzer/report.h"

struct iot_reporting {
    struct iot_trace *trace;
    struct iot_model *model;
    struct iot_rules rules;
    struct iot_steps steps;
    struct iot_classes classes;
    struct iot_report report;
};

/* What a report is made of, and how. */
struct iot_reporting_how {
    const char *rules; /* a file; NULL: none */
    size_t top;        /* rows for so many files; SIZE_MAX: for all */
    size_t events;     /* at most about so many, the newest; 0: as many as there is memory for */
};

/* Returns 0, or -1 with one line in `error`. Free in either case. */
int iot_reporting_make(struct iot_reporting *reporting, const char *folder,
                       const struct iot_reporting_how *how, char error[512]);
void iot_reporting_free(struct iot_reporting *reporting);

#endif
