/* io_uring by number, and by liburing's functions that are no more than that. */
#include <errno.h>
#include <sys/syscall.h>

#include "preload/real.h"
#include "preload/uring.h"

int iot_uring_number(long number)
{
    return number == SYS_io_uring_setup || number == SYS_io_uring_enter ||
           number == SYS_io_uring_register;
}

/* With a registered ring the descriptor is an index. */
static struct iot_ring *entered(int fd, unsigned flags)
{
    return flags & IORING_ENTER_REGISTERED_RING ? NULL : iot_ring_find(fd);
}

static struct iot_ring_call begin_enter(struct iot_thread *t, int fd, unsigned submit,
                                        unsigned flags)
{
    struct iot_ring_call call = iot_ring_call_begin(t, entered(fd, flags));
    iot_ring_submits_next(&call, submit);
    return call;
}

static unsigned waits_for(unsigned least, unsigned flags)
{
    return flags & IORING_ENTER_GETEVENTS ? least : 0;
}

/* `result`: of an update, how many it took; it need not have been able to read the others. */
static void registered(struct iot_thread *t, int fd, unsigned operation, const void *argument,
                       unsigned n, unsigned result)
{
    struct iot_ring *ring = iot_ring_find(fd);
    const struct io_uring_files_update *update = argument;
    const struct io_uring_rsrc_register *resources = argument;
    const struct io_uring_rsrc_update2 *update2 = argument;
    switch (operation) {
    case IORING_REGISTER_FILES:
        iot_ring_files(t, ring, 0, argument, n);
        break;
    case IORING_UNREGISTER_FILES:
        iot_ring_files(t, ring, 0, NULL, IOT_RING_FILES);
        break;
    case IORING_REGISTER_FILES_UPDATE:
        iot_ring_files(t, ring, update->offset, (const int *)(uintptr_t)update->fds, result);
        break;
    case IORING_REGISTER_FILES2:
        iot_ring_files(t, ring, 0, (const int *)(uintptr_t)resources->data, resources->nr);
        break;
    case IORING_REGISTER_FILES_UPDATE2:
        iot_ring_files(t, ring, update2->offset, (const int *)(uintptr_t)update2->data, result);
        break;
    default:
        break;
    }
}

long iot_uring_syscall(struct iot_thread *t, long number, const long a[6])
{
    struct iot_ring_call call = {0};
    unsigned flags = (unsigned)a[3];
    if (number == SYS_io_uring_enter)
        call = begin_enter(t, (int)a[0], (unsigned)a[1], flags);
    long result = iot_real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    int saved = errno;
    if (number == SYS_io_uring_enter)
        iot_ring_call_end(&call, result < 0 ? -(long)saved : result,
                          waits_for((unsigned)a[2], flags));
    else if (number == SYS_io_uring_setup && result >= 0)
        iot_ring_made((int)result, (const struct io_uring_params *)a[1]);
    else if (number == SYS_io_uring_register && result >= 0)
        registered(t, (int)a[0], (unsigned)a[1], (const void *)a[2], (unsigned)a[3],
                   (unsigned)result);
    errno = saved;
    return result;
}

/* --- liburing's --- */

int io_uring_setup(unsigned entries, struct io_uring_params *params)
{
    int result = IOT_FOREIGN(io_uring_setup)(entries, params);
    if (result >= 0 && iot_foreign_enter_always())
        iot_ring_made(result, params);
    return result;
}

#define ENTER(sym, params, args)                                                                   \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_foreign_enter();                                                \
        if (!t)                                                                                    \
            return IOT_FOREIGN(sym) args;                                                          \
        struct iot_ring_call call = begin_enter(t, (int)fd, submit, flags);                        \
        IOT_FOREIGN_CALL(int, sym, args)                                                           \
        iot_ring_call_end(&call, result, waits_for(least, flags));                                 \
        return result;                                                                             \
    }

ENTER(io_uring_enter,
      (unsigned fd, unsigned submit, unsigned least, unsigned flags, sigset_t *mask),
      (fd, submit, least, flags, mask))
ENTER(io_uring_enter2,
      (unsigned fd, unsigned submit, unsigned least, unsigned flags, sigset_t *mask, size_t size),
      (fd, submit, least, flags, mask, size))

int io_uring_register(unsigned fd, unsigned operation, const void *argument, unsigned n)
{
    int result = IOT_FOREIGN(io_uring_register)(fd, operation, argument, n);
    struct iot_thread *t = result >= 0 ? iot_foreign_enter() : NULL;
    if (t)
        registered(t, (int)fd, operation, argument, n, (unsigned)result);
    return result;
}
