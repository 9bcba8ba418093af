/* The columns of a model's events as memory: made, added to, put in order. */
#ifndef IOT_ANALYZER_EVENTS_H
#define IOT_ANALYZER_EVENTS_H

#include "analyzer/trace.h"

/* The functions that return int: 0, or -1 if out of memory. */

/* Room for that many events; memory that is never written to is never used. */
int iot_events_init(struct iot_events *events, size_t room);
/* All columns of one event become those of another. */
void iot_events_copy(struct iot_events *events, size_t to, size_t from);
/* Gives back what was not needed. */
void iot_events_trim(struct iot_events *events);
/* n events from `from` on are `to` and following then: a lower number. */
void iot_events_move(struct iot_events *events, size_t to, size_t from, size_t n);
void iot_events_free(struct iot_events *events);

/* Doubles the n events in `which`, which ascends: the copy of each stands behind it. */
int iot_events_double(struct iot_events *events, const size_t *which, size_t n);

/* The place in its file that a data call names; -1: it names none, or where the descriptor stands.
 */
int64_t iot_event_offset(const struct iot_events *events, size_t event);

/* Puts n events from `first` on in order of t0_ns, the longest first where it is the same, then
 * as they were. */
int iot_events_sort(struct iot_events *events, size_t first, size_t n);

#endif
