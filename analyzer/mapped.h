/* The files that processes of a run have mapped, and what became of them.
 *
 * Calls on mappings name an address, and page faults make no call: iot_mapped_resolve gives such
 * events their file, and puts events where the recorder only says how much time was lost to faults.
 */
#ifndef IOT_ANALYZER_MAPPED_H
#define IOT_ANALYZER_MAPPED_H

#include "analyzer/trace.h"

/* One mapping of a file in the process that made it. A forked child has its parent's. */
struct iot_mapping {
    int64_t t0_ns, end_ns; /* INT64_MAX: until its process ended */
    uint64_t address, bytes;
    int64_t offset; /* in its file */
    int64_t brought; /* by how much the page cache held more of it at its end; -1 not known */
    size_t told;     /* the event that says so */
    double faulted;  /* major faults on it, where more is not known of what it brought in */
    uint32_t file;
    uint8_t whole; /* at its end all of it was in the page cache */
};

struct iot_mapped {
    struct iot_mapping *maps; /* by process, then t0 */
    uint32_t *first;          /* process p has maps[first[p]] .. maps[first[p + 1] - 1] */
};

/* Events of a trace that was read: msync, munmap and others get the file at their address,
 * `resident` too, whose bytes become 0 where another mapping of the file tells the same; `faults`
 * become the stretches that were lost. Returns 0, or -1 without memory. */
int iot_mapped_resolve(struct iot_trace *trace);

/* Puts the time that rows `faults` say was lost where it can have been: mapped_faults.c. */
int iot_mapped_place_faults(struct iot_trace *trace, struct iot_mapped *mapped);

/* The process that a process was forked from and has the mappings of; IOT_NO_INDEX: none. */
uint32_t iot_mapped_parent(const struct iot_trace *trace, uint32_t process);

#endif
