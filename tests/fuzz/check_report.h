/* What every report must conserve, whatever the trace is; ends the program where one does not. */
#ifndef IOT_TESTS_FUZZ_CHECK_REPORT_H
#define IOT_TESTS_FUZZ_CHECK_REPORT_H

#include "analyzer/report.h"

void fuzz_check_report(const struct iot_report *report);

#endif
