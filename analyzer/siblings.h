/* Files of one folder whose names differ in their numbers alone are judged together. */
#ifndef IOT_ANALYZER_SIBLINGS_H
#define IOT_ANALYZER_SIBLINGS_H

#include "analyzer/trace.h"
#include "analyzer/use.h"

/* A file that has no siblings is a group of one. */
struct iot_group {
    uint32_t file;                      /* one of them */
    uint32_t n_read, n_written, n_back; /* files: read, written, written and read back */
    uint32_t reads;                     /* calls that moved bytes */
    uint32_t mapped;                    /* files mapped and not read */
    uint32_t maps;                      /* of the one of them with most */
    uint32_t synced;                    /* files written and synced */
    int64_t read_bytes, written_bytes;
    int64_t back_bytes;                  /* written to those that were read back */
    int64_t back_read_bytes;             /* read back of them, each byte once at most */
    int64_t size;                        /* of those that were read or mapped */
    int64_t first_read_ns, last_read_ns; /* of the whole group */
    int64_t first_map_ns, last_map_ns;
};

struct iot_groups {
    uint32_t *of_file;        /* group by file index; 0: none (pipes, sockets, folders, …) */
    struct iot_group *groups; /* [0] is unused */
    size_t n, room;
};

/* Returns 0, -1 without memory. Free in either case. */
int iot_groups_gather(struct iot_groups *groups, const struct iot_trace *trace,
                      const struct iot_uses *uses);
void iot_groups_free(struct iot_groups *groups);

#endif
