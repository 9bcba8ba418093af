/* A library that uses liburing, and is let go of again: see hazard_unloaded.c. */
#include <liburing.h>

int ring_once(void);

int ring_once(void)
{
    struct io_uring ring;
    struct io_uring_cqe *done;
    int failed = io_uring_queue_init(4, &ring, 0);
    if (failed)
        return failed;
    io_uring_prep_nop(io_uring_get_sqe(&ring));
    io_uring_submit(&ring);
    failed = io_uring_wait_cqe(&ring, &done);
    io_uring_cqe_seen(&ring, done);
    io_uring_queue_exit(&ring);
    return failed;
}
