/* Which processes held the writing end of a pipe or socket: those whose end can be the end of what
 * is read from it. */
#ifndef IOT_ANALYZER_STREAM_HOLDERS_H
#define IOT_ANALYZER_STREAM_HOLDERS_H

#include <stddef.h>

#include "analyzer/by_pid.h"
#include "analyzer/links.h"

/* What the images of one process did with one stream. */
struct iot_hold {
    uint32_t file, pid;
    int64_t first_ns; /* when it came to have it; INT64_MIN if it had it before it used it */
    int64_t closed_ns; /* its last close; INT64_MAX: none was seen */
    uint8_t reads, writes;
};

struct iot_holders {
    const struct iot_trace *trace;
    const struct iot_links *links;
    struct iot_by_pid by_pid;
    struct iot_hold *list; /* by file, then pid */
    size_t n;
};

/* Once it is known who created whom. Returns 0, -1 without memory. Free in either case. */
int iot_holders_make(struct iot_holders *holders, const struct iot_trace *trace,
                     const struct iot_links *links);
void iot_holders_free(struct iot_holders *holders);

/* Whether the process (an image of it) may have held what is written to the file at its end: it
 * used it, other than by reading from a pipe; or it did not, and was started by one that had it
 * then. */
int iot_holds(const struct iot_holders *holders, uint32_t file, uint32_t process);

#endif
