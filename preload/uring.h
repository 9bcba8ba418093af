/* io_uring: the requests in a ring's memory, read as they are handed to the kernel, and its
 * completions as they are found. Who calls says so before and after; what happens in between, by
 * system calls that are not libc's, is found at the next call, or counted. */
#ifndef IOT_PRELOAD_URING_H
#define IOT_PRELOAD_URING_H

#include "preload/foreign.h"
#include "preload/process.h"
#include "preload/record.h"

/* The ring of a descriptor; NULL if it is not known. */
struct iot_ring *iot_ring_find(int fd);
/* The ring of one of liburing's, which says where its memory is; NULL if there are too many. */
struct iot_ring *iot_ring_of(const struct io_uring *ring);
/* A ring that was set up; its memory becomes known when it is mapped. */
void iot_ring_made(int fd, const struct io_uring_params *params);
void iot_ring_mapped(int fd, uint64_t offset, const void *at);
/* Before its end: what is done by now, and how much was not seen. */
void iot_ring_ends(struct iot_thread *t, struct iot_ring *ring);
/* Before its descriptor is closed, and before its memory is unmapped (t NULL: outside the window).
 */
void iot_ring_closing(struct iot_thread *t, int fd);
void iot_ring_unmapping(struct iot_thread *t, const void *at, size_t bytes);
/* At an exit or exec: the same of all, whose memory may be gone; they may go on. */
void iot_rings_settle(struct iot_thread *t);

/* Registered files, from index `at` on; fds NULL: none. */
void iot_ring_files(struct iot_thread *t, struct iot_ring *ring, uint32_t at, const int *fds,
                    uint32_t n);

/* A call on a ring. The requests up to, and without, position `until` are handed over by it; or the
 * next n of those that are there (SQPOLL: all). */
struct iot_ring_call {
    struct iot_thread *t;
    struct iot_ring *ring;
    uint64_t t0;
    uint32_t submitted;
    int submits;
    uint32_t there; /* completions that were there and not taken yet */
};
struct iot_ring_call iot_ring_call_begin(struct iot_thread *t, struct iot_ring *ring);
void iot_ring_submits(struct iot_ring_call *call, uint32_t until);
void iot_ring_submits_next(struct iot_ring_call *call, uint32_t n);
/* `result` is the kernel's; `least`: how many completions it waited for. */
void iot_ring_call_end(struct iot_ring_call *call, long result, unsigned least);

/* Whether its memory is known. */
static inline int iot_ring_readable(const struct iot_ring *ring)
{
    return ring && ring->sq_head && ring->sqes && ring->cq_tail;
}

/* The same calls by number. */
int iot_uring_number(long number);
long iot_uring_syscall(struct iot_thread *t, long number, const long a[6]);

#endif
