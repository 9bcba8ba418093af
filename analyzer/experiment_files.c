/* The storage half: an artifact as a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/experiment.h"

enum { CHUNK_BYTES = 8 << 20 };

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int finish(int fd, int failed, int64_t start, int64_t *ns)
{
    int error = failed ? errno : 0;
    if (close(fd) && !error)
        error = errno;
    *ns = now() - start;
    errno = error;
    return error ? -1 : 0;
}

int iot_experiment_save(const char *path, const void *bytes, size_t n, bool sync, int64_t *ns)
{
    int64_t start = now();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), failed = 0;
    if (fd < 0)
        return -1;
    for (size_t at = 0; at < n && !failed;) {
        size_t some = n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES;
        ssize_t done = write(fd, (const char *)bytes + at, some);
        if (done >= 0)
            at += (size_t)done;
        else
            failed = errno != EINTR;
    }
    return finish(fd, failed || (sync && fsync(fd)), start, ns);
}

int iot_experiment_load(const char *path, void *bytes, size_t n, int64_t *ns)
{
    int64_t start = now();
    int fd = open(path, O_RDONLY | O_CLOEXEC), failed = 0;
    if (fd < 0)
        return -1;
    for (size_t at = 0; at < n && !failed;) {
        size_t some = n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES;
        ssize_t done = read(fd, (char *)bytes + at, some);
        if (done > 0) {
            at += (size_t)done;
        } else if (done == 0) {
            errno = EIO; /* shorter than it was written */
            failed = 1;
        } else {
            failed = errno != EINTR;
        }
    }
    return finish(fd, failed, start, ns);
}

/* The pages of a file that the page cache holds; -1 if that cannot be told. */
static long resident(int fd, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (n + page - 1) / page;
    void *map = n ? mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    unsigned char *state = malloc(pages + 1);
    long held = -1;
    if (map != MAP_FAILED && state && !mincore(map, n, state)) {
        held = 0;
        for (size_t k = 0; k < pages; k++)
            held += state[k] & 1;
    }
    free(state);
    if (map != MAP_FAILED)
        munmap(map, n);
    return held;
}

/* Only pages that are clean can go. */
int iot_experiment_evict(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return -1;
    int error = 0;
    if (fstat(fd, &st) || fdatasync(fd))
        error = errno;
    if (!error)
        error = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (!error && resident(fd, (size_t)st.st_size) != 0)
        error = EBUSY;
    close(fd);
    errno = error;
    return error ? -1 : 0;
}
