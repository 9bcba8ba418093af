/* How the parts of report_json.c work together. */
#ifndef IOT_ANALYZER_REPORT_JSON_PARTS_H
#define IOT_ANALYZER_REPORT_JSON_PARTS_H

#include "analyzer/json_out.h"
#include "analyzer/report.h"

void iot_report_put_figures(struct iot_json *json, const struct iot_figures *figures);
/* The last of a row. */
void iot_report_put_reads(struct iot_json *json, const struct iot_figures *figures);
/* "total" */
void iot_report_put_total(struct iot_json *json, const struct iot_figures *total);

/* "waits" */
void iot_report_put_waits(struct iot_json *json, const struct iot_waited *waits, size_t n);

/* Members of the report, with their keys. */
void iot_report_put_phases(struct iot_json *json, const struct iot_report *report);
void iot_report_put_advice(struct iot_json *json, const struct iot_report *report);
void iot_report_put_steps(struct iot_json *json, const struct iot_report *report);
void iot_report_put_ranges(struct iot_json *json, const struct iot_report *report); /* and marks */
void iot_report_put_gpu(struct iot_json *json, const struct iot_report *report);

/* "ranks": which ranks of which jobs the run's processes are. */
void iot_report_put_ranks(struct iot_json *json, const struct iot_report_run *run);

#endif
