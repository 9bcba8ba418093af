/* A run as a max-plus graph: what the critical path and the replay are computed on.
 *
 * A node is a moment of a lane. Its time is the latest of its incoming edges:
 * source + base_ns + lambda * io_ns. A lane edge joins two neighbouring nodes of one
 * lane and holds the calls made between them: base_ns is everything there that is
 * not I/O service, io_ns the sum of their service. A cross edge goes from the node of
 * a waker to the node of whom it let go on: base_ns is the wake-up latency as it was
 * recorded, io_ns is 0. An edge with slack (it did not bind in the recorded run)
 * is an edge like any other.
 *
 * The caller builds the graph such that at lambda = 1 every node's recorded time is
 * reached exactly; iot_graph_finish() checks that, and cuts what contradicts it.
 */
#ifndef IOT_ANALYZER_GRAPH_H
#define IOT_ANALYZER_GRAPH_H

#include <stddef.h>
#include <stdint.h>

enum iot_edge_kind { IOT_EDGE_LANE, IOT_EDGE_CROSS };

struct iot_node {
    int64_t time_ns; /* as recorded, from the start of the run */
    uint32_t lane;
};

struct iot_edge {
    uint32_t src, dst;   /* node indices */
    int64_t base_ns;     /* >= 0 */
    int64_t io_ns;       /* >= 0; the sum of the service of the calls below */
    uint32_t call_first; /* lane edges: the calls on it are call_first .. call_first + call_count - 1 */
    uint32_t call_count;
    uint8_t kind; /* enum iot_edge_kind */
};

struct iot_graph {
    struct iot_node *nodes;
    struct iot_edge *edges;
    int64_t *call_service_ns; /* one entry a call, >= 0, ordered by lane and time */
    size_t n_nodes, n_edges, n_calls;
    uint32_t start, end; /* nodes: where the run starts, and where it ends */

    /* Filled by iot_graph_finish(). */
    uint32_t *order;    /* node indices, topological */
    uint32_t *in_first; /* n_nodes + 1 offsets into in_edges */
    uint32_t *in_edges; /* edge indices by destination */
    size_t cut_edges;   /* cross edges taken out: against the clock, or in a cycle */
};

#endif
