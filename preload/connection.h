/* Which connection a socket is an end of, so that a reader can join its two ends. */
#ifndef IOT_PRELOAD_CONNECTION_H
#define IOT_PRELOAD_CONNECTION_H

#include <stdint.h>
#include <sys/socket.h>

/* A number that both ends of a TCP connection give. The two ends of a Unix connection do not know
 * each other's name: there it stands for the server's address, and pid is the client's. */
struct iot_connection {
    uint64_t key; /* 0: not known */
    int64_t pid;  /* 0: the key says all */
};

/* Of a socket that connect() was called on, with the address asked for. errno is kept. */
struct iot_connection iot_connection_made(int fd, const struct sockaddr *to, socklen_t n);
/* Of a socket that accept() gave. */
struct iot_connection iot_connection_accepted(int fd);

#endif
