#include "preload/connection.h"

#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#include "preload/process.h"
#include "preload/sys.h"

struct address {
    struct sockaddr_storage at;
    socklen_t n;
};

static struct address own_address(int fd)
{
    struct address a = {.n = sizeof a.at};
    if (iot_sys(SYS_getsockname, fd, &a.at, &a.n))
        a.n = 0;
    return a;
}

static struct address peer_address(int fd)
{
    struct address a = {.n = sizeof a.at};
    if (iot_sys(SYS_getpeername, fd, &a.at, &a.n))
        a.n = 0;
    return a;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    for (const uint8_t *p = bytes; n; n--)
        hash = (hash ^ *p++) * UINT64_C(0x100000001b3);
    return hash;
}

/* An IPv4 address is the same where it stands in an IPv6 one. */
static uint64_t mix_address(uint64_t hash, const struct address *a)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (a->at.ss_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, &a->at, sizeof in);
        hash = mix(mix(hash, mapped, sizeof mapped), &in.sin_addr, sizeof in.sin_addr);
        return mix(hash, &in.sin_port, sizeof in.sin_port);
    }
    struct sockaddr_in6 in6;
    memcpy(&in6, &a->at, sizeof in6);
    return mix(mix(hash, &in6.sin6_addr, sizeof in6.sin6_addr), &in6.sin6_port,
               sizeof in6.sin6_port);
}

static const uint64_t start = UINT64_C(0xcbf29ce484222325);

static struct iot_connection join(const struct address *client, const struct address *server,
                                  int64_t client_pid)
{
    switch (server->n ? server->at.ss_family : AF_UNSPEC) {
    case AF_INET:
    case AF_INET6:
        if (!client->n)
            return (struct iot_connection){0, 0};
        return (struct iot_connection){mix_address(mix_address(start, client), server) | 1, 0};
    case AF_UNIX:
        if (server->n <= offsetof(struct sockaddr_un, sun_path))
            return (struct iot_connection){0, 0};
        return (struct iot_connection){mix(start, &server->at, server->n) | 1, client_pid};
    default:
        return (struct iot_connection){0, 0};
    }
}

struct iot_connection iot_connection_made(int fd, const struct sockaddr *to, socklen_t n)
{
    struct address client = own_address(fd), server = peer_address(fd);
    if (!server.n && to && n <= sizeof server.at) { /* it is under way */
        memcpy(&server.at, to, n);
        server.n = n;
    }
    return join(&client, &server, iot_process->pid);
}

struct iot_connection iot_connection_accepted(int fd)
{
    struct address client = peer_address(fd), server = own_address(fd);
    struct ucred peer = {0, 0, 0};
    socklen_t n = sizeof peer;
    if (server.n && server.at.ss_family == AF_UNIX)
        iot_sys(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &n);
    return join(&client, &server, peer.pid);
}
