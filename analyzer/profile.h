/* A profiler's recording in memory: what of it a trace is made of.
 *
 * Read from PyTorch profiler (Kineto) files, whose categories had other names before 2022, and from
 * any other Chrome trace. Times are nanoseconds of the recording's own clock.
 */
#ifndef IOT_ANALYZER_PROFILE_H
#define IOT_ANALYZER_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/arena.h"
#include "analyzer/json_in.h"
#include "analyzer/table.h"

enum iot_item_kind {
    IOT_ITEM_NONE,
    IOT_ITEM_BUSY,  /* a thread does something: kept as a span */
    IOT_ITEM_CALL,  /* of the CUDA runtime or driver */
    IOT_ITEM_LOAD,  /* a data loader's range */
    IOT_ITEM_STEP,  /* ProfilerStep */
    IOT_ITEM_RANGE, /* record_function and its kind */
    IOT_ITEM_SYNC,  /* what a call of its correlation waited for */
    IOT_ITEM_KERNEL,
    IOT_ITEM_MEMCPY,
    IOT_ITEM_MEMSET,
    IOT_ITEM_COVER, /* of no thread: it only extends the recording */
};

/* Unknown: stream and other -1, correlation and bytes 0. */
struct iot_item {
    int64_t t0_ns, t1_ns;
    int64_t bytes;
    uint32_t name, lane;
    uint32_t correlation;
    uint32_t record;       /* SYNC: correlation of the record of the event waited for */
    int32_t stream, other; /* SYNC: the stream that waits, and that waited for */
    uint32_t group;        /* KERNEL: name of the ranks that it is among; 0: not known */
    uint16_t process;      /* once divided */
    uint8_t kind;          /* enum iot_item_kind */
    uint8_t sync;          /* SYNC: as a GPU_SYNC's, or IOT_SYNC_STREAM_WAIT */
};
enum { IOT_SYNC_STREAM_WAIT = 2 };

/* A stretch in which a thread did something. */
struct iot_busy {
    int64_t t0_ns, t1_ns;
    uint32_t lane;
};

struct iot_profile_lane {
    int64_t pid, tid; /* of a stream: device and stream; texts have numbers below -2^40 */
    uint32_t name;    /* 0: none */
    uint8_t gpu;
    uint16_t process; /* once divided; of a stream that of most in it */
    uint32_t n_calls, n_steps;
    size_t last_span; /* + 1; 0: none */
    struct iot_opened {
        int64_t t0_ns;
        uint32_t name;
        uint8_t kind;
    } * open; /* "B" without their "E" yet */
    size_t n_open, open_room;
};

/* A process of the host with threads that did something. */
struct iot_profile_process {
    int64_t pid; /* as a lane's */
    uint64_t n_calls, n_steps;
};

struct iot_profile {
    struct iot_item *items;
    struct iot_busy *spans;
    struct iot_profile_lane *lanes;
    const char **names; /* [0] is "" */
    size_t n_items, n_spans, n_lanes, n_names;
    size_t items_room, spans_room, lanes_room, names_room;
    struct iot_table by_name, by_lane;
    struct iot_arena *arena;
    int64_t start_ns, end_ns; /* from the first to the last complete event */
    int64_t base_ns;          /* to be added for CLOCK_REALTIME */
    int64_t rank, world_size; /* of the distributed job; -1: not told */
    const char *host;         /* NULL: not told */
    const char *trace_name;   /* the file that the profiler wrote; NULL: not told */
    uint32_t process_name;
    struct iot_profile_process *processes; /* once divided */
    size_t n_processes, main_process; /* the latter has the steps, or most calls */
    uint64_t events;  /* complete ones */
    uint64_t unended; /* begun and not ended */
};

/* Reads a whole file. Returns 0; -1 with in->error set, or, where that is NULL, without memory.
 * Free in either case. */
int iot_profile_read(struct iot_profile *profile, struct iot_json_in *in);
/* Finds the processes, and which one everything belongs to. 0, or -1 without memory, or where there
 * are too many of them (65535). */
int iot_profile_divide(struct iot_profile *profile);

void iot_profile_free(struct iot_profile *profile);

/* Of "Memcpy HtoD (Pageable -> Device)" the copy's kind, and the addr that a row has for it. */
int iot_copy_of_name(const char *name, uint64_t *addr);

#endif
