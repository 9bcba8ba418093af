/* Calls that write to a stream, formatted or not. */
#include "preload/real.h"

#include "preload/stream.h"
#include "preload/wrap.h"

#define WRITES(ret, sym, operation, params, args, stream, lock, served, value, accepted, failed)   \
    ret sym params                                                                                 \
    {                                                                                              \
        int held = iot_stream_hold(stream, lock);                                                  \
        if (__builtin_expect(!!(served), 1)) {                                                     \
            ret result = iot_real.sym args;                                                        \
            iot_stream_release(stream, held);                                                      \
            return result;                                                                         \
        }                                                                                          \
        struct iot_stream_call call;                                                               \
        if (!iot_stream_begin(&call, stream, held))                                                \
            return iot_real.sym args;                                                              \
        ret result;                                                                                \
        IOT_STREAM_REAL(call, result = iot_real.sym args)                                          \
        iot_stream_wrote(&call, IOT_OP_##operation, (int64_t)(value), (int64_t)(accepted), failed, \
                         errno);                                                                   \
        return result;                                                                             \
    }

#define PRINTED(operation, real, args, stream)                                                     \
    int held = iot_stream_hold(stream, IOT_LOCKED);                                                \
    struct iot_stream_call call;                                                                   \
    if (!iot_stream_begin(&call, stream, held)) {                                                  \
        result = iot_real.real args;                                                               \
    } else {                                                                                       \
        IOT_STREAM_REAL(call, result = iot_real.real args)                                         \
        iot_stream_wrote(&call, IOT_OP_##operation, result, result > 0 ? result : 0, result < 0,   \
                         errno);                                                                   \
    }

#define PRINTS(sym, operation, params, args, stream)                                               \
    int sym params                                                                                 \
    {                                                                                              \
        int result;                                                                                \
        PRINTED(operation, sym, args, stream)                                                      \
        return result;                                                                             \
    }

#define READS(...)
#define HAND(...)
#include "preload/stdio.def"

/* --- variadic printf, through the form that takes a va_list --- */

#define PRINTF(sym, operation, params, real, args, stream)                                         \
    int sym params                                                                                 \
    {                                                                                              \
        va_list ap;                                                                                \
        va_start(ap, format);                                                                      \
        int result;                                                                                \
        PRINTED(operation, real, args, stream)                                                     \
        va_end(ap);                                                                                \
        return result;                                                                             \
    }

PRINTF(fprintf, FPRINTF, (FILE *restrict stream, const char *restrict format, ...), vfprintf,
       (stream, format, ap), stream)
PRINTF(__fprintf_chk, FPRINTF, (FILE *restrict stream, int flag, const char *restrict format, ...),
       __vfprintf_chk, (stream, flag, format, ap), stream)
PRINTF(printf, PRINTF, (const char *restrict format, ...), vfprintf, (stdout, format, ap), stdout)
PRINTF(__printf_chk, PRINTF, (int flag, const char *restrict format, ...), __vfprintf_chk,
       (stdout, flag, format, ap), stdout)
PRINTF(fwprintf, FPRINTF, (FILE *restrict stream, const wchar_t *restrict format, ...), vfwprintf,
       (stream, format, ap), stream)
PRINTF(__fwprintf_chk, FPRINTF,
       (FILE *restrict stream, int flag, const wchar_t *restrict format, ...), __vfwprintf_chk,
       (stream, flag, format, ap), stream)
PRINTF(wprintf, PRINTF, (const wchar_t *restrict format, ...), vfwprintf, (stdout, format, ap),
       stdout)
PRINTF(__wprintf_chk, PRINTF, (int flag, const wchar_t *restrict format, ...), __vfwprintf_chk,
       (stdout, flag, format, ap), stdout)

/* --- to a descriptor: libc has a stream of its own for the time of the call --- */

#define VDPRINTF(sym, params, args)                                                                \
    IOT_ON_DESCRIPTOR(int, sym, VDPRINTF, params, args, fd, .bytes = result > 0 ? result : 0)

VDPRINTF(vdprintf, (int fd, const char *restrict format, va_list ap), (fd, format, ap))
VDPRINTF(__vdprintf_chk, (int fd, int flag, const char *restrict format, va_list ap),
         (fd, flag, format, ap))

static int dprinted(struct iot_thread *t, struct iot_timed call, uint32_t obj, int result)
{
    return (int)iot_timed_event(
        t, call,
        &(struct iot_row){
            .result = result, .bytes = result > 0 ? result : 0, .obj = obj, .op = IOT_OP_DPRINTF});
}

#define DPRINTF(sym, params, real, args)                                                           \
    int sym params                                                                                 \
    {                                                                                              \
        va_list ap;                                                                                \
        va_start(ap, format);                                                                      \
        struct iot_thread *t = iot_enter();                                                        \
        uint32_t obj = t ? iot_descriptor(t, fd) : 0;                                              \
        IOT_TIMED(int, real, args)                                                                 \
        va_end(ap);                                                                                \
        return t ? dprinted(t, call, obj, result) : result;                                        \
    }

DPRINTF(dprintf, (int fd, const char *restrict format, ...), vdprintf, (fd, format, ap))
DPRINTF(__dprintf_chk, (int fd, int flag, const char *restrict format, ...), __vdprintf_chk,
        (fd, flag, format, ap))

/* --- fwrite --- */

/* In items of one byte, as fread. A full result does not mean that all went well: libc also gives
 * it where the data came to lie in the buffer and the flush behind that failed. */
#define FWRITE(sym, lock)                                                                          \
    size_t sym(const void *restrict from, size_t size, size_t n, FILE *restrict stream)            \
    {                                                                                              \
        size_t bytes;                                                                              \
        if (__builtin_mul_overflow(size, n, &bytes) || !bytes)                                     \
            return iot_real.sym(from, size, n, stream);                                            \
        int held = iot_stream_hold(stream, lock);                                                  \
        if (__builtin_expect(iot_stream_room(stream, from, bytes), 1)) {                           \
            size_t all = iot_real.sym(from, size, n, stream);                                      \
            iot_stream_release(stream, held);                                                      \
            return all;                                                                            \
        }                                                                                          \
        struct iot_stream_call call;                                                               \
        if (!iot_stream_begin(&call, stream, held))                                                \
            return iot_real.sym(from, size, n, stream);                                            \
        size_t done;                                                                               \
        call.memory = from;                                                                        \
        iot_stream_errno_start(&call);                                                             \
        IOT_STREAM_REAL(call, done = iot_real.sym(from, 1, bytes, stream))                         \
        int err = iot_stream_errno_end(&call);                                                     \
        size_t items = done == bytes ? n : done / size;                                            \
        int failed = done < bytes || (err && stream->_flags & _IO_ERR_SEEN);                       \
        iot_stream_wrote(&call, IOT_OP_FWRITE, (int64_t)items, (int64_t)done, failed, err);        \
        return items;                                                                              \
    }

FWRITE(fwrite, IOT_LOCKED)
FWRITE(fwrite_unlocked, IOT_UNLOCKED)

/* --- perror --- */

static size_t perror_bytes(const char *text)
{
    char buffer[1024];
    int err = errno;
    size_t message = strlen(strerror_r(err, buffer, sizeof buffer));
    errno = err;
    return (text && *text ? strlen(text) + 2 : 0) + message + 1;
}

void perror(const char *text)
{
    struct iot_stream_call call;
    int held = iot_stream_hold(stderr, IOT_LOCKED);
    if (!iot_stream_begin(&call, stderr, held)) {
        iot_real.perror(text);
        return;
    }
    size_t bytes = perror_bytes(text);
    int failed_before = ferror_unlocked(stderr);
    IOT_STREAM_REAL(call, iot_real.perror(text))
    int failed = !failed_before && ferror_unlocked(stderr);
    iot_stream_wrote(&call, IOT_OP_PERROR, 0, (int64_t)bytes, failed, errno);
}
