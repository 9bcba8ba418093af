/* How the parts of advice.c work together. */
#ifndef IOT_ANALYZER_ADVICE_PARTS_H
#define IOT_ANALYZER_ADVICE_PARTS_H

#include <stdbool.h>

#include "analyzer/advice.h"

/* Room for what is found, with its words. */
enum { IOT_FINDING_BYTES = 256 };

/* Whether it is a share of the run that is worth a change. */
bool iot_advice_is_worth(const struct iot_report *report, int64_t ns);

/* Adds to report->advice. The texts stay where they are; a finding of NULL is no memory. Returns 0,
 * -1 without memory. */
int iot_advice_add(struct iot_report *report, int object, const char *finding, const char *action,
                   int64_t gain_ns);

/* Objects whose encoding and decoding makes the run longer. Returns 0, -1 without memory. */
int iot_advice_coding(struct iot_report *report);

#endif
