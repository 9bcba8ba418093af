/* The measured run as events for the service-time ledger (ledger.h): one for each phase and
 * each object that had I/O in it, without `other`, which the ledger does not know.
 *
 * An event stands for all calls of its object in that phase: its service is theirs (bytes at their
 * bandwidth, and as fixed latency what else they took), and its window is what was hidden. So
 * `iotrace ledger` gives the measured totals back, and a number can be changed to see what that
 * does.
 */
#ifndef IOT_ANALYZER_REPORT_LEDGER_H
#define IOT_ANALYZER_REPORT_LEDGER_H

#include <stdio.h>

#include "analyzer/report.h"

/* Returns 0, or the errno of the first write that failed. */
int iot_report_write_ledger(const struct iot_report *report, FILE *out);

#endif
