/* The replay: how long the run takes when every I/O service is multiplied by lambda, and the
 * walk: on which path that length lies. DESIGN's section on the critical path defines both.
 */
#ifndef IOT_ANALYZER_REPLAY_H
#define IOT_ANALYZER_REPLAY_H

#include "analyzer/dag.h"
#include "analyzer/graph.h"

struct iot_replay {
    const struct iot_graph *graph;
    /* The nodes that lead to the end, in the graph's order, without those that only one edge leads
     * to: there nothing is to be chosen. A slot is all edges from one node of the dag to the next.
     */
    struct iot_dag dag;
    uint32_t *edge_of_slot; /* the last of its edges */
    uint32_t *via; /* by node of the graph: the one edge into it, if it was left out for that;
                    * IOT_NO_NODE: it is a node of the dag */
    bool changed; /* services are not those recorded */
    struct iot_longest longest; /* of the last replay */
    struct iot_lambda lambda;   /* likewise */
};

/* A path: edge indices from start to end. Where it is a moment of the clock that holds it
 * (IOT_EDGE_HOLD), it goes on in the lane, which came there sooner: by held_ns in all. */
struct iot_path {
    uint32_t *edges;
    size_t n_edges;
    int64_t held_ns;
};

/* For a finished graph, which outlives the replay. Services are as recorded.
 * Returns 0 or -ENOMEM; free it in either case. */
int iot_replay_init(struct iot_replay *r, const struct iot_graph *g);
void iot_replay_free(struct iot_replay *r);

/* Replaces the services for all replays that follow: one entry a call, ns, or NULL for those
 * recorded. Returns 0, -ENOMEM, or -ERANGE (a negative one, or so much that sums could overflow);
 * the services are then undefined until the next success. */
int iot_replay_set_service(struct iot_replay *r, const int64_t *service_ns);

/* Takes so much away from the base of each edge, ns, 0 .. its base, for all replays that follow;
 * NULL: nothing. Returns 0, or -ENOMEM: nothing has changed then. */
int iot_replay_set_less(struct iot_replay *r, const int64_t *less_ns);

/* Replays at lambda and returns the path from start to end; where several are as long, the one
 * whose walk back from end stays in the lane, else goes to the lowest lane number. */
struct iot_line iot_replay_run(struct iot_replay *r, struct iot_lambda lambda);

/* The last replay's path; the caller frees path->edges. Returns 0 or -ENOMEM. */
int iot_replay_path(const struct iot_replay *r, struct iot_path *path);

/* From what each slot of the dag is worth to what its edges are: an edge that several slots have in
 * common is worth their sum. Edges on no slot are left as they are. Returns 0 or -ENOMEM. */
int iot_replay_spread(const struct iot_replay *r, const int64_t *of_slot, int64_t *of_edge);

/* T(1) - T': what the run would gain if the calls whose class_of_call equals class_id took no
 * time. Class by class it does not add up. The services are as recorded afterwards. */
int64_t iot_replay_recoverable(struct iot_replay *r, const uint8_t *class_of_call,
                               uint8_t class_id);

#endif
