/* `iotrace run --repeat`: several runs of a command, as a comparison wants them. */
#ifndef IOT_ANALYZER_REPEAT_H
#define IOT_ANALYZER_REPEAT_H

#include <stdbool.h>
#include <stddef.h>

struct iot_repeat {
    size_t runs;   /* 0: no repetition is asked for */
    size_t warmup; /* runs before, whose traces do not stay */
    bool drop_caches;
    const char *other; /* a second command, for a shell, that takes turns with the first; or NULL */
};

/* Makes one traced run into a folder; returns its exit status. */
typedef int iot_run_once(void *user, char **command, const char *folder);

/* Makes the runs into `folder`, which must be new or empty: as 01, 02, …; with a second command as
 * a/01, b/01, a/02, …. Ends with the first status that is not 0, says so and returns it; the
 * trace of that run is put aside, as .failed-03. Prints its own errors. */
int iot_repeat(const struct iot_repeat *how, char **command, const char *folder, iot_run_once *once,
               void *user);

#endif
