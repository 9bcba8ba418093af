/* Why an operation of a GPU began when it did: the latest of the previous one in its stream, the
 * event that it waited for, and its launch (DESIGN, the table of waits). */
#ifndef IOT_ANALYZER_GPU_STARTS_H
#define IOT_ANALYZER_GPU_STARTS_H

#include "analyzer/links.h"

struct iot_gpu_starts {
    uint8_t *idle; /* by event: its stream had ended all before when the last of its wakers would
                    * have let it start */
    int64_t *latest_ns; /* by event: when that was; INT64_MIN: it has none */
    int64_t launch_ns;  /* from a launch to the start in an idle stream: the median */
};

/* 0, or -1 without memory; free in either case. For a trace without GPUs there is nothing in it. */
int iot_gpu_starts_find(struct iot_gpu_starts *starts, const struct iot_trace *trace,
                        const struct iot_links *links);
void iot_gpu_starts_free(struct iot_gpu_starts *starts);

/* How much of the time between a waker and what it let go on is latency, at most, in ns. Of a call
 * that waits: what it took when the last of its wakers had come. Of a start: all for the one that
 * came last to an idle stream. The start may not come earlier than that, though another
 * reason held it back in the recording. */
int64_t iot_gpu_latency(const struct iot_gpu_starts *starts, const struct iot_trace *trace,
                        size_t i, struct iot_waker waker);

#endif
