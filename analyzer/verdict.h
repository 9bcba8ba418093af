/* The answer in one sentence. */
#ifndef IOT_ANALYZER_VERDICT_H
#define IOT_ANALYZER_VERDICT_H

#include "analyzer/report.h"

/* T(lambda) of the run, between the replays on a straight line. lambda in 0 .. 1. */
int64_t iot_curve_at(const struct iot_model *model, double lambda);

/* What I/O adds to the run, and which I/O; a sentence with its full stop. */
void iot_verdict(const struct iot_report *report, char text[256]);

#endif
