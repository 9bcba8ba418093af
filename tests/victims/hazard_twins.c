/* twins FOLDER: every name that libc has for one call, those that it no longer links to included.
 */
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "tests/victims/hazard.h"

typedef int xstat(int version, const char *path, struct stat *st);
typedef int fxstat(int version, int fd, struct stat *st);
typedef int fxstatat(int version, int dir, const char *path, struct stat *st, int flags);

static void *find(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found)
        dprintf(2, "no %s\n", name);
    CHECK(found);
    return found;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    char path[4096], text[8] = "0123456";
    snprintf(path, sizeof path, "%s/data", argv[1]);
    struct iovec iov = {text, sizeof text};
    struct stat st;

    int fd = open64(path, O_RDWR | O_CREAT, 0644);
    CHECK(fd >= 0);
    CHECK(pwrite(fd, text, 8, 0) == 8);
    CHECK(pwrite64(fd, text, 8, 8) == 8);
    CHECK(pwritev(fd, &iov, 1, 16) == 8);
    CHECK(pwritev64(fd, &iov, 1, 24) == 8);
    CHECK(pwritev2(fd, &iov, 1, 32, 0) == 8);
    CHECK(pwritev64v2(fd, &iov, 1, 40, 0) == 8);
    CHECK(pread(fd, text, 8, 0) == 8);
    CHECK(pread64(fd, text, 8, 8) == 8);
    CHECK(preadv(fd, &iov, 1, 16) == 8);
    CHECK(preadv64(fd, &iov, 1, 24) == 8);
    CHECK(preadv2(fd, &iov, 1, 32, 0) == 8);
    CHECK(preadv64v2(fd, &iov, 1, 40, 0) == 8);
    CHECK(lseek(fd, 1, SEEK_SET) == 1 && lseek64(fd, 2, SEEK_SET) == 2);
    CHECK(fcntl(fd, F_GETFL) >= 0);
    CHECK(((int (*)(int, int, ...))find("fcntl64"))(fd, F_GETFL) >= 0);
    CHECK(ftruncate(fd, 100) == 0 && ftruncate64(fd, 200) == 0);
    CHECK(truncate(path, 300) == 0 && truncate64(path, 400) == 0);

    CHECK(((xstat *)find("__xstat"))(1, path, &st) == 0 && st.st_size == 400);
    CHECK(((xstat *)find("__lxstat"))(1, path, &st) == 0 && st.st_size == 400);
    CHECK(((fxstat *)find("__fxstat"))(1, fd, &st) == 0 && st.st_size == 400);
    CHECK(((fxstatat *)find("__fxstatat"))(1, AT_FDCWD, path, &st, 0) == 0 && st.st_size == 400);
    CHECK(((xstat *)find("__xstat64"))(1, path, &st) == 0 && st.st_size == 400);
    CHECK(((xstat *)find("__lxstat64"))(1, path, &st) == 0 && st.st_size == 400);
    CHECK(((fxstat *)find("__fxstat64"))(1, fd, &st) == 0 && st.st_size == 400);
    CHECK(((fxstatat *)find("__fxstatat64"))(1, AT_FDCWD, path, &st, 0) == 0 && st.st_size == 400);
    CHECK(stat(path, &st) == 0 && lstat(path, &st) == 0 && fstat(fd, &st) == 0);
    CHECK(fstatat(AT_FDCWD, path, &st, 0) == 0);
    CHECK(close(fd) == 0);

    did("open", "data", 1);
    for (int i = 0; i < 2; i++) {
        did(i ? "pread" : "pwrite", "data", 2);
        did(i ? "preadv" : "pwritev", "data", 2);
        did(i ? "preadv2" : "pwritev2", "data", 2);
        did(i ? "ftruncate" : "truncate", "data", 2);
        did(i ? "lseek" : "fcntl", "data", 2);
        did(i ? "stat" : "lstat", "data", 3);
        did(i ? "fstat" : "fstatat", "data", 3);
    }
    return 0;
}
