/* The steps of a program that does not mark them: the period of the lane that carries it.
 *
 * Candidates are the kinds of its calls (anchors.h): each kind's calls, and each kind's bursts of
 * calls. A candidate counts if its intervals are much alike and it covers a good part of the run;
 * intervals may vary by a factor of three (jitter, variable work), the first fifth of them by more
 * (warming up), and what is written from open to close of a file in between (a checkpoint every
 * few steps) is taken out of them. Of those that cover most, the one with most steps is taken: one
 * that comes every few steps covers as much. Where in the cycle a step begins, cycle.h says.
 *
 * Locks tell steps only where no I/O does, and only twenty or more, over two thirds of the run: an
 * interpreter's own are taken and given at any call, and for a while they repeat by chance.
 *
 * A program that only copies or loads (loading.h) has no steps.
 */
#ifndef IOT_ANALYZER_PERIOD_H
#define IOT_ANALYZER_PERIOD_H

#include "analyzer/steps.h"

/* events: of one carrying lane, in order of time. Sets source, starts_ns, n and anchor, if the run
 * has a period. Returns 0, -1 without memory. */
int iot_period_find(struct iot_steps *steps, const struct iot_trace *trace, const uint32_t *events,
                    size_t n);

#endif
