/* The lane that carries the run: exposed time in it is blocking, in any other it is waited for.
 *
 * It is the lane with step marks while it lives (in a job of several ranks, each rank's own); else
 * the root's main thread, and while that waits for a child the main thread of that child.
 */
#ifndef IOT_ANALYZER_CARRIER_H
#define IOT_ANALYZER_CARRIER_H

#include "analyzer/links.h"

/* waited[event]: 0 in the carrying lane, 1 elsewhere. Returns 0, -1 without memory. */
int iot_carrier_mark(const struct iot_trace *trace, const struct iot_links *links, uint8_t *waited);

#endif
