/* What the pages of reports and of comparisons are made of: one file each that needs nothing else.
 *
 * Whatever a trace holds is data in them: names reach the page as text alone, and its policy lets
 * no script run but its own. */
#ifndef IOT_ANALYZER_HTML_PAGE_H
#define IOT_ANALYZER_HTML_PAGE_H

#include <stdio.h>

#include "analyzer/html/parts.h"
#include "analyzer/reporting.h"

/* A text while it is written. */
struct iot_memory {
    FILE *stream;
    char *text;
    size_t n;
};

/* Both return 0, or -1 if the text is not complete. It is to be freed after iot_memory_close in
 * either case. */
int iot_memory_open(struct iot_memory *memory);
int iot_memory_close(struct iot_memory *memory);

/* Up to the body and with it. `description` may hold any bytes. */
void iot_html_begin(FILE *out, const char *title, const char *description,
                    const struct iot_html_part *body, const struct iot_html_part *script);
void iot_html_end(FILE *out, const struct iot_html_part *script);

/* Text from anywhere as text of the page, for where no script runs. */
void iot_html_text(FILE *out, const char *text, size_t n);
/* JSON as an element that the script reads. */
void iot_html_data(FILE *out, const char *id, const char *json, size_t n);

/* The report, and what its pictures are drawn from (view.h), as such elements: "report" and "view"
 * in front of `suffix`. 0, or -1 without memory. */
int iot_html_run(FILE *out, const struct iot_reporting *reporting, const char *suffix);

#endif
