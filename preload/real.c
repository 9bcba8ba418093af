#include "preload/real.h"

#include <dlfcn.h>
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

/* What is not there is not asked for: on a miss the loader makes a text of it by the program's allocator, and
 * that of a sanitizer is not ready as early as this. The next library that has the function at all is the one
 * that is meant: one that stands before libc, as a sanitizer does, seldom has versions. What libc keeps for
 * old programs alone has its first version and no newer one. */
static void *find(const struct link_map *behind, const char *name, const char *version)
{
    static const char *const first[] = {"GLIBC_2.2.5", "GLIBC_2.17"}; /* x86-64, aarch64 */
    const struct link_map *next = iot_modules_with(behind, name);
    if (version && iot_module_has(next, name, version))
        return dlvsym(RTLD_NEXT, name, version);
    if (iot_module_has(next, name, NULL))
        return dlsym(RTLD_NEXT, name);
    for (size_t k = 0; k < sizeof first / sizeof *first; k++)
        if (iot_module_has(next, name, first[k]))
            return dlvsym(RTLD_NEXT, name, first[k]);
    return NULL;
}

/* Goes on behind what is being looked up already, should the lookup itself call a wrapper. */
void iot_real_start(void)
{
    static volatile size_t next;
    const struct link_map *behind = iot_modules_behind();
    if (!behind)
        behind = iot_modules_libc();
    while (next < sizeof symbols / sizeof *symbols) {
        const struct symbol *s = &symbols[next++];
        void **real = (void **)((char *)&iot_real + s->at);
        *real = (void *)missing;
        void *found = find(behind, s->name, s->version);
        if (found)
            *real = found;
    }
}
