#include "preload/real.h"

#include <errno.h>
#include <stddef.h>

#include "preload/module_symbols.h"

#if !defined(__x86_64__)
struct iot_real iot_real; /* else in early.S */
#endif

static const struct symbol {
    const char *name, *version;
    size_t at;
} symbols[] = {
#define EVERY(ret, sym, params, version) {#sym, version, offsetof(struct iot_real, sym)},
#include "preload/every.def"
};

static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

/* Goes on behind what is being looked up already, should the lookup itself call a wrapper. */
void iot_real_start(void)
{
    static volatile size_t next;
    while (next < sizeof symbols / sizeof *symbols) {
        const struct symbol *s = &symbols[next++];
        void **real = (void **)((char *)&iot_real + s->at);
        *real = (void *)missing;
        void *found = iot_next_function(s->name, s->version);
        if (found)
            *real = found;
    }
}
