/* A report as Markdown (GitHub's kind, for its tables), for issues and summaries of CI. */
#ifndef IOT_ANALYZER_REPORT_MARKDOWN_H
#define IOT_ANALYZER_REPORT_MARKDOWN_H

#include <stddef.h>
#include <stdio.h>

#include "analyzer/report.h"

/* `files`: how many rows of files at most; the others are said to be left out. Write errors stay in
 * ferror(out). */
void iot_report_write_markdown(const struct iot_report *report, FILE *out, size_t files);

/* Objects and their total as a table. */
void iot_markdown_ledger(FILE *out, const struct iot_report_object *objects,
                         const struct iot_figures *total);

/* The part of it on what the program marks; nothing if there is none. */
void iot_report_markdown_ranges(const struct iot_report *report, FILE *out);

/* Text of any bytes as words within a line or a table's cell that neither Markdown nor HTML takes
 * for anything else: punctuation as character references, controls and what is not UTF-8 as \xNN.
 * Of more than `most` bytes the middle gives way to "...". */
void iot_write_markdown(FILE *out, const char *text, size_t most);

#endif
