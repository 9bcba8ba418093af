/* liburing's functions. Its requests are prepared inline, and the most usual way of waiting finds
 * what is there without a call: what these functions do not see is seen by the next of them. */
#include "preload/uring.h"

/* One that may submit and may wait. */
#define CALL(ret, sym, params, args, submits, least)                                               \
    ret sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_foreign_enter();                                                \
        if (!t)                                                                                    \
            return IOT_FOREIGN(sym) args;                                                          \
        struct iot_ring_call call = iot_ring_call_begin(t, iot_ring_of(ring));                     \
        if (submits)                                                                               \
            iot_ring_submits(&call, ring->sq.local_tail);                                          \
        IOT_FOREIGN_CALL(ret, sym, args)                                                           \
        iot_ring_call_end(&call, (long)result, least);                                             \
        return result;                                                                             \
    }

CALL(int, io_uring_submit, (struct io_uring * ring), (ring), 1, 0)
CALL(int, io_uring_submit_and_wait, (struct io_uring * ring, unsigned least), (ring, least), 1,
     least)
CALL(int, io_uring_submit_and_get_events, (struct io_uring * ring), (ring), 1, 0)
CALL(int, io_uring_submit_and_wait_timeout,
     (struct io_uring * ring, struct io_uring_cqe **found, unsigned least,
      struct __kernel_timespec *timeout, sigset_t *mask),
     (ring, found, least, timeout, mask), 1, least)
CALL(int, io_uring_get_events, (struct io_uring * ring), (ring), 0, 0)
CALL(int, __io_uring_get_cqe,
     (struct io_uring * ring, struct io_uring_cqe **found, unsigned submit, unsigned least,
      sigset_t *mask),
     (ring, found, submit, least, mask), submit, least)
CALL(int, io_uring_wait_cqes,
     (struct io_uring * ring, struct io_uring_cqe **found, unsigned least,
      struct __kernel_timespec *timeout, sigset_t *mask),
     (ring, found, least, timeout, mask), 0, least)
CALL(int, io_uring_wait_cqe_timeout,
     (struct io_uring * ring, struct io_uring_cqe **found, struct __kernel_timespec *timeout),
     (ring, found, timeout), 0, 1)
CALL(unsigned, io_uring_peek_batch_cqe,
     (struct io_uring * ring, struct io_uring_cqe **found, unsigned n), (ring, found, n), 0, 0)

/* --- from its making to its end --- */

static int made(int result, const struct io_uring *ring)
{
    if (result == 0 && iot_foreign_enter())
        iot_ring_of(ring);
    return result;
}

int io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags)
{
    return made(IOT_FOREIGN(io_uring_queue_init)(entries, ring, flags), ring);
}

int io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
                               struct io_uring_params *params)
{
    return made(IOT_FOREIGN(io_uring_queue_init_params)(entries, ring, params), ring);
}

void io_uring_queue_exit(struct io_uring *ring)
{
    struct iot_thread *t = iot_foreign_enter();
    if (t)
        iot_ring_ends(t, iot_ring_of(ring));
    IOT_FOREIGN(io_uring_queue_exit)(ring);
}

/* --- registered files --- */

static int registered(int result, const struct io_uring *ring, unsigned at, const int *files,
                      unsigned n)
{
    struct iot_thread *t = result >= 0 ? iot_foreign_enter_always() : NULL;
    if (t)
        iot_ring_files(t, iot_ring_of(ring), at, files, n);
    return result;
}

/* An update gives how many it took; it need not have been able to read the others. */
static int updated(int result, const struct io_uring *ring, unsigned at, const int *files)
{
    return registered(result, ring, at, files, result > 0 ? (unsigned)result : 0);
}

int io_uring_register_files(struct io_uring *ring, const int *files, unsigned n)
{
    return registered(IOT_FOREIGN(io_uring_register_files)(ring, files, n), ring, 0, files, n);
}

int io_uring_register_files_tags(struct io_uring *ring, const int *files, const __u64 *tags,
                                 unsigned n)
{
    return registered(IOT_FOREIGN(io_uring_register_files_tags)(ring, files, tags, n), ring, 0,
                      files, n);
}

int io_uring_register_files_update(struct io_uring *ring, unsigned at, const int *files, unsigned n)
{
    return updated(IOT_FOREIGN(io_uring_register_files_update)(ring, at, files, n), ring, at,
                   files);
}

int io_uring_register_files_update_tag(struct io_uring *ring, unsigned at, const int *files,
                                       const __u64 *tags, unsigned n)
{
    return updated(IOT_FOREIGN(io_uring_register_files_update_tag)(ring, at, files, tags, n), ring,
                   at, files);
}

int io_uring_unregister_files(struct io_uring *ring)
{
    return registered(IOT_FOREIGN(io_uring_unregister_files)(ring), ring, 0, NULL, IOT_RING_FILES);
}
