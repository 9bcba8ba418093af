/* Several messages in one call, and memory that goes into a pipe or comes out of one. */
#include "preload/real.h"

#include "preload/lineage.h"
#include "preload/sys.h"
#include "preload/wrap.h"

static int64_t bytes_of(const struct mmsghdr *messages, int n)
{
    int64_t bytes = 0;
    for (int k = 0; k < n; k++)
        bytes += messages[k].msg_len;
    return bytes;
}

/* The result is how many messages, the bytes are theirs. */
#define MESSAGES(sym, operation, is_in, params, args)                                              \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        uint32_t obj = iot_descriptor(t, fd);                                                      \
        IOT_TIMED(int, sym, args)                                                                  \
        if (iot_lineage)                                                                           \
            iot_messages_tell(t, &(struct iot_pieces){obj, is_in, is_in ? call.t1 : call.t0},      \
                              messages, result);                                                   \
        IOT_RETURN_EVENT(operation, .bytes = bytes_of(messages, result), .obj = obj)               \
    }

MESSAGES(sendmmsg, SENDMMSG, 0, (int fd, struct mmsghdr *messages, unsigned n, int flags),
         (fd, messages, n, flags))
MESSAGES(recvmmsg, RECVMMSG, 1,
         (int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout),
         (fd, messages, n, flags, timeout))

/* The end of the pipe says which way. */
ssize_t vmsplice(int fd, const struct iovec *iov, size_t count, unsigned flags)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.vmsplice(fd, iov, count, flags);
    uint32_t obj = iot_descriptor(t, fd);
    long mode = iot_sys(SYS_fcntl, fd, F_GETFL);
    int reads = mode >= 0 && (mode & O_ACCMODE) == O_RDONLY;
    IOT_TIMED(ssize_t, vmsplice, (fd, iov, count, flags))
    if (iot_lineage && result > 0)
        iot_pieces_tell(t, &(struct iot_pieces){obj, reads, reads ? call.t1 : call.t0}, result, iov,
                        count);
    return iot_timed_event(t, call,
                           &(struct iot_row){.result = result,
                                             .bytes = result > 0 ? result : 0,
                                             .obj = obj,
                                             .op = reads ? IOT_OP_VMSPLICE_IN : IOT_OP_VMSPLICE});
}
