#include "analyzer/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text.h"

void iot_error(const char *format, ...)
{
    va_list arguments;
    char *message;

    va_start(arguments, format);
    int n = vasprintf(&message, format, arguments);
    va_end(arguments);
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

int iot_finish_stdout(void)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return IOT_EXIT_OK;
    iot_error("standard output: %s; the output is not complete",
              errno ? strerror(errno) : "write error");
    return IOT_EXIT_USAGE;
}

int iot_option_error(int found, char **argv)
{
    const char *problem = found == ':' ? "needs a value" : "is not understood here";
    char letter[] = {'-', (char)optopt, '\0'};
    /* In the middle of "-ab" optind has not moved on; after a long option it has. */
    const char *option = optopt > 0 && optopt < IOT_LONG_OPTION ? letter : argv[optind - 1];

    iot_error("%s: option '%s' %s; see 'iotrace %s --help'", argv[0], option, problem, argv[0]);
    return IOT_EXIT_USAGE;
}
