/* Whether recordings can be ranks of one run on one host, as far as they say: a trace has one
 * clock. */
#ifndef IOT_ANALYZER_IMPORT_TOGETHER_H
#define IOT_ANALYZER_IMPORT_TOGETHER_H

#include "analyzer/profile.h"

enum { IOT_TOGETHER_HOST_BYTES = 256 };

struct iot_together {
    struct iot_recording {
        const char *path;
        char host[IOT_TOGETHER_HOST_BYTES]; /* empty: it does not say */
        int64_t rank, world_size;           /* -1: it does not say */
        int64_t start_ns, end_ns;           /* on the clock of all */
    } * recordings;
    size_t n;
};

/* Adds a recording that was read; its path must stay. The times are those it has with its base. 0,
 * or -1 with `error` saying why it is not one with those before, or that memory is short. */
int iot_together_add(struct iot_together *together, const char *path,
                     const struct iot_profile *profile, char error[1024]);
void iot_together_free(struct iot_together *together);

/* The host that a recording names, in `host`; empty if it names none. */
void iot_together_host(const struct iot_profile *profile, const char *path,
                       char host[IOT_TOGETHER_HOST_BYTES]);

/* What is taken for granted of several, line by line; NULL behind the last one. */
const char *iot_together_note(const struct iot_together *together, size_t line, char text[1024]);

#endif
