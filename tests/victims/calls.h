/* What the victims of the coverage share: each row of the recorder's tables is called, and what it
 * did is said at the end:
 *
 *     did OP * COUNT      calls of OP that succeeded, all in all
 *     moved OP BYTES      what those of them that move bytes moved
 */
#ifndef CALLS_H
#define CALLS_H

#include <dlfcn.h>

#include "tests/victims/hazard.h"

static struct {
    const char *op;
    long count, bytes;
} said[128];

static inline void say(const char *op, long bytes)
{
    size_t k = 0;
    while (said[k].op && strcmp(said[k].op, op))
        k++;
    CHECK(k + 1 < sizeof said / sizeof *said);
    said[k].op = op;
    said[k].count++;
    said[k].bytes += bytes;
}

static inline void say_all(void)
{
    for (size_t k = 0; said[k].op; k++) {
        dprintf(1, "did %s * %ld\n", said[k].op, said[k].count);
        if (said[k].bytes)
            dprintf(1, "moved %s %ld\n", said[k].op, said[k].bytes);
    }
}

/* A call of the operation that must do what it says; and one that moves bytes. */
#define DO(op, what)                                                                               \
    do {                                                                                           \
        CHECK(what);                                                                               \
        say(op, 0);                                                                                \
    } while (0)
#define MOVE(op, call, n)                                                                          \
    do {                                                                                           \
        CHECK((call) == (n));                                                                      \
        say(op, n);                                                                                \
    } while (0)

/* A function by a name that no header declares. */
static inline void *find(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found)
        found = dlvsym(RTLD_DEFAULT, name, "GLIBC_2.2.5"); /* for old programs alone */
    if (!found)
        dprintf(2, "no %s\n", name);
    CHECK(found);
    return found;
}
#define CALL(ret, name, params, args) ((ret(*) params)find(#name)) args

#endif
