/* What people call a lane. */
#ifndef IOT_ANALYZER_LANE_NAMES_H
#define IOT_ANALYZER_LANE_NAMES_H

#include "analyzer/arena.h"
#include "analyzer/trace.h"

/* The name that the thread gave itself; else "main thread", "thread 2" of the root process; of a
 * process that was forked and runs its parent's program "worker 2", counted among its like; of
 * others "gzip (1234)"; "thread 1 of worker 2". In the arena; NULL without memory. */
const char *iot_lane_name(const struct iot_trace *trace, uint32_t lane, struct iot_arena *arena);

#endif
