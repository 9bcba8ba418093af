/* The replay: how long the run takes when every I/O service is multiplied by lambda, and the
 * walk: on which path that length lies. DESIGN's section on the critical path defines both.
 */
#ifndef IOT_ANALYZER_REPLAY_H
#define IOT_ANALYZER_REPLAY_H

#include "analyzer/dag.h"
#include "analyzer/graph.h"

struct iot_replay {
    const struct iot_graph *graph;
    /* The graph up to its end node, in its order: node p is graph->order[p], slot k is the edge
     * graph->in_edges[k]. */
    struct iot_dag dag;
    bool changed; /* services are not those recorded */
    struct iot_longest longest; /* of the last replay */
};

/* A path: edge indices from start to end. */
struct iot_path {
    uint32_t *edges;
    size_t n_edges;
};

/* For a finished graph, which outlives the replay. Services are as recorded.
 * Returns 0 or -ENOMEM; free it in either case. */
int iot_replay_init(struct iot_replay *r, const struct iot_graph *g);
void iot_replay_free(struct iot_replay *r);

/* Replaces the services for all replays that follow: one entry a call, ns, or NULL for those
 * recorded. Returns 0, or -ERANGE (a negative one, or so much that sums could overflow; the
 * services are then undefined until the next success). */
int iot_replay_set_service(struct iot_replay *r, const int64_t *service_ns);

/* Takes so much away from the base of each edge, ns, 0 .. its base, for all replays that follow; NULL:
 * nothing. */
void iot_replay_set_less(struct iot_replay *r, const int64_t *less_ns);

/* Replays at lambda and returns the path from start to end; where several are as long, the one
 * whose walk back from end stays in the lane, else goes to the lowest lane number. */
struct iot_line iot_replay_run(struct iot_replay *r, struct iot_lambda lambda);

/* The last replay's path; the caller frees path->edges. Returns 0 or -ENOMEM. */
int iot_replay_path(const struct iot_replay *r, struct iot_path *path);

/* T(1) - T': what the run would gain if the calls whose class_of_call equals class_id took no
 * time. Class by class it does not add up. The services are as recorded afterwards. */
int64_t iot_replay_recoverable(struct iot_replay *r, const uint8_t *class_of_call,
                               uint8_t class_id);

#endif
