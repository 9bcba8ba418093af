/* Calls that give a descriptor a meaning, or take it away. */
#include <errno.h>
#include <stdarg.h>

#include "preload/descriptors.h"
#include "preload/file_locks.h"
#include "preload/real.h"
#include "preload/uring.h"
#include "preload/wrap.h"

/* --- open --- */

/* As libc tests it: only then is there a mode to be read. */
static int has_mode(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

static int opened(struct iot_thread *t, struct iot_timed call, uint16_t op, int fd, int dir,
                  const char *path, int flags)
{
    uint32_t name = iot_path_of(t, call, dir, path);
    uint32_t obj = fd >= 0 ? iot_descriptor_opened(t, fd, name, flags, 0) : 0;
    return (int)iot_timed_event(
        t, call,
        &(struct iot_row){.result = fd, .offset = flags, .obj = obj, .obj2 = name, .op = op});
}

#define OPEN(sym, operation, params, args, dir, flags)                                             \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        return opened(t, call, IOT_OP_##operation, result, dir, path, flags);                      \
    }

#define OPEN_MODE(sym, operation, params, args, dir)                                               \
    int sym params                                                                                 \
    {                                                                                              \
        mode_t mode = 0;                                                                           \
        if (has_mode(flags)) {                                                                     \
            va_list ap;                                                                            \
            va_start(ap, flags);                                                                   \
            mode = va_arg(ap, mode_t);                                                             \
            va_end(ap);                                                                            \
        }                                                                                          \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        return opened(t, call, IOT_OP_##operation, result, dir, path, flags);                      \
    }

OPEN_MODE(open, OPEN, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPEN_MODE(open64, OPEN, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPEN_MODE(__open, OPEN, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPEN_MODE(__open64, OPEN, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPEN_MODE(openat, OPENAT, (int dir, const char *path, int flags, ...), (dir, path, flags, mode),
          dir)
OPEN_MODE(openat64, OPENAT, (int dir, const char *path, int flags, ...), (dir, path, flags, mode),
          dir)
OPEN(__open_2, OPEN, (const char *path, int flags), (path, flags), AT_FDCWD, flags)
OPEN(__open64_2, OPEN, (const char *path, int flags), (path, flags), AT_FDCWD, flags)
OPEN(__openat_2, OPENAT, (int dir, const char *path, int flags), (dir, path, flags), dir, flags)
OPEN(__openat64_2, OPENAT, (int dir, const char *path, int flags), (dir, path, flags), dir, flags)
OPEN(creat, CREAT, (const char *path, mode_t mode), (path, mode), AT_FDCWD,
     O_CREAT | O_WRONLY | O_TRUNC)
OPEN(creat64, CREAT, (const char *path, mode_t mode), (path, mode), AT_FDCWD,
     O_CREAT | O_WRONLY | O_TRUNC)

/* --- close --- */

#define CLOSE(sym)                                                                                 \
    int sym(int fd)                                                                                \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym(fd);                                                               \
        uint32_t obj = iot_descriptor_known(t, fd);                                                \
        iot_ring_closing(t, fd);                                                                   \
        iot_descriptor_closing(t, fd);                                                             \
        IOT_TIMED(int, sym, (fd))                                                                  \
        return (int)iot_timed_event(                                                               \
            t, call, &(struct iot_row){.result = result, .obj = obj, .op = IOT_OP_CLOSE});         \
    }

CLOSE(close)
CLOSE(__close)
CLOSE(mq_close) /* a queue is a descriptor */

int close_range(unsigned first, unsigned last, int flags)
{
    enum { CLOEXEC_ONLY = 1 << 2 }; /* CLOSE_RANGE_CLOEXEC */
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.close_range(first, last, flags);
    if (!(flags & CLOEXEC_ONLY))
        iot_descriptor_closing_range(t, first, last);
    IOT_TIMED(int, close_range, (first, last, flags))
    return (int)iot_timed_event(
        t, call, &(struct iot_row){.result = result, .offset = first, .op = IOT_OP_CLOSE_RANGE});
}

void closefrom(int first)
{
    struct iot_thread *t = iot_enter();
    if (!t) {
        iot_real.closefrom(first);
        return;
    }
    iot_descriptor_closing_range(t, first < 0 ? 0 : (unsigned)first, UINT32_MAX);
    struct iot_timed call = {.t0 = iot_now()};
    iot_real.closefrom(first);
    call.t1 = iot_now();
    iot_timed_event(t, call, &(struct iot_row){.offset = first, .op = IOT_OP_CLOSEFROM});
}

/* --- duplicates --- */

static int duplicated(struct iot_thread *t, struct iot_timed call, uint16_t op, uint32_t old,
                      int fd, int wanted)
{
    uint32_t obj2 = 0;
    if (fd >= 0 && fd != wanted)
        obj2 = iot_descriptor_dup(t, fd, old);
    return (int)iot_timed_event(
        t, call, &(struct iot_row){.result = fd, .obj = old, .obj2 = obj2, .op = op});
}

int dup(int fd)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.dup(fd);
    uint32_t old = iot_descriptor(t, fd);
    IOT_TIMED(int, dup, (fd))
    return duplicated(t, call, IOT_OP_DUP, old, result, -1);
}

/* dup2 of a descriptor onto itself changes nothing: `wanted` is the old number. */
#define DUP2(sym)                                                                                  \
    int sym(int fd, int to)                                                                        \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym(fd, to);                                                           \
        uint32_t old = iot_descriptor(t, fd);                                                      \
        if (fd != to)                                                                              \
            iot_descriptor_closing(t, to);                                                         \
        IOT_TIMED(int, sym, (fd, to))                                                              \
        return duplicated(t, call, IOT_OP_DUP2, old, result, fd);                                  \
    }

DUP2(dup2)
DUP2(__dup2)

int dup3(int fd, int to, int flags)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.dup3(fd, to, flags);
    uint32_t old = iot_descriptor(t, fd);
    if (fd != to)
        iot_descriptor_closing(t, to);
    IOT_TIMED(int, dup3, (fd, to, flags))
    return duplicated(t, call, IOT_OP_DUP3, old, result, -1);
}

/* The third argument is an int or a pointer: as a pointer-sized value it is both, which is how
 * libc hands it on. */
static int try_of(int command)
{
    return command == F_SETLKW ? F_SETLK : command == F_OFD_SETLKW ? F_OFD_SETLK : command;
}

/* The kind of a lock that was set or let go, + 1: the kernel has read it. */
static uint64_t lock_kind(int command, struct iot_timed call, const void *argument)
{
    command = try_of(command);
    if (call.err || (command != F_SETLK && command != F_OFD_SETLK))
        return 0;
    return (uint64_t)((const struct flock *)argument)->l_type + 1;
}

#define FCNTL(sym)                                                                                 \
    int sym(int fd, int command, ...)                                                              \
    {                                                                                              \
        va_list ap;                                                                                \
        va_start(ap, command);                                                                     \
        void *argument = va_arg(ap, void *);                                                       \
        va_end(ap);                                                                                \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym(fd, command, argument);                                            \
        uint32_t obj = iot_descriptor(t, fd);                                                      \
        IOT_TIMED_FILE_LOCK(sym, command != try_of(command), (fd, try_of(command), argument),      \
                            (fd, command, argument))                                               \
        if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)                                      \
            return duplicated(t, call, IOT_OP_FCNTL, obj, result, -1);                             \
        return (int)iot_timed_event(                                                               \
            t, call,                                                                               \
            &(struct iot_row){.result = result,                                                    \
                              .offset = waited ? IOT_LOCK_OF_RECORDS : command,                    \
                              .addr = lock_kind(command, call, argument),                          \
                              .obj = obj,                                                          \
                              .op = waited ? IOT_OP_FILE_LOCK : IOT_OP_FCNTL});                    \
    }

FCNTL(fcntl)
FCNTL(__fcntl)
FCNTL(fcntl64)
