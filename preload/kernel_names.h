/* What the kernel's own names of descriptors leave out: whom a socket talks to, which counter it
 * is. */
#ifndef IOT_PRELOAD_KERNEL_NAMES_H
#define IOT_PRELOAD_KERNEL_NAMES_H

#include <stddef.h>
#include <sys/socket.h>

enum { IOT_ADDRESS_BYTES = 128 };

/* " HOST:PORT" of who is at the other end of a socket, else of the socket itself if it has an
 * address of its own; of a Unix socket " unix:PATH". `to`: the address asked for, where the kernel
 * knows none yet, or NULL. Returns the length, 0 if there is none. */
size_t iot_kernel_address(int fd, const struct sockaddr *to, socklen_t n,
                          char text[IOT_ADDRESS_BYTES]);

/* Completes the name that the kernel gave a descriptor, of `n` bytes; returns the new length, at
 * most `room`. */
size_t iot_kernel_name(int fd, char *name, size_t n, size_t room);

#endif
