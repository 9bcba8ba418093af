/* The longest path through an ordered graph at one lambda. All replays end up here: those of the
 * whole run, and those of the parts of it that expose.c is left with.
 *
 * A lambda is a fraction and everything is computed in integers, so nothing is rounded: a path
 * is known by two sums, A of the bases and B of the I/O on it, and takes A + lambda * B.
 */
#ifndef IOT_ANALYZER_DAG_H
#define IOT_ANALYZER_DAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* num / den; 0 <= num, 0 < den, both at most IOT_TIME_MAX. */
struct iot_lambda {
    int64_t num, den;
};

#define IOT_LAMBDA_0 ((struct iot_lambda){0, 1})
#define IOT_LAMBDA_1 ((struct iot_lambda){1, 1})

/* A path as a function of lambda: base_ns + lambda * io_ns. */
struct iot_line {
    int64_t base_ns, io_ns;
};

/* Nodes are numbered in topological order, and node 0 has no edges into it, every other node at
 * least one. Edges ("slots") are sorted by the node they lead to, and for one node by the walk's
 * preference: those into node p are in_first[p] .. in_first[p + 1] - 1. */
struct iot_dag {
    size_t n_nodes;
    uint32_t *in_first; /* n_nodes + 1 */
    uint32_t *src;      /* by slot: a lower node */
    int64_t *base_ns, *io_ns;
};

/* The longest paths from node 0 at one lambda, by node. */
struct iot_longest {
    struct iot_line *at;
    uint32_t *slot; /* the slot that the path comes in by; not set for node 0 */
};

/* An interval of lambda, and the longest paths at its two ends. */
struct iot_interval {
    struct iot_lambda left, right;
    struct iot_longest at_left, at_right;
};

/* (a - b at lambda) times the denominator, exactly: differences are below 2^62, fractions' parts
 * at most 2^53. */
static inline __int128 iot_line_difference(struct iot_line a, struct iot_line b,
                                           struct iot_lambda lambda)
{
    return (__int128)(a.base_ns - b.base_ns) * lambda.den +
           (__int128)(a.io_ns - b.io_ns) * lambda.num;
}

/* The length of a path at lambda in ns, rounded down. */
static inline int64_t iot_line_ns(struct iot_line line, struct iot_lambda lambda)
{
    return line.base_ns + (int64_t)((__int128)line.io_ns * lambda.num / lambda.den);
}

static inline struct iot_line iot_dag_extend(const struct iot_dag *dag, uint32_t slot,
                                             const struct iot_line *at)
{
    struct iot_line line = at[dag->src[slot]];
    line.base_ns += dag->base_ns[slot];
    line.io_ns += dag->io_ns[slot];
    return line;
}

/* Fills *longest (whose arrays are the caller's, n_nodes each). Of paths as long, the one whose
 * walk back prefers the earlier slot. Linear in nodes and slots. */
void iot_dag_run(const struct iot_dag *dag, struct iot_lambda lambda,
                 const struct iot_longest *longest);

#endif
