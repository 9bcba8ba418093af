/* Wide streams: the program's characters lie in a buffer of their own, whose layout has not changed
 * since libc's headers still named it (2.2), and become bytes only when the kernel is met. So bytes
 * that pend, or lie ready, are counted by encoding them as the locale does.
 *
 * Not exact is formatted output that used up the buffer: its characters count as a byte each. And a
 * scanf that did is as stream.h says. */
#ifndef IOT_PRELOAD_STREAM_WIDE_H
#define IOT_PRELOAD_STREAM_WIDE_H

#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

struct iot_wide {
    wchar_t *read_ptr, *read_end, *read_base;
    wchar_t *write_base, *write_ptr, *write_end;
};

static inline int iot_stream_is_wide(const FILE *stream)
{
    return stream->_mode > 0;
}

static inline const struct iot_wide *iot_stream_wide(const FILE *stream)
{
    return (const struct iot_wide *)(const void *)stream->_wide_data;
}

/* How many bytes n characters are. */
size_t iot_wide_bytes(const wchar_t *from, size_t n);
/* The same of one; of WEOF 0. */
size_t iot_wide_byte(wint_t c);

/* Bytes that were accepted and not written, and that were read and not handed out. */
size_t iot_wide_pending(const FILE *stream);
size_t iot_wide_buffered(const FILE *stream);

/* Characters that are ready to be handed out, or for which there is room without the kernel. */
static inline size_t iot_wide_ready(const FILE *stream)
{
    return iot_stream_is_wide(stream)
               ? (size_t)(iot_stream_wide(stream)->read_end - iot_stream_wide(stream)->read_ptr)
               : 0;
}

static inline int iot_wide_line_ready(const FILE *stream, size_t n)
{
    size_t ready = iot_wide_ready(stream);
    return ready && (ready >= n || wmemchr(iot_stream_wide(stream)->read_ptr, L'\n', ready));
}

static inline int iot_wide_room(const FILE *stream, size_t n)
{
    enum { LINE_BUFFERED = 0x200 };
    return iot_stream_is_wide(stream) && !(stream->_flags & LINE_BUFFERED) &&
           (ptrdiff_t)n <= iot_stream_wide(stream)->write_end - iot_stream_wide(stream)->write_ptr;
}

#endif
