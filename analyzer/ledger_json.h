/* The events of a ledger from JSON: an array of events, or an object whose only member "events" is
 * such an array. An event is an object with the fields of iot_ledger_fields, and may have a text
 * IOT_LEDGER_LABEL, which is for people and not looked at.
 *
 * Strict, so that a slip never becomes a figure: an unknown, missing or repeated field, a value
 * of another type (true, 1.0 and "1" are no integers), anything after the end, and text that is
 * not JSON are errors. Ranges are io_critical_path_ledger()'s to check.
 */
#ifndef IOT_ANALYZER_LEDGER_JSON_H
#define IOT_ANALYZER_LEDGER_JSON_H

#include <stddef.h>
#include <stdio.h>

#include "analyzer/ledger.h"

#define IOT_LEDGER_LABEL "phase"

/* No more is read: the parser's memory is up to about 100 times the text. */
#define IOT_LEDGER_JSON_MAX_BYTES (4u << 20)

/* Large enough for every message. */
#define IOT_LEDGER_JSON_MESSAGE 320

struct iot_ledger_events {
    struct io_ledger_event *events; /* to be given to free(); NULL if there are none */
    size_t n_events;
};

/* Returns 0, or -1 with *events left alone and in `message` what is wrong and where: event index
 * and field ("events[3].bytes ..."), or line, column and byte where the text is not JSON. The
 * message may quote the text, control characters and all. */
int iot_ledger_json_parse(const char *text, size_t n, struct iot_ledger_events *events,
                          char message[IOT_LEDGER_JSON_MESSAGE]);

/* The same with all of a stream. */
int iot_ledger_json_read(FILE *in, struct iot_ledger_events *events,
                         char message[IOT_LEDGER_JSON_MESSAGE]);

#endif
