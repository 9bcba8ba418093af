/* msync names an address: which file is mapped there. */
#ifndef IOT_ANALYZER_MAPPED_H
#define IOT_ANALYZER_MAPPED_H

#include "analyzer/trace.h"

struct iot_mapped_sync {
    size_t event;
    uint32_t file; /* 0: none is known */
};

struct iot_mapped {
    struct iot_mapped_sync *syncs; /* every msync, by event */
    size_t n;
};

/* Returns 0, -1 without memory. Free in either case. */
int iot_mapped_find(struct iot_mapped *mapped, const struct iot_trace *trace);
void iot_mapped_free(struct iot_mapped *mapped);

/* The file of an event: for msync the one that is mapped at its address, else events.file. */
uint32_t iot_mapped_file(const struct iot_mapped *mapped, const struct iot_trace *trace,
                         size_t event);

#endif
