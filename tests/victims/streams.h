/* What the programs that use standard streams share: files of known content in the folder they are
 * given, and an end with a complaint where a call did not do what it should. */
#ifndef STREAMS_H
#define STREAMS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                             \
            _Exit(99);                                                                             \
        }                                                                                          \
    } while (0)

extern const char *streams_folder;

static inline const char *in_folder(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", streams_folder, name);
    return path;
}

static inline FILE *must_open(const char *name, const char *mode)
{
    FILE *stream = fopen(in_folder(name), mode);
    MUST(stream);
    return stream;
}

struct stream_case {
    const char *name;
    void (*run)(void);
};

extern const struct stream_case streams_use[];  /* every function, in every mode */
extern const struct stream_case streams_hard[]; /* threads, forks, failures, ends */

void streams_names(void); /* the names that a compiler does not let one call */
void streams_wide_files(void);
void streams_wide_standard(void);

#endif
