/* The model of a run: every event with its part in the schedule, and what I/O adds to it.
 *
 * Built from a trace: finds who waited for whom, makes the graph (graph.h), replays it, and
 * hands each I/O call its exposed time. All times in nanoseconds. DESIGN's words: service,
 * exposed, hidden, blocking, waited, recoverable.
 */
#ifndef IOT_ANALYZER_MODEL_H
#define IOT_ANALYZER_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/trace.h"

/* What a stretch of an event is. Of an I/O call on a pipe that blocked, the service is 0: it
 * was a wait. */
enum iot_part {
    IOT_PART_IO,          /* service_ns[] is its time */
    IOT_PART_WAIT,        /* for a known waker */
    IOT_PART_SLEEP,
    IOT_PART_EXTERNAL,    /* for somebody outside the run */
    IOT_PART_UNEXPLAINED, /* for somebody we do not know */
    IOT_PART_GPU,         /* a GPU's work */
    IOT_PART_NONE,        /* none of these: its time counts as computing */
};

struct iot_path_parts {
    int64_t compute_ns, io_ns, gpu_ns, sleep_ns, wake_ns, external_ns, unexplained_ns;
    /* Parts of gpu_ns: from launches to the start on an idle GPU; between operations of a busy
     * stream. */
    int64_t gpu_launch_ns, gpu_gap_ns;
};

struct iot_model {
    const struct iot_trace *trace;
    uint8_t *part;       /* by event: enum iot_part */
    /* by event: 1 if its exposed time was waited for by the carrying lane, not spent in it */
    uint8_t *waited;
    int64_t *service_ns; /* by event; 0 where part is not IOT_PART_IO. The schedule's own */
    int64_t *exposed_ns; /* by event; 0 <= exposed <= service, and they add up to path.io_ns */
    int64_t wall_ns;
    struct iot_path_parts path; /* adds up to wall_ns */
    int64_t exposed_error_ns, replay_error_ns;
    uint64_t unmatched_waits, cut_edges;
    struct iot_model_curve {
        double lambda;
        int64_t time_ns; /* T(lambda) */
    } *curve;            /* from lambda 1 down to 0 */
    size_t n_curve;
    struct iot_schedule *schedule; /* kept for what-ifs */
    /* by file: the file in which what is read from it was written; 0 none */
    uint32_t *stream_source;
    int64_t *edge_share; /* by edge of its graph: on which share of lambda it is on the path, of
                          * IOT_SHARE_ONE */
};

/* NULL without memory. Free with iot_model_free; the trace must outlive it. */
struct iot_model *iot_model_build(const struct iot_trace *trace);
void iot_model_free(struct iot_model *model);

/* Wall time of the run minus that of its replay with the service of the selected events at zero.
 * `selected`: one byte an event. */
int64_t iot_model_recoverable(const struct iot_model *model, const uint8_t *selected);

#endif
