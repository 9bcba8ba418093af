/* The answer in one sentence. */
#ifndef IOT_ANALYZER_VERDICT_H
#define IOT_ANALYZER_VERDICT_H

#include "analyzer/report.h"

/* T(lambda) of the run, between the replays on a straight line. lambda in 0 .. 1. */
int64_t iot_curve_at(const struct iot_model *model, double lambda);

/* Of the run's time, spent waiting for a CPU: from this share on the figures say as much about the
 * machine's load as about the program. */
#define IOT_BUSY_PERCENT 5

int iot_was_busy(const struct iot_report *report);

/* The object that adds most to the run; what the verdict speaks of. */
int iot_most_exposed(const struct iot_report *report);

enum { IOT_VERDICT_BYTES = 400 };

/* What I/O adds to the run, and which I/O; a sentence with its full stop, and another one where the
 * machine was so busy that the figures are inflated. */
void iot_verdict(const struct iot_report *report, char text[IOT_VERDICT_BYTES]);
/* The two apart; of the second 0 where there is none. */
void iot_verdict_on_io(const struct iot_report *report, char text[IOT_VERDICT_BYTES]);
int iot_verdict_on_load(const struct iot_report *report, char text[IOT_VERDICT_BYTES]);

#endif
