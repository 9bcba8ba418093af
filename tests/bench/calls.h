/* The calls that the benchmark's preload libraries wrap, and how they reach the next library. */
#ifndef IOT_TESTS_BENCH_CALLS_H
#define IOT_TESTS_BENCH_CALLS_H

/* With 64-bit offsets asked for, the headers would rename pread to pread64, and the two rows below
 * would define one symbol twice. */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

/* X(name, parameters, arguments): every row has an `fd` and a `count`, and gives an ssize_t. */
#define BENCH_CALLS(X)                                                                             \
    X(pread, (int fd, void *buf, size_t count, off_t offset), (fd, buf, count, offset))            \
    X(pread64, (int fd, void *buf, size_t count, off64_t offset), (fd, buf, count, offset))        \
    X(write, (int fd, const void *buf, size_t count), (fd, buf, count))

/* Resolved at the first call and not in a constructor: a library that comes earlier may call us
 * before our constructors have run. */
static inline void *bench_next(void **slot, const char *name)
{
    void *next = __atomic_load_n(slot, __ATOMIC_RELAXED);

    if (__builtin_expect(next == NULL, 0)) {
        next = dlsym(RTLD_NEXT, name);
        __atomic_store_n(slot, next, __ATOMIC_RELAXED);
    }
    return next;
}

#define BENCH_SLOT(name, params, args) static void *next_##name;
#define BENCH_NEXT(name) ((__typeof__(&name))bench_next(&next_##name, #name))

#endif
