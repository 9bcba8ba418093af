/* Through which nodes all paths to a node go: the dominators of an ordered graph, found as its edges are
 * decided on, from the first node to the last. */
#ifndef IOT_ANALYZER_DOMINATORS_H
#define IOT_ANALYZER_DOMINATORS_H

#include <stdint.h>

/* Of one node. Whoever follows `up` from it meets all its dominators; `jump` is one of them, further up,
 * such that any is reached in a logarithm of the steps. */
struct iot_dominator {
    uint32_t up, jump, depth;
};

/* Node 0, which all paths begin at. */
static inline void iot_dominators_begin(struct iot_dominator *of)
{
    of[0] = (struct iot_dominator){0, 0, 0};
}

/* Node p comes behind `up`, the last node that all paths to p go through. */
static inline void iot_dominators_add(struct iot_dominator *of, uint32_t p, uint32_t up)
{
    struct iot_dominator u = of[up], j = of[u.jump];
    of[p] = (struct iot_dominator){
        up, u.depth - j.depth == j.depth - of[j.jump].depth ? j.jump : up, u.depth + 1};
}

/* The last node that all paths to a, and all to b, go through. */
uint32_t iot_dominators_common(const struct iot_dominator *of, uint32_t a, uint32_t b);

#endif
