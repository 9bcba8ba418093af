/* The labelled runs of samples.txt, made into traces. */
#ifndef IOT_TEST_SAMPLES_H
#define IOT_TEST_SAMPLES_H

#include <stdio.h>

#include "analyzer/objects.h"
#include "tests/unit/runs.h"

enum { IOT_SAMPLES_OF_A_RUN = 64, IOT_SAMPLE_FILES = 128 };

/* One line: files that are used alike. */
struct iot_sample {
    unsigned line;
    uint32_t files[IOT_SAMPLE_FILES];
    size_t n_files;
    int reads, writes;          /* whether its calls do */
    int object[IOT_DIRECTIONS]; /* enum iot_object */
};

struct iot_sample_run {
    char name[64];
    struct iot_test_run *run;
    struct iot_sample samples[IOT_SAMPLES_OF_A_RUN];
    size_t n;
};

/* The next run of the file; `at` counts lines and starts at 0. Returns 0 at the end. A line that
 * is not understood stops the program. */
int iot_samples_next(FILE *in, struct iot_sample_run *run, unsigned *at);
void iot_samples_free(struct iot_sample_run *run);

#endif
