#include "analyzer/library.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, ERROR_BYTES = 512 };

/* Relative to the folder of the command: build tree, then installed. IOT_LIBDIR is relative to
 * the prefix, whose bin/ holds the command. */
static const char *const places[] = {
    "../preload/libiotrace.so",
    "../" IOT_LIBDIR "/iotrace/libiotrace.so",
};

static int is_usable(const char *path, char error[512])
{
    if (access(path, R_OK)) {
        snprintf(error, ERROR_BYTES, "%s: %s; LIBIOTRACE can name another libiotrace.so", path,
                 strerror(errno));
        return -1;
    }
    if (strpbrk(path, " :")) {
        snprintf(error, ERROR_BYTES,
                 "%s: a path with a blank or a colon cannot stand in LD_PRELOAD; move it, or name "
                 "another with LIBIOTRACE",
                 path);
        return -1;
    }
    return 0;
}

/* The command's path. In a chroot without /proc that by which it was started. */
static void set_self(char self[PATH_BYTES])
{
    ssize_t n = readlink("/proc/self/exe", self, PATH_BYTES - 1);
    self[n > 0 ? n : 0] = '\0';
    if (n > 0)
        return;
    const char *started = (const char *)getauxval(AT_EXECFN);
    char *whole = started ? realpath(started, NULL) : NULL;
    snprintf(self, PATH_BYTES, "%s", whole ? whole : "");
    free(whole);
}

int iot_library_find(char path[4096], char error[512])
{
    const char *given = getenv("LIBIOTRACE");
    char self[PATH_BYTES], *whole;

    if (given && *given) {
        if (!(whole = realpath(given, NULL))) {
            snprintf(error, ERROR_BYTES, "LIBIOTRACE is %s: %s", given, strerror(errno));
            return -1;
        }
        snprintf(path, PATH_BYTES, "%s", whole);
        free(whole);
        return is_usable(path, error);
    }
    set_self(self);
    const char *folder = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char candidate[2 * PATH_BYTES];
        snprintf(candidate, sizeof candidate, "%s/%s", folder, places[i]);
        if (!(whole = realpath(candidate, NULL)))
            continue;
        snprintf(path, PATH_BYTES, "%s", whole);
        free(whole);
        return is_usable(path, error);
    }
    snprintf(
        error, ERROR_BYTES,
        "libiotrace.so is neither in %s/../preload nor in %s/../%s/iotrace; LIBIOTRACE can name it",
        folder, folder, IOT_LIBDIR);
    return -1;
}
