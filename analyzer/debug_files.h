/* Files that may know the names and lines of a module's code. */
#ifndef IOT_ANALYZER_DEBUG_FILES_H
#define IOT_ANALYZER_DEBUG_FILES_H

#include <stddef.h>

struct iot_debug_files {
    const char *id; /* of the module's build, in hexadecimal, n_id characters; "-": not known */
    size_t n_id;
    const char *path; /* the module itself */
    const char *folders;
    int at;
};

/* The next one that is there, as a descriptor that the caller closes: what has that build id in the
 * system's folder for them, then in those that DEBUGINFO_PATH names, then the module itself; -1:
 * there are no more. Whether it is of that build is for the caller to see. Begins with `at` 0. */
int iot_debug_files_next(struct iot_debug_files *files);

/* A file that is one, to be read; -1 if there is none. */
int iot_debug_files_open(const char *path);

#endif
