/* Plays libcufile where there is none: each call is libc's on the descriptor of a handle; a batch
 * is done when it is asked for. */
#include "preload/cufile.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 8 };
static struct iot_cufile_event done[BATCH];
static unsigned n_done;

struct iot_cufile_error cuFileHandleRegister(void **file, struct iot_cufile_descr *descr);
void cuFileHandleDeregister(void *file);
ssize_t cuFileRead(void *file, void *memory, size_t n, off_t at, off_t memory_at);
ssize_t cuFileWrite(void *file, const void *memory, size_t n, off_t at, off_t memory_at);
struct iot_cufile_error cuFileReadAsync(void *file, void *memory, size_t *n, off_t *at,
                                        off_t *memory_at, ssize_t *moved, void *stream);
struct iot_cufile_error cuFileBatchIOSubmit(void *batch, unsigned n,
                                            struct iot_cufile_request *requests, unsigned flags);
struct iot_cufile_error cuFileBatchIOGetStatus(void *batch, unsigned least, unsigned *n,
                                               struct iot_cufile_event *events,
                                               struct timespec *timeout);

static int fd_of(void *file)
{
    return *(int *)file;
}

struct iot_cufile_error cuFileHandleRegister(void **file, struct iot_cufile_descr *descr)
{
    int *fd = malloc(sizeof *fd);
    *fd = descr->of.fd;
    *file = fd;
    return (struct iot_cufile_error){0, 0};
}

void cuFileHandleDeregister(void *file)
{
    free(file);
}

ssize_t cuFileRead(void *file, void *memory, size_t n, off_t at, off_t memory_at)
{
    return pread(fd_of(file), (char *)memory + memory_at, n, at);
}

ssize_t cuFileWrite(void *file, const void *memory, size_t n, off_t at, off_t memory_at)
{
    return pwrite(fd_of(file), (const char *)memory + memory_at, n, at);
}

struct iot_cufile_error cuFileReadAsync(void *file, void *memory, size_t *n, off_t *at,
                                        off_t *memory_at, ssize_t *moved, void *stream)
{
    (void)file, (void)memory, (void)at, (void)memory_at, (void)stream;
    *moved = (ssize_t)*n;
    return (struct iot_cufile_error){0, 0};
}

struct iot_cufile_error cuFileBatchIOSubmit(void *batch, unsigned n,
                                            struct iot_cufile_request *requests, unsigned flags)
{
    (void)batch, (void)flags;
    for (unsigned k = 0; k < n && n_done < BATCH; k++)
        done[n_done++] = (struct iot_cufile_event){requests[k].cookie, IOT_CUFILE_COMPLETE,
                                                   requests[k].batch.bytes};
    return (struct iot_cufile_error){0, 0};
}

struct iot_cufile_error cuFileBatchIOGetStatus(void *batch, unsigned least, unsigned *n,
                                               struct iot_cufile_event *events,
                                               struct timespec *timeout)
{
    (void)batch, (void)least, (void)timeout;
    unsigned k = 0;
    while (k < *n && n_done)
        events[k++] = done[--n_done];
    *n = k;
    return (struct iot_cufile_error){0, 0};
}
