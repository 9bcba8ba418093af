/* How each file of a run was used: what its object can be told from. */
#ifndef IOT_ANALYZER_USE_H
#define IOT_ANALYZER_USE_H

#include "analyzer/steps.h"
#include "analyzer/trace.h"

enum iot_use_flag {
    IOT_USE_SYNCED = 1,
    IOT_USE_TO_WRITE = 2, /* opened for writing only or to be cut; written through a mapping */
    IOT_USE_MAPPED = 4,
    IOT_USE_MADE = 8,      /* a pipe or a pair of sockets that the run made */
    IOT_USE_LOCAL = 16,    /* a socket of this machine (AF_UNIX) */
    IOT_USE_ACCEPTED = 32, /* a socket that came from accept */
    IOT_USE_PROGRAM = 64,  /* what a process of the run executed */
};

/* Times are INT64_MAX where there was no such call. */
struct iot_use {
    int64_t read_bytes, written_bytes;
    int64_t read_back_bytes; /* read after it was written under any of its names */
    int64_t first_read_ns, last_read_ns, first_write_ns;
    int64_t first_map_ns, last_map_ns;
    int64_t removed_ns; /* the last time */
    uint32_t reads, writes; /* calls that moved bytes */
    uint32_t maps;
    uint32_t family;     /* a file index, the same for all names that a rename joined */
    uint32_t renamed_to; /* the last name it was given; 0 none */
    uint8_t flags;
};

struct iot_uses {
    struct iot_use *files; /* one each, by file index */
    uint8_t accepts_local; /* a process of the run accepted on a local socket */
    int64_t wall_ns;
    int64_t early_ns; /* what was read before was loaded: the first step that a mark tells, or a
                       * quarter of the run */
};

/* `steps` may be NULL. Returns 0, -1 without memory. Free in either case. */
int iot_uses_gather(struct iot_uses *uses, const struct iot_trace *trace,
                    const struct iot_steps *steps);
void iot_uses_free(struct iot_uses *uses);

#endif
