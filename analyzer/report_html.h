/* A report as one page of HTML that needs nothing else: no network, no other file (html_page.h).
 *
 * The page holds the report as JSON (report_json.h), what its pictures are drawn from (view.h) and
 * the script that draws them (html/). */
#ifndef IOT_ANALYZER_REPORT_HTML_H
#define IOT_ANALYZER_REPORT_HTML_H

#include "analyzer/reporting.h"

/* Rows of files, where it is not said how many. */
enum { IOT_HTML_FILES = 400 };

/* The page, of *n bytes; NULL without memory. The caller frees it. */
char *iot_report_html(const struct iot_reporting *reporting, size_t *n);

#endif
