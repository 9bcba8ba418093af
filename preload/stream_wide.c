#include "preload/stream_wide.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* A character that the locale cannot encode is none that libc could write. */
static size_t encoded(wchar_t c, mbstate_t *state)
{
    char bytes[MB_LEN_MAX];
    size_t n = wcrtomb(bytes, c, state);
    if (n != (size_t)-1)
        return n;
    memset(state, 0, sizeof *state);
    return 0;
}

size_t iot_wide_bytes(const wchar_t *from, size_t n)
{
    mbstate_t state = {0};
    int saved = errno;
    size_t bytes = 0;
    for (size_t k = 0; k < n; k++)
        bytes += encoded(from[k], &state);
    errno = saved;
    return bytes;
}

size_t iot_wide_byte(wint_t c)
{
    wchar_t one = (wchar_t)c;
    return c == WEOF ? 0 : iot_wide_bytes(&one, 1);
}

size_t iot_wide_pending(const FILE *stream)
{
    const struct iot_wide *wide = iot_stream_wide(stream);
    ptrdiff_t bytes = stream->_IO_write_ptr - stream->_IO_write_base;
    ptrdiff_t characters = wide->write_ptr - wide->write_base;
    return (bytes > 0 ? (size_t)bytes : 0) +
           (characters > 0 ? iot_wide_bytes(wide->write_base, (size_t)characters) : 0);
}

size_t iot_wide_buffered(const FILE *stream)
{
    const struct iot_wide *wide = iot_stream_wide(stream);
    ptrdiff_t bytes = stream->_IO_read_end - stream->_IO_read_ptr;
    ptrdiff_t characters = wide->read_end - wide->read_ptr;
    return (bytes > 0 ? (size_t)bytes : 0) +
           (characters > 0 ? iot_wide_bytes(wide->read_ptr, (size_t)characters) : 0);
}
