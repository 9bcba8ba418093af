/* Standard streams: did a call meet the kernel, and with how many bytes?
 *
 * A stream's buffer lies open in libc's public FILE. What a call moved between program and
 * kernel follows from how the buffer was before and after:
 *
 *     read     what was handed out, plus the change of what lies buffered
 *     written  what was accepted, minus the change of what is pending
 *
 * Most calls are served from the buffer. That can be told beforehand for almost all of them; they
 * pay for a few loads and no clock. Only what cannot be proven goes the long way: clock, call,
 * compare, and a row if bytes moved, if the end of the file was found, or if the kernel refused.
 *
 *     int held = iot_stream_hold(stream, lock);
 *     served from the buffer?  the real call, iot_stream_release(stream, held)
 *     iot_stream_begin(&call, stream, held) or, if nothing is recorded, the real call
 *     IOT_STREAM_REAL(call, result = the real call)
 *     iot_stream_read(&call, …) or iot_stream_wrote(&call, …)
 *
 * Before and after are only one call's if nobody else comes in between, so in a process with
 * threads the stream's own lock is held around all three: the lock that libc takes in that same
 * call anyway. libc resets it in a forked child, and a cancelled thread lets it go
 * (IOT_STREAM_REAL). So the bytes of threads that share a stream add up exactly. The unlocked
 * functions promise that the caller has the stream for itself, and take no lock here either.
 *
 * What is not exact, because the buffer does not show it: of a write that failed, the bytes that
 * got through before it did (0 is recorded, unless libc says how many); of one scanf, or one fgets
 * of a line with NUL bytes in it, that used up the buffer more than once, all but the last filling.
 */
#ifndef IOT_PRELOAD_STREAM_H
#define IOT_PRELOAD_STREAM_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/single_threaded.h>

#include "preload/descriptors.h"
#include "preload/lineage.h"
#include "preload/record.h"
#include "preload/stream_wide.h"

/* Bits of FILE._flags that the public header does not name; fixed since glibc 2.1, as getc and
 * putc were compiled into programs with them. */
enum {
    IOT_STREAM_UNBUFFERED = 0x2,
    IOT_STREAM_NO_READS = 0x4,
    IOT_STREAM_NO_WRITES = 0x8,
    IOT_STREAM_IN_BACKUP = 0x100, /* reads what was pushed back; the file's own lies aside */
    IOT_STREAM_LINE_BUFFERED = 0x200,
    IOT_STREAM_WRITING = 0x800,
    IOT_STREAM_FILE = 0x2000, /* has a descriptor, unlike a memory stream */
    IOT_STREAM_MAPPED = 0x1,  /* in _flags2: opened with "m", reads a mapping */
};

enum iot_stream_lock { IOT_UNLOCKED, IOT_LOCKED };

/* Whether the count of bytes handed out is the whole of it. */
enum iot_stream_count { IOT_EXACT, IOT_AT_LEAST };

/* Cookie and memory streams have no descriptor. */
static inline int iot_stream_watched(const FILE *stream)
{
    return stream->_flags & IOT_STREAM_FILE && stream->_fileno >= 0;
}

/* --- proofs that a call is served from the buffer --- */

static inline size_t iot_stream_ready(const FILE *stream)
{
    return (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
}

/* A line of up to n bytes that ends in `end`. */
static inline int iot_stream_line_ready(const FILE *stream, int end, size_t n)
{
    size_t ready = iot_stream_ready(stream);
    return ready && (ready >= n || memchr(stream->_IO_read_ptr, end, ready));
}

static inline int iot_stream_room(const FILE *stream, const char *data, size_t n)
{
    if (stream->_flags & IOT_STREAM_LINE_BUFFERED)
        return stream->_flags & IOT_STREAM_WRITING &&
               n <= (size_t)(stream->_IO_buf_end - stream->_IO_write_ptr) && !memchr(data, '\n', n);
    return (ptrdiff_t)n <= stream->_IO_write_end - stream->_IO_write_ptr;
}

static inline int iot_stream_room_for(const FILE *stream, int character)
{
    char c = (char)character;
    return iot_stream_room(stream, &c, 1);
}

static inline size_t iot_stream_pending(const FILE *stream)
{
    if (iot_stream_is_wide(stream))
        return iot_wide_pending(stream);
    ptrdiff_t bytes = stream->_IO_write_ptr - stream->_IO_write_base;
    return bytes > 0 ? (size_t)bytes : 0;
}

/* --- the lock --- */

static inline int iot_stream_hold(FILE *stream, enum iot_stream_lock lock)
{
    if (__builtin_expect(__libc_single_threaded, 1) || lock == IOT_UNLOCKED || !stream ||
        stream->_flags & _IO_USER_LOCK)
        return 0;
    flockfile(stream);
    return 1;
}

static inline void iot_stream_release(FILE *stream, int held)
{
    if (held)
        funlockfile(stream);
}

void iot_stream_cancelled(void *stream);

/* --- the long way --- */

struct iot_stream_call {
    FILE *stream;
    struct iot_thread *t;
    uint64_t t0;
    size_t buffered, pending, room;
    size_t prompt; /* pending on stdout, which libc flushes before it reads from a terminal */
    uint32_t prompts;
    uint32_t obj;
    const void *memory; /* of the program: what goes there or comes from there; NULL not known */
    int flags, held;
    int saved_errno;
    int marked;
    char *write_end;
};

/* Looks at the stream and reads the clock. 0: nothing is to be recorded, and the lock has been
 * released. */
int iot_stream_begin(struct iot_stream_call *call, FILE *stream, int held);

/* The same for a call that does not say how much it hands out. A filling of the buffer leaves no
 * trace if it is as long as the one before, so a mark is put where every filling removes it: at the
 * end of the put area, which is empty in a stream that reads. */
int iot_stream_begin_marked(struct iot_stream_call *call, FILE *stream, int held);

/* errno is 0 while the real call runs, so that a failure shows although libc's own error flag was
 * set before; if the call leaves it alone, so do we. */
static inline void iot_stream_errno_start(struct iot_stream_call *call)
{
    call->saved_errno = errno;
    errno = 0;
}

static inline int iot_stream_errno_end(const struct iot_stream_call *call)
{
    int err = errno;
    if (!err)
        errno = call->saved_errno;
    return err;
}

#define IOT_STREAM_REAL(call, statement)                                                           \
    if ((call).held) {                                                                             \
        pthread_cleanup_push(iot_stream_cancelled, (call).stream);                                 \
        statement;                                                                                 \
        pthread_cleanup_pop(0);                                                                    \
    } else {                                                                                       \
        statement;                                                                                 \
    }

/* Both release the lock and record what there is to record. `err`: errno if the call failed.
 * A failed write is given the bytes it accepted all the same, where that is known. */
void iot_stream_read(struct iot_stream_call *call, uint16_t op, int64_t result, int64_t handed_out,
                     enum iot_stream_count count, int err);
void iot_stream_wrote(struct iot_stream_call *call, uint16_t op, int64_t result, int64_t accepted,
                      int failed, int err);

/* Rows for what libc will write when the process has ended: it flushes after our destructor. */
void iot_streams_exit(void);

#endif
