/* What is pending meets the kernel: flushes of one stream, of all, and at the end of the process.
 */
#include "preload/real.h"

#include "preload/stream.h"

/* --- one stream --- */

#define FLUSHES_VOID(sym, operation, params, args)                                                 \
    void sym params                                                                                \
    {                                                                                              \
        struct iot_stream_call call;                                                               \
        int held = iot_stream_hold(stream, IOT_LOCKED);                                            \
        if (!iot_stream_begin(&call, stream, held)) {                                              \
            iot_real.sym args;                                                                     \
            return;                                                                                \
        }                                                                                          \
        IOT_STREAM_REAL(call, iot_real.sym args)                                                   \
        iot_stream_wrote(&call, IOT_OP_##operation, 0, 0, 0, 0);                                   \
    }

FLUSHES_VOID(setbuf, SETVBUF, (FILE *restrict stream, char *restrict buffer), (stream, buffer))
FLUSHES_VOID(setbuffer, SETVBUF, (FILE *restrict stream, char *restrict buffer, size_t n),
             (stream, buffer, n))

/* --- all streams --- */

/* libc's list of all open streams and its lock, exported since 2.2: the one table of them that has
 * no stream in it that was closed behind our back. */
extern FILE *_IO_list_all __attribute__((weak));
void _IO_list_lock(void) __attribute__((weak));
void _IO_list_unlock(void) __attribute__((weak));

struct flush {
    FILE *stream;
    size_t pending;
    uint32_t obj;
};

enum { FLUSHES_MAX = 128 };

static FILE *streams_begin(void)
{
    if (!&_IO_list_all || !_IO_list_lock || !_IO_list_unlock)
        return NULL;
    _IO_list_lock();
    return _IO_list_all;
}

static void streams_end(void)
{
    if (_IO_list_unlock)
        _IO_list_unlock();
}

static int is_pending(const FILE *stream)
{
    return iot_stream_watched(stream) && iot_stream_pending(stream);
}

static void flushed(struct iot_thread *t, uint64_t t0, uint64_t t1, uint16_t op, size_t bytes,
                    uint32_t obj)
{
    iot_event(t,
              &(struct iot_row){.t0 = t0, .t1 = t1, .bytes = (int64_t)bytes, .obj = obj, .op = op});
}

/* Those that find no place are recorded as flushed at once. */
static size_t note_pending(struct iot_thread *t, uint16_t op, struct flush *flushes, size_t max)
{
    size_t n = 0;
    for (FILE *stream = streams_begin(); stream; stream = stream->_chain) {
        if (!is_pending(stream))
            continue;
        uint32_t obj = iot_descriptor(t, stream->_fileno);
        size_t bytes = iot_stream_pending(stream);
        uint64_t now = iot_now();
        if (n < max)
            flushes[n++] = (struct flush){stream, bytes, obj};
        else if (obj)
            flushed(t, now, now, op, bytes, obj);
    }
    streams_end();
    return n;
}

/* What is left of them when the call returned; nothing of one that is gone. */
static void note_left(struct flush *flushes, size_t n, int failed)
{
    size_t i = 0;
    for (FILE *stream = streams_begin(); stream && i < n; stream = stream->_chain) {
        size_t at = i; /* the list keeps its order */
        while (at < n && flushes[at].stream != stream)
            at++;
        if (at == n)
            continue;
        size_t left = iot_stream_pending(stream);
        int lost = failed && ferror_unlocked(stream);
        flushes[at].pending -= lost || left > flushes[at].pending ? flushes[at].pending : left;
        i = at + 1;
    }
    streams_end();
}

/* One row a stream. The time of the call is that of the first. */
static int flush_all(struct iot_thread *t, uint16_t op, int (*real)(void))
{
    struct flush flushes[FLUSHES_MAX];
    size_t n = note_pending(t, op, flushes, FLUSHES_MAX);
    uint64_t t0 = iot_now();
    int result = real();
    int err = errno;
    uint64_t t1 = iot_now();
    note_left(flushes, n, result != 0);
    for (size_t i = 0; i < n; i++) {
        if (flushes[i].pending && flushes[i].obj) {
            flushed(t, t0, t1, op, flushes[i].pending, flushes[i].obj);
            t0 = t1;
        }
    }
    errno = err;
    return result;
}

static int really_flush(void)
{
    return iot_real.fflush(NULL);
}

static int really_flush_unlocked(void)
{
    return iot_real.fflush_unlocked(NULL);
}

#define FFLUSH(sym, lock, all)                                                                     \
    int sym(FILE *stream)                                                                          \
    {                                                                                              \
        if (!stream) {                                                                             \
            struct iot_thread *t = iot_enter();                                                    \
            return t ? flush_all(t, IOT_OP_FFLUSH, all) : iot_real.sym(NULL);                      \
        }                                                                                          \
        int held = iot_stream_hold(stream, lock);                                                  \
        if (!iot_stream_pending(stream)) {                                                         \
            iot_stream_release(stream, held);                                                      \
            return iot_real.sym(stream);                                                           \
        }                                                                                          \
        struct iot_stream_call call;                                                               \
        if (!iot_stream_begin(&call, stream, held))                                                \
            return iot_real.sym(stream);                                                           \
        int result;                                                                                \
        IOT_STREAM_REAL(call, result = iot_real.sym(stream))                                       \
        iot_stream_wrote(&call, IOT_OP_FFLUSH, result, 0, result != 0, errno);                     \
        return result;                                                                             \
    }

FFLUSH(fflush, IOT_LOCKED, really_flush)
FFLUSH(fflush_unlocked, IOT_UNLOCKED, really_flush_unlocked)

static int really_flush_lines(void)
{
    iot_real._flushlbf();
    return 0;
}

/* Of all that is pending, only what it wrote counts. */
void _flushlbf(void)
{
    struct iot_thread *t = iot_enter();
    if (t)
        flush_all(t, IOT_OP_FFLUSH, really_flush_lines);
    else
        iot_real._flushlbf();
}

int fcloseall(void)
{
    struct iot_thread *t = iot_enter();
    return t ? flush_all(t, IOT_OP_FCLOSEALL, iot_real.fcloseall) : iot_real.fcloseall();
}

void iot_streams_exit(void)
{
    struct iot_thread *t = iot_enter();
    if (t)
        note_pending(t, IOT_OP_EXIT_FLUSH, NULL, 0);
}
