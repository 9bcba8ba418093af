/* A model in the making: what trace.c, trace_rows.c and trace_finish.c share. */
#ifndef IOT_ANALYZER_TRACE_READING_H
#define IOT_ANALYZER_TRACE_READING_H

#include "analyzer/arena.h"
#include "analyzer/clock.h"
#include "analyzer/container.h"
#include "analyzer/names.h"
#include "analyzer/trace.h"
#include "analyzer/workers.h"

/* One file of the folder. */
struct iot_image {
    struct iot_container file;
    struct iot_process process; /* as far as header and facts tell */
    struct iot_anchor *anchors;
    struct iot_clock_map clock;
    uint8_t unusable; /* nothing of the file can be read */
};

struct iot_reading {
    struct iot_trace *trace;
    struct iot_reader *readers[IOT_WORKERS_MAX]; /* by worker; made at its first use */
    struct iot_arena *arenas[IOT_WORKERS_MAX];   /* likewise; the first is the trace's */
    struct iot_files files;
    struct iot_image *images; /* the root first, then by start */
    struct iot_names *names;  /* of each image */
    size_t n_images;
    int folder;          /* descriptor */
    uint64_t start_mono; /* of the run */

    /* trace->processes begins with the images; behind them come children of vfork.
     * Until iot_reading_finish(), lanes are in the order they were met in. */
    uint32_t *lane_image; /* whose numbers the events of a lane use */
    size_t lanes_room, images_room, processes_room;
};

/* The functions return 0, or -1 if out of memory. */

/* Reads the rows of all images into events and lanes, those of vfork children into processes of
 * their own. trace->events has room for all. What comes to be does not depend on how many workers
 * there are. */
int iot_reading_rows(struct iot_reading *r);
/* Of rows whose bytes add up to more than any sum holds, each gets less, and the loss is stated. */
void iot_reading_bound_bytes(struct iot_reading *r);

/* Joins the rows of asynchronous requests to events in lanes of their own. */
int iot_reading_requests(struct iot_reading *r);

/* Numbers in events become indexes of files. */
int iot_reading_resolve(struct iot_reading *r);

/* Orders events, lanes and processes, and finds where they and the run end. */
int iot_reading_finish(struct iot_reading *r);

/* A lane of the run, whose events are there or come next. */
int iot_reading_add_lane(struct iot_reading *r, uint32_t image, const struct iot_lane *lane);

/* What a worker keeps for itself: its buffers, and where its strings go. */
int iot_reading_room_of(struct iot_reading *r, unsigned worker);

/* From CLOCK_MONOTONIC to the time of the run, within what trace.h allows. */
int64_t iot_reading_time(const struct iot_reading *r, uint64_t mono_ns);

#endif
