/* The wrappers of calls that move bytes, where they differ in nothing but their row in the table. A unit
 * of their own: together with the others they are more than a compiler puts in line. */
#include "preload/real.h"

#include "preload/descriptors.h"
#include "preload/lineage.h"
#include "preload/wrap.h"

#define IOT_NO_OFFSET 0

#define IO(ret, sym, operation, params, args, fd, at, buffer)                                      \
    IOT_ON_DESCRIPTOR(ret, sym, operation, params, args, fd, .bytes = result > 0 ? result : 0,     \
                      .offset = at, .addr = iot_buffer(buffer))

/* What moved no bytes may not have looked at its list. */
#define IOV(ret, sym, operation, params, args, fd, at, pieces, n)                                  \
    IOT_ON_DESCRIPTOR(ret, sym, operation, params, args, fd, .bytes = result > 0 ? result : 0,     \
                      .offset = at, .addr = result > 0 ? iot_pieces_addr(result, pieces, n) : 0,   \
                      .obj2 = result > 0 ? iot_pieces_length(result, pieces, n) : 0)

#define IO2(ret, sym, operation, params, args, source, destination)                                \
    ret sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        uint32_t obj = iot_descriptor(t, source), obj2 = iot_descriptor(t, destination);           \
        IOT_TIMED(ret, sym, args)                                                                  \
        IOT_RETURN_EVENT(operation, .bytes = result > 0 ? result : 0, .obj = obj, .obj2 = obj2)    \
    }

#define FD(ret, sym, operation, params, args, fd, at)
#define PATH(ret, sym, operation, params, args, dir, path, at)
#define PATH2(ret, sym, operation, params, args, from_dir, from, to_dir, to)
#define NONE(ret, sym, operation, params, args, at, address)
#define HAND(ret, sym, operation, params)
#define HANDV(ret, sym, operation, params, version)
#define PLAIN(ret, sym, params)
#define REAL(ret, sym, operation, params)

#include "preload/wrappers.def"
