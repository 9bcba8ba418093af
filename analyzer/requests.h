/* The requests of a run while its events move. */
#ifndef IOT_ANALYZER_REQUESTS_H
#define IOT_ANALYZER_REQUESTS_H

#include "analyzer/trace.h"

/* Tells where the events of a lane have gone that were n, from `first` on, once they stand where
 * the lane now says: of a lane of requests each is at its to[] already; of another what comes first
 * in it is told. */
void iot_requests_lane_moved(const struct iot_lane *lane, size_t first, size_t n, uint32_t *to);

/* Events have moved: to[i] is where event i is, IOT_NO_INDEX nowhere. Requests that are nowhere are
 * gone. */
void iot_requests_moved(struct iot_trace *trace, const uint32_t *to);

#endif
