/* Which edges can be on a longest path anywhere in an interval of lambda. */
#ifndef IOT_ANALYZER_NARROW_H
#define IOT_ANALYZER_NARROW_H

#include "analyzer/dag.h"
#include "analyzer/dominators.h"

/* An interval of lambda, and the longest paths at its two ends. */
struct iot_interval {
    struct iot_lambda left, right;
    struct iot_longest at_left, at_right;
};

/* Room for one graph and all parts of it, and what was found last. */
struct iot_narrow {
    uint8_t *kept;                /* by slot: it may be on a longest path to its node */
    struct iot_dominator *common; /* by node: the nodes that all paths kept go through */
    double *lack_left, *lack_right; /* by slot of one node: by how much it is shorter at the ends, ns */
};

/* Returns 0 or -ENOMEM; free it in either case. */
int iot_narrow_init(struct iot_narrow *n, const struct iot_dag *dag);
void iot_narrow_free(struct iot_narrow *n);

/* Fills n->kept. Of the paths that are the longest at an end, the lines of the interval are then those
 * that stay so inside of it, for some way; all their slots are kept. Nearly linear. */
void iot_narrow_run(struct iot_narrow *n, const struct iot_dag *dag, const struct iot_interval *v);

#endif
