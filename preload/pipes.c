/* Calls that make pipes and sockets. */
#include "preload/connection.h"
#include "preload/descriptors.h"
#include "preload/real.h"
#include "preload/wrap.h"

static int paired(struct iot_thread *t, struct iot_timed call, uint16_t op, int result,
                  const int fds[2], int flags, int peers)
{
    uint32_t obj = 0, obj2 = 0;
    if (result == 0) {
        obj = iot_descriptor_opened(t, fds[0], 0, flags, peers ? iot_descriptor_inode(fds[1]) : 0);
        obj2 = iot_descriptor_opened(t, fds[1], 0, flags, peers ? iot_descriptor_inode(fds[0]) : 0);
    }
    return (int)iot_timed_event(
        t, call, &(struct iot_row){.result = result, .obj = obj, .obj2 = obj2, .op = op});
}

#define PAIR(sym, operation, params, args, flags, peers)                                           \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter_always();                                                 \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        return paired(t, call, IOT_OP_##operation, result, fds, flags, peers);                     \
    }

PAIR(pipe, PIPE, (int fds[2]), (fds), 0, 0)
PAIR(__pipe, PIPE, (int fds[2]), (fds), 0, 0)
PAIR(pipe2, PIPE2, (int fds[2], int flags), (fds, flags), flags, 0)
PAIR(socketpair, SOCKETPAIR, (int domain, int type, int protocol, int fds[2]),
     (domain, type, protocol, fds), type &(SOCK_NONBLOCK | SOCK_CLOEXEC), 1)

int socket(int domain, int type, int protocol)
{
    struct iot_thread *t = iot_enter_always();
    if (!t)
        return iot_real.socket(domain, type, protocol);
    IOT_TIMED(int, socket, (domain, type, protocol))
    uint32_t obj = result < 0 ? 0 : iot_descriptor_opened(t, result, 0, 0, 0);
    return (int)iot_timed_event(
        t, call,
        &(struct iot_row){.result = result, .offset = domain, .obj = obj, .op = IOT_OP_SOCKET});
}

#define CONNECT(sym)                                                                               \
    int sym(int fd, const struct sockaddr *to, socklen_t n)                                        \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym(fd, to, n);                                                        \
        uint32_t obj = iot_descriptor(t, fd);                                                      \
        IOT_TIMED(int, sym, (fd, to, n))                                                           \
        struct iot_connection c = {0, 0};                                                          \
        if (result == 0 || call.err == EINPROGRESS)                                                \
            c = iot_connection_made(fd, to, n);                                                    \
        uint32_t address = c.key ? iot_descriptor_address(t, fd, to, n) : 0;                       \
        return (int)iot_timed_event(t, call,                                                       \
                                    &(struct iot_row){.result = result,                            \
                                                      .offset = c.pid,                             \
                                                      .addr = c.key,                               \
                                                      .obj = obj,                                  \
                                                      .obj2 = address,                             \
                                                      .op = IOT_OP_CONNECT});                      \
    }

CONNECT(connect)
CONNECT(__connect)

int bind(int fd, const struct sockaddr *at, socklen_t n)
{
    struct iot_thread *t = iot_enter_always();
    if (!t)
        return iot_real.bind(fd, at, n);
    uint32_t obj = iot_descriptor(t, fd);
    IOT_TIMED(int, bind, (fd, at, n))
    uint32_t address = result == 0 ? iot_descriptor_address(t, fd, NULL, 0) : 0;
    return (int)iot_timed_event(
        t, call,
        &(struct iot_row){.result = result, .obj = obj, .obj2 = address, .op = IOT_OP_BIND});
}

static int accepted(struct iot_thread *t, struct iot_timed call, uint16_t op, uint32_t listening,
                    int fd)
{
    uint32_t obj2 = fd < 0 ? 0 : iot_descriptor_opened(t, fd, 0, 0, 0);
    struct iot_connection c = {0, 0};
    if (fd >= 0)
        c = iot_connection_accepted(fd);
    return (int)iot_timed_event(t, call,
                                &(struct iot_row){.result = fd,
                                                  .offset = c.pid,
                                                  .addr = c.key,
                                                  .obj = listening,
                                                  .obj2 = obj2,
                                                  .op = op});
}

#define ACCEPT(sym, operation, params, args)                                                       \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter_always();                                                 \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        uint32_t listening = iot_descriptor(t, fd);                                                \
        IOT_TIMED(int, sym, args)                                                                  \
        return accepted(t, call, IOT_OP_##operation, listening, result);                           \
    }

ACCEPT(accept, ACCEPT, (int fd, struct sockaddr *restrict from, socklen_t *restrict n),
       (fd, from, n))
ACCEPT(accept4, ACCEPT4, (int fd, struct sockaddr *restrict from, socklen_t *restrict n, int flags),
       (fd, from, n, flags))
