/* Where in its cycle a step begins. */
#ifndef IOT_ANALYZER_CYCLE_H
#define IOT_ANALYZER_CYCLE_H

#include "analyzer/anchors.h"

/* places[0 .. n - 1], n >= 2: one call of the kind in each step, ascending; period_ns their usual
 * distance. Sets starts_ns[0 .. n - 1].
 *
 * The step's first call is the earliest of what comes in every step before the anchor does, and
 * came before the first anchor but not after the last one. The step begins where that call is
 * entered; or, where computing comes first and ends in that call, where the step before ended.
 * Which of the two, the first step tells (is there computing before its first call?) and the last
 * one (is there computing after its last call?); where they do not agree, a call that gets
 * something begins a step, and one that gives something ends what was computed.
 *
 * Returns 0, -1 without memory. */
int iot_cycle_starts(const struct iot_anchors *anchors, size_t kind, const uint32_t *places,
                     size_t n, int64_t period_ns, int64_t *starts_ns);

#endif
