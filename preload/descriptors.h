/* Descriptors by the numbers they have in the trace: one number for each opening of a descriptor
 * until it is closed, so that a reused descriptor is another one. */
#ifndef IOT_PRELOAD_DESCRIPTORS_H
#define IOT_PRELOAD_DESCRIPTORS_H

#include <sys/socket.h>

#include "preload/process.h"
#include "preload/record.h"

void iot_descriptors_start(void);

/* A descriptor that was not seen when it was opened: asks the kernel for its name. 0 if it is
 * not open. */
uint32_t iot_descriptor_adopt(struct iot_thread *t, int fd);

/* Adopts all that are open, of those that programs have: the first thousand. */
void iot_descriptors_adopt(struct iot_thread *t);

static inline uint32_t iot_descriptor(struct iot_thread *t, int fd)
{
    if (__builtin_expect((unsigned)fd < IOT_DESCRIPTORS_MAX && !t->vfork_pid, 1)) {
        uint32_t number = iot_process->descriptors[fd];
        if (__builtin_expect(number != 0, 1))
            return number;
    }
    return iot_descriptor_adopt(t, fd);
}

/* The number of a descriptor if it has one already; 0 else. */
static inline uint32_t iot_descriptor_known(struct iot_thread *t, int fd)
{
    return (unsigned)fd < IOT_DESCRIPTORS_MAX && !t->vfork_pid ? iot_process->descriptors[fd] : 0;
}

/* A new descriptor. `name`: a string of the trace, 0 to name it after its inode.
 * `peer_ino`: of the other end of a socketpair, else 0. Returns its number. */
uint32_t iot_descriptor_opened(struct iot_thread *t, int fd, uint32_t name, int flags,
                               uint64_t peer_ino);
/* A string of the trace: the address of a socket, as kernel_names.h has it; 0 if it has none. `to`:
 * the one asked for, or NULL. */
uint32_t iot_descriptor_address(struct iot_thread *t, int fd, const struct sockaddr *to,
                                socklen_t n);

/* A duplicate of the descriptor numbered `of`. */
uint32_t iot_descriptor_dup(struct iot_thread *t, int fd, uint32_t of);

/* Before the call that closes it: from then on the number may be somebody else's. */
void iot_descriptor_closing(struct iot_thread *t, int fd);
void iot_descriptor_closing_range(struct iot_thread *t, unsigned first, unsigned last);

/* Asks the kernel anew what each is. */
void iot_descriptors_forget(void);

/* The inode of an open descriptor; 0 if there is none. */
uint64_t iot_descriptor_inode(int fd);

/* A path as a string of the trace: absolute; a relative one with the working directory in front,
 * or, below another directory's descriptor, with byte 1, that descriptor's number and "/" in front.
 */
uint32_t iot_path(struct iot_thread *t, int dirfd, const char *path);

/* The working directory has changed. */
void iot_cwd_changed(void);

#endif
