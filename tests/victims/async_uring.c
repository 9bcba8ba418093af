/* io_uring by liburing: async_uring WAY FOLDER
 *   plain    submit; submit and wait; wait with a timeout; peek; registered files and buffers
 *   polled   a ring that the kernel empties by a thread of its own
 *   many     as many as the ring holds, over and over, taken without a call where they are there
 * Says what moved, as async.c does. */
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BLOCK = 4096, MANY = 200, DEPTH = 8 };

static char data[DEPTH][BLOCK];
static int in, out;
static struct io_uring ring;

static void need(int holds, const char *what)
{
    if (!holds) {
        perror(what);
        exit(99);
    }
}

static void moved(const char *op, const char *file, long bytes)
{
    printf("moved async_%s %s %ld\n", op, file, bytes);
}

static struct io_uring_sqe *reads(unsigned n)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    need(sqe != NULL, "io_uring_get_sqe");
    io_uring_prep_read(sqe, in, data[0], n, 0);
    sqe->user_data = n;
    return sqe;
}

static void take(int n, int res)
{
    struct io_uring_cqe *cqe;
    for (int k = 0; k < n; k++) {
        need(io_uring_wait_cqe(&ring, &cqe) == 0 && cqe->res == res, "io_uring_wait_cqe");
        io_uring_cqe_seen(&ring, cqe);
    }
}

static void plain(void)
{
    struct __kernel_timespec soon = {0, 3000000}, late = {5, 0};
    struct io_uring_cqe *cqe, *several[DEPTH];
    struct iovec buffers[1] = {{data[2], BLOCK}};
    int registered[2] = {out, in};
    need(io_uring_queue_init(DEPTH, &ring, 0) == 0, "io_uring_queue_init");
    reads(100);
    need(io_uring_submit(&ring) == 1, "io_uring_submit");
    take(1, 100);
    reads(200);
    reads(200)->flags |= IOSQE_ASYNC;
    need(io_uring_submit_and_wait(&ring, 2) == 2, "io_uring_submit_and_wait");
    take(2, 200);
    need(io_uring_wait_cqe_timeout(&ring, &cqe, &soon) == -ETIME, "io_uring_wait_cqe_timeout");
    reads(300);
    need(io_uring_submit_and_wait_timeout(&ring, &cqe, 1, &late, NULL) >= 0, "with a timeout");
    take(1, 300);
    io_uring_prep_write(io_uring_get_sqe(&ring), out, data[1], 400, 0);
    need(io_uring_submit_and_get_events(&ring) == 1, "io_uring_submit_and_get_events");
    need(io_uring_wait_cqes(&ring, &cqe, 1, &late, NULL) == 0, "io_uring_wait_cqes");
    need(io_uring_peek_batch_cqe(&ring, several, DEPTH) == 1, "io_uring_peek_batch_cqe");
    take(1, 400);
    need(io_uring_register_files(&ring, registered, 2) == 0, "io_uring_register_files");
    need(io_uring_register_buffers(&ring, buffers, 1) == 0, "io_uring_register_buffers");
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    io_uring_prep_write_fixed(sqe, 0, data[2], 500, 0, 0);
    sqe->flags |= IOSQE_FIXED_FILE;
    need(io_uring_submit(&ring) == 1, "io_uring_submit");
    take(1, 500);
    registered[0] = in;
    need(io_uring_register_files_update(&ring, 0, registered, 1) == 1,
         "io_uring_register_files_update");
    sqe = io_uring_get_sqe(&ring);
    io_uring_prep_read_fixed(sqe, 0, data[2], 600, 0, 0);
    sqe->flags |= IOSQE_FIXED_FILE;
    io_uring_prep_fsync(io_uring_get_sqe(&ring), out, 0);
    need(io_uring_submit_and_wait(&ring, 2) == 2, "io_uring_submit_and_wait");
    for (int k = 0; k < 2; k++) {
        need(io_uring_peek_cqe(&ring, &cqe) == 0, "io_uring_peek_cqe");
        io_uring_cqe_seen(&ring, cqe);
    }
    io_uring_queue_exit(&ring);
    moved("read", "in", 100 + 400 + 300 + 600);
    moved("write", "out", 900);
    moved("sync", "out", 0);
}

static void polled(void)
{
    struct io_uring_params params = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 100};
    need(io_uring_queue_init_params(DEPTH, &ring, &params) == 0, "io_uring_queue_init_params");
    for (int k = 0; k < 5; k++) {
        reads(100);
        need(io_uring_submit(&ring) == 1, "io_uring_submit");
        take(1, 100);
    }
    io_uring_queue_exit(&ring);
    moved("read", "in", 500);
}

static void many(void)
{
    need(io_uring_queue_init(DEPTH, &ring, 0) == 0, "io_uring_queue_init");
    for (int k = 0; k < MANY; k++) {
        for (int d = 0; d < DEPTH; d++)
            io_uring_sqe_set_data(reads(BLOCK), NULL);
        need(io_uring_submit(&ring) == DEPTH, "io_uring_submit");
        take(DEPTH, BLOCK);
    }
    moved("read", "in", (long)MANY * DEPTH * BLOCK); /* the ring ends with the process */
}

int main(int argc, char **argv)
{
    need(argc == 3 && chdir(argv[2]) == 0, "async_uring WAY FOLDER");
    in = open("in", O_RDWR | O_CREAT, 0600);
    out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(in >= 0 && out >= 0 && ftruncate(in, 4 * BLOCK) == 0, "files");
    if (!strcmp(argv[1], "plain"))
        plain();
    else if (!strcmp(argv[1], "polled"))
        polled();
    else if (!strcmp(argv[1], "many"))
        many();
    else
        return 2;
    return 0;
}
