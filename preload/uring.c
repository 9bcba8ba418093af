#include "preload/uring.h"

#include <string.h>

#include "preload/descriptors.h"
#include "preload/lineage.h"
#include "preload/readable.h"
#include "preload/requests.h"
#include "preload/sys.h"

#ifndef IORING_SETUP_NO_MMAP
#define IORING_SETUP_NO_MMAP (1u << 14)
#endif
#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY (1u << 16)
#endif

/* --- the table --- */

struct iot_ring *iot_ring_find(int fd)
{
    for (int k = 0; fd >= 0 && k < IOT_RINGS_MAX; k++)
        if (__atomic_load_n(&iot_process->rings[k].fd_plus_1, __ATOMIC_ACQUIRE) == (uint32_t)fd + 1)
            return &iot_process->rings[k];
    return NULL;
}

static struct iot_ring *take(int fd, uint32_t flags)
{
    enum { QUEUES = UINT16_MAX - IOT_QUEUE_RING };
    for (int k = 0; fd >= 0 && k < IOT_RINGS_MAX; k++) {
        struct iot_ring *ring = &iot_process->rings[k];
        uint32_t none = 0;
        if (!__atomic_compare_exchange_n(&ring->fd_plus_1, &none, (uint32_t)fd + 1, 0,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        uint32_t number = __atomic_fetch_add(&iot_process->rings_made, 1, __ATOMIC_RELAXED);
        memset((char *)ring + sizeof none, 0, sizeof *ring - sizeof none);
        ring->flags = flags;
        ring->queue = (uint16_t)(IOT_QUEUE_RING + number % QUEUES);
        ring->last = iot_now();
        return ring;
    }
    return NULL;
}

static void release(struct iot_ring *ring)
{
    ring->sq_head = ring->cq_tail = NULL;
    ring->sqes = NULL;
    __atomic_store_n(&ring->fd_plus_1, 0, __ATOMIC_RELEASE);
}

/* Last of all that is known of a ring: others read it from then on. */
static void become_readable(const uint32_t **word, const uint32_t *at)
{
    __atomic_store_n(word, at, __ATOMIC_RELEASE);
}

static void start_at(struct iot_ring *ring)
{
    ring->sq_first = ring->sq_seen = __atomic_load_n(ring->sq_head, __ATOMIC_ACQUIRE);
    ring->cq_seen = __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE);
    ring->recorded = 0;
    ring->window = iot_process->window;
    ring->masks[0] = *ring->sq_mask;
    ring->masks[1] = *ring->cq_mask;
}

struct iot_ring *iot_ring_of(const struct io_uring *from)
{
    struct iot_ring *ring = iot_ring_find(from->fd);
    if (ring && ring->sq_head == from->sq.head && ring->cqes == from->cq.cqes)
        return ring;
    if (ring && ring->sq_head) { /* it was closed out of our sight, and this is another */
        release(ring);
        ring = NULL;
    }
    if (!ring)
        ring = take(from->fd, from->flags);
    if (!ring)
        return NULL;
    ring->flags = from->flags;
    ring->sq_tail = from->sq.tail;
    ring->sq_mask = from->sq.mask;
    ring->sq_array = NULL; /* liburing puts the request of a position where the position says */
    ring->sqes = from->sq.sqes;
    ring->cq_head = from->cq.head;
    ring->cq_mask = from->cq.mask;
    ring->cqes = from->cq.cqes;
    become_readable(&ring->sq_head, from->sq.head);
    become_readable(&ring->cq_tail, from->cq.tail);
    start_at(ring);
    return ring;
}

void iot_ring_made(int fd, const struct io_uring_params *p)
{
    struct iot_ring *ring = iot_ring_find(fd);
    if (ring)
        release(ring);
    ring = take(fd, p->flags);
    if (!ring)
        return;
    memcpy(ring->sq_offsets,
           (uint32_t[4]){p->sq_off.head, p->sq_off.tail, p->sq_off.ring_mask, p->sq_off.array},
           sizeof ring->sq_offsets);
    memcpy(ring->cq_offsets,
           (uint32_t[4]){p->cq_off.tail, p->cq_off.ring_mask, p->cq_off.cqes, p->cq_off.head},
           sizeof ring->cq_offsets);
    if (p->flags & IORING_SETUP_NO_MMAP) { /* the program gave the memory */
        iot_ring_mapped(fd, IORING_OFF_SQES, (const void *)(uintptr_t)p->sq_off.resv2);
        iot_ring_mapped(fd, IORING_OFF_SQ_RING, (const void *)(uintptr_t)p->cq_off.resv2);
    }
}

static const uint32_t *word(const void *base, uint32_t offset)
{
    return (const uint32_t *)((uintptr_t)base + offset);
}

/* The two rings lie in one memory, which may be mapped twice. */
void iot_ring_mapped(int fd, uint64_t offset, const void *at)
{
    struct iot_ring *ring = iot_ring_find(fd);
    if (!ring || !at)
        return;
    if (offset == IORING_OFF_SQES)
        ring->sqes = at;
    if (offset == IORING_OFF_SQ_RING) {
        ring->sq_tail = word(at, ring->sq_offsets[1]);
        ring->sq_mask = word(at, ring->sq_offsets[2]);
        if (!(ring->flags & IORING_SETUP_NO_SQARRAY))
            ring->sq_array = word(at, ring->sq_offsets[3]);
        become_readable(&ring->sq_head, word(at, ring->sq_offsets[0]));
    }
    if (offset == IORING_OFF_SQ_RING || offset == IORING_OFF_CQ_RING) {
        ring->cq_mask = word(at, ring->cq_offsets[1]);
        ring->cqes = (const uint8_t *)word(at, ring->cq_offsets[2]);
        ring->cq_head = word(at, ring->cq_offsets[3]);
        become_readable(&ring->cq_tail, word(at, ring->cq_offsets[0]));
    }
    if (iot_ring_readable(ring))
        start_at(ring);
}

void iot_ring_files(struct iot_thread *t, struct iot_ring *ring, uint32_t at, const int *fds,
                    uint32_t n)
{
    for (uint32_t k = 0; ring && k < n && at < IOT_RING_FILES && k < IOT_RING_FILES - at; k++)
        ring->files[at + k] = fds && fds[k] >= 0 ? iot_descriptor(t, fds[k]) : 0;
}

/* --- requests --- */

enum how {
    PLAIN,
    LENGTH = 1,
    POSITION = 2,
    NO_FILE = 4,
    CLOSES = 8,
    SPLICES = 16,
    PIECES = 32,  /* a list of buffers */
    MESSAGE = 64, /* a message with one */
};

/* What each operation of a ring is in a trace. LENGTH: len is the bytes asked for. */
static const struct {
    uint16_t op;
    uint8_t how; /* enum how */
} operations[] = {
    [IORING_OP_NOP] = {IOT_OP_ASYNC_WAIT, NO_FILE},
    [IORING_OP_READV] = {IOT_OP_ASYNC_READ, POSITION | PIECES},
    [IORING_OP_WRITEV] = {IOT_OP_ASYNC_WRITE, POSITION | PIECES},
    [IORING_OP_FSYNC] = {IOT_OP_ASYNC_SYNC, PLAIN},
    [IORING_OP_READ_FIXED] = {IOT_OP_ASYNC_READ, LENGTH | POSITION},
    [IORING_OP_WRITE_FIXED] = {IOT_OP_ASYNC_WRITE, LENGTH | POSITION},
    [IORING_OP_POLL_ADD] = {IOT_OP_ASYNC_WAIT, PLAIN},
    [IORING_OP_POLL_REMOVE] = {IOT_OP_ASYNC_WAIT, NO_FILE},
    [IORING_OP_SYNC_FILE_RANGE] = {IOT_OP_ASYNC_SYNC, POSITION},
    [IORING_OP_SENDMSG] = {IOT_OP_ASYNC_WRITE, MESSAGE},
    [IORING_OP_RECVMSG] = {IOT_OP_ASYNC_READ, MESSAGE},
    [IORING_OP_TIMEOUT] = {IOT_OP_ASYNC_WAIT, NO_FILE},
    [IORING_OP_TIMEOUT_REMOVE] = {IOT_OP_ASYNC_WAIT, NO_FILE},
    [IORING_OP_ACCEPT] = {IOT_OP_ASYNC_WAIT, PLAIN},
    [IORING_OP_ASYNC_CANCEL] = {IOT_OP_ASYNC_WAIT, NO_FILE},
    [IORING_OP_LINK_TIMEOUT] = {IOT_OP_ASYNC_WAIT, NO_FILE},
    [IORING_OP_CONNECT] = {IOT_OP_ASYNC_WAIT, PLAIN},
    [IORING_OP_FALLOCATE] = {IOT_OP_ASYNC_OTHER, POSITION},
    [IORING_OP_OPENAT] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_CLOSE] = {IOT_OP_ASYNC_OTHER, CLOSES},
    [IORING_OP_FILES_UPDATE] = {IOT_OP_ASYNC_WAIT, NO_FILE},
    [IORING_OP_STATX] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_READ] = {IOT_OP_ASYNC_READ, LENGTH | POSITION},
    [IORING_OP_WRITE] = {IOT_OP_ASYNC_WRITE, LENGTH | POSITION},
    [IORING_OP_FADVISE] = {IOT_OP_ASYNC_OTHER, POSITION},
    [IORING_OP_MADVISE] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_SEND] = {IOT_OP_ASYNC_WRITE, LENGTH},
    [IORING_OP_RECV] = {IOT_OP_ASYNC_READ, LENGTH},
    [IORING_OP_OPENAT2] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_EPOLL_CTL] = {IOT_OP_ASYNC_WAIT, NO_FILE},
    [IORING_OP_SPLICE] = {IOT_OP_ASYNC_SPLICE, LENGTH | SPLICES},
    [IORING_OP_PROVIDE_BUFFERS] = {IOT_OP_ASYNC_WAIT, NO_FILE},
    [IORING_OP_REMOVE_BUFFERS] = {IOT_OP_ASYNC_WAIT, NO_FILE},
    [IORING_OP_TEE] = {IOT_OP_ASYNC_SPLICE, LENGTH | SPLICES},
    [IORING_OP_SHUTDOWN] = {IOT_OP_ASYNC_OTHER, PLAIN},
    [IORING_OP_RENAMEAT] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_UNLINKAT] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_MKDIRAT] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_SYMLINKAT] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_LINKAT] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_MSG_RING] = {IOT_OP_ASYNC_WAIT, NO_FILE},
    [IORING_OP_FSETXATTR] = {IOT_OP_ASYNC_OTHER, PLAIN},
    [IORING_OP_SETXATTR] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_FGETXATTR] = {IOT_OP_ASYNC_OTHER, PLAIN},
    [IORING_OP_GETXATTR] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_SOCKET] = {IOT_OP_ASYNC_OTHER, NO_FILE},
    [IORING_OP_URING_CMD] = {IOT_OP_ASYNC_OTHER, PLAIN},
    [IORING_OP_SEND_ZC] = {IOT_OP_ASYNC_WRITE, LENGTH},
    [IORING_OP_SENDMSG_ZC] = {IOT_OP_ASYNC_WRITE, MESSAGE},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static uint32_t file_of(struct iot_thread *t, const struct iot_ring *ring, int fd, int registered)
{
    if (!registered)
        return iot_descriptor(t, fd);
    return (uint32_t)fd < IOT_RING_FILES ? ring->files[fd] : 0;
}

/* A buffer that the kernel picks of those it was given has no address yet. */
static void tell_buffers(struct iot_thread *t, const struct io_uring_sqe *sqe, unsigned how,
                         const struct iot_pieces *of)
{
    const struct msghdr *message = (const struct msghdr *)(uintptr_t)sqe->addr;
    const struct iovec *pieces = (const struct iovec *)(uintptr_t)sqe->addr;
    if (sqe->flags & IOSQE_BUFFER_SELECT || how & SPLICES)
        return;
    if (how & LENGTH)
        iot_piece_tell(t, of, sqe->addr, sqe->len);
    else if (how & PIECES)
        iot_pieces_ask(t, of, pieces, sqe->len);
    else if (how & MESSAGE && iot_readable(message, sizeof *message) == sizeof *message)
        iot_pieces_ask(t, of, message->msg_iov, message->msg_iovlen);
}

static void made(struct iot_thread *t, const struct iot_ring *ring, const struct io_uring_sqe *sqe,
                 uint64_t now)
{
    uint16_t op = sqe->opcode < OPERATIONS ? operations[sqe->opcode].op : 0;
    unsigned how = sqe->opcode < OPERATIONS ? operations[sqe->opcode].how : NO_FILE;
    struct iot_request r = {.token = sqe->user_data,
                            .bytes = how & LENGTH ? sqe->len : 0,
                            .offset = how & POSITION ? (int64_t)sqe->off : -1,
                            .op = op ? op : IOT_OP_ASYNC_OTHER,
                            .queue = ring->queue};
    int registered = !!(sqe->flags & IOSQE_FIXED_FILE);
    if (how & SPLICES) { /* into fd */
        r.obj = file_of(t, ring, sqe->splice_fd_in, !!(sqe->splice_flags & SPLICE_F_FD_IN_FIXED));
        r.obj2 = file_of(t, ring, sqe->fd, registered);
    } else if (!(how & NO_FILE)) {
        r.obj = file_of(t, ring, sqe->fd, registered);
    }
    if (iot_lineage)
        tell_buffers(t, sqe, how, &(struct iot_pieces){r.obj, op == IOT_OP_ASYNC_READ, now});
    iot_request_made(t, now, &r);
    if (how & CLOSES && !registered)
        iot_descriptor_closing(t, sqe->fd);
}

static const struct io_uring_sqe *request_at(const struct iot_ring *ring, uint32_t position)
{
    uint32_t mask = *ring->sq_mask, index = position & mask;
    if (ring->sq_array)
        index = ring->sq_array[index];
    if (index > mask)
        return NULL; /* the kernel drops it too */
    size_t bytes = sizeof(struct io_uring_sqe) << !!(ring->flags & IORING_SETUP_SQE128);
    return (const struct io_uring_sqe *)(ring->sqes + index * bytes);
}

static void end(struct iot_ring *ring)
{
    __atomic_store_n(&ring->busy, 0, __ATOMIC_RELEASE);
}

/* Not 0, and of each thread another. */
static uint32_t myself(void)
{
    return (uint32_t)((uintptr_t)&iot_local >> 4) | 1;
}

/* Whoever comes while another is at the ring leaves it to that one. Nothing of its memory is read
 * but between this and end(): else another thread may unmap it. */
static int hold(struct iot_ring *ring)
{
    uint32_t nobody = 0;
    if (!iot_ring_readable(ring) ||
        !__atomic_compare_exchange_n(&ring->busy, &nobody, myself(), 0, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return 0;
    if (!iot_ring_readable(ring)) { /* it ended just now */
        end(ring);
        return 0;
    }
    return 1;
}

/* What went on outside the window is skipped. */
static void follow_window(struct iot_ring *ring)
{
    if (ring->window != iot_process->window)
        start_at(ring);
}

static int begin(struct iot_ring *ring)
{
    int held = hold(ring);
    if (held)
        follow_window(ring);
    return held;
}

/* Who ends it must not, as its memory goes: it waits for the other, which on a busy machine may be
 * long without a CPU, unless that is the call that it has itself interrupted. Not for ever: the
 * other may have been interrupted by one that waits for this. */
static int hold_end(struct iot_ring *ring)
{
    enum { TURNS = 100, MOMENTS = 50000 };
    for (int k = 0; k < TURNS + MOMENTS; k++) {
        if (hold(ring))
            return 1;
        if (!iot_ring_readable(ring) || __atomic_load_n(&ring->busy, __ATOMIC_RELAXED) == myself())
            return 0;
        struct timespec moment = {0, 100000};
        if (k < TURNS)
            iot_sys(SYS_sched_yield);
        else
            iot_sys(SYS_nanosleep, &moment, 0);
    }
    return 0;
}

/* What lies in the ring, from what was read last or what the kernel has taken since, whichever is
 * further. */
static uint32_t read_requests(struct iot_thread *t, struct iot_ring *ring, uint32_t until,
                              uint64_t now)
{
    uint32_t head = __atomic_load_n(ring->sq_head, __ATOMIC_ACQUIRE), n = 0;
    if ((int32_t)(head - ring->sq_seen) > 0)
        ring->sq_seen = head;
    for (; (int32_t)(until - ring->sq_seen) > 0; ring->sq_seen++) {
        const struct io_uring_sqe *sqe = request_at(ring, ring->sq_seen);
        if (sqe)
            made(t, ring, sqe, now);
        n++;
    }
    ring->recorded += n;
    return n;
}

static uint32_t look(struct iot_thread *t, struct iot_ring *ring, uint64_t now)
{
    uint32_t tail = __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE), mask = *ring->cq_mask;
    uint32_t shift = !!(ring->flags & IORING_SETUP_CQE32), n = 0;
    if (tail - ring->cq_seen > mask + 1) /* what came before was overwritten */
        ring->cq_seen = tail - mask - 1;
    for (; ring->cq_seen != tail; ring->cq_seen++, n++) {
        const struct io_uring_cqe *cqe =
            (const struct io_uring_cqe *)(ring->cqes +
                                          ((size_t)(ring->cq_seen & mask) * sizeof *cqe << shift));
        if (!(cqe->flags & IORING_CQE_F_NOTIF))
            iot_request_done(t, ring->queue, cqe->user_data, cqe->res,
                             !!(cqe->flags & IORING_CQE_F_MORE), ring->last, now);
    }
    ring->last = now;
    return n;
}

/* --- calls --- */

struct iot_ring_call iot_ring_call_begin(struct iot_thread *t, struct iot_ring *ring)
{
    struct iot_ring_call call = {t, ring, iot_now(), 0, 0, 0};
    if (ring && begin(ring)) {
        look(t, ring, call.t0);
        call.there = ring->cq_seen - __atomic_load_n(ring->cq_head, __ATOMIC_ACQUIRE);
        end(ring);
    }
    return call;
}

void iot_ring_submits(struct iot_ring_call *call, uint32_t until)
{
    call->submits = 1;
    if (call->ring && begin(call->ring)) {
        call->submitted = read_requests(call->t, call->ring, until, call->t0);
        end(call->ring);
    }
}

void iot_ring_submits_next(struct iot_ring_call *call, uint32_t n)
{
    struct iot_ring *ring = call->ring;
    call->submits = n > 0;
    if (!ring || !begin(ring))
        return;
    uint32_t head = __atomic_load_n(ring->sq_head, __ATOMIC_ACQUIRE);
    uint32_t there = __atomic_load_n(ring->sq_tail, __ATOMIC_ACQUIRE) - head;
    if (ring->flags & IORING_SETUP_SQPOLL)
        n = there;
    call->submits = n > 0;
    if (n)
        call->submitted = read_requests(call->t, ring, head + (n < there ? n : there), call->t0);
    end(ring);
}

/* A call that neither handed over nor waited, and found nothing, leaves no row: programs may spin.
 */
void iot_ring_call_end(struct iot_ring_call *call, long result, unsigned least)
{
    uint64_t t1 = iot_now();
    uint32_t found = 0;
    if (call->ring && begin(call->ring)) {
        found = look(call->t, call->ring, t1);
        end(call->ring);
    }
    if (call->submits && result > 0 && !iot_ring_readable(call->ring))
        iot_requests_unseen(call->t, call->ring ? call->ring->queue : UINT16_MAX, (uint64_t)result,
                            IOT_UNSEEN_MEMORY);
    if (call->submitted || least || found)
        iot_request_call(call->t,
                         &(struct iot_row){.result = result < 0 ? -1 : result,
                                           .offset = least > call->there ? least - call->there : 0,
                                           .addr = call->ring ? call->ring->queue : UINT16_MAX,
                                           .op = IOT_OP_IO_URING_ENTER},
                         call->t0, t1, result < 0 ? (int)-result : 0);
}

/* --- ends --- */

/* What it took is counted once. */
static void settle(struct iot_thread *t, struct iot_ring *ring)
{
    follow_window(ring);
    look(t, ring, iot_now());
    uint32_t head = __atomic_load_n(ring->sq_head, __ATOMIC_ACQUIRE);
    uint32_t direct = head - ring->sq_first - ring->recorded;
    if ((int32_t)direct > 0) {
        iot_requests_unseen(t, ring->queue, direct, IOT_UNSEEN_DIRECT);
        ring->recorded += direct;
    }
}

/* Whether the memory is still there, and a ring's: at the end of a process, or of the ring's
 * descriptor, nobody knows who unmapped it, put something else in its place or hid it. */
static int is_there(const struct iot_ring *ring)
{
    const uint32_t *words[] = {ring->sq_head, ring->cq_tail, ring->sq_mask, ring->cq_mask};
    for (int k = 0; k < 4; k++)
        if (iot_readable(words[k], sizeof *words[k]) < sizeof *words[k])
            return 0;
    return *ring->sq_mask == ring->masks[0] && *ring->cq_mask == ring->masks[1];
}

/* Where the kernel may not be asked, a ring in use is taken to be there. */
void iot_ring_ends(struct iot_thread *t, struct iot_ring *ring)
{
    if (!ring)
        return;
    if (hold_end(ring) && (iot_confined || is_there(ring)))
        settle(t, ring);
    release(ring);
}

void iot_ring_closing(struct iot_thread *t, int fd)
{
    if (__builtin_expect(iot_process->rings_made != 0, 0) && !t->vfork_pid)
        iot_ring_ends(t, iot_ring_find(fd));
}

static int within(const void *p, const void *at, size_t bytes)
{
    return (uintptr_t)p - (uintptr_t)at < bytes;
}

void iot_ring_unmapping(struct iot_thread *t, const void *at, size_t bytes)
{
    if (__builtin_expect(!iot_process || iot_process->rings_made == 0, 1) || (t && t->vfork_pid))
        return;
    for (int k = 0; k < IOT_RINGS_MAX; k++) {
        struct iot_ring *ring = &iot_process->rings[k];
        if (ring->fd_plus_1 && (within(ring->sq_head, at, bytes) || within(ring->sqes, at, bytes) ||
                                within(ring->cq_tail, at, bytes))) {
            if (t)
                iot_ring_ends(t, ring);
            else
                release(ring);
        }
    }
}

void iot_rings_settle(struct iot_thread *t)
{
    int any = iot_process->rings_made && iot_window_follows();
    for (int k = 0; any && k < IOT_RINGS_MAX; k++) {
        struct iot_ring *ring = &iot_process->rings[k];
        if (!ring->fd_plus_1 || !hold(ring))
            continue;
        if (is_there(ring))
            settle(t, ring);
        end(ring);
    }
}
