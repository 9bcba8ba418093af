/* Reports of runs made by hand or at random, without a replay: recoverable is what is exposed. */
#ifndef IOT_TEST_REPORT_RUNS_H
#define IOT_TEST_REPORT_RUNS_H

#include "analyzer/report.h"
#include "tests/unit/runs.h"

#define IOT_TEST_WALL INT64_C(1000000000)

/* The report of now, its classes, and the steps of the next one. */
extern struct iot_classes iot_test_classes;
extern struct iot_steps iot_test_steps;
extern struct iot_report iot_test_report;

void iot_make_report(struct iot_test_run *run, size_t top);
void iot_free_report(struct iot_test_run *run);

/* The same run for the same seed; what follows it at random depends on the seed as well. */
struct iot_test_run *iot_random_run(uint64_t seed);
uint64_t iot_below(uint64_t n);
/* Up to four steps; `starts` must outlive the report. */
void iot_random_steps(int64_t starts[5]);

#endif
