/* poll, select and their kind: with the descriptor that was ready first, since another thread may
 * be the one that reads from it. */
#include <errno.h>

#include "preload/descriptors.h"
#include "preload/real.h"
#include "preload/sys.h"
#include "preload/wrap.h"

static uint32_t ready_of_poll(struct iot_thread *t, int result, const struct pollfd *fds, nfds_t n)
{
    for (nfds_t k = 0; result > 0 && k < n; k++)
        if (fds[k].revents)
            return iot_descriptor(t, fds[k].fd);
    return 0;
}

static uint32_t ready_of_select(struct iot_thread *t, int result, int n, const fd_set *in)
{
    for (int fd = 0; result > 0 && in && fd < n; fd++)
        if (FD_ISSET(fd, in))
            return iot_descriptor(t, fd);
    return 0;
}

/* It gives an error number; of an absolute time what is left is asked for. Of a call that was
 * refused the kernel need not have read it. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *left)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.clock_nanosleep(clock, flags, wanted, left);
    struct timespec began = {0, 0};
    int absolute = flags & TIMER_ABSTIME && iot_sys(SYS_clock_gettime, clock, &began) == 0;
    IOT_TIMED_NUMBER(clock_nanosleep, (clock, flags, wanted, left))
    int64_t ns = 0;
    int was_read = result == 0 || result == EINTR;
    if (was_read && (absolute || !(flags & TIMER_ABSTIME)))
        ns = (wanted->tv_sec - began.tv_sec) * 1000000000 + wanted->tv_nsec - began.tv_nsec;
    return (int)iot_timed_event(t, call,
                                &(struct iot_row){.result = result,
                                                  .offset = ns > 0 || absolute ? ns : 0,
                                                  .obj2 = (uint32_t)absolute,
                                                  .op = IOT_OP_SLEEP});
}

/* The time that is asked for is read before the call, which may change it. */
#define WAITS(sym, operation, params, args, timeout, ready)                                        \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        int64_t ms = timeout;                                                                      \
        IOT_TIMED(int, sym, args)                                                                  \
        uint32_t obj = ready;                                                                      \
        return (int)iot_timed_event(                                                               \
            t, call,                                                                               \
            &(struct iot_row){                                                                     \
                .result = result, .offset = ms, .obj = obj, .op = IOT_OP_##operation});            \
    }

WAITS(poll, POLL, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout), timeout,
      ready_of_poll(t, result, fds, n))
WAITS(__poll, POLL, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout), timeout,
      ready_of_poll(t, result, fds, n))
WAITS(__poll_chk, POLL, (struct pollfd * fds, nfds_t n, int timeout, size_t size),
      (fds, n, timeout, size), timeout, ready_of_poll(t, result, fds, n))
WAITS(ppoll, POLL,
      (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
      (fds, n, timeout, mask), iot_ms_of(timeout), ready_of_poll(t, result, fds, n))
WAITS(__ppoll_chk, POLL,
      (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
       size_t size),
      (fds, n, timeout, mask, size), iot_ms_of(timeout), ready_of_poll(t, result, fds, n))
WAITS(select, SELECT,
      (int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict bad,
       struct timeval *restrict timeout),
      (n, in, out, bad, timeout), timeout ? timeout->tv_sec * 1000 + timeout->tv_usec / 1000 : -1,
      ready_of_select(t, result, n, in))
WAITS(__select, SELECT,
      (int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict bad,
       struct timeval *restrict timeout),
      (n, in, out, bad, timeout), timeout ? timeout->tv_sec * 1000 + timeout->tv_usec / 1000 : -1,
      ready_of_select(t, result, n, in))
WAITS(pselect, SELECT,
      (int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict bad,
       const struct timespec *restrict timeout, const sigset_t *restrict mask),
      (n, in, out, bad, timeout, mask), iot_ms_of(timeout), ready_of_select(t, result, n, in))
