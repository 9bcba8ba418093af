/* The report of a run: what section by section goes into the schema iotrace-report/1, and what the
 * text shows. Integers of nanoseconds and bytes.
 *
 * It conserves by construction: every call has one row of one file and one object; what a row sums
 * up, its object does as well, and the total is the sum of the objects.
 */
#ifndef IOT_ANALYZER_REPORT_H
#define IOT_ANALYZER_REPORT_H

#include "analyzer/call_sites.h"
#include "analyzer/classify.h"
#include "analyzer/fit.h"
#include "analyzer/latency.h"
#include "analyzer/model.h"
#include "analyzer/objects.h"
#include "analyzer/queues.h"
#include "analyzer/ranges.h"
#include "analyzer/steps.h"
#include "analyzer/trace.h"
#include "analyzer/waits_words.h"

/* A data call that moved something, but less than this, is small: below a page of memory, the
 * fixed cost of a call outweighs its bytes. */
#define IOT_SMALL_BYTES 4096

/* What replays compute for files: as many as this, the most exposed ones. */
#define IOT_RECOVERABLE_FILES 20

/* Sentences on what a report does not prove. */
#define IOT_EVIDENCE_MAX 16

/* Call sites in a report. */
#define IOT_REPORT_SITES 20

#define IOT_NOT_COMPUTED INT64_C(-1)

/* The path of the row of calls on nothing that is known. */
#define IOT_NO_FILE "(no file)"

struct iot_figures {
    int64_t data_ops, metadata_ops, sync_ops;
    int64_t bytes; /* of sendfile and its kind at both ends */
    int64_t read_bytes, write_bytes;
    int64_t service_ns;      /* of sendfile and its kind at the source */
    int64_t data_service_ns; /* the part of data calls */
    int64_t exposed_ns;
    int64_t waited_ns;      /* part of exposed; the rest is blocking */
    int64_t recoverable_ns; /* IOT_NOT_COMPUTED: unknown */
    /* brought into the page cache while mapped, and the part of service_ns that */
    int64_t mapped_bytes;
    int64_t fault_ns;     /* was lost to page faults; both are estimates */
    int64_t small_ops;
    int64_t opens;     /* calls that open, also those that failed */
    /* Of reads whose place in their file is known: what they read, and how many bytes of it are
     * others. 0 of phases. */
    int64_t placed_bytes, distinct_bytes;
    int64_t timed_ops; /* data calls whose time is service; latency is of them */
    struct iot_latency latency;
    struct iot_fit fit;       /* of the timed calls */
    int64_t serialization_ns; /* 0 unless coded */
    uint8_t coded;            /* there is coding that can be told from computing */
    uint8_t mapped;           /* into memory: its bytes may be read without a call */
    /* At opens of what was read: sizes, and what of them the page cache held. */
    double opened_bytes, resident_bytes;
};

struct iot_report_object {
    uint64_t files; /* rows */
    struct iot_figures figures;
};

/* Of an artifact, from its first open until its bytes were read and decoded. */
struct iot_ready {
    uint8_t known;
    int64_t storage_ns;   /* with a call on it under way, in whatever lane */
    int64_t decode_ns;    /* serialization */
    /* on a GPU: copies of what was read from it under way, and no call on it */
    int64_t placement_ns;
    uint8_t memory;       /* of these copies: enum iot_host_memory, bits; 0: none, or not known */
};

struct iot_report_file {
    const char *path;
    const char *why; /* it has this object */
    uint32_t file;   /* index in the trace; IOT_NO_INDEX: none of them */
    uint8_t object;
    uint64_t rest; /* of "(n more)", what --top cut: n */
    struct iot_figures figures;
    struct iot_ready ready;
};

struct iot_untraced {
    uint32_t pid;
    const char *why;
};

/* Bytes that the kernel counted and no recorded call moved: by calls without libc or inside it, and
 * by children without a trace. */
struct iot_uncalled {
    uint32_t pid;
    const char *exe;
    uint64_t read_bytes, write_bytes;
};

/* Processes of the run that say the same of themselves. */
struct iot_rank {
    const struct iot_identity *identity;
    uint64_t processes;
};

struct iot_report_run {
    const char *const *command; /* NULL-terminated */
    const char *host, *cpu, *kernel;
    uint64_t start_realtime_ns;
    uint64_t processes, lanes; /* a process that execs stays one */
    uint64_t storage_read_bytes, storage_write_bytes;
    int64_t file_read_bytes; /* by calls, from regular files */
    /* Ready, and waiting for a CPU, in calls and outside: the kernel counts it for main threads. */
    uint64_t runqueue_ns;        /* in all processes */
    int64_t carrier_runqueue_ns; /* in those whose main thread carries the run; at most all of it */
    int tsc;
    struct iot_untraced *untraced;
    size_t n_untraced;
    const char **not_seen; /* sentences without their full stop */
    size_t n_not_seen;
    uint64_t uncalled_read_bytes, uncalled_write_bytes;
    struct iot_uncalled *uncalled; /* by bytes, most first; those with some */
    size_t n_uncalled;
    struct iot_rank *ranks; /* by job, then rank */
    size_t n_ranks;
    const char **filesystems; /* "mount point type", of the files with data */
    size_t n_filesystems;
};

struct iot_report {
    const struct iot_trace *trace;
    const struct iot_model *model;
    struct iot_report_run run;
    struct iot_report_object objects[IOT_OBJECTS];
    struct iot_figures total;
    struct iot_report_file *files; /* by exposed, service, path; then the rows "(n more)" */
    size_t n_files;
    const char **evidence; /* what the report does not prove: sentences without their full stop */
    size_t n_evidence;
    struct iot_queue *queues;
    size_t n_queues;
    struct iot_waited *waits;
    size_t n_waits;
    struct iot_call_site *sites; /* those that cost most, if stacks were recorded */
    size_t n_sites;
    struct iot_changed changed; /* of their programs and libraries */
    struct iot_range *ranges;
    size_t n_ranges;
    struct iot_named_mark *marks;
    size_t n_marks;
    struct iot_report_gpu *gpu;     /* report_gpu.h; NULL: no GPU was seen */
    struct iot_gaps *gaps;          /* where objects were encoded and decoded: serialization.h */
    uint32_t *of_event;             /* row by event; IOT_NO_INDEX: no I/O */
    struct iot_phases *phases;      /* phases.h */
    struct iot_advice_list *advice; /* advice.h */
    struct iot_arena *arena;
};

/* `top`: how many files have a row of their own; the others are one row "(n more)" for each
 * object. Trace, model, classes and steps must outlive the report. Returns 0, -1 without memory.
 * Free in either case. */
int iot_report_make(struct iot_report *report, const struct iot_trace *trace,
                    const struct iot_model *model, const struct iot_classes *classes,
                    const struct iot_steps *steps, size_t top);
void iot_report_free(struct iot_report *report);

/* Whether an event that has a row is a data call whose time is service: latency is of these. */
int iot_report_is_timed(const struct iot_report *report, size_t event);

/* "warm", "cold", "mixed" or "unknown": what the page cache held of files when they were opened to
 * be read. */
const char *iot_cache_scope(const struct iot_figures *figures);

#endif
