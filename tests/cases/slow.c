/* Plays slow storage behind the tracer: a data call on a file below $SLOW_DIR takes $SLOW_US and
 * 1 ns a byte longer than it would, an open, close or fsync $SLOW_US / 10. What stdio reads inside
 * libc is as fast as ever. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* The definition behind this one; a plain call would enter the tracer. */
#define NEXT(ret, name, params)                                                                    \
    ({                                                                                             \
        static ret(*next) params;                                                                  \
        if (!next)                                                                                 \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                             \
        next;                                                                                      \
    })

static const char *dir;
static size_t dir_bytes;
static long us;

__attribute__((constructor)) static void start(void)
{
    dir = getenv("SLOW_DIR");
    dir_bytes = dir ? strlen(dir) : 0;
    us = getenv("SLOW_US") ? atol(getenv("SLOW_US")) : 0;
}

static void delay(int fd, long ns)
{
    char link[64], path[4096];
    if (!dir_bytes || fd < 0)
        return;
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = NEXT(ssize_t, readlink, (const char *, char *, size_t))(link, path, sizeof path);
    if (n > (ssize_t)dir_bytes && !strncmp(path, dir, dir_bytes)) {
        struct timespec t = {ns / 1000000000, ns % 1000000000};
        NEXT(int, clock_nanosleep, (clockid_t, int, const struct timespec *, struct timespec *))
        (CLOCK_MONOTONIC, 0, &t, NULL);
    }
    errno = saved;
}

#define DATA(name, params, args)                                                                   \
    ssize_t name params;                                                                           \
    ssize_t name params                                                                            \
    {                                                                                              \
        ssize_t n = NEXT(ssize_t, name, params) args;                                              \
        delay(fd, us * 1000 + (n > 0 ? n : 0));                                                    \
        return n;                                                                                  \
    }
#define SYNC(name)                                                                                 \
    int name(int fd);                                                                              \
    int name(int fd)                                                                               \
    {                                                                                              \
        delay(fd, us * 1000);                                                                      \
        return NEXT(int, name, (int))(fd);                                                         \
    }

DATA(read, (int fd, void *to, size_t n_), (fd, to, n_))
DATA(__read_chk, (int fd, void *to, size_t n_, size_t size), (fd, to, n_, size))
DATA(pread, (int fd, void *to, size_t n_, off_t at), (fd, to, n_, at))
DATA(pread64, (int fd, void *to, size_t n_, off_t at), (fd, to, n_, at))
DATA(write, (int fd, const void *from, size_t n_), (fd, from, n_))
DATA(pwrite, (int fd, const void *from, size_t n_, off_t at), (fd, from, n_, at))
DATA(pwrite64, (int fd, const void *from, size_t n_, off_t at), (fd, from, n_, at))
SYNC(fsync)
SYNC(fdatasync)
