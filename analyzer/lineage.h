/* Which file the bytes of a GPU's copies come from, and which they go to.
 *
 * A copy to the GPU carries what a read put into its buffer, or what is mapped there: the latest
 * before its launch, and of several files the one with most of its bytes. A copy from the GPU goes
 * where the first write takes it that comes behind its launch, before another copy or read fills
 * the buffer again. Both within one process image; a forked child begins with nothing known.
 * doc/gpu.md says what is not seen.
 */
#ifndef IOT_ANALYZER_LINEAGE_H
#define IOT_ANALYZER_LINEAGE_H

#include "analyzer/names.h"
#include "analyzer/trace.h"

/* Ranges of memory that are kept for a process; beyond, the older half of them is forgotten. */
enum { IOT_LINEAGE_RANGES = 1 << 16 };

struct iot_carried {
    uint32_t copy; /* an event, GPU_MEMCPY */
    uint32_t file; /* 0: not known */
    uint8_t several; /* more files had a part in it */
};

struct iot_lineage {
    struct iot_carried *copies; /* by copy: all those whose launch names an address */
    size_t n;
    uint64_t forgotten; /* ranges */
};

/* For a trace whose lanes are in their places. `ranges`: IOT_LINEAGE_RANGES. 0, or -1 without
 * memory; free in either case. */
int iot_lineage_find(struct iot_lineage *lineage, const struct iot_trace *trace,
                     const struct iot_files *files, size_t ranges);
void iot_lineage_free(struct iot_lineage *lineage);

/* NULL: nothing is known of it. */
const struct iot_carried *iot_lineage_of(const struct iot_lineage *lineage, size_t copy);

#endif
