/* The report of many units: sums of what their own reports say, and what lies between them. Schema
 * iotrace-job/1. Made of a partial result that is in order; what it points to must outlive it. */
#ifndef IOT_ANALYZER_JOB_H
#define IOT_ANALYZER_JOB_H

#include <stdbool.h>
#include <stdio.h>

#include "analyzer/partial.h"
#include "analyzer/report.h"

#define IOT_JOB_SCHEMA "iotrace-job/1"

enum { IOT_LABEL_BYTES = 192 };

/* Over the units: nearest rank; which unit has the least and the most. */
struct iot_spread {
    int64_t min, median, max;
    size_t min_unit, max_unit;
};
enum iot_spread_of { IOT_SPREAD_EXPOSED, IOT_SPREAD_SERVICE, IOT_SPREAD_BYTES, IOT_SPREADS };
extern const char *const iot_spread_names[IOT_SPREADS];

struct iot_job_host {
    const char *host;
    size_t units;
    int slow_object; /* -1: not slow */
    int64_t
        excess_ns; /* a unit's data calls on that object, over what they take on the median host */
    double times;  /* as slow as that */
};

struct iot_job_file {
    const struct iot_partial_file *file;
    struct iot_figures figures;
    int64_t error_exposed_ns, error_service_ns, error_bytes; /* at most so much more */
    /* Until it was ready, in the units that say so; its parts in that which took longest. */
    size_t ready_units; /* 0: it is not known, and the rest says nothing */
    struct iot_spread ready;
    const struct iot_unit_ready *longest;
};

/* When a step began, since its unit did. */
struct iot_job_start {
    int64_t step; /* from 0 */
    size_t units; /* that have it */
    struct iot_spread begins;
};

/* Sentences with their full stop. */
struct iot_job_lines {
    const char **lines;
    size_t n;
};

/* What is said of the rows with names (partial_rows.def). */
enum iot_job_section {
    IOT_JOB_STEPS,
    IOT_JOB_READY,
    IOT_JOB_GPUS,
    IOT_JOB_MARKED,
    IOT_JOB_SITES,
    IOT_JOB_WAITS,
    IOT_JOB_QUEUES,
    IOT_JOB_ADVICE,
    IOT_JOB_NOT_SEEN,
    IOT_JOB_EVIDENCE,
    IOT_JOB_SECTIONS
};

struct iot_job {
    const struct iot_partial *partial;
    int64_t wall_ns, unit_wall_ns; /* of the slowest unit; of all */
    struct iot_report_object objects[IOT_OBJECTS];
    struct iot_figures total;
    int64_t path[7];               /* IOT_UNIT_compute_ns and on, summed up */
    int64_t curve[IOT_UNIT_CURVE]; /* of the slowest unit at each lambda */
    struct iot_spread wall, spread[IOT_OBJECTS][IOT_SPREADS];
    size_t straggler;
    struct iot_job_file *files; /* as in a report */
    size_t n_files;
    struct iot_job_start *starts;
    size_t n_starts;
    size_t gpu_units, known_units; /* that have GPUs; of which it is known when they idled */
    struct iot_spread gpu_idle, collectives; /* idle_ns, waited_ns and transfer_ns of these */
    size_t *shared; /* indexes of files that several units read, most read first */
    size_t n_shared;
    struct iot_job_host *hosts; /* by name */
    size_t n_hosts;
    size_t n_boots;             /* of hosts: units of one boot share a clock */
    int64_t start_spread_ns;    /* from the first start to the last, by the hosts' clocks */
    struct iot_job_lines notes; /* what is wrong or uncertain */
    struct iot_job_lines ranks, shared_words, slow;    /* what lies between the units */
    const struct iot_named_row **named[IOT_ROW_KINDS]; /* those of most weight first */
    struct iot_job_lines sections[IOT_JOB_SECTIONS];
    struct iot_arena *arena;
};

/* Returns 0, -1 without memory; free in either case. The partial has a unit at least. */
int iot_job_make(struct iot_job *job, const struct iot_partial *partial);
void iot_job_free(struct iot_job *job);

/* Without latency and fit, which no sums give. */
struct iot_figures iot_job_figures(const struct iot_sums *sums);

/* "rank 3 on node7". */
const char *iot_unit_label(const struct iot_unit *unit, char text[IOT_LABEL_BYTES]);

/* The spread of values of units. At least one; they are put into an order. */
struct iot_job_value {
    int64_t value;
    size_t unit;
};
struct iot_spread iot_job_spread(struct iot_job_value *values, size_t n);

/* Parts of it: job_gpu.c, job_hosts.c, job_moments.c, job_named.c, job_notes.c, job_words.c. 0, -1
 * without memory. */
int iot_job_gpu(struct iot_job *job);
int iot_job_gpu_words(struct iot_job *job);
int iot_job_hosts(struct iot_job *job);
/* Once the files stand in the order of the partial result. */
int iot_job_moments(struct iot_job *job);
int iot_job_moments_words(struct iot_job *job);
int iot_job_named(struct iot_job *job);
int iot_job_notes(struct iot_job *job);
int iot_job_words(struct iot_job *job);
int iot_job_named_words(struct iot_job *job);
/* Numbers of a unit, summed up. */
int64_t iot_job_sum(const struct iot_job *job, enum iot_unit_number number);
/* A difference between ranks of less is not worth a line. */
int64_t iot_job_weight(const struct iot_job *job);
/* What comes first: how long it took, and what of that is I/O. */
void iot_job_verdict(const struct iot_job *job, char text[IOT_LABEL_BYTES * 4]);
/* Adds a sentence. */
int iot_job_say(struct iot_job *job, struct iot_job_lines *to, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `top`: so many files are listed, the rest is one row an object. */
int iot_job_write_json(const struct iot_job *job, FILE *out, size_t top);
void iot_job_write_text(const struct iot_job *job, FILE *out, bool colour, size_t top);
void iot_job_write_markdown(const struct iot_job *job, FILE *out, size_t top);

#endif
