/* What a path through the run is made of. */
#ifndef IOT_ANALYZER_COMPOSE_H
#define IOT_ANALYZER_COMPOSE_H

#include "analyzer/model.h"
#include "analyzer/replay.h"

/* Adds up a path of the model's graph into `parts`, whose io_ns is the service on it: service_ns
 * has one entry an event, ns; NULL: all are zero. The parts sum to the length of the path with
 * these services. */
void iot_compose(const struct iot_model *model, const struct iot_path *path,
                 const int64_t *service_ns, struct iot_path_parts *parts);

#endif
