/* Seeking in a stream. It always asks the kernel; it writes what is pending; and it reads: libc
 * puts itself at the start of a block and fills the buffer. */
#include "preload/real.h"

#include <sys/stat.h>

#include "preload/stream.h"
#include "preload/sys.h"

struct seek {
    struct iot_stream_call call;
    const char *read_end; /* of the file's own bytes */
    off64_t offset;       /* of the descriptor, as far as libc knows */
};

static int begin(struct seek *seek, FILE *stream)
{
    int held = iot_stream_hold(stream, IOT_LOCKED);
    seek->read_end =
        stream->_flags & IOT_STREAM_IN_BACKUP ? stream->_IO_save_end : stream->_IO_read_end;
    seek->offset = stream->_offset;
    return iot_stream_begin(&seek->call, stream, held);
}

/* Behind the end of the file libc reads too, finds too little, throws it away and only seeks. */
static int64_t thrown_away(const FILE *stream)
{
    struct stat st;
    off64_t block = stream->_IO_buf_end - stream->_IO_buf_base, at = stream->_offset;
    if (block <= 1 || at % block == 0 || iot_sys(SYS_fstat, stream->_fileno, &st) ||
        !S_ISREG(st.st_mode) || st.st_size >= at)
        return 0;
    off64_t from = at & ~(block - 1);
    return st.st_size > from ? st.st_size - from : 0;
}

static int64_t filled(const struct seek *seek)
{
    const FILE *stream = seek->call.stream;
    if (stream->_flags & IOT_STREAM_NO_READS || !stream->_IO_buf_base)
        return 0;
    if (stream->_IO_read_end == stream->_IO_buf_base)
        return thrown_away(stream);
    int within_buffer = !seek->call.pending && stream->_IO_read_end == seek->read_end &&
                        stream->_offset == seek->offset &&
                        stream->_IO_read_ptr < stream->_IO_read_end;
    return within_buffer ? 0 : stream->_IO_read_end - stream->_IO_buf_base;
}

/* Up to three rows: flushed, read, sought. The time is that of the read, else of the flush. */
static void end(struct seek *seek, uint16_t op, int64_t at, int result)
{
    struct iot_stream_call *call = &seek->call;
    int err = result ? errno : 0;
    size_t left = iot_stream_pending(call->stream);
    int64_t out = !result && call->pending > left ? (int64_t)(call->pending - left) : 0;
    int64_t in = result ? 0 : filled(seek);
    uint64_t t1 = iot_now(), out_t1 = in ? call->t0 : t1;
    iot_stream_release(call->stream, call->held);
    struct iot_row row = {.t0 = call->t0, .t1 = t1, .obj = call->obj};
    if (out) {
        row.t1 = out_t1;
        row.bytes = out;
        row.op = IOT_OP_FFLUSH;
        iot_event(call->t, &row);
        row.t0 = out_t1;
    }
    if (in) {
        row.t1 = t1;
        row.bytes = in;
        row.op = IOT_OP_FREAD;
        iot_event(call->t, &row);
        row.t0 = t1;
    }
    row.t1 = t1;
    row.bytes = 0;
    row.result = result;
    row.offset = at;
    row.err = (uint16_t)err;
    row.op = op;
    iot_event(call->t, &row);
}

#define SEEKS(sym, operation, params, args, at)                                                    \
    int sym params                                                                                 \
    {                                                                                              \
        struct seek seek;                                                                          \
        if (!begin(&seek, stream))                                                                 \
            return iot_real.sym args;                                                              \
        int result;                                                                                \
        IOT_STREAM_REAL(seek.call, result = iot_real.sym args)                                     \
        end(&seek, IOT_OP_##operation, at, result);                                                \
        return result;                                                                             \
    }

SEEKS(fseek, FSEEK, (FILE * stream, long at, int whence), (stream, at, whence), at)
SEEKS(fseeko, FSEEK, (FILE * stream, off_t at, int whence), (stream, at, whence), at)
SEEKS(fseeko64, FSEEK, (FILE * stream, off64_t at, int whence), (stream, at, whence), at)
SEEKS(fsetpos, FSETPOS, (FILE * stream, const fpos_t *at), (stream, at), at->__pos)
SEEKS(fsetpos64, FSETPOS, (FILE * stream, const fpos64_t *at), (stream, at), at->__pos)

void rewind(FILE *stream)
{
    struct seek seek;
    if (!begin(&seek, stream)) {
        iot_real.rewind(stream);
        return;
    }
    IOT_STREAM_REAL(seek.call, iot_real.rewind(stream))
    end(&seek, IOT_OP_REWIND, 0, 0);
}
