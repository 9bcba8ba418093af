/* A comparison as one page of HTML (html_page.h): its verdict, and of each side the run in the
 * middle by its length, one beside the other. */
#ifndef IOT_ANALYZER_COMPARE_HTML_H
#define IOT_ANALYZER_COMPARE_HTML_H

#include "analyzer/compare.h"

/* The page, of *n bytes; NULL with one line in `error`. The caller frees it. `rules` as for
 * iot_compare_add: of a trace, paths and lanes are read again here, from where it was added; of a
 * report only what it says is shown. */
char *iot_compare_html(const struct iot_comparison *c, const char *rules, size_t *n,
                       char error[512]);

#endif
