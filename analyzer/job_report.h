/* What `iotrace report` of several runs and iotrace-mpi have in common: their options, and the way
 * from a partial result to what is written. */
#ifndef IOT_ANALYZER_JOB_REPORT_H
#define IOT_ANALYZER_JOB_REPORT_H

#include "analyzer/options.h"
#include "analyzer/partial.h"

/* `format`, in the order of its words. */
enum { IOT_AS_TEXT, IOT_AS_JSON, IOT_AS_MARKDOWN, IOT_AS_HTML, IOT_AS_LEDGER };

struct iot_report_how {
    const char *out, *rules;
    size_t top; /* SIZE_MAX: not given */
    size_t events, format;
    bool partial;
};
extern const struct iot_option iot_report_options[];

/* Whether a job's report can be had so: an exit status, with an error printed if it is not
 * IOT_EXIT_OK. */
int iot_job_report_check(const struct iot_report_how *how);
struct iot_partial_how iot_job_report_how(const struct iot_report_how *how);
/* Writes the report, or the partial result, of one that is in order. The same returns; says on
 * standard error what was left out. */
int iot_job_report(const struct iot_partial *partial, const struct iot_report_how *how);

#endif
