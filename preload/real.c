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
#define HANDV(ret, sym, op, params, version) {#sym, version, offsetof(struct iot_real, sym)},
#define HAND(ret, sym, op, params) HANDV(ret, sym, op, params, NULL)
#define REAL(ret, sym, op, params) HAND(ret, sym, op, params)
#define PLAIN(ret, sym, params) HAND(ret, sym, , params)
#define IO(ret, sym, op, params, args, ...) HAND(ret, sym, op, params)
#define IOV(ret, sym, op, params, args, ...) HAND(ret, sym, op, params)
#define IO2(ret, sym, op, params, args, from, to) HAND(ret, sym, op, params)
#define FD(ret, sym, op, params, args, fd, offset) HAND(ret, sym, op, params)
#define PATH(ret, sym, op, params, args, dir, path, offset) HAND(ret, sym, op, params)
#define PATH2(ret, sym, op, params, args, from_dir, from, to_dir, to) HAND(ret, sym, op, params)
#define NONE(ret, sym, op, params, args, offset, addr) HAND(ret, sym, op, params)
#define READS(ret, sym, op, params, ...) HAND(ret, sym, op, params)
#define WRITES(ret, sym, op, params, ...) HAND(ret, sym, op, params)
#define PRINTS(sym, op, params, ...) HAND(int, sym, op, params)
#include "preload/wrappers.def"
#include "preload/stdio.def"
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
