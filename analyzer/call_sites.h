/* Where in the program I/O calls are made: calls with the same stack, by what they cost. */
#ifndef IOT_ANALYZER_CALL_SITES_H
#define IOT_ANALYZER_CALL_SITES_H

#include "analyzer/arena.h"
#include "analyzer/model.h"
#include "analyzer/places.h"
#include "analyzer/trace.h"

enum { IOT_SITE_FRAMES = 24 };

struct iot_call_site {
    int64_t exposed_ns, service_ns, bytes;
    uint64_t calls;
    struct iot_place frames[IOT_SITE_FRAMES]; /* the innermost first */
    uint32_t n_frames;
    uint32_t stack;            /* in the trace's list */
    const char *object, *path; /* of the row that it costs most on; NULL: no report asked for it */
};

/* Modules on the stacks of which another build is there now, so that nothing is known of their
 * code. */
struct iot_changed {
    const char *first; /* its path; NULL: there are none */
    size_t n;
};

/* The `most` that cost most, by exposed, service and calls; NULL if there are none. `file`: only of
 * calls on that one; IOT_NO_INDEX: on any. `changed` may be NULL. Returns 0, -1 without memory. The
 * caller frees the list; words lie in the arena. */
int iot_call_sites_find(struct iot_call_site **sites, size_t *n, size_t most,
                        const struct iot_trace *trace, const struct iot_model *model, uint32_t file,
                        struct iot_changed *changed, struct iot_arena *arena);

/* The member "sites" of an object: a list, with the frames in words and as places. */
struct iot_json;
void iot_call_sites_put(struct iot_json *json, const struct iot_call_site *sites, size_t n);

/* "train.py:50 main > train.py:42 load_batch": the caller first. Where not all frames fit, "..."
 * stands for those between the outermost and the innermost. Of native code that Python called only
 * the innermost. */
void iot_call_site_words(const struct iot_call_site *site, char *to, size_t bytes);

#endif
