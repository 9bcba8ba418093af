/* A preload library as others write them: it finds the next function at the first call, counts, and
 * passes on. Built twice, to stand before and behind the recorder. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static unsigned long calls;

static void *next_of(void **kept, const char *name)
{
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    void *found = __atomic_load_n(kept, __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(kept, found, __ATOMIC_RELAXED);
    }
    return found;
}

#define FORWARD(type, sym, params, args)                                                           \
    EXPORT type sym params;                                                                        \
    EXPORT type sym params                                                                         \
    {                                                                                              \
        static void *kept;                                                                         \
        type(*next) params = (type(*) params)next_of(&kept, #sym);                                 \
        return next args;                                                                          \
    }

FORWARD(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n))
FORWARD(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n))
FORWARD(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
FORWARD(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
FORWARD(ssize_t, writev, (int fd, const struct iovec *from, int n), (fd, from, n))
FORWARD(int, close, (int fd), (fd))
FORWARD(pid_t, fork, (void), ())
FORWARD(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
FORWARD(int, execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
FORWARD(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *),
         void *argument),
        (thread, attributes, run, argument))
FORWARD(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))

EXPORT int open(const char *path, int flags, ...)
{
    static void *kept;
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list ap;
        va_start(ap, flags);
        mode = va_arg(ap, mode_t);
        va_end(ap);
    }
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))next_of(&kept, "open");
    return next(path, flags, mode);
}

/* An allocator of its own, as heap profilers bring. */
extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t n, size_t bytes),
    *__libc_realloc(void *p, size_t bytes);
extern void __libc_free(void *p);

EXPORT void *malloc(size_t bytes)
{
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return __libc_malloc(bytes);
}

EXPORT void *calloc(size_t n, size_t bytes)
{
    return __libc_calloc(n, bytes);
}

EXPORT void *realloc(void *p, size_t bytes)
{
    return __libc_realloc(p, bytes);
}

EXPORT void free(void *p)
{
    __libc_free(p);
}
