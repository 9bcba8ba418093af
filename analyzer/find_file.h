/* Which file of a run somebody means. */
#ifndef IOT_ANALYZER_FIND_FILE_H
#define IOT_ANALYZER_FIND_FILE_H

#include <stdbool.h>

#include "analyzer/trace.h"

/* `*` crosses slashes. Without a slash the glob is matched with the last component; with one, with
 * the whole path, or with what follows any slash in it. */
bool iot_path_matches(const char *path, const char *glob);

/* The files that `name` means, into found[room]: the one of that name; else, of a glob, all that
 * match it (iot_path_matches); else all whose last components it is. Returns how many there are, which may be more than room. */
size_t iot_files_find(const struct iot_trace *trace, const char *name, uint32_t *found,
                      size_t room);

/* The files whose last components are nearest to it, the nearest first: at most `room`, and none
 * that has nothing to do with it. Returns how many. */
size_t iot_files_nearest(const struct iot_trace *trace, const char *name, uint32_t *found,
                         size_t room);

#endif
