/* The streams of GPUs that a process has, with those in which nothing ran, and what is known by
 * then of what each of them waits for. links_awaited.c goes through the calls with them. */
#ifndef IOT_ANALYZER_GPU_STREAMS_H
#define IOT_ANALYZER_GPU_STREAMS_H

#include "analyzer/gpu.h"
#include "analyzer/gpu_ends.h"
#include "analyzer/table.h"

struct iot_stream {
    int64_t number;
    const struct iot_lane *lane; /* NULL: nothing ran there */
    unsigned kind;               /* enum iot_stream_kind */
    unsigned kind_said;          /* likewise, of the first met of its number: what calls said */
    uint32_t last;               /* what ran there last; IOT_NO_INDEX nothing yet */
    uint32_t awaited;            /* for which a call of the lane waited that waited for all */
    uint32_t awaited_by;         /* that lane */
    struct iot_gpu_ends next;    /* what is put there next begins after */
    /* Of a blocking one: the legacy default one of its context; NULL: none. */
    struct iot_stream *legacy;
    /* Of a default one: how often something was asked of it. Of a blocking one: how often it had
     * been when this one last waited for it. */
    uint64_t turn;
    struct iot_stream *news; /* of a default one: those for whose latest it has not waited yet */
    struct iot_stream *next_new; /* of those */
    int is_new;
};

struct iot_gpu_streams {
    struct iot_stream *list; /* as they were met; once paired by number, of one number by lane */
    size_t n, room;
    struct iot_table by_number; /* of each number the first that was met */
    const uint32_t *lane_of;    /* by event */
};

/* Streams of one number are one, but where a profile of several GPUs counts those of each by
 * itself. Returns the first; *n is how many there are. */
struct iot_stream *iot_streams_of(const struct iot_gpu_streams *streams, int64_t number, size_t *n);

/* Says that there is a stream: first of all those of lanes, lane by lane. 0, or -1 without memory.
 */
int iot_streams_meet(struct iot_gpu_streams *streams, int64_t number, unsigned kind,
                     const struct iot_lane *lane);
/* Once all are met: from here on they are found. */
void iot_streams_pair(struct iot_gpu_streams *streams);

/* Whatever is asked of the legacy default stream of a context (work, an event's record or wait)
 * waits for all that was asked before of its blocking streams, and what is asked of those
 * afterwards waits for it.
 *
 * Before something is asked of a stream, so that `next` is complete: 0, or -1 without memory. */
int iot_streams_ask(const struct iot_gpu_streams *streams, struct iot_stream *stream);
/* After something was: others may have to wait for it. */
void iot_streams_asked(struct iot_stream *stream);

void iot_streams_free(struct iot_gpu_streams *streams);

#endif
