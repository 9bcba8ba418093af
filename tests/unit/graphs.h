/* Small graphs for the tests of the replay: built the way a recording would give them, with the
 * times that a run by these rules takes. */
#ifndef IOT_TEST_GRAPHS_H
#define IOT_TEST_GRAPHS_H

#include "analyzer/graph.h"

/* A reader that reads s, decodes d and puts, a queue of `depth`, a consumer that computes c.
 * Call i is the read of item i. Lane 0 is the consumer's, with start and end. */
void iot_test_pipeline(struct iot_graph *g, int64_t s, int64_t d, int64_t c, int depth, int items);

/* One call of service s beside an independent window w; the end waits for both. */
void iot_test_beside(struct iot_graph *g, int64_t s, int64_t w);

/* How many random graphs a test makes: IOT_TEST_GRAPHS, or 10000. */
uint64_t iot_test_graphs(void);

/* A reproducible random number in 0 .. below - 1. */
uint64_t iot_test_random(uint64_t *state, uint64_t below);

/* A small random graph, all of whose shape follows from the seed: a few lanes, cross edges that
 * bind, have slack, contradict the clock or make cycles of one moment, lanes that nothing leads
 * to, queues, equal times, durations from a handful of ns to 2^48. At most 64 edges. */
void iot_test_random_graph(struct iot_graph *g, uint64_t seed);

/* The same with up to 420 nodes and durations among which no two sums are likely to be equal. */
void iot_test_large_graph(struct iot_graph *g, uint64_t seed);

#endif
