/* A run in memory: what the trace folder of one run holds, with names resolved and times
 * on one clock. Everything else in the analyzer works on this.
 *
 * Times are nanoseconds from the start of the run (the root process's preload), in
 * [0, 2^53), and an event's t0 is never above its t1. The model is columnar: an event is an
 * index into the arrays of `struct iot_events`, and the events of a lane are neighbours, in
 * order of t0. Bytes that came from a trace are never trusted: a reader bounds every index
 * before it gets in here.
 */
#ifndef IOT_ANALYZER_TRACE_H
#define IOT_ANALYZER_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/identity.h"
#include "analyzer/seen.h"
#include "analyzer/stacks.h"
#include "format/file.h"
#include "format/ops.h"

#define IOT_NO_INDEX UINT32_MAX

/* Kinds of what a descriptor can be, from st_mode and the kernel's name. */
enum iot_file_kind {
    IOT_FILE_UNKNOWN, /* only ever met by path (stat, unlink, a failed open) */
    IOT_FILE_REGULAR,
    IOT_FILE_DIRECTORY,
    IOT_FILE_PIPE,   /* also FIFOs */
    IOT_FILE_SOCKET,
    IOT_FILE_CHARACTER,
    IOT_FILE_BLOCK,
    IOT_FILE_ANON, /* eventfd, epoll, memfd without a path, … */
    /* What is no file, but has a row: loaders, and copies by GPU and direction. */
    IOT_FILE_LOADER,
    IOT_FILE_GPU_EARLY, /* to the GPU, before the first step that is marked */
    IOT_FILE_GPU_IN,    /* to the GPU, in the steps */
    IOT_FILE_GPU_OUT,   /* from it */
    IOT_FILE_GPU_STATE, /* within it, between two, collectives */
};

/* Where the host's end of copies was. */
enum iot_host_memory { IOT_HOST_PAGEABLE = 1, IOT_HOST_PINNED = 2, IOT_HOST_MIXED = 3 };

/* Everything with one name. Index 0 is "nothing". */
struct iot_file {
    /* absolute path, or pipe:[…], socket:[…], …; NUL-terminated, may hold any byte */
    const char *name;
    const char *address;  /* of a socket, as it stands behind its name; NULL not known */
    uint64_t dev, ino;    /* 0: not known; of the first definition */
    int64_t size;         /* largest st_size seen at an open; -1 not known */
    /* over opens at which the page cache was asked: sizes, and what was in it */
    int64_t opened_bytes, resident_bytes;
    int64_t pipe_bytes;   /* a pipe's capacity; 0 not known */
    uint64_t peer_ino;    /* a socketpair's other end; 0 none */
    uint8_t kind;         /* enum iot_file_kind */
    uint8_t memory;       /* of copies of a GPU: enum iot_host_memory, bits */
    uint8_t several;      /* of copies of a GPU: some carry bytes of more files than `carried` */
    /* of copies of a GPU: the file that their bytes come from or go to; 0: not known */
    uint32_t carried;
    /* bit n: was standard input, output, error (0, 1, 2) of a process when first seen */
    uint8_t standard;
};

struct iot_process {
    uint32_t pid, ppid;
    uint8_t root;         /* the first of the run */
    uint8_t end;          /* enum iot_end */
    uint8_t salvaged;     /* its file was torn or damaged, and only part of it was read */
    uint8_t tsc;          /* its clock was the TSC */
    uint8_t loader;       /* a PyTorch DataLoader's worker: loader_workers.h */
    uint32_t first_lane, n_lanes; /* neighbours in lanes[]; lane 0 is always there */
    int64_t start_ns, end_ns;     /* end: of its last event */
    uint64_t start_mono_ns, start_realtime_ns;
    /* header's parent_lane: number within the parent; UINT32_MAX unknown */
    uint32_t parent_lane_number;
    uint64_t dropped_events;
    uint64_t older_events;  /* that made room for newer ones in its file */
    int64_t older_until_ns; /* what ended before may be among them; 0: none */
    struct iot_usage usage_start, usage_end;
    struct iot_called called_start, called_end;
    uint64_t own_read_bytes; /* of the recorder, between the two */
    uint8_t boot_id[16];     /* processes of one boot share CLOCK_MONOTONIC */
    struct iot_identity identity;
    const char *source;  /* name of its file in the trace folder */
    const char *exe, *cwd, *host, *kernel, *cpu, *mounts; /* "" if not known */
    const char *imported; /* the profile that it was made of; "" a recorder made it */
    const char *const *command; /* argv, NULL-terminated */
};

/* A thread; what made the requests of a lane that is none; a stream of a GPU. */
enum iot_lane_kind {
    IOT_LANE_THREAD,
    IOT_LANE_AIO,
    IOT_LANE_LIBAIO,
    IOT_LANE_RING,
    IOT_LANE_CUFILE,
    IOT_LANE_STREAM,
    IOT_LANE_KINDS
};

/* A lane of requests holds such of a process as do not overlap; it has no order of its own. */
struct iot_lane {
    uint32_t process; /* index */
    uint32_t number;  /* within its process; 0 is the main thread */
    uint32_t tid;
    uint8_t kind; /* enum iot_lane_kind */
    size_t first_event, n_events; /* neighbours in events, by t0 (ties: longest first) */
    int64_t start_ns, end_ns;
    uint32_t device; /* of a stream, with its number there */
    int64_t stream;
    uint8_t stream_kind; /* enum iot_stream_kind */
};

/* An asynchronous request: its event is from being handed over to being found done, and lies in a
 * lane of requests. One that was never found done ends where it began. */
struct iot_request {
    size_t event;
    /* An event of the lane in which it was handed over, and found done; SIZE_MAX: not known, or not
     * done. */
    size_t made_in, found_in;
    int64_t not_before_ns; /* it was not done then */
    uint16_t queue;        /* FORMAT.md, "Asynchronous requests" */
    uint8_t found;
};

struct iot_events {
    size_t n;
    int64_t *t0_ns, *t1_ns;
    int64_t *bytes, *result, *offset;
    uint64_t *addr;
    uint32_t *file, *file2; /* index into files; 0 none */
    uint32_t *arg;          /* of join, thread_create, start, thread_start: the lane number that obj
                             * names, UINT32_MAX unknown; of sleep, of what a GPU does, and of what
                             * has a buffer (op_sets.h), obj2; of the others 0 */
    int32_t *fd;            /* -1 none */
    uint16_t *op, *err;
    uint32_t *stack;        /* index into stacks.list: where the call was made; 0 not known */
};

/* Indexes of events are 32 bits wide in places. */
#define IOT_EVENTS_MAX ((size_t)UINT32_MAX / 4)

/* Sums over all that was recorded, where the model has but the newest of it. Bytes of asynchronous
 * requests are not among them. */
struct iot_whole {
    uint64_t events; /* 0: the model has all */
    uint64_t data_ops, metadata_ops, sync_ops;
    uint64_t read_bytes, write_bytes;
    uint64_t call_ns; /* in these calls, waits for others of the run included; lanes add up */
};

struct iot_trace {
    const char *folder;
    struct iot_process *processes; /* by start; the root is 0 */
    struct iot_lane *lanes;        /* by process, then number */
    struct iot_file *files;        /* [0] is nothing */
    struct iot_events events;
    struct iot_request *requests; /* by event */
    size_t n_requests;
    size_t n_processes, n_lanes, n_files;
    int64_t wall_ns;               /* the root's last event: where the run ends */
    uint64_t dropped_events;
    uint32_t salvaged_processes;   /* also files of which nothing could be read */
    uint64_t lineage_forgotten;    /* ranges of memory that made room: lineage.h */
    uint64_t unknown_events;       /* of operations this version does not know: left out */
    const char *damage;            /* the first finding in words, with file and byte; "" none */
    struct iot_stacks stacks;
    struct iot_seen seen;          /* once narrowed to what was seen */
    struct iot_whole whole;
    struct iot_arena *arena; /* holds the strings */
};

/* Reads a trace folder: the newest of it, where it has more events than there is memory for
 * (newest.h). Returns NULL after one line in `error` (what, file and byte offset, what to do) if
 * nothing of it can be used; damage that leaves something to use is salvaged and counted instead.
 * Free with iot_trace_free. */
struct iot_trace *iot_trace_read(const char *folder, char error[512]);
/* The same of a trace with more events than `most`, about; 0: than there is memory for. */
struct iot_trace *iot_trace_read_newest(const char *folder, size_t most, char error[512]);
void iot_trace_free(struct iot_trace *trace);

#endif
