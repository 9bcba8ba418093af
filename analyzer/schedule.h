/* A trace as a graph: the lanes cut where one lane meets another.
 *
 * Calls of the graph are the events of the trace, by the same index.
 */
#ifndef IOT_ANALYZER_SCHEDULE_H
#define IOT_ANALYZER_SCHEDULE_H

#include "analyzer/graph.h"
#include "analyzer/links.h"
#include "analyzer/model.h"
#include "analyzer/replay.h"

/* What the time of a cross edge is. */
enum iot_edge_use {
    IOT_USE_NONE,   /* no cross edge */
    IOT_USE_WAKE,   /* from the wake-up to running again */
    IOT_USE_GPU,    /* from the launch to the start on the GPU */
    IOT_USE_CREATE, /* starting up: the new thread or process is computing */
};

struct iot_schedule {
    struct iot_graph graph;
    struct iot_replay replay;
    uint8_t *use; /* by edge: enum iot_edge_use */
    size_t n_use;
};

/* What each event is, and its service. */
void iot_schedule_parts(const struct iot_trace *trace, const struct iot_links *links,
                        struct iot_model *model);

/* Builds and finishes the graph, which has the model's services as its calls already, and readies
 * the replay. 0, or -1 without memory. */
int iot_schedule_build(struct iot_schedule *schedule, const struct iot_trace *trace,
                       const struct iot_links *links, const struct iot_model *model);
void iot_schedule_free(struct iot_schedule *schedule);

#endif
