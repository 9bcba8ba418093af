/* The replay: how long the run takes when every I/O service is multiplied by lambda, and the
 * walk: on which path that length lies. DESIGN's section on the critical path defines both.
 *
 * A lambda is a fraction and everything is computed in integers, so a replay has no rounding:
 * a path is known by two sums, A of the bases and B of the I/O on it, and takes A + lambda * B.
 */
#ifndef IOT_ANALYZER_REPLAY_H
#define IOT_ANALYZER_REPLAY_H

#include "analyzer/graph.h"

#include <stdbool.h>

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

/* Entries called "slot" are places in the graph's in_edges. */
struct iot_replay {
    const struct iot_graph *graph;
    uint32_t *slot_src; /* the place in graph->order of the edge's source */
    int64_t *slot_base;
    int64_t *slot_io;
    struct iot_line *at; /* by place in graph->order: the longest path to here */
    uint32_t *slot_in;   /* by place in graph->order: the slot that path comes in by */
    uint32_t end;        /* the place in graph->order of the end node */
};

/* For a finished graph, which outlives the replay. Services are as recorded.
 * Returns 0 or -ENOMEM; free it in either case. */
int iot_replay_init(struct iot_replay *r, const struct iot_graph *g);
void iot_replay_free(struct iot_replay *r);

/* Replaces the services for all replays that follow: one entry a call, ns, or NULL for those
 * recorded. Returns 0, or -ERANGE (a negative one, or so much that sums could overflow; the
 * services are then undefined until the next success). */
int iot_replay_set_service(struct iot_replay *r, const int64_t *service_ns);

/* As recorded, but 0 for the calls whose class_of_call equals class_id. */
void iot_replay_remove(struct iot_replay *r, const uint8_t *class_of_call, uint8_t class_id);

/* Replays at lambda and returns the path from start to end; where several are as long, the one
 * whose walk back from end stays in the lane, else goes to the lowest lane number.
 * Linear in nodes and edges. */
struct iot_line iot_replay_run(struct iot_replay *r, struct iot_lambda lambda);

/* The length of a path at lambda in ns, rounded down. */
int64_t iot_line_ns(struct iot_line line, struct iot_lambda lambda);

/* The slots of the last replay's path, backwards from the end. Begin with place = r->end, stop
 * when false is returned:  uint32_t place = r->end, slot;
 *                          while (iot_replay_step_back(r, &place, &slot)) ... */
static inline bool iot_replay_step_back(const struct iot_replay *r, uint32_t *place, uint32_t *slot)
{
    if (*place == 0)
        return false;
    *slot = r->slot_in[*place];
    *place = r->slot_src[*slot];
    return true;
}

/* The last replay's path as edge indices from start to end; the caller frees *edges.
 * Returns 0 or -ENOMEM. */
int iot_replay_path(const struct iot_replay *r, uint32_t **edges, size_t *n);

/* T(1) - T': what the run would gain if the calls of a class took no time. Class by class it
 * does not add up. The services are as recorded afterwards. */
int64_t iot_replay_recoverable(struct iot_replay *r, const uint8_t *class_of_call,
                               uint8_t class_id);

#endif
