/* What only looks like steps: loading. A lane that reads files from one end to the other, each in
 * several pieces and once, and hands nothing on meanwhile, loads them, however regular its reads
 * are; what trains or serves comes back to its files, reads a part here and there, takes one file a
 * step, or hands on what it made.
 */
#ifndef IOT_ANALYZER_LOADING_H
#define IOT_ANALYZER_LOADING_H

#include "analyzer/anchors.h"

/* Whether that is all the lane does from the first to the last of a kind's n places. Returns -1
 * without memory. */
int iot_only_loads(const struct iot_anchors *anchors, size_t kind, const uint32_t *places,
                   size_t n);

#endif
