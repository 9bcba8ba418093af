/* What a job is made of on the command line: folders of traces, folders of a job with those of its
 * ranks, and partial results, in any order. */
#ifndef IOT_ANALYZER_JOB_INPUTS_H
#define IOT_ANALYZER_JOB_INPUTS_H

#include <stdbool.h>

#include "analyzer/partial.h"

/* Whether it is a partial result, or a folder with those of ranks: no trace of one run. */
bool iot_job_is_job(const char *path);

/* One thing to be read: the folder of a trace, or a partial result. */
struct iot_job_item {
    const char *path; /* in the list's arena */
    uint32_t operand; /* the index of the path that it is, or that it lies in */
};
struct iot_job_items {
    struct iot_arena *arena;
    struct iot_job_item *items;
    size_t n, room;
};

/* What the paths stand for. A path with nothing that can be read is an item, too: who reads it says
 * what is wrong. Returns 0, -1 without memory; free in either case. */
int iot_job_list(struct iot_job_items *items, char *const *paths, int n);
void iot_job_items_free(struct iot_job_items *items);

/* What an item holds, to tell whether two hosts see the same: of a folder the names of its files
 * and the head of one (process, start and boot are in it), of a file its size and beginning.
 * `bytes`: about as much is to be read. 0: it cannot be read. */
uint64_t iot_job_item_identity(const char *path, uint64_t *bytes);

/* Whether partial results can be made as asked: its rules are read. 0, or -1 with one line in
 * `error`. */
int iot_job_check(const struct iot_partial_how *how, char error[512]);
/* Adds one; what cannot be read is named in the partial and left out. The same returns. */
int iot_job_add(struct iot_partial *partial, const char *path, const struct iot_partial_how *how,
                char error[512]);
/* Puts all into order; -1 also if nothing could be read. */
int iot_job_end(struct iot_partial *partial, char error[512]);

/* All of it. */
int iot_job_read(struct iot_partial *partial, char *const *paths, int n,
                 const struct iot_partial_how *how, char error[512]);

#endif
