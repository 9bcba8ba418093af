/* Where in the program I/O calls are made: calls with the same stack, by what they cost. */
#ifndef IOT_ANALYZER_CALL_SITES_H
#define IOT_ANALYZER_CALL_SITES_H

#include "analyzer/arena.h"
#include "analyzer/model.h"
#include "analyzer/trace.h"

enum { IOT_SITE_FRAMES = 16 };

struct iot_call_site {
    int64_t exposed_ns, service_ns, bytes;
    uint64_t calls;
    const char *frames[IOT_SITE_FRAMES]; /* in words, the innermost first */
    uint32_t n_frames;
    uint32_t stack;            /* in the trace's list */
    const char *object, *path; /* of the row that it costs most on; NULL: no report asked for it */
};

/* The `most` that cost most, by exposed, service and calls; NULL if there are none. `file`: only of calls on that
 * one; IOT_NO_INDEX: on any. Returns 0, -1 without memory. The caller frees the list; words lie in the arena. */
int iot_call_sites_find(struct iot_call_site **sites, size_t *n, size_t most,
                        const struct iot_trace *trace, const struct iot_model *model, uint32_t file,
                        struct iot_arena *arena);

/* "main+0x2f (app) > load+0x40 (app) > fread": the innermost frames that fit, the caller first. */
void iot_call_site_words(const struct iot_call_site *site, char *to, size_t bytes);

#endif
