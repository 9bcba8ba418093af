/* Calls that make streams and end them. */
#include "preload/real.h"

#include <sys/wait.h>

#include "preload/environment.h"
#include "preload/stream.h"
#include "preload/sys.h"
#include "preload/wrap.h"

/* As libc reads it. */
static int flags_of(const char *mode)
{
    int flags = *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC);
    for (int i = 1; i < 7 && mode[i] && mode[i] != ','; i++) {
        if (mode[i] == '+')
            flags = (flags & ~O_ACCMODE) | O_RDWR;
        else if (mode[i] == 'x')
            flags |= O_EXCL;
        else if (mode[i] == 'e')
            flags |= O_CLOEXEC;
    }
    return flags;
}

static FILE *opened(struct iot_thread *t, struct iot_timed call, uint16_t op, FILE *stream,
                    const char *path, const char *mode)
{
    int saved = errno;
    int flags = call.err == EINVAL || call.err == EFAULT ? 0 : flags_of(mode);
    uint32_t name = iot_path_of(t, call, AT_FDCWD, path);
    uint32_t obj = stream ? iot_descriptor_opened(t, stream->_fileno, name, flags, 0) : 0;
    iot_timed_event(
        t, call,
        &(struct iot_row){
            .result = stream != NULL, .offset = flags, .obj = obj, .obj2 = name, .op = op});
    errno = saved;
    return stream;
}

/* Makes the call; declares `result` and `call`. */
#define TIMED(sym, args)                                                                           \
    struct iot_timed call = {.t0 = iot_now()};                                                     \
    FILE *result = iot_real.sym args;                                                              \
    call.t1 = iot_now();                                                                           \
    call.err = result ? 0 : errno;

#define FOPEN(sym)                                                                                 \
    FILE *sym(const char *restrict path, const char *restrict mode)                                \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym(path, mode);                                                       \
        TIMED(sym, (path, mode))                                                                   \
        return opened(t, call, IOT_OP_FOPEN, result, path, mode);                                  \
    }

FOPEN(fopen)
FOPEN(fopen64)

/* libc opens it without a name; the kernel knows one. */
#define TMPFILE(sym)                                                                               \
    FILE *sym(void)                                                                                \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym();                                                                 \
        TIMED(sym, ())                                                                             \
        uint32_t obj = result ? iot_descriptor_adopt(t, result->_fileno) : 0;                      \
        iot_timed_event(                                                                           \
            t, call,                                                                               \
            &(struct iot_row){.result = result != NULL, .obj = obj, .op = IOT_OP_TMPFILE});        \
        return result;                                                                             \
    }

TMPFILE(tmpfile)
TMPFILE(tmpfile64)

FILE *fdopen(int fd, const char *mode)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.fdopen(fd, mode);
    uint32_t obj = iot_descriptor(t, fd);
    TIMED(fdopen, (fd, mode))
    iot_timed_event(t, call,
                    &(struct iot_row){.result = result != NULL, .obj = obj, .op = IOT_OP_FDOPEN});
    return result;
}

/* --- the end of a stream --- */

/* A stream that is about to be closed, and its descriptor with it. */
struct ending {
    struct iot_thread *t;
    uint32_t obj;
    size_t pending;
};

static int ends(struct ending *ending, const FILE *stream)
{
    int has_descriptor = stream->_flags & IOT_STREAM_FILE && stream->_fileno >= 0;
    struct iot_thread *t = has_descriptor ? iot_enter() : NULL;
    if (!t)
        return 0;
    ending->t = t;
    ending->pending = iot_stream_pending(stream);
    ending->obj = ending->pending ? iot_descriptor(t, stream->_fileno)
                                  : iot_descriptor_known(t, stream->_fileno);
    iot_descriptor_closing(t, stream->_fileno);
    return 1;
}

/* What was pending has been written, or lost: libc does not say which. */
static void flushed(const struct ending *ending, struct iot_timed call)
{
    if (!ending->pending || !ending->obj)
        return;
    int64_t bytes = call.err ? 0 : (int64_t)ending->pending;
    iot_timed_event(ending->t, call,
                    &(struct iot_row){.bytes = bytes, .obj = ending->obj, .op = IOT_OP_FFLUSH});
}

int fclose(FILE *stream)
{
    struct ending ending;
    if (!ends(&ending, stream))
        return iot_real.fclose(stream);
    IOT_TIMED(int, fclose, (stream))
    flushed(&ending, call);
    if (ending.pending)
        call.t0 = call.t1;
    return (int)iot_timed_event(
        ending.t, call,
        &(struct iot_row){.result = result, .obj = ending.obj, .op = IOT_OP_FCLOSE});
}

/* Without a path the same file is opened once more, which the kernel knows better than we. */
static FILE *reopened(const struct ending *ending, struct iot_timed call, FILE *stream,
                      const char *path, const char *mode)
{
    struct iot_timed flush = call;
    flush.err = 0; /* a new file that cannot be opened says nothing about the old one's bytes */
    flushed(ending, flush);
    if (ending->pending)
        call.t0 = call.t1;
    if (path)
        return opened(ending->t, call, IOT_OP_FREOPEN, stream, path, mode);
    uint32_t obj = stream ? iot_descriptor(ending->t, stream->_fileno) : 0;
    iot_timed_event(ending->t, call,
                    &(struct iot_row){.result = stream != NULL, .obj = obj, .op = IOT_OP_FREOPEN});
    return stream;
}

#define FREOPEN(sym)                                                                               \
    FILE *sym(const char *restrict path, const char *restrict mode, FILE *restrict stream)         \
    {                                                                                              \
        struct ending ending;                                                                      \
        if (!ends(&ending, stream)) {                                                              \
            struct iot_thread *t = path ? iot_enter() : NULL;                                      \
            if (!t)                                                                                \
                return iot_real.sym(path, mode, stream);                                           \
            ending = (struct ending){.t = t};                                                      \
        }                                                                                          \
        TIMED(sym, (path, mode, stream))                                                           \
        return reopened(&ending, call, result, path, mode);                                        \
    }

FREOPEN(freopen)
FREOPEN(freopen64)

/* --- popen --- */

/* libc keeps the child's number behind the stream, in a place that has not changed since 2.1. The
 * kernel confirms that it is a child of ours. */
static pid_t child_of(const FILE *stream)
{
    struct {
        FILE file;
        const void *functions;
        pid_t pid;
    } popened;
    siginfo_t info;
    memcpy(&popened, stream, sizeof popened);
    if (popened.pid <= 0 ||
        iot_sys(SYS_waitid, P_PID, popened.pid, &info, WEXITED | WNOHANG | WNOWAIT, 0))
        return -1;
    return popened.pid;
}

/* The child is started inside libc, with the environment as it is. */
FILE *popen(const char *command, const char *mode)
{
    struct iot_thread *t = iot_enter_always();
    if (!t)
        return iot_real.popen(command, mode);
    iot_environment_extend();
    TIMED(popen, (command, mode))
    int saved = errno;
    if (result)
        iot_descriptor_opened(t, result->_fileno, 0, flags_of(mode) & (O_ACCMODE | O_CLOEXEC), 0);
    iot_timed_event(
        t, call, &(struct iot_row){.result = result ? child_of(result) : -1, .op = IOT_OP_POPEN});
    errno = saved;
    return result;
}

/* What is pending goes out first, so that the child may end: a row without length, as the wait
 * takes the time. */
int pclose(FILE *stream)
{
    struct ending ending;
    if (!ends(&ending, stream))
        return iot_real.pclose(stream);
    pid_t child = child_of(stream);
    IOT_TIMED(int, pclose, (stream))
    struct iot_timed flush = {.t0 = call.t0, .t1 = call.t0, .err = call.err};
    flushed(&ending, flush);
    iot_timed_event(ending.t, call,
                    &(struct iot_row){.result = result == -1 ? -1 : child,
                                      .offset = result == -1 ? 0 : result,
                                      .op = IOT_OP_PCLOSE});
    return result;
}
