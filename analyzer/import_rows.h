/* The rows of an imported trace: a lane at a time. */
#ifndef IOT_ANALYZER_IMPORT_ROWS_H
#define IOT_ANALYZER_IMPORT_ROWS_H

#include "analyzer/import.h"
#include "analyzer/trace_writer.h"
#include "format/ops.h"

struct iot_import {
    struct iot_profile *profile;
    struct iot_imported *done;
    size_t process;  /* of the profile's */
    uint32_t *order; /* its items, by lane and time */
    size_t n_order;
    uint32_t *works; /* correlations of what ran on a GPU, ascending */
    uint32_t *waits; /* correlations of calls that copy and wait, ascending */
    uint32_t *syncs; /* items, by correlation */
    size_t n_works, n_waits, n_syncs;
    struct iot_hand_off *hand_offs;
    size_t n_hand_offs;

    struct iot_written file;
    struct iot_half_rows *half;
    struct iot_written_place place;
    uint32_t *string_of; /* by name of the profile: its number in the file; 0: none yet */
    uint32_t n_strings;
    uint32_t lane, tid, epoch;
    int failed; /* out of memory */
};

/* 0, or -1 without memory; end it in either case. */
int iot_import_rows_begin(struct iot_import *im);
void iot_import_rows_end(struct iot_import *im);

/* A lane: its rows lie between these. The latter returns 0, or -1 without memory. */
void iot_import_lane(struct iot_import *im, uint32_t number, uint32_t tid);
int iot_import_lane_end(struct iot_import *im);
/* The first lane of a recording without threads: there is always one. */
int iot_import_nothing(struct iot_import *im);

void iot_import_row(struct iot_import *im, struct iot_row row);
/* The number of a string of the file. */
uint32_t iot_import_string(struct iot_import *im, const char *text);
/* A time of the profile in ticks of the file: of all profiles on one clock, as far as they say
 * which. */
static inline uint64_t iot_import_ns(const struct iot_import *im, int64_t ns)
{
    return (uint64_t)(ns + im->profile->base_ns);
}

/* The items of a thread or stream, in order of time. */
void iot_import_thread(struct iot_import *im, const uint32_t *items, size_t n);
void iot_import_stream(struct iot_import *im, const uint32_t *items, size_t n);

/* Whether anything that ran on a GPU has the correlation; the cuda_sync record that has it, or
 * NULL. */
int iot_import_has_work(const struct iot_import *im, uint32_t correlation);
/* Whether its call is one that returns when the copy is done: cudaMemcpy without "Async". */
int iot_import_is_sync_copy(const struct iot_import *im, uint32_t correlation);
const struct iot_item *iot_import_sync(const struct iot_import *im, uint32_t correlation);

#endif
