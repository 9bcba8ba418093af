/* What the replay must give, worked out the slow way: every path of a small graph, one by one.
 * Knows the edges of a finished graph, but none of what iot_graph_finish() made of them. */
#ifndef IOT_TEST_BRUTE_H
#define IOT_TEST_BRUTE_H

#include "analyzer/replay.h"

struct iot_test_path {
    struct iot_line line;
    uint64_t edges; /* a bit an edge */
};

struct iot_test_paths {
    struct iot_test_path *paths;
    size_t n, cap;
};

/* All paths from start to end, sorted by line; at most 64 edges and no cycles. */
void iot_test_all_paths(struct iot_test_paths *all, const struct iot_graph *g);

/* The longest at lambda (one of them). */
struct iot_line iot_test_longest(const struct iot_test_paths *all, struct iot_lambda lambda);

/* T(1) with the io of the edges replaced. */
int64_t iot_test_t1_with(const struct iot_test_paths *all, const struct iot_graph *g,
                         const int64_t *io_ns);

/* By edge: over which share of lambda, 0 .. 1, the edge is on every longest path (least), and on
 * any longest path (most). They differ only where paths are equally long all along a piece. */
void iot_test_shares(const struct iot_test_paths *all, size_t n_edges, double *least, double *most);

/* a + lambda b against another, exactly: below 0, 0, above 0. */
int iot_test_compare(struct iot_line a, struct iot_line b, struct iot_lambda lambda);

#endif
