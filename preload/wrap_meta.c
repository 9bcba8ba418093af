/* The wrappers of calls that move no bytes, where they differ in nothing but their row in the
 * table. */
#include "preload/real.h"

#include "preload/descriptors.h"
#include "preload/wrap.h"

#define IOT_NO_OFFSET 0

#define IOT_NS_OF_TIMESPEC(t) (result == 0 ? (t)->tv_sec * 1000000000 + (t)->tv_nsec : 0)

#define PATH_OF(dir, path) iot_path_of(t, call, dir, path)

#define FD(ret, sym, operation, params, args, fd, at)                                              \
    IOT_ON_DESCRIPTOR(ret, sym, operation, params, args, fd, .offset = (int64_t)(at))

#define PATH(ret, sym, operation, params, args, dir, path, at)                                     \
    ret sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(ret, sym, args)                                                                  \
        IOT_RETURN_EVENT(operation, .offset = at, .obj = PATH_OF(dir, path))                       \
    }

#define PATH2(ret, sym, operation, params, args, from_dir, from, to_dir, to)                       \
    ret sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(ret, sym, args)                                                                  \
        IOT_RETURN_EVENT(operation, .obj = PATH_OF(from_dir, from),                                \
                         .obj2 = iot_second_path_of(t, call, to_dir, to))                          \
    }

#define NONE(ret, sym, operation, params, args, at, address)                                       \
    ret sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(ret, sym, args)                                                                  \
        IOT_RETURN_EVENT(operation, .offset = (int64_t)(at),                                       \
                         .addr = (uint64_t)(uintptr_t)(address))                                   \
    }

#define IO(ret, sym, operation, params, args, fd, at, buffer)
#define IOV(ret, sym, operation, params, args, fd, at, pieces, n)
#define IO2(ret, sym, operation, params, args, source, destination)
#define HAND(ret, sym, operation, params)
#define HANDV(ret, sym, operation, params, version)
#define PLAIN(ret, sym, params)
#define REAL(ret, sym, operation, params)

#include "preload/wrappers.def"
