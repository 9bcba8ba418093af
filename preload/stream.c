#include "preload/stream.h"

/* Counts what went out of stdout, so that a reader knows whether it was its own call that flushed
 * the prompt. */
static uint32_t prompts;

void iot_stream_cancelled(void *stream)
{
    funlockfile(stream);
}

/* All that lies buffered: what was pushed back, and behind it the file's own. */
static size_t buffered(const FILE *stream)
{
    if (iot_stream_is_wide(stream))
        return iot_wide_buffered(stream);
    size_t bytes = iot_stream_ready(stream);
    if (stream->_flags & IOT_STREAM_IN_BACKUP)
        bytes += (size_t)(stream->_IO_save_end - stream->_IO_save_base);
    return bytes;
}

/* How much would fit in before libc has to write. */
static size_t room(const FILE *stream)
{
    if (iot_stream_is_wide(stream)) {
        const struct iot_wide *wide = iot_stream_wide(stream);
        return wide->write_end > wide->write_ptr ? (size_t)(wide->write_end - wide->write_ptr) : 0;
    }
    int to_the_end =
        stream->_flags & IOT_STREAM_LINE_BUFFERED && stream->_flags & IOT_STREAM_WRITING;
    const char *end = to_the_end ? stream->_IO_buf_end : stream->_IO_write_end;
    return end > stream->_IO_write_ptr ? (size_t)(end - stream->_IO_write_ptr) : 0;
}

static size_t prompt(void)
{
    return stdout && iot_stream_watched(stdout) && stdout->_flags & IOT_STREAM_LINE_BUFFERED
               ? iot_stream_pending(stdout)
               : 0;
}

int iot_stream_begin(struct iot_stream_call *call, FILE *stream, int held)
{
    struct iot_thread *t = iot_stream_watched(stream) ? iot_enter() : NULL;
    if (!t) {
        iot_stream_release(stream, held);
        return 0;
    }
    call->stream = stream;
    call->t = t;
    call->held = held;
    call->marked = 0;
    call->memory = NULL;
    call->obj = iot_descriptor(t, stream->_fileno);
    call->flags = stream->_flags;
    call->buffered = buffered(stream);
    call->pending = iot_stream_pending(stream);
    call->room = room(stream);
    call->prompt = stream == stdout ? 0 : prompt();
    call->prompts = __atomic_load_n(&prompts, __ATOMIC_RELAXED);
    call->t0 = iot_now();
    return 1;
}

int iot_stream_begin_marked(struct iot_stream_call *call, FILE *stream, int held)
{
    if (!iot_stream_begin(call, stream, held))
        return 0;
    if (!(call->flags & IOT_STREAM_WRITING) && !call->pending) {
        call->marked = 1;
        call->write_end = stream->_IO_write_end;
        stream->_IO_write_end = NULL;
    }
    return 1;
}

/* `moved`: between the stream and the program's memory. */
static void emit(struct iot_stream_call *call, int64_t moved, struct iot_row row)
{
    row.obj = call->obj;
    row.addr = moved > 0 ? iot_buffer(call->memory) : 0;
    row.obj2 = row.addr ? iot_buffer_length(row.bytes, (uint64_t)moved) : 0;
    iot_event(call->t, &row);
}

/* A call that reads writes first what the stream has pending. It is a row without length: the time
 * is in the call's own row. */
static void flushed(struct iot_stream_call *call, uint32_t obj, size_t before, size_t after)
{
    if (before <= after)
        return;
    iot_event(call->t, &(struct iot_row){.t0 = call->t0,
                                         .t1 = call->t0,
                                         .bytes = (int64_t)(before - after),
                                         .obj = obj,
                                         .op = IOT_OP_FFLUSH});
}

/* The length of the last filling, if there was one. */
static int64_t last_filling(struct iot_stream_call *call, int err)
{
    FILE *stream = call->stream;
    if (call->marked && !stream->_IO_write_end) {
        stream->_IO_write_end = call->write_end;
        return 0;
    }
    if ((!call->marked && err) || call->flags & _IO_EOF_SEEN ||
        stream->_flags & IOT_STREAM_IN_BACKUP)
        return 0;
    return stream->_IO_read_end - stream->_IO_buf_base;
}

void iot_stream_read(struct iot_stream_call *call, uint16_t op, int64_t result, int64_t handed_out,
                     enum iot_stream_count count, int err)
{
    FILE *stream = call->stream;
    int64_t bytes = handed_out + (int64_t)buffered(stream) - (int64_t)call->buffered;
    if (count == IOT_AT_LEAST) {
        int64_t filling = last_filling(call, err);
        if (bytes < filling)
            bytes = filling;
    }
    if (bytes < 0 || (stream->_flags2 & IOT_STREAM_MAPPED && stream->_flags & IOT_STREAM_NO_WRITES))
        bytes = 0;
    int end_found = !(call->flags & _IO_EOF_SEEN) && stream->_flags & _IO_EOF_SEEN;
    int refused = err && stream->_flags & _IO_ERR_SEEN && !(stream->_flags & IOT_STREAM_NO_READS);
    size_t pending = iot_stream_pending(stream);
    size_t prompt_after = call->prompt ? prompt() : 0;
    int our_prompt = call->prompts == __atomic_load_n(&prompts, __ATOMIC_RELAXED);
    if (!bytes && !end_found && !refused) {
        iot_stream_release(stream, call->held);
        return;
    }
    uint64_t t1 = iot_now();
    iot_stream_release(stream, call->held);
    if (!refused)
        flushed(call, call->obj, call->pending, pending);
    if (call->prompt && our_prompt)
        flushed(call, iot_descriptor(call->t, stdout->_fileno), call->prompt, prompt_after);
    emit(call, handed_out, (struct iot_row){.t0 = call->t0,
                                .t1 = t1,
                                .result = result,
                                .bytes = bytes,
                                .err = (uint16_t)(refused ? err : 0),
                                .op = op});
}

void iot_stream_wrote(struct iot_stream_call *call, uint16_t op, int64_t result, int64_t accepted,
                      int failed, int err)
{
    FILE *stream = call->stream;
    int64_t bytes = accepted + (int64_t)call->pending - (int64_t)iot_stream_pending(stream);
    /* libc drops what it could not write. Only what goes past the buffer comes back counted. */
    if (bytes < 0 || (failed && accepted <= (int64_t)call->room))
        bytes = 0;
    int refused =
        failed && stream->_flags & _IO_ERR_SEEN && !(stream->_flags & IOT_STREAM_NO_WRITES);
    if (!bytes && !refused) {
        iot_stream_release(stream, call->held);
        return;
    }
    uint64_t t1 = iot_now();
    if (stream == stdout)
        __atomic_fetch_add(&prompts, 1, __ATOMIC_RELAXED);
    iot_stream_release(stream, call->held);
    emit(call, accepted, (struct iot_row){.t0 = call->t0,
                                .t1 = t1,
                                .result = result,
                                .bytes = bytes,
                                .err = (uint16_t)(refused ? err : 0),
                                .op = op});
}
