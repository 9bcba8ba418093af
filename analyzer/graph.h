/* A run as a max-plus graph: what the critical path and the replay are computed on.
 *
 * A node is a moment of a lane. Its time is the latest of its incoming edges:
 * source + base_ns + lambda * io_ns. A lane edge joins two neighbouring nodes of one
 * lane and holds the calls made between them: base_ns is everything there that is
 * not I/O service, io_ns the sum of their service. A cross edge goes from the node of
 * a waker to the node of whom it let go on: base_ns is the wake-up latency as it was
 * recorded, io_ns is 0. An edge with slack (it did not bind in the recorded run)
 * is an edge like any other. The lane edge over a wait with a known waker has a base
 * without the wait; the one over a wait without a known waker keeps it.
 *
 * The caller builds the graph such that at lambda = 1 every node's recorded time is
 * reached exactly; iot_graph_finish() checks that, and cuts what contradicts it.
 * Times are nanoseconds below IOT_TIME_MAX everywhere.
 */
#ifndef IOT_ANALYZER_GRAPH_H
#define IOT_ANALYZER_GRAPH_H

#include <stddef.h>
#include <stdint.h>

/* 104 days. Below it any time is exact in a double, and the products of the replay
 * (a time by the denominator of a lambda) fit in 128 bits. */
#define IOT_TIME_MAX ((int64_t)1 << 53)

#define IOT_NO_NODE UINT32_MAX

enum iot_edge_kind {
    IOT_EDGE_LANE,
    IOT_EDGE_CROSS,
    IOT_EDGE_HOLD,  /* from start: a node that is not before a moment of the clock */
    IOT_EDGE_START, /* made by iot_graph_finish(): from start, keeps a node at its recorded time */
};

enum iot_cut {
    IOT_CUT_NONE,
    IOT_CUT_CLOCK, /* a cross edge that would arrive after the node it lets go on */
    IOT_CUT_CYCLE, /* a cross edge of a cycle (moments of equal time) */
};

struct iot_node {
    int64_t time_ns; /* as recorded; never before that of the start node */
    uint32_t lane;
};

struct iot_edge {
    uint32_t src, dst;   /* node indices */
    int64_t base_ns;     /* >= 0 */
    int64_t io_ns;       /* >= 0; the sum of the service of the calls below */
    uint32_t call_first; /* lane edges: the calls call_first .. call_first + call_count - 1 */
    uint32_t call_count;
    uint8_t kind; /* enum iot_edge_kind */
    uint8_t cut;  /* enum iot_cut, by iot_graph_finish(); what is cut has no effect */
};

/* Zero it, add nodes, calls and edges, then finish it. The arrays are the graph's own. */
struct iot_graph {
    struct iot_node *nodes;
    struct iot_edge *edges;
    int64_t *call_service_ns; /* one entry a call, >= 0, ordered by lane and time */
    size_t n_nodes, n_edges, n_calls;
    size_t cap_nodes, cap_edges, cap_calls;
    uint32_t start, end; /* nodes: where the run starts, and where it ends */

    /* Filled by iot_graph_finish(). The edges into the node order[p] are
     * in_edges[in_first[p]] .. in_edges[in_first[p + 1] - 1]: the lane edge first, then by
     * the lane they come from. The first of equals is where the walk goes on. */
    uint32_t *order;         /* node indices, topological; order[0] is start */
    uint32_t *in_first;      /* n_nodes + 1 offsets */
    uint32_t *in_edges;      /* edge indices, without those that were cut */
    size_t cut_edges;        /* cross edges that were cut */
    size_t kept_waits;       /* nodes that lost an edge and keep their recorded wait instead */
    size_t node_errors;      /* nodes that lambda = 1 does not bring to their recorded time */
    int64_t replay_error_ns; /* of the end node: T(1) less the recorded time */
    const char *error;       /* why iot_graph_finish() refused, and which node or edge it was */
    size_t error_index;
};

/* Each returns the index of what it added, or IOT_NO_NODE (no memory, or 2^32 - 1 reached). */
uint32_t iot_graph_add_node(struct iot_graph *g, int64_t time_ns, uint32_t lane);
uint32_t iot_graph_add_call(struct iot_graph *g, int64_t service_ns);
/* n calls at once, before any other: returns their services, 0 each, which the caller sets before
 * it adds lane edges; NULL without memory. They stay where they are if no call is added. */
int64_t *iot_graph_add_calls(struct iot_graph *g, size_t n);
uint32_t iot_graph_add_cross(struct iot_graph *g, uint32_t src, uint32_t dst, int64_t base_ns);
/* Keeps a node that a lane edge leads to from coming before so long after start. */
uint32_t iot_graph_add_hold(struct iot_graph *g, uint32_t start, uint32_t dst, int64_t base_ns);
/* io_ns is summed from the calls here, which therefore are added before. Lane edges are
 * added in the order of their calls. */
uint32_t iot_graph_add_lane(struct iot_graph *g, uint32_t src, uint32_t dst, int64_t base_ns,
                            uint32_t call_first, uint32_t call_count);

/* Checks the graph, cuts cross edges against the clock and in cycles, and orders it. Time and
 * memory are linear. A node that lost an edge by a cut and would now come too early keeps its
 * recorded wait in the base of its lane edge. Where a lane begins too early, or nothing leads to
 * its beginning, an edge from start (IOT_EDGE_START, base = time since start) keeps it in place.
 * Returns 0; -EINVAL with error and error_index where the graph is not one (a caller's mistake:
 * indices, negative times, a lane that runs backwards); -ENOMEM. */
int iot_graph_finish(struct iot_graph *g);

/* Frees the arrays and zeroes the graph. */
void iot_graph_free(struct iot_graph *g);

#endif
