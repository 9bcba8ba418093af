#include "analyzer/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/progress.h"
#include "analyzer/text.h"
#include "analyzer/trace.h"

void iot_error(const char *format, ...)
{
    va_list arguments;
    char *message;

    va_start(arguments, format);
    int n = vasprintf(&message, format, arguments);
    va_end(arguments);
    iot_progress_end(); /* whoever meets an error need not know what is shown */
    /* Under one lock, so that the line stays whole. */
    flockfile(stderr);
    fputs("iotrace: ", stderr);
    if (n >= 0) {
        iot_write_printable(stderr, message, (size_t)n);
        free(message);
    } else {
        fputs("out of memory", stderr);
    }
    fputc('\n', stderr);
    funlockfile(stderr);
}

void iot_tell_part(const char *command, const struct iot_trace *trace)
{
    if (trace->whole.events)
        iot_error(
            "%s: %s: of its %llu events the newest %zu fit into memory: this is of them alone",
            command, trace->folder, (unsigned long long)trace->whole.events, trace->events.n);
}

int iot_stream_failure(FILE *stream)
{
    errno = 0;
    if (!fflush(stream) && !ferror(stream))
        return 0;
    /* It failed before, and what it held is gone: what is written behind that fails likewise. */
    if (!errno && write(fileno(stream), "\n", 1) >= 0)
        errno = EIO;
    return errno;
}

int iot_finish_stdout(void)
{
    int reason = iot_stream_failure(stdout);
    if (!reason)
        return IOT_EXIT_OK;
    iot_error("standard output: %s; the output is not complete", strerror(reason));
    return IOT_EXIT_USAGE;
}
