/* Runs that are still going: whose trace is read while it is written. */
#ifndef IOT_ANALYZER_LIVE_H
#define IOT_ANALYZER_LIVE_H

#include "analyzer/trace.h"

/* How many of its processes are still there, on this machine and as far as this user may see: they
 * have their trace file mapped. */
size_t iot_live_processes(const struct iot_trace *trace);

/* The folder into which process `pid` records, by the trace files that it has mapped; the caller
 * frees it. NULL with one line in `error`. */
char *iot_live_folder(size_t pid, char error[512]);

#endif
