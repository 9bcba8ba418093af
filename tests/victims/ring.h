/* io_uring without liburing: a ring by syscall(2), its memory by mmap. */
#ifndef IOT_VICTIMS_RING_H
#define IOT_VICTIMS_RING_H

#include <linux/io_uring.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ring {
    int fd;
    unsigned *sq_head, *sq_tail, *sq_array, sq_mask;
    unsigned *cq_head, *cq_tail, cq_mask;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
    void *memory;
    size_t memory_bytes, sqes_bytes;
};

static inline void *ring_map(int fd, size_t n, uint64_t offset)
{
    return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, (off_t)offset);
}

/* -1 where there is none to be had: errno says why. */
static inline int ring_make_by(struct ring *r, unsigned entries, unsigned flags,
                               void *(*map)(int fd, size_t n, uint64_t offset))
{
    struct io_uring_params p = {.flags = flags};
    r->fd = (int)syscall(SYS_io_uring_setup, entries, &p);
    if (r->fd < 0)
        return -1;
    size_t sq = p.sq_off.array + p.sq_entries * sizeof(unsigned);
    size_t cq = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    r->memory_bytes = sq > cq ? sq : cq;
    r->sqes_bytes = p.sq_entries * sizeof(struct io_uring_sqe);
    char *at = r->memory = map(r->fd, r->memory_bytes, IORING_OFF_SQ_RING);
    r->sqes = map(r->fd, r->sqes_bytes, IORING_OFF_SQES);
    if (r->memory == MAP_FAILED || (void *)r->sqes == MAP_FAILED)
        return -1;
    r->sq_head = (unsigned *)(at + p.sq_off.head);
    r->sq_tail = (unsigned *)(at + p.sq_off.tail);
    r->sq_array = (unsigned *)(at + p.sq_off.array);
    r->sq_mask = *(unsigned *)(at + p.sq_off.ring_mask);
    r->cq_head = (unsigned *)(at + p.cq_off.head);
    r->cq_tail = (unsigned *)(at + p.cq_off.tail);
    r->cq_mask = *(unsigned *)(at + p.cq_off.ring_mask);
    r->cqes = (struct io_uring_cqe *)(at + p.cq_off.cqes);
    return 0;
}

static inline int ring_make(struct ring *r, unsigned entries, unsigned flags)
{
    return ring_make_by(r, entries, flags, ring_map);
}

/* The entries of the array go round the other way than the requests do. */
static inline struct io_uring_sqe *ring_request(struct ring *r, unsigned opcode, int fd, void *data,
                                                unsigned n, uint64_t offset, uint64_t user)
{
    unsigned tail = *r->sq_tail, index = ~tail & r->sq_mask;
    struct io_uring_sqe *sqe = &r->sqes[index];
    memset(sqe, 0, sizeof *sqe);
    sqe->opcode = (uint8_t)opcode;
    sqe->fd = fd;
    sqe->addr = (uint64_t)(uintptr_t)data;
    sqe->len = n;
    sqe->off = offset;
    sqe->user_data = user;
    r->sq_array[tail & r->sq_mask] = index;
    __atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
    return sqe;
}

static inline long ring_enter(struct ring *r, unsigned submit, unsigned least)
{
    return syscall(SYS_io_uring_enter, r->fd, submit, least, least ? IORING_ENTER_GETEVENTS : 0,
                   NULL, 0L);
}

/* Takes a completion that is there: its res; -4096 if there is none. */
static inline int ring_take(struct ring *r, uint64_t *user)
{
    unsigned head = *r->cq_head;
    if (head == __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE))
        return -4096;
    int res = r->cqes[head & r->cq_mask].res;
    if (user)
        *user = r->cqes[head & r->cq_mask].user_data;
    __atomic_store_n(r->cq_head, head + 1, __ATOMIC_RELEASE);
    return res;
}

static inline void ring_end(struct ring *r)
{
    munmap(r->sqes, r->sqes_bytes);
    munmap(r->memory, r->memory_bytes);
    close(r->fd);
}

#endif
