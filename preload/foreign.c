#include "preload/foreign.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

static const char *const names[] = {
#define FOREIGN(ret, sym, params) #sym,
#include "preload/foreign.def"
#undef FOREIGN
};

static void *found[sizeof names / sizeof *names];

static int missing(void)
{
    return -ENOSYS;
}

/* The name of the object that is loaded as the `left`th. */
struct nth {
    int left;
    const char *name;
};

static int reach(struct dl_phdr_info *object, size_t bytes, void *user)
{
    struct nth *nth = user;
    (void)bytes;
    if (nth->left--)
        return 0;
    nth->name = object->dlpi_name;
    return 1;
}

static void *base_of(void *symbol)
{
    Dl_info info;
    return symbol && dladdr(symbol, &info) ? info.dli_fbase : NULL;
}

/* What was loaded into a scope of its own is not behind us; each object is asked. It is opened
 * outside of the walk over all, which holds a lock that opening takes last. */
static void *look_everywhere(const char *name)
{
    void *ours = base_of((void *)(uintptr_t)look_everywhere);
    for (int k = 0;; k++) {
        struct nth nth = {k, NULL};
        if (!dl_iterate_phdr(reach, &nth))
            return NULL;
        void *handle = nth.name && *nth.name ? dlopen(nth.name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        void *symbol = handle ? dlsym(handle, name) : NULL;
        if (handle)
            dlclose(handle);
        if (symbol && base_of(symbol) != ours)
            return symbol;
    }
}

/* What is remembered must not go away: the library that it lies in stays loaded, also where the
 * program lets go of it. 0: it is going already. */
static int stays(void *symbol)
{
    Dl_info info;
    return dladdr(symbol, &info) &&
           (!*info.dli_fname || dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

void *iot_foreign(enum iot_foreign which)
{
    void *symbol = __atomic_load_n(&found[which], __ATOMIC_ACQUIRE);
    if (symbol)
        return symbol;
    int saved = errno;
    symbol = dlsym(RTLD_NEXT, names[which]);
    if (!symbol)
        symbol = look_everywhere(names[which]);
    int is_kept = symbol && stays(symbol);
    errno = saved;
    if (!symbol)
        return (void *)(uintptr_t)missing;
    if (is_kept)
        __atomic_store_n(&found[which], symbol, __ATOMIC_RELEASE);
    return symbol;
}

static struct iot_thread *outside_of_others(struct iot_thread *t)
{
    return t && !t->vfork_pid && !iot_inside(t) ? t : NULL;
}

struct iot_thread *iot_foreign_enter(void)
{
    return outside_of_others(iot_enter());
}

struct iot_thread *iot_foreign_enter_always(void)
{
    return outside_of_others(iot_enter_always());
}
