/* epoll: with the descriptor that was ready first. The kernel gives back what the program gave it
 * for a descriptor, so that is remembered. */
#include "preload/real.h"

#include "preload/process.h"
#include "preload/wrap.h"

static struct iot_interest *place_of(int epoll, uint64_t data)
{
    uint64_t hash = (data ^ (uint64_t)(unsigned)epoll << 40) * UINT64_C(0x9e3779b97f4a7c15);
    return &iot_process->interests[hash >> 32 & (IOT_INTERESTS - 1)];
}

/* The latest at a place wins: what is lost is only the name of what was ready. */
static void remember(const struct iot_thread *t, int epoll, int fd, uint64_t data)
{
    if (t->vfork_pid)
        return;
    struct iot_interest *at = place_of(epoll, data);
    at->fd = fd;
    at->epoll_plus_1 = epoll + 1;
    at->data = data;
}

static uint32_t ready_of(struct iot_thread *t, int result, int epoll,
                         const struct epoll_event *events)
{
    if (result <= 0 || t->vfork_pid)
        return 0;
    const struct iot_interest *at = place_of(epoll, events[0].data.u64);
    return at->epoll_plus_1 == epoll + 1 && at->data == events[0].data.u64
               ? iot_descriptor(t, at->fd)
               : 0;
}

int epoll_ctl(int fd, int operation, int of, struct epoll_event *event)
{
    int result = iot_real.epoll_ctl(fd, operation, of, event);
    if (result == 0 && operation != EPOLL_CTL_DEL) {
        const struct iot_thread *t = iot_enter_always();
        if (t)
            remember(t, fd, of, event->data.u64);
    }
    return result;
}

#define WAITS(sym, params, args, timeout)                                                          \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        uint32_t obj = ready_of(t, result, fd, events);                                            \
        return (int)iot_timed_event(                                                               \
            t, call,                                                                               \
            &(struct iot_row){                                                                     \
                .result = result, .offset = timeout, .obj = obj, .op = IOT_OP_EPOLL_WAIT});        \
    }

WAITS(epoll_wait, (int fd, struct epoll_event *events, int n, int timeout),
      (fd, events, n, timeout), timeout)
WAITS(epoll_pwait, (int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask),
      (fd, events, n, timeout, mask), timeout)
WAITS(epoll_pwait2,
      (int fd, struct epoll_event *events, int n, const struct timespec *timeout,
       const sigset_t *mask),
      (fd, events, n, timeout, mask), result >= 0 ? iot_ms_of(timeout) : 0)
