/* Calls that move bytes between memory and a file or socket; says on standard output, at the end,
 * where the memory was: a line each with the operation, the address and how many bytes lie there.
 *
 *     buffers FILE
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SIZE = 65536, LINES = 64 };

static struct {
    const char *op;
    uintptr_t at;
    long bytes;
} lines[LINES];
static int n_lines;

static void say(const char *op, const void *at, long bytes)
{
    lines[n_lines].op = op;
    lines[n_lines].at = (uintptr_t)at;
    lines[n_lines++].bytes = bytes;
}

static void need(long got, long want, const char *what)
{
    if (got == want)
        return;
    fprintf(stderr, "buffers: %s gave %ld, not %ld\n", what, got, want);
    exit(1);
}

static void by_descriptor(int fd, char *a, char *b)
{
    struct iovec one[] = {{NULL, 0}, {a, SIZE}}, two[] = {{b, 100}, {a, 200}};
    need(pwrite(fd, a, SIZE, 0), SIZE, "pwrite");
    say("pwrite", a, SIZE);
    need(pread(fd, b, 1000, 10), 1000, "pread");
    say("pread", b, 1000);
    need(lseek(fd, 0, SEEK_SET), 0, "lseek");
    need(read(fd, a + 7, 500), 500, "read");
    say("read", a + 7, 500);
    need(write(fd, b + 1, 20), 20, "write");
    say("write", b + 1, 20);
    need(preadv(fd, one, 2, 0), SIZE, "preadv");
    say("preadv", a, SIZE);
    need(preadv2(fd, two, 2, 0, 0), 300, "preadv2");
    say("preadv2", b, 100);
    need(writev(fd, two, 2), 300, "writev");
    say("writev", b, 100);
    need(lseek(fd, -50, SEEK_END) > 0, 1, "lseek");
    need(readv(fd, two, 2), 50, "readv"); /* all of it in the first */
    say("readv", b, 50);
}

static void by_socket(char *a, char *b)
{
    int fds[2];
    struct iovec two[] = {{b, 10}, {a, 20}};
    struct msghdr msg = {.msg_iov = two, .msg_iovlen = 2};
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0, "socketpair");
    need(send(fds[0], a, 100, 0), 100, "send");
    say("send", a, 100);
    need(recv(fds[1], b, 100, 0), 100, "recv");
    say("recv", b, 100);
    need(sendmsg(fds[0], &msg, 0), 30, "sendmsg");
    say("sendmsg", b, 10);
    need(recvmsg(fds[1], &msg, 0), 30, "recvmsg");
    say("recvmsg", b, 10);
    need(sendto(fds[0], a, 5, 0, NULL, 0), 5, "sendto");
    say("sendto", a, 5);
    need(recvfrom(fds[1], b, 5, 0, NULL, NULL), 5, "recvfrom");
    say("recvfrom", b, 5);
}

static void by_stream(const char *path, char *a, char *b)
{
    FILE *f = fopen(path, "r+");
    need(f != NULL, 1, "fopen");
    need((long)fread(b, 1, 10, f), 10, "fread"); /* and what comes after it into the stream's own */
    say("fread", b, 10);
    need((long)fread(b, 1, 20000, f), 20000, "fread"); /* some of it from there */
    say("fread", b, 20000);
    need(fseek(f, 0, SEEK_SET), 0, "fseek");
    need((long)fwrite(a, 4, SIZE / 4, f), SIZE / 4, "fwrite");
    say("fwrite", a, SIZE);
    need(fclose(f), 0, "fclose");
}

static void by_number(int fd, char *a, char *b)
{
    struct iovec two[] = {{b, 3}, {a, 4}};
    need(syscall(SYS_pread64, fd, a, 30L, 0L), 30, "SYS_pread64");
    say("pread", a, 30);
    need(syscall(SYS_writev, fd, two, 2L), 7, "SYS_writev");
    say("writev", b, 3);
}

int main(int argc, char **argv)
{
    char *a = malloc(SIZE), *b = malloc(SIZE);
    if (argc < 2 || !a || !b)
        return 2;
    memset(a, 'a', SIZE);
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
    need(fd >= 0, 1, "open");
    by_descriptor(fd, a, b);
    by_socket(a, b);
    by_stream(argv[1], a, b);
    by_number(fd, a, b);
    close(fd);
    for (int k = 0; k < n_lines; k++)
        printf("%s %lu %ld\n", lines[k].op, (unsigned long)lines[k].at, lines[k].bytes);
    free(a);
    free(b);
    return 0;
}
