/* A report for people: 80 columns, the verdict first. */
#ifndef IOT_ANALYZER_REPORT_TEXT_H
#define IOT_ANALYZER_REPORT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyzer/report.h"

#define IOT_TEXT_COLUMNS 80

struct iot_text_style {
    bool colour;
    bool brief;         /* verdict and ledger alone */
    bool all_files;     /* every row of the report; else the few that add most */
    const char *folder; /* it is of this one, so that a command about it can be named; or NULL */
    const char *rules;  /* it was made with this file of rules; or NULL */
};

/* Colour where `out` is a terminal that has it, and NO_COLOR does not forbid it. */
bool iot_text_wants_colour(FILE *out);

/* Write errors stay in ferror(out). */
void iot_report_write_text(const struct iot_report *report, FILE *out,
                           const struct iot_text_style *style);

#endif
