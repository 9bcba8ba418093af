/* fortify FOLDER: built with _FORTIFY_SOURCE=2 and sizes that are not known to the compiler, so
 * that the checked entry points of libc are what is called. */
#include <poll.h>
#include <sys/socket.h>

#include "tests/victims/hazard.h"

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    char path[4096], link[4096], buffer[64];
    volatile size_t size = 8;
    volatile int flags = O_RDONLY;
    volatile nfds_t one = 1;
    write_in(argv[1], "data", 20);
    snprintf(path, sizeof path, "%s/data", argv[1]);
    snprintf(link, sizeof link, "%s/link", argv[1]);

    int fd = open(path, flags);
    CHECK(fd >= 0);
    int fd2 = openat(AT_FDCWD, path, flags);
    CHECK(fd2 >= 0 && close(fd2) == 0);
    fd2 = open64(path, flags);
    CHECK(fd2 >= 0 && close(fd2) == 0);
    fd2 = openat64(AT_FDCWD, path, flags);
    CHECK(fd2 >= 0 && close(fd2) == 0);
    CHECK(read(fd, buffer, size) == 8);
    CHECK(pread(fd, buffer, size, 0) == 8);
    CHECK(pread64(fd, buffer, size, 0) == 8);

    CHECK(symlink("data", link) == 0);
    CHECK(readlink(link, buffer, size) == 4);
    CHECK(readlinkat(AT_FDCWD, link, buffer, size) == 4);

    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    struct pollfd ready[2] = {{.fd = pair[1], .events = POLLIN}};
    CHECK(send(pair[0], "0123456789abcdef", 16, 0) == 16);
    CHECK(poll(ready, one, 1000) == 1);
    CHECK(ppoll(ready, one, NULL, NULL) == 1);
    CHECK(recv(pair[1], buffer, size, 0) == 8);
    CHECK(recvfrom(pair[1], buffer, size, 0, NULL, NULL) == 8);
    CHECK(close(fd) == 0);

    did("open", "data", 3); /* the first one made it */
    did("openat", "data", 2);
    did("read", "data", 1);
    did("pread", "data", 2);
    did("readlink", "link", 2);
    did("poll", "*", 2);
    did("recv", "*", 1);
    did("recvfrom", "*", 1);
    return 0;
}
