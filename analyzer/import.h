/* A profiler's recording as the trace of a process image. */
#ifndef IOT_ANALYZER_IMPORT_H
#define IOT_ANALYZER_IMPORT_H

#include "analyzer/profile.h"

/* What of a recording went into a trace. */
struct iot_imported {
    uint64_t threads, streams;
    uint64_t copies, copied_bytes, memsets, kernels;
    uint64_t calls, syncs, loads, steps, ranges;
    uint64_t hand_offs;
    uint64_t unplaced; /* cuda_sync records without a call of their correlation */
    int64_t span_ns;
};

/* One thread let another one go on: what the profiler does not record, and its spans tell. */
struct iot_hand_off {
    int64_t from_ns, to_ns; /* when the one ended what it did, and the other began */
    int64_t idle_ns;        /* since when the other had done nothing */
    uint32_t from, to;      /* lanes of the profile */
};

/* Between threads of one process; puts the profile's spans in order of their start. Free the list.
 * 0, or -1 without memory. */
int iot_hand_offs_find(const struct iot_profile *profile, size_t process,
                       struct iot_hand_off **list, size_t *n);

/* Writes a process of a profile that was divided as the file `name` into a folder. `source` is the
 * profile's path, `pid` a process number that no other file of the folder has. What went into it is
 * added to *done. Changes the order of the profile's spans. Returns 0 or -errno. */
int iot_import_write(struct iot_profile *profile, size_t process, int folder, const char *name,
                     const char *source, uint32_t pid, int root, struct iot_imported *done);

#endif
