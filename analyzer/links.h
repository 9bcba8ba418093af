/* Who let whom go on: the edges between lanes, found in the events.
 *
 * DESIGN's section on the critical path has the table of waits. A wait that has no link here
 * is one without a known waker.
 */
#ifndef IOT_ANALYZER_LINKS_H
#define IOT_ANALYZER_LINKS_H

#include <stdint.h>

#include "analyzer/trace.h"

/* What of the waker let the other go on. */
enum iot_waker_kind {
    IOT_WAKER_NONE,
    IOT_WAKER_ENTRY, /* index: an event; when it was entered */
    IOT_WAKER_LANE,  /* index: a lane; when it ended */
    /* index: an event (an asynchronous request, work of a GPU); when it was done */
    IOT_WAKER_RETURN,
};

struct iot_waker {
    uint32_t index;
    uint8_t kind; /* enum iot_waker_kind */
};

/* What is known of an event beyond its row. */
enum iot_link_flag {
    IOT_LINK_EXTERNAL = 1,    /* waits for somebody outside the run */
    IOT_LINK_UNEXPLAINED = 2, /* waits for somebody we do not know */
    IOT_LINK_SLEEP = 4,
    IOT_LINK_NESTED = 8,     /* made inside another call of its lane (a signal handler): its time is
                              * that call's */
    IOT_LINK_CONTINUES = 16, /* a wait that timed out and goes on in the lane's next event */
    IOT_LINK_COMPUTES = 32,  /* takes its own time, unless a waker turns out to be late */
    IOT_LINK_HELD = 64,      /* a sleep until a moment of the clock, whenever it began */
    IOT_LINK_GIVEN = 128,    /* a wait that timed out, and got what it waited for all the same */
};

/* One more waker of an event that has one: it went on when all had let it. */
struct iot_more_wakers {
    uint32_t event;
    struct iot_waker waker;
};

struct iot_links {
    /* by event: of reads, full writes, polls, joins, waits for children */
    struct iot_waker *waker;
    struct iot_waker *creator; /* by lane: the event that started it */
    uint8_t *flags;            /* by event */
    uint32_t *lane_of;         /* by event */
    /* by file: where the bytes read from it were written; 0 nowhere in the run */
    uint32_t *stream_source;
    struct iot_more_wakers *more;
    size_t n_more, more_room;
    /* waits and bytes that should have a waker in the run and have none */
    uint64_t unmatched;
};

/* Returns 0, or -1 without memory. Free with iot_links_free in any case. */
int iot_links_find(struct iot_links *links, const struct iot_trace *trace);
void iot_links_free(struct iot_links *links);

/* When the waker let go, in ns; INT64_MIN for none. */
int64_t iot_waker_time(const struct iot_trace *trace, struct iot_waker waker);

/* Whether a waker is the beginning of another rank's part in a collective: what it lets go on is
 * not the start of an operation, but what that does when all have begun. */
static inline int iot_waker_is_rank(const struct iot_trace *trace, struct iot_waker waker)
{
    return waker.kind == IOT_WAKER_ENTRY &&
           (trace->events.op[waker.index] == IOT_OP_GPU_COLLECTIVE ||
            trace->events.op[waker.index] == IOT_OP_GPU_COLLECTIVE_WAIT);
}

/* Adds a waker to an event. A waker in the event's own lane is none: order sees to it. -1 without
 * memory. */
int iot_links_add(struct iot_links *links, uint32_t event, struct iot_waker waker);

/* The first event of a wait that timed out and went on: of any other event, itself. */
static inline size_t iot_wait_start(const struct iot_links *links, size_t event)
{
    while (event > 0 && links->flags[event - 1] & IOT_LINK_CONTINUES)
        event--;
    return event;
}

/* The parts of iot_links_find, each in a file of its own. Streams come before polls, which ask
 * what the next read waited for. */
int iot_link_streams(struct iot_links *links, const struct iot_trace *trace);
/* Fills in, by file, the socket at the other end of a connection within the run; 0: none known. */
int iot_link_connections(struct iot_links *links, const struct iot_trace *trace, uint32_t *peer);
/* The lane in which a process image ended: that of its exit or exec, else of its last event. */
uint32_t iot_last_lane(const struct iot_trace *trace, uint32_t process);

int iot_link_counters(struct iot_links *links, const struct iot_trace *trace);
int iot_link_signals(struct iot_links *links, const struct iot_trace *trace);
int iot_link_requests(struct iot_links *links, const struct iot_trace *trace);
int iot_link_locks(struct iot_links *links, const struct iot_trace *trace);
int iot_link_file_locks(struct iot_links *links, const struct iot_trace *trace);
int iot_link_life(struct iot_links *links, const struct iot_trace *trace);
/* What GPUs do: launches, the order of streams, events, and calls that wait for them. */
int iot_link_gpu(struct iot_links *links, const struct iot_trace *trace);
void iot_link_polls(struct iot_links *links, const struct iot_trace *trace);

#endif
