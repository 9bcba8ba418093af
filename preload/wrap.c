/* The wrappers of calls that move bytes, where they differ in nothing but their row in the table. A
 * unit of their own: together with the others they are more than a compiler puts in line. */
#include "preload/real.h"

#include "preload/descriptors.h"
#include "preload/lineage.h"
#include "preload/wrap.h"

#define IOT_NO_OFFSET 0

static __attribute__((noinline)) void tell_rest(struct iot_thread *t, struct iot_timed call,
                                                uint32_t obj, unsigned op, int64_t bytes,
                                                const struct iovec *pieces, size_t n)
{
    int is_in = iot_op_info(op)->moves == IOT_IN;
    iot_pieces_tell_rest(t, &(struct iot_pieces){obj, is_in, is_in ? call.t1 : call.t0}, bytes,
                         pieces, n);
}

#define IO(ret, sym, operation, params, args, fd, at, buffer)                                      \
    IOT_ON_DESCRIPTOR(ret, sym, operation, params, args, fd, .bytes = result > 0 ? result : 0,     \
                      .offset = at, .addr = iot_buffer(buffer))

/* What moved no bytes may not have looked at its list. */
#define IOV(ret, sym, operation, params, args, fd, at, pieces, n)                                  \
    ret sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        uint32_t obj = iot_descriptor(t, fd);                                                      \
        IOT_TIMED(ret, sym, args)                                                                  \
        if (__builtin_expect(iot_lineage != 0, 0) && result > 0)                                   \
            tell_rest(t, call, obj, IOT_OP_##operation, result, pieces, n);                        \
        IOT_RETURN_EVENT(operation, .bytes = result > 0 ? result : 0, .obj = obj, .offset = at,    \
                         .addr = result > 0 ? iot_pieces_addr(result, pieces, n) : 0,              \
                         .obj2 = result > 0 ? iot_pieces_length(result, pieces, n) : 0)            \
    }

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
