/* What system calls by number do to bytes, descriptors and names: rows as of the function of that
 * name. The call itself stays what it was, for syscall(2) is no place where a thread may be
 * cancelled. */
#include "preload/syscall_io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "preload/descriptors.h"
#include "preload/lineage.h"
#include "preload/real.h"
#include "preload/sys.h"
#include "preload/wrap.h"

enum form {
    NOTHING,
    ON,      /* a descriptor, argument a */
    FROM_TO, /* bytes from descriptor a to descriptor b */
    NAMED,   /* a path, argument b, below directory a */
    NAMED_2, /* two: b below a, and the next two arguments */
    OPENS,   /* the same, and gives a descriptor; flags: argument `at` */
    MAKES,   /* gives a descriptor that the kernel names */
    CLOSES,
    CLOSES_ALL, /* from descriptor a to b */
    DOUBLES,    /* descriptor a; b is closed before */
    ALONE,      /* no subject; address a, length b */
    MESSAGES,
};

/* Argument numbers beyond the six: */
enum { NONE = 6, WORKING_FOLDER = 7 };

enum { CLOEXEC_ONLY = 1 << 2 }; /* CLOSE_RANGE_CLOEXEC */

struct known {
    uint16_t op;
    uint8_t form, a, b;
    uint8_t at; /* argument that is the row's offset */
};

static const struct known known[] = {
    [SYS_read] = {IOT_OP_READ, ON, 0, 0, NONE},
    [SYS_write] = {IOT_OP_WRITE, ON, 0, 0, NONE},
    [SYS_pread64] = {IOT_OP_PREAD, ON, 0, 0, 3},
    [SYS_pwrite64] = {IOT_OP_PWRITE, ON, 0, 0, 3},
    [SYS_readv] = {IOT_OP_READV, ON, 0, 0, NONE},
    [SYS_writev] = {IOT_OP_WRITEV, ON, 0, 0, NONE},
    [SYS_preadv] = {IOT_OP_PREADV, ON, 0, 0, 3},
    [SYS_pwritev] = {IOT_OP_PWRITEV, ON, 0, 0, 3},
    [SYS_preadv2] = {IOT_OP_PREADV2, ON, 0, 0, 3},
    [SYS_pwritev2] = {IOT_OP_PWRITEV2, ON, 0, 0, 3},
    [SYS_sendfile] = {IOT_OP_SENDFILE, FROM_TO, 1, 0, NONE},
    [SYS_copy_file_range] = {IOT_OP_COPY_FILE_RANGE, FROM_TO, 0, 2, NONE},
    [SYS_splice] = {IOT_OP_SPLICE, FROM_TO, 0, 2, NONE},
    [SYS_tee] = {IOT_OP_TEE, FROM_TO, 0, 1, NONE},
    [SYS_vmsplice] = {IOT_OP_VMSPLICE, ON, 0, 0, NONE},
    [SYS_sendto] = {IOT_OP_SENDTO, ON, 0, 0, NONE},
    [SYS_recvfrom] = {IOT_OP_RECVFROM, ON, 0, 0, NONE},
    [SYS_sendmsg] = {IOT_OP_SENDMSG, ON, 0, 0, NONE},
    [SYS_recvmsg] = {IOT_OP_RECVMSG, ON, 0, 0, NONE},
    [SYS_sendmmsg] = {IOT_OP_SENDMMSG, MESSAGES, 0, 1, NONE},
    [SYS_recvmmsg] = {IOT_OP_RECVMMSG, MESSAGES, 0, 1, NONE},
    [SYS_fsync] = {IOT_OP_FSYNC, ON, 0, 0, NONE},
    [SYS_fdatasync] = {IOT_OP_FDATASYNC, ON, 0, 0, NONE},
    [SYS_sync_file_range] = {IOT_OP_SYNC_FILE_RANGE, ON, 0, 0, 1},
    [SYS_syncfs] = {IOT_OP_SYNCFS, ON, 0, 0, NONE},
    [SYS_sync] = {IOT_OP_SYNC, ALONE, NONE, NONE, NONE},
    [SYS_msync] = {IOT_OP_MSYNC, ALONE, 0, 1, 1},
    [SYS_madvise] = {IOT_OP_MADVISE, ALONE, 0, 1, 2},
    [SYS_lseek] = {IOT_OP_LSEEK, ON, 0, 0, 1},
    [SYS_fstat] = {IOT_OP_FSTAT, ON, 0, 0, NONE},
    [SYS_ftruncate] = {IOT_OP_FTRUNCATE, ON, 0, 0, 1},
    [SYS_fallocate] = {IOT_OP_FALLOCATE, ON, 0, 0, 3},
    [SYS_fadvise64] = {IOT_OP_FADVISE, ON, 0, 0, 1},
    [SYS_readahead] = {IOT_OP_READAHEAD, ON, 0, 0, 1},
    [SYS_flock] = {IOT_OP_FLOCK, ON, 0, 0, 1},
    [SYS_fchmod] = {IOT_OP_FCHMOD, ON, 0, 0, NONE},
    [SYS_fchown] = {IOT_OP_FCHOWN, ON, 0, 0, NONE},
    [SYS_getdents64] = {IOT_OP_READDIR, ON, 0, 0, NONE},
    [SYS_newfstatat] = {IOT_OP_FSTATAT, NAMED, 0, 1, NONE},
    [SYS_statx] = {IOT_OP_STATX, NAMED, 0, 1, NONE},
    [SYS_faccessat] = {IOT_OP_FACCESSAT, NAMED, 0, 1, NONE},
    [SYS_faccessat2] = {IOT_OP_FACCESSAT, NAMED, 0, 1, NONE},
    [SYS_unlinkat] = {IOT_OP_UNLINKAT, NAMED, 0, 1, NONE},
    [SYS_mkdirat] = {IOT_OP_MKDIRAT, NAMED, 0, 1, NONE},
    [SYS_readlinkat] = {IOT_OP_READLINK, NAMED, 0, 1, NONE},
    [SYS_truncate] = {IOT_OP_TRUNCATE, NAMED, WORKING_FOLDER, 0, 1},
    [SYS_renameat2] = {IOT_OP_RENAMEAT2, NAMED_2, 0, 1, NONE},
    [SYS_linkat] = {IOT_OP_LINK, NAMED_2, 0, 1, NONE},
    [SYS_openat] = {IOT_OP_OPENAT, OPENS, 0, 1, 2},
    [SYS_openat2] = {IOT_OP_OPENAT, OPENS, 0, 1, NONE},
    [SYS_memfd_create] = {IOT_OP_MEMFD_CREATE, MAKES, 0, 0, 1},
    [SYS_eventfd2] = {IOT_OP_EVENTFD, MAKES, 0, 0, 1},
    [SYS_timerfd_create] = {IOT_OP_TIMERFD_CREATE, MAKES, 0, 0, 1},
    [SYS_close] = {IOT_OP_CLOSE, CLOSES, 0, 0, NONE},
    [SYS_close_range] = {IOT_OP_CLOSE_RANGE, CLOSES_ALL, 0, 1, 0},
    [SYS_dup] = {IOT_OP_DUP, DOUBLES, 0, NONE, NONE},
    [SYS_dup3] = {IOT_OP_DUP3, DOUBLES, 0, 1, NONE},
#if defined(__x86_64__)
    [SYS_stat] = {IOT_OP_STAT, NAMED, WORKING_FOLDER, 0, NONE},
    [SYS_lstat] = {IOT_OP_LSTAT, NAMED, WORKING_FOLDER, 0, NONE},
    [SYS_access] = {IOT_OP_ACCESS, NAMED, WORKING_FOLDER, 0, NONE},
    [SYS_unlink] = {IOT_OP_UNLINK, NAMED, WORKING_FOLDER, 0, NONE},
    [SYS_mkdir] = {IOT_OP_MKDIR, NAMED, WORKING_FOLDER, 0, NONE},
    [SYS_rmdir] = {IOT_OP_RMDIR, NAMED, WORKING_FOLDER, 0, NONE},
    [SYS_readlink] = {IOT_OP_READLINK, NAMED, WORKING_FOLDER, 0, NONE},
    [SYS_renameat] = {IOT_OP_RENAMEAT, NAMED_2, 0, 1, NONE},
    [SYS_open] = {IOT_OP_OPEN, OPENS, WORKING_FOLDER, 0, 1},
    [SYS_creat] = {IOT_OP_CREAT, OPENS, WORKING_FOLDER, 0, NONE},
    [SYS_dup2] = {IOT_OP_DUP2, DOUBLES, 0, 1, NONE},
    [SYS_getdents] = {IOT_OP_READDIR, ON, 0, 0, NONE},
#endif
};

int iot_syscall_known(long number)
{
    return (unsigned long)number < sizeof known / sizeof *known && known[number].op;
}

static int folder(const struct known *k, const long a[6])
{
    return k->a == WORKING_FOLDER ? AT_FDCWD : (int)a[k->a];
}

static uint32_t name_at(struct iot_thread *t, struct iot_timed call, int dir, long path)
{
    return iot_path_of(t, call, dir, (const char *)path);
}

static int64_t bytes_of(const struct known *k, const long a[6], long result)
{
    if (k->form != MESSAGES)
        return iot_op_info(k->op)->class_ == IOT_DATA && result > 0 ? result : 0;
    const struct mmsghdr *messages = (const struct mmsghdr *)a[k->b];
    int64_t bytes = 0;
    for (long m = 0; m < result; m++)
        bytes += messages[m].msg_len;
    return bytes;
}

static int flags_of(long number, const long a[6], const struct known *k)
{
    const struct open_how *how = (const struct open_how *)a[2];
    if (number == SYS_openat2)
        return iot_readable(how, sizeof *how) == sizeof *how ? (int)how->flags : 0;
    return k->at == NONE ? O_CREAT | O_WRONLY | O_TRUNC : (int)a[k->at];
}

/* What the descriptor is that argument says the number of; before the call, which may close it. */
static void before(struct iot_thread *t, const struct known *k, const long a[6],
                   struct iot_row *row)
{
    switch (k->form) {
    case CLOSES:
        row->obj = iot_descriptor_known(t, (int)a[k->a]);
        iot_descriptor_closing(t, (int)a[k->a]);
        break;
    case CLOSES_ALL:
        if (!(a[2] & CLOEXEC_ONLY))
            iot_descriptor_closing_range(t, (unsigned)a[k->a], (unsigned)a[k->b]);
        break;
    case DOUBLES:
        row->obj = iot_descriptor(t, (int)a[k->a]);
        if (k->b != NONE && a[k->b] != a[k->a])
            iot_descriptor_closing(t, (int)a[k->b]);
        break;
    case FROM_TO:
        row->obj2 = iot_descriptor(t, (int)a[k->b]);
        row->obj = iot_descriptor(t, (int)a[k->a]);
        break;
    case ON:
    case MESSAGES:
        row->obj = iot_descriptor(t, (int)a[k->a]);
        break;
    default:
        break;
    }
}

static void after(struct iot_thread *t, long number, const long a[6], struct iot_timed call,
                  long result, struct iot_row *row)
{
    const struct known *k = &known[number];
    switch (k->form) {
    case NAMED:
        row->obj = name_at(t, call, folder(k, a), a[k->b]);
        break;
    case NAMED_2:
        row->obj = name_at(t, call, folder(k, a), a[k->b]);
        row->obj2 = iot_second_path_of(t, call, (int)a[k->b + 1], (const char *)a[k->b + 2]);
        break;
    case OPENS:
        row->obj2 = name_at(t, call, folder(k, a), a[k->b]);
        row->offset = flags_of(number, a, k);
        if (result >= 0)
            row->obj = iot_descriptor_opened(t, (int)result, row->obj2, (int)row->offset, 0);
        break;
    case MAKES:
        row->obj = result < 0 ? 0 : iot_descriptor_adopt(t, (int)result);
        row->addr = k->op == IOT_OP_EVENTFD ? (unsigned)a[0] : 0;
        break;
    case DOUBLES:
        if (result >= 0 && !(k->op == IOT_OP_DUP2 && a[0] == a[1]))
            row->obj2 = iot_descriptor_dup(t, (int)result, row->obj);
        break;
    case ALONE:
        row->addr = k->a == NONE ? 0 : (uint64_t)a[k->a];
        break;
    default:
        break;
    }
}

/* Where the bytes lie in memory, of a call that moved some. */
static void memory_of(struct iot_thread *t, const struct known *k, const long a[6],
                      struct iot_timed call, struct iot_row *row)
{
    int is_in = iot_op_info(row->op)->moves == IOT_IN;
    struct iot_pieces of = {row->obj, is_in, is_in ? call.t1 : call.t0};
    const struct msghdr *msg = (const struct msghdr *)a[1];
    const struct iovec *pieces = (const struct iovec *)a[1];
    size_t n = (size_t)a[2];
    switch (k->op) {
    case IOT_OP_READ:
    case IOT_OP_WRITE:
    case IOT_OP_PREAD:
    case IOT_OP_PWRITE:
    case IOT_OP_SENDTO:
    case IOT_OP_RECVFROM:
        row->addr = iot_buffer((const void *)a[1]);
        return;
    case IOT_OP_SENDMSG:
    case IOT_OP_RECVMSG:
        pieces = msg->msg_iov;
        n = msg->msg_iovlen;
        break;
    case IOT_OP_READV:
    case IOT_OP_WRITEV:
    case IOT_OP_PREADV:
    case IOT_OP_PWRITEV:
    case IOT_OP_PREADV2:
    case IOT_OP_PWRITEV2:
        break;
    case IOT_OP_SENDMMSG:
    case IOT_OP_RECVMMSG:
        iot_messages_tell(t, &of, (const struct mmsghdr *)a[1], (int)row->result);
        return;
    case IOT_OP_VMSPLICE:
        iot_pieces_tell(t, &of, row->bytes, pieces, n);
        return;
    default:
        return;
    }
    row->addr = iot_pieces_addr(row->bytes, pieces, n);
    row->obj2 = iot_pieces_length(row->bytes, pieces, n);
    iot_pieces_tell_rest(t, &of, row->bytes, pieces, n);
}

/* The end of the pipe says which way. */
static uint16_t direction_of(int fd)
{
    long mode = iot_sys(SYS_fcntl, fd, F_GETFL);
    return mode >= 0 && (mode & O_ACCMODE) == O_RDONLY ? IOT_OP_VMSPLICE_IN : IOT_OP_VMSPLICE;
}

long iot_syscall_io(struct iot_thread *t, long number, const long a[6])
{
    const struct known *k = &known[number];
    struct iot_row row = {.op = k->op, .offset = k->at < NONE ? a[k->at] : 0};
    if (k->op == IOT_OP_VMSPLICE)
        row.op = direction_of((int)a[0]);
    before(t, k, a, &row);
    IOT_TIMED(long, syscall, (number, a[0], a[1], a[2], a[3], a[4], a[5]))
    after(t, number, a, call, result, &row);
    row.result = result;
    row.bytes = bytes_of(k, a, result);
    if (row.bytes > 0 && iot_lineage)
        memory_of(t, k, a, call, &row);
    return (long)iot_timed_event(t, call, &row);
}
