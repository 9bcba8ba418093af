/* What a job is made of on the command line: folders of traces, folders of a job with those of its
 * ranks, and partial results, in any order. */
#ifndef IOT_ANALYZER_JOB_INPUTS_H
#define IOT_ANALYZER_JOB_INPUTS_H

#include <stdbool.h>

#include "analyzer/partial.h"

/* Whether it is a partial result, or a folder with those of ranks: no trace of one run. */
bool iot_job_is_job(const char *path);

/* Adds each, and puts all into order. Returns 0, or -1 with one line in `error`. */
int iot_job_read(struct iot_partial *partial, char *const *paths, int n,
                 const struct iot_partial_how *how, char error[512]);

#endif
