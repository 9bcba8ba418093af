/* Which slots are on a longest path nowhere in an interval of lambda, by bounds that do not widen
 * with the length of the run. */
#ifndef IOT_ANALYZER_SAG_H
#define IOT_ANALYZER_SAG_H

#include "analyzer/dag.h"

/* A function of how far into the interval one is, t = 0 .. 1: min(left (1 - t), right t). Both are
 * in ns by lambda's denominator at that end. */
struct iot_bump {
    int64_t left, right;
};

/* Of a node: by how much more, and by how much less, it sags than a node before it; at most. */
struct iot_sag {
    struct iot_bump more, less;
};

/* Is a bump nowhere as high as a line? u, w: the bump's left and right; left, right: where the line
 * begins and ends; all >= 0. What a slot lacks of the longest path to its node is such a line, as
 * far as straight lines go; where the node sags less than that, the slot is on no longest path.
 *
 * The line less the bump is convex, with its one corner where the bump is highest: u w / (u + w),
 * at u / (u + w) of the way, where the line is at (w left + u right) / (u + w). Figures of one end
 * are all in the same measure, whatever it is. They are as good as doubles, which the margin is
 * for. */
static inline bool iot_never_longest(double u, double w, double left, double right)
{
    bool flat = u == 0 || w == 0;
    return (flat && left + right > 0) || w * left + u * right > u * w * (1 + 1e-12);
}

/* The longest paths to the last node must be shorter at both ends, in ns by the denominator. */
#define IOT_SAG_LENGTH_MAX ((int64_t)1 << 58)

/* Sets never[slot], for all slots, to whether it is on a longest path to its node nowhere inside
 * the interval; where that is not set, it may be on one. No slot is shorter than 0, and all nodes
 * lead to the last. `room` has an entry for each node. One pass over the slots. Returns at how many
 * nodes a choice is left: at all of them if lengths are above the limit. */
size_t iot_sag_never(const struct iot_dag *dag, const struct iot_interval *v, struct iot_sag *room,
                     bool *never);

#endif
