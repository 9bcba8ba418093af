/* How the parts of report_text.c work together. */
#ifndef IOT_ANALYZER_REPORT_TEXT_PARTS_H
#define IOT_ANALYZER_REPORT_TEXT_PARTS_H

#include "analyzer/report_text.h"

struct iot_page {
    FILE *out;
    const struct iot_report *report;
    const struct iot_text_style *style;
};

void iot_page_heading(const struct iot_page *page, const char *text);
/* Words on as many lines as they need, the second and further ones indented. A word longer than a
 * line is shortened. */
void iot_page_wrapped(const struct iot_page *page, const char *text, size_t indent);

/* A line of a list, or several. */
void iot_page_point(const struct iot_page *page, const char *text);

/* Objects and their total as a table. */
void iot_page_ledger(const struct iot_page *page, const struct iot_report_object *objects,
                     const struct iot_figures *total);

/* The sections "Steps" and "What the program marks" (if there is any) and "What to do". */
void iot_page_steps(const struct iot_page *page);
void iot_page_ranges(const struct iot_page *page);
void iot_page_advice(const struct iot_page *page);

/* The line "Next:", where the style says from which folder the report is. */
void iot_page_next(const struct iot_page *page);

#endif
