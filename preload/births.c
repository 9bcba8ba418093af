/* Descriptors without a path of their own, or whose path only libc knows: memory, counters, timers,
 * temporary files. And the counters' own calls. */
#include "preload/real.h"

#include <string.h>

#include "preload/descriptors.h"
#include "preload/text.h"
#include "preload/wrap.h"

enum { NAME_BYTES = 300, NO_FLAGS = 0 };

/* --- by the name it was given --- */

static int born(struct iot_thread *t, struct iot_timed call, uint16_t op, int fd, uint32_t name,
                int flags)
{
    uint32_t obj = fd < 0 ? 0 : iot_descriptor_opened(t, fd, name, flags, 0);
    return (int)iot_timed_event(
        t, call,
        &(struct iot_row){.result = fd, .offset = flags, .obj = obj, .obj2 = name, .op = op});
}

/* "<before><name>", as the kernel will call it. */
static uint32_t name_behind(struct iot_thread *t, const char *before, const char *name)
{
    return iot_string(t, before, strlen(before), name, strnlen(name, NAME_BYTES));
}

int memfd_create(const char *name, unsigned flags)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.memfd_create(name, flags);
    IOT_TIMED(int, memfd_create, (name, flags))
    uint32_t string = result < 0 ? 0 : name_behind(t, "/memfd:", name);
    return born(t, call, IOT_OP_MEMFD_CREATE, result, string, (int)flags);
}

int shm_open(const char *name, int flags, mode_t mode)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.shm_open(name, flags, mode);
    IOT_TIMED(int, shm_open, (name, flags, mode))
    const char *plain = name;
    if (result >= 0)
        plain += strspn(name, "/");
    uint32_t string = result < 0 ? 0 : name_behind(t, "/dev/shm/", plain);
    return born(t, call, IOT_OP_SHM_OPEN, result, string, flags);
}

/* The pattern has become the name. */
#define MKSTEMP(sym, params, args, flags)                                                          \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        uint32_t name = result < 0 ? 0 : iot_path(t, AT_FDCWD, pattern);                           \
        return born(t, call, IOT_OP_MKSTEMP, result, name, O_RDWR | O_CREAT | O_EXCL | (flags));   \
    }

MKSTEMP(mkstemp, (char *pattern), (pattern), NO_FLAGS)
MKSTEMP(mkstemp64, (char *pattern), (pattern), NO_FLAGS)
MKSTEMP(mkostemp, (char *pattern, int flags), (pattern, flags), flags)
MKSTEMP(mkostemp64, (char *pattern, int flags), (pattern, flags), flags)
MKSTEMP(mkstemps, (char *pattern, int suffix), (pattern, suffix), NO_FLAGS)
MKSTEMP(mkstemps64, (char *pattern, int suffix), (pattern, suffix), NO_FLAGS)
MKSTEMP(mkostemps, (char *pattern, int suffix, int flags), (pattern, suffix, flags), flags)
MKSTEMP(mkostemps64, (char *pattern, int suffix, int flags), (pattern, suffix, flags), flags)

/* --- by the name the kernel has for it --- */

#define ADOPTS(sym, operation, params, args, flags, number)                                        \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        uint32_t obj = result < 0 ? 0 : iot_descriptor_adopt(t, result);                           \
        return (int)iot_timed_event(t, call,                                                       \
                                    &(struct iot_row){.result = result,                            \
                                                      .offset = flags,                             \
                                                      .addr = number,                              \
                                                      .obj = obj,                                  \
                                                      .op = IOT_OP_##operation});                  \
    }

ADOPTS(eventfd, EVENTFD, (unsigned value, int flags), (value, flags), flags, value)
ADOPTS(timerfd_create, TIMERFD_CREATE, (clockid_t clock, int flags), (clock, flags), flags, 0)

/* --- counters: libc moves the eight bytes itself --- */

#define COUNTER(sym, operation, params, args)                                                      \
    IOT_ON_DESCRIPTOR(int, sym, operation, params, args, fd,                                       \
                      .bytes = result ? 0 : sizeof(eventfd_t))

COUNTER(eventfd_read, EVENTFD_READ, (int fd, eventfd_t *value), (fd, value))
COUNTER(eventfd_write, EVENTFD_WRITE, (int fd, eventfd_t value), (fd, value))

/* --- names without a descriptor --- */

#define NAMES(sym, operation, params, args, name)                                                  \
    char *sym params                                                                               \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        char *result = iot_real.sym args;                                                          \
        call.t1 = iot_now();                                                                       \
        call.err = result ? 0 : errno;                                                             \
        uint32_t obj = iot_path_of(t, call, AT_FDCWD, name);                                       \
        iot_timed_event(                                                                           \
            t, call,                                                                               \
            &(struct iot_row){.result = result != NULL, .obj = obj, .op = IOT_OP_##operation});    \
        return result;                                                                             \
    }

NAMES(realpath, REALPATH, (const char *restrict path, char *restrict to), (path, to), path)
NAMES(__realpath_chk, REALPATH, (const char *path, char *to, size_t size), (path, to, size), path)
NAMES(canonicalize_file_name, REALPATH, (const char *path), (path), path)
NAMES(mkdtemp, MKDTEMP, (char *pattern), (pattern), pattern)
