/* The sentences of a report, for text and Markdown alike.
 *
 * Each is one line without a line's end, cut to IOT_SENTENCE_BYTES; what it quotes of the run
 * (paths, names of threads) may hold any bytes. Those that return bool are false, with nothing
 * written, where there is nothing to say.
 */
#ifndef IOT_ANALYZER_REPORT_WORDS_H
#define IOT_ANALYZER_REPORT_WORDS_H

#include <stdbool.h>

#include "analyzer/advice.h"
#include "analyzer/phases.h"
#include "analyzer/report.h"

enum { IOT_SENTENCE_BYTES = 4600 };

/* Below the folder the run started in, the path from there. */
const char *iot_words_from_here(const struct iot_report *report, const char *path);

/* What the run would take without I/O, and what that time is made of. */
void iot_words_composition(const struct iot_report *report, char text[IOT_SENTENCE_BYTES]);
/* Encoding and decoding: no part of the ledger, but what a faster path would not help. */
bool iot_words_serialization(const struct iot_report *report, char text[IOT_SENTENCE_BYTES]);
/* What page faults on mapped files cost: part of service and exposed, but no call's. */
bool iot_words_faults(const struct iot_report *report, char text[IOT_SENTENCE_BYTES]);

/* The phase with the steps; NULL if there are none. */
const struct iot_phase *iot_words_steady(const struct iot_report *report);
/* How many steps, how they were found, how long they take. */
void iot_words_steps(const struct iot_report *report, const struct iot_phase *steady,
                     char text[IOT_SENTENCE_BYTES]);
/* What a step does on average of an object, and the P95 of what of that is exposed. */
bool iot_words_per_step(const struct iot_phase *steady, int object, char text[IOT_SENTENCE_BYTES]);

/* Where calls are made, line by line: false from where they are of no weight. */
bool iot_words_site(const struct iot_report *report, size_t line, char text[IOT_SENTENCE_BYTES]);

/* Who waited for whom, line by line: false from where they are of no weight. */
bool iot_words_waited(const struct iot_report *report, size_t line, char text[IOT_SENTENCE_BYTES]);

/* The queues, line by line: false behind the last one that is shown. */
bool iot_words_queue(const struct iot_report *report, size_t line, char text[IOT_SENTENCE_BYTES]);
/* Why a pipe is state above, and something else as a queue. */
bool iot_words_pipes(const struct iot_report *report, char text[IOT_SENTENCE_BYTES]);

#define IOT_WORDS_NO_ADVICE "Nothing that a replay knows of wins 1 % of the run."
void iot_words_advice(const struct iot_advice *advice, char text[IOT_SENTENCE_BYTES]);
/* That an object's I/O is hidden, and may stay as it is. */
bool iot_words_leave(const struct iot_report *report, int object, char text[IOT_SENTENCE_BYTES]);

#endif
