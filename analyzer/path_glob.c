#include "analyzer/path_glob.h"

#include <fnmatch.h>
#include <string.h>

/* A glob that begins in the middle of a path may begin after any slash of it. */
bool iot_path_matches(const char *path, const char *glob)
{
    if (!strchr(glob, '/'))
        return !fnmatch(glob, basename(path), 0);
    while (fnmatch(glob, path, 0)) {
        path = strchr(path, '/');
        if (*glob == '/' || !path++)
            return false;
    }
    return true;
}
