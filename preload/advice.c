/* Calls by descriptor that give an error number instead of setting errno. */
#include "preload/real.h"

#include "preload/wrap.h"

#define BY_FD(sym, operation, params, args, at)                                                    \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        uint32_t obj = iot_descriptor(t, fd);                                                      \
        IOT_TIMED_NUMBER(sym, args)                                                                \
        return (int)iot_timed_event(                                                               \
            t, call,                                                                               \
            &(struct iot_row){                                                                     \
                .result = result, .offset = at, .obj = obj, .op = IOT_OP_##operation});            \
    }

BY_FD(posix_fadvise, FADVISE, (int fd, off_t at, off_t n, int advice), (fd, at, n, advice), at)
BY_FD(posix_fadvise64, FADVISE, (int fd, off64_t at, off64_t n, int advice), (fd, at, n, advice),
      at)
BY_FD(posix_fallocate, FALLOCATE, (int fd, off_t at, off_t n), (fd, at, n), n)
BY_FD(posix_fallocate64, FALLOCATE, (int fd, off64_t at, off64_t n), (fd, at, n), n)
