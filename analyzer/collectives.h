/* Collectives of several ranks that share a host: which belong together, and who came last.
 *
 * A rank is a GPU of a process. The collectives of one name in the n-th of its streams that have
 * any are a sequence; the k-th of each rank's belong together, as far as their times allow: one
 * that ended before another began has no counterpart there (recordings begin and end at different
 * moments), and is left out.
 */
#ifndef IOT_ANALYZER_COLLECTIVES_H
#define IOT_ANALYZER_COLLECTIVES_H

#include "analyzer/names.h"
#include "analyzer/trace.h"

struct iot_collective {
    uint32_t event; /* GPU_COLLECTIVE, or the GPU_COLLECTIVE_WAIT before it */
    uint32_t process, lane;
    int64_t t0_ns, t1_ns; /* of both */
};

/* members[first] .. members[first + n - 1] belong together; n > 1, each of another rank. */
struct iot_collective_group {
    size_t first, n;
    size_t last; /* the member that began last */
};

struct iot_collectives {
    struct iot_collective *members;
    struct iot_collective_group *groups;
    size_t n_members, n_groups;
    size_t alone; /* collectives without a counterpart, where other ranks have some of the name */
};

/* 0, or -1 without memory; free in either case. */
int iot_collectives_find(struct iot_collectives *collectives, const struct iot_trace *trace);
void iot_collectives_free(struct iot_collectives *collectives);

/* Of a row GPU_COLLECTIVE: *file becomes what it is known by, its kernel's name and its
 * communicator's, from the numbers of the two strings. 0, or -1 without memory. */
int iot_collective_named(struct iot_names *names, struct iot_files *files, uint32_t kernel,
                         uint32_t communicator, uint32_t *file);

#endif
