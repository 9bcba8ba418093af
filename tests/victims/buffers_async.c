/* Asynchronous requests, messages in a row and memory for pipes; says on standard output, at the
 * end, where the memory was: a line each with the operation, the address and how many bytes lie
 * there.
 *
 *     buffers_async FILE
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef HAVE_URING
#include <liburing.h>
#endif

enum { SIZE = 4096, LINES = 64 };

static char a[SIZE], b[SIZE], c[SIZE];
static struct {
    const char *what;
    const char *at;
    long bytes;
} lines[LINES];
static int n_lines;

static void say(const char *what, const char *at, long bytes)
{
    lines[n_lines].what = what;
    lines[n_lines].at = at;
    lines[n_lines++].bytes = bytes;
}

static void need(long got, long want, const char *what)
{
    if (got == want)
        return;
    fprintf(stderr, "buffers_async: %s gave %ld, not %ld\n", what, got, want);
    exit(1);
}

static void by_posix(int fd)
{
    struct aiocb out = {.aio_fildes = fd, .aio_buf = a, .aio_nbytes = SIZE};
    struct aiocb in = {.aio_fildes = fd, .aio_buf = b, .aio_nbytes = 100};
    const struct aiocb *list[] = {&out};
    need(aio_write(&out), 0, "aio_write");
    say("write", a, SIZE);
    while (aio_error(&out) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    need(aio_return(&out), SIZE, "aio_return");
    need(aio_read(&in), 0, "aio_read");
    say("read", b, 100);
    list[0] = &in;
    while (aio_error(&in) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    need(aio_return(&in), 100, "aio_return");
}

static void by_kernel(int fd)
{
    aio_context_t context = 0;
    struct io_event done[2];
    struct iovec pieces[] = {{b, 10}, {NULL, 0}, {c, 20}};
    struct iocb one = {.aio_fildes = (uint32_t)fd, .aio_lio_opcode = IOCB_CMD_PWRITE};
    struct iocb two = {.aio_fildes = (uint32_t)fd, .aio_lio_opcode = IOCB_CMD_PREADV};
    struct iocb *list[] = {&one, &two};
    one.aio_buf = (uintptr_t)a;
    one.aio_nbytes = 200;
    two.aio_buf = (uintptr_t)pieces;
    two.aio_nbytes = 3;
    need(syscall(SYS_io_setup, 4, &context), 0, "io_setup");
    need(syscall(SYS_io_submit, context, 2L, list), 2, "io_submit");
    say("write", a, 200);
    say("read", b, 10);
    say("read", c, 20);
    need(syscall(SYS_io_getevents, context, 2L, 2L, done, NULL), 2, "io_getevents");
    syscall(SYS_io_destroy, context);
}

static void by_messages(void)
{
    int fds[2], ends[2];
    struct iovec out[] = {{a, 30}, {b, 40}}, in[] = {{c, 50}};
    struct mmsghdr sent[] = {{.msg_hdr = {.msg_iov = out, .msg_iovlen = 2}},
                             {.msg_hdr = {.msg_iov = out, .msg_iovlen = 1}}};
    struct mmsghdr got[] = {{.msg_hdr = {.msg_iov = in, .msg_iovlen = 1}}};
    need(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0, "socketpair");
    need(sendmmsg(fds[0], sent, 2, 0), 2, "sendmmsg");
    say("write", a, 30);
    say("write", b, 40);
    say("write", a, 30);
    need(recvmmsg(fds[1], got, 1, 0, NULL), 1, "recvmmsg");
    say("read", c, 50);
    need(syscall(SYS_recvmmsg, fds[1], got, 1L, 0L, NULL), 1, "SYS_recvmmsg");
    say("read", c, 30);
    need(pipe(ends), 0, "pipe");
    need(vmsplice(ends[1], out, 2, 0), 70, "vmsplice");
    say("write", a, 30);
    say("write", b, 40);
}

/* Their own rows have the first piece. */
static void by_vectors(int fd)
{
    struct iovec pieces[] = {{a, 5}, {b, 6}, {c, 7}};
    need(pwritev(fd, pieces, 3, 0), 18, "pwritev");
    say("write", b, 6);
    say("write", c, 7);
    need(preadv(fd, pieces, 3, SIZE - 8), 8, "preadv");
    say("read", b, 3);
    need(syscall(SYS_writev, fd, pieces, 2L), 11, "SYS_writev");
    say("write", b, 6);
}

#ifdef HAVE_URING
static void by_ring(int fd)
{
    struct io_uring ring;
    struct io_uring_cqe *done;
    struct iovec pieces[] = {{b, 3}, {c, 4}};
    if (io_uring_queue_init(4, &ring, 0))
        return;
    io_uring_prep_read(io_uring_get_sqe(&ring), fd, a, 33, 0);
    io_uring_prep_writev(io_uring_get_sqe(&ring), fd, pieces, 2, 0);
    need(io_uring_submit(&ring), 2, "io_uring_submit");
    say("read", a, 33);
    say("write", b, 3);
    say("write", c, 4);
    for (int k = 0; k < 2; k++) {
        need(io_uring_wait_cqe(&ring, &done), 0, "io_uring_wait_cqe");
        io_uring_cqe_seen(&ring, done);
    }
    io_uring_queue_exit(&ring);
}
#endif

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
    need(fd >= 0, 1, "open");
    by_posix(fd);
    by_kernel(fd);
    by_messages();
    by_vectors(fd);
#ifdef HAVE_URING
    by_ring(fd);
#endif
    close(fd);
    for (int k = 0; k < n_lines; k++)
        printf("%s %lu %ld\n", lines[k].what, (unsigned long)(uintptr_t)lines[k].at,
               lines[k].bytes);
    return 0;
}
