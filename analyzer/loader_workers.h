/* Which processes are workers of a PyTorch DataLoader. */
#ifndef IOT_ANALYZER_LOADER_WORKERS_H
#define IOT_ANALYZER_LOADER_WORKERS_H

#include "analyzer/trace.h"

/* Sets `loader` of the run's processes. One is such a worker if the run has read the module that a
 * DataLoader is in, the process was forked by one of the same program, reads a pipe that nobody
 * else reads and only its parent writes (what to load), and writes to one that only its parent
 * reads (what it has loaded). Returns 0, -1 without memory. */
int iot_loader_workers_find(struct iot_trace *trace);

#endif
