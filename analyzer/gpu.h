/* What GPUs did in a run, as far as it concerns reading a trace: which lanes are streams, what
 * their copies are called, and copies that outlast the call that blocked for them. */
#ifndef IOT_ANALYZER_GPU_H
#define IOT_ANALYZER_GPU_H

#include "analyzer/names.h"
#include "analyzer/trace.h"
#include "format/gpu_stream.h"

/* Kinds of copies and of memory: CUPTI's numbers (FORMAT.md, "GPUs"). */
enum iot_copy_kind { IOT_COPY_HTOD = 1, IOT_COPY_DTOH = 2, IOT_COPY_DTOD = 8, IOT_COPY_PTOP = 10 };
enum iot_memory_kind { IOT_MEMORY_PAGEABLE = 1, IOT_MEMORY_PINNED = 2, IOT_MEMORY_DEVICE = 3 };
#define IOT_COPY_ASYNC                                                                             \
    (UINT64_C(1) << 16) /* in addr: beside the source's kind and 256 * the target's */

/* What a GPU_SYNC waits for, in the low 8 bits of addr: CUPTI's numbers, and IOT_SYNC_LEGACY. */
enum iot_gpu_sync { IOT_SYNC_EVENT = 1, IOT_SYNC_STREAM = 3, IOT_SYNC_CONTEXT = 4 };

/* A stream's number is that within its context and as many times this as there are contexts before
 * it. */
enum { IOT_STREAMS_OF_CONTEXT = 1 << 24 };

static inline int iot_lane_is_stream(const struct iot_lane *lane)
{
    return lane->kind == IOT_LANE_STREAM;
}

/* Its context: CUPTI's number, where the recording has it. */
static inline int64_t iot_context_of(int64_t stream)
{
    return stream / IOT_STREAMS_OF_CONTEXT + 1;
}

static inline int64_t iot_lane_context(const struct iot_lane *lane)
{
    return iot_context_of(lane->stream);
}

int iot_has_streams(const struct iot_trace *trace);

/* An operation that concerns a GPU at all. */
static inline int iot_gpu_op(unsigned op)
{
    return (op >= IOT_OP_GPU_STREAM && op <= IOT_OP_GPU_CALL) || op == IOT_OP_GPU_COLLECTIVE_WAIT;
}

/* One that runs in a stream. */
static inline int iot_gpu_runs(unsigned op)
{
    return (op >= IOT_OP_GPU_MEMCPY && op <= IOT_OP_GPU_COLLECTIVE) ||
           op == IOT_OP_GPU_COLLECTIVE_WAIT;
}

/* Whether a copy was asked for such that the call waits for it: it is synchronous, or the memory
 * of one end is pageable. */
int iot_gpu_blocks(const struct iot_events *events, size_t copy);

/* If the lane, whose events are in order, is a stream: says so, and lets nothing begin there before
 * what was before it has ended. */
void iot_gpu_lane(struct iot_trace *trace, struct iot_lane *lane);

/* Where the host's end of a copy was, enum iot_host_memory; 0 not known, or it has none. */
uint8_t iot_gpu_host_memory(const struct iot_events *events, size_t copy);

/* For a trace whose lanes are in their places: gives copies and collectives the names of their
 * rows, and splits copies that outlast their call, and collectives that waited. 0, or -1 without
 * memory. */
int iot_gpu_finish(struct iot_trace *trace, struct iot_files *files);
/* Its parts. */
int iot_gpu_name_copies(struct iot_trace *trace, struct iot_files *files);
int iot_gpu_split(struct iot_trace *trace);

/* Calls of threads that have a correlation, and what runs on a GPU, by process and correlation. */
struct iot_correlated {
    uint64_t correlation;
    uint32_t process, event;
};
/* The events of a trace for which `wanted` is true, in order; NULL without memory. */
struct iot_correlated *iot_correlated_list(const struct iot_trace *trace,
                                           int (*wanted)(unsigned op), size_t *n);
/* Where the first with the number is in the list; n: nowhere. */
size_t iot_correlated_index(const struct iot_correlated *list, size_t n, uint32_t process,
                            uint64_t correlation);
/* Its event; IOT_NO_INDEX: none. */
uint32_t iot_correlated_find(const struct iot_correlated *list, size_t n, uint32_t process,
                             uint64_t correlation);

#endif
