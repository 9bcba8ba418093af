/* Calls that read from a stream. */
#include "preload/real.h"

#include "preload/stream.h"

#define READS(ret, sym, operation, params, args, stream, lock, served, value, handed_out, count)   \
    ret sym params                                                                                 \
    {                                                                                              \
        int held = iot_stream_hold(stream, lock);                                                  \
        if (__builtin_expect(!!(served), 1)) {                                                     \
            ret result = iot_real.sym args;                                                        \
            iot_stream_release(stream, held);                                                      \
            return result;                                                                         \
        }                                                                                          \
        struct iot_stream_call call;                                                               \
        if (!(count == IOT_EXACT ? iot_stream_begin(&call, stream, held)                           \
                                 : iot_stream_begin_marked(&call, stream, held)))                  \
            return iot_real.sym args;                                                              \
        ret result;                                                                                \
        iot_stream_errno_start(&call);                                                             \
        IOT_STREAM_REAL(call, result = iot_real.sym args)                                          \
        int err = iot_stream_errno_end(&call);                                                     \
        iot_stream_read(&call, IOT_OP_##operation, (int64_t)(value), (int64_t)(handed_out), count, \
                        err);                                                                      \
        return result;                                                                             \
    }

#define WRITES(...)
#define PRINTS(...)
#define HAND(...)
#include "preload/stdio.def"

/* --- variadic scanf, through the form that takes a va_list --- */

#define SCANS(sym, operation, params, real, args, stream)                                          \
    int sym params                                                                                 \
    {                                                                                              \
        va_list ap;                                                                                \
        va_start(ap, format);                                                                      \
        int result;                                                                                \
        int held = iot_stream_hold(stream, IOT_LOCKED);                                            \
        struct iot_stream_call call;                                                               \
        if (!iot_stream_begin_marked(&call, stream, held)) {                                       \
            result = iot_real.real args;                                                           \
        } else {                                                                                   \
            iot_stream_errno_start(&call);                                                         \
            IOT_STREAM_REAL(call, result = iot_real.real args)                                     \
            int err = iot_stream_errno_end(&call);                                                 \
            iot_stream_read(&call, IOT_OP_##operation, result, 0, IOT_AT_LEAST, err);              \
        }                                                                                          \
        va_end(ap);                                                                                \
        return result;                                                                             \
    }

SCANS(fscanf, FSCANF, (FILE *restrict stream, const char *restrict format, ...), vfscanf,
      (stream, format, ap), stream)
SCANS(__isoc99_fscanf, FSCANF, (FILE *restrict stream, const char *restrict format, ...),
      __isoc99_vfscanf, (stream, format, ap), stream)
SCANS(__isoc23_fscanf, FSCANF, (FILE *restrict stream, const char *restrict format, ...),
      __isoc23_vfscanf, (stream, format, ap), stream)
SCANS(scanf, SCANF, (const char *restrict format, ...), vscanf, (format, ap), stdin)
SCANS(__isoc99_scanf, SCANF, (const char *restrict format, ...), __isoc99_vscanf, (format, ap),
      stdin)
SCANS(__isoc23_scanf, SCANF, (const char *restrict format, ...), __isoc23_vscanf, (format, ap),
      stdin)
SCANS(fwscanf, FSCANF, (FILE *restrict stream, const wchar_t *restrict format, ...),
      vfwscanf, (stream, format, ap), stream)
SCANS(wscanf, SCANF, (const wchar_t *restrict format, ...), vwscanf, (format, ap), stdin)
SCANS(__isoc99_fwscanf, FSCANF, (FILE *restrict stream, const wchar_t *restrict format, ...),
      __isoc99_vfwscanf, (stream, format, ap), stream)
SCANS(__isoc99_wscanf, SCANF, (const wchar_t *restrict format, ...), __isoc99_vwscanf, (format, ap),
      stdin)
SCANS(__isoc23_fwscanf, FSCANF, (FILE *restrict stream, const wchar_t *restrict format, ...),
      __isoc23_vfwscanf, (stream, format, ap), stream)
SCANS(__isoc23_wscanf, SCANF, (const wchar_t *restrict format, ...), __isoc23_vwscanf, (format, ap),
      stdin)

/* --- fread --- */

/* How much of a broken item was read does not come back. So the real call reads items of one byte,
 * which is all that libc makes of them anyway. */
#define FREAD(sym, params, as_asked, as_bytes, lock)                                               \
    size_t sym params                                                                              \
    {                                                                                              \
        size_t bytes;                                                                              \
        if (__builtin_mul_overflow(size, n, &bytes) || !bytes)                                     \
            return iot_real.sym as_asked;                                                          \
        int held = iot_stream_hold(stream, lock);                                                  \
        if (__builtin_expect(bytes <= iot_stream_ready(stream), 1)) {                              \
            size_t all = iot_real.sym as_asked;                                                    \
            iot_stream_release(stream, held);                                                      \
            return all;                                                                            \
        }                                                                                          \
        struct iot_stream_call call;                                                               \
        if (!iot_stream_begin(&call, stream, held))                                                \
            return iot_real.sym as_asked;                                                          \
        size_t done;                                                                               \
        call.memory = to;                                                                          \
        iot_stream_errno_start(&call);                                                             \
        IOT_STREAM_REAL(call, done = iot_real.sym as_bytes)                                        \
        int err = iot_stream_errno_end(&call);                                                     \
        size_t items = done == bytes ? n : done / size;                                            \
        iot_stream_read(&call, IOT_OP_FREAD, (int64_t)items, (int64_t)done, IOT_EXACT, err);       \
        return items;                                                                              \
    }

FREAD(fread, (void *restrict to, size_t size, size_t n, FILE *restrict stream),
      (to, size, n, stream), (to, 1, bytes, stream), IOT_LOCKED)
FREAD(fread_unlocked, (void *restrict to, size_t size, size_t n, FILE *restrict stream),
      (to, size, n, stream), (to, 1, bytes, stream), IOT_UNLOCKED)
FREAD(__fread_chk,
      (void *restrict to, size_t to_size, size_t size, size_t n, FILE *restrict stream),
      (to, to_size, size, n, stream), (to, to_size, 1, bytes, stream), IOT_LOCKED)
FREAD(__fread_unlocked_chk,
      (void *restrict to, size_t to_size, size_t size, size_t n, FILE *restrict stream),
      (to, to_size, size, n, stream), (to, to_size, 1, bytes, stream), IOT_UNLOCKED)
