/* A report in the schema iotrace-report/1. Fields and rows have a fixed order. New fields go to
 * the end of their object; the number changes when a field changes meaning. */
#ifndef IOT_ANALYZER_REPORT_JSON_H
#define IOT_ANALYZER_REPORT_JSON_H

#include <stdio.h>

#include "analyzer/report.h"

#define IOT_REPORT_SCHEMA "iotrace-report/1"

/* Returns 0, or the errno of the first write that failed. */
int iot_report_write_json(const struct iot_report *report, FILE *out);
/* The same in one line. */
int iot_report_write_json_line(const struct iot_report *report, FILE *out);

#endif
