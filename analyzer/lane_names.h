/* What people call a lane. */
#ifndef IOT_ANALYZER_LANE_NAMES_H
#define IOT_ANALYZER_LANE_NAMES_H

#include "analyzer/arena.h"
#include "analyzer/trace.h"

/* The name that the thread gave itself, else "main thread", "thread 2". In a run of several
 * processes with the process: "main thread of train.py" in the root, named by the script that its
 * interpreter runs; "thread 1 of worker 2" in one that was forked and runs its parent's program,
 * counted among its like; in others "thread 1 of gzip (1234)". Of those two, the main thread is
 * just "worker 2", "gzip (1234)". In the arena; NULL without memory. */
const char *iot_lane_name(const struct iot_trace *trace, uint32_t lane, struct iot_arena *arena);

/* Whether that path is a Python interpreter's, by its name. */
int iot_is_python(const char *path);

#endif
