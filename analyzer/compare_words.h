/* A comparison in words, and the forms it is written in. */
#ifndef IOT_ANALYZER_COMPARE_WORDS_H
#define IOT_ANALYZER_COMPARE_WORDS_H

#include "analyzer/compare.h"
#include "analyzer/people.h"

enum { IOT_COMPARE_SENTENCE = 512 };

extern const char *const iot_compare_units[]; /* "ns", ...: by enum iot_metric_kind */

/* A figure of whatever size as an integer. */
int64_t iot_compare_integer(double value);

/* For people; a median may be NAN: "-". */
struct iot_words iot_compare_value(enum iot_metric_kind kind, double value);
struct iot_words iot_compare_change(const struct iot_compared *m);  /* "+408 ms" */
struct iot_words iot_compare_percent(const struct iot_compared *m); /* "+99 %"; "new" */

/* One or two sentences: what was found. */
void iot_compare_verdict(const struct iot_comparison *c, char text[IOT_COMPARE_SENTENCE]);

/* What to do about it, in one or two sentences. "": nothing. */
void iot_compare_next(const struct iot_comparison *c, char text[IOT_COMPARE_SENTENCE]);

/* Why a metric has its state, with the interval, and the runs that would decide. "": nothing to
 * say. */
void iot_compare_reason(const struct iot_comparison *c, const struct iot_compared *m,
                        char text[IOT_COMPARE_SENTENCE]);

/* Whether the metric has a row of its own; what is unchanged is only counted. */
bool iot_compare_tells(const struct iot_compared *m);

/* Whether the metric makes the status what it is. */
bool iot_compare_fails(const struct iot_comparison *c, const struct iot_compared *m);

/* Not gated, but changed in a way that a gate would call a change; no sums, which say it twice. */
bool iot_compare_beside(const struct iot_compared *m);

void iot_compare_write_text(const struct iot_comparison *c, FILE *out);
void iot_compare_write_json(const struct iot_comparison *c, FILE *out);
void iot_compare_write_markdown(const struct iot_comparison *c, FILE *out);
void iot_compare_write_junit(const struct iot_comparison *c, FILE *out);
void iot_compare_write_github(const struct iot_comparison *c, FILE *out);
void iot_compare_write_openmetrics(const struct iot_comparison *c, FILE *out);
void iot_compare_write_csv(const struct iot_comparison *c, FILE *out); /* all values */

#endif
