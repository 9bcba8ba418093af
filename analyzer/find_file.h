/* Which file of a run somebody means. */
#ifndef IOT_ANALYZER_FIND_FILE_H
#define IOT_ANALYZER_FIND_FILE_H

#include "analyzer/trace.h"

/* The files that `name` means, into found[room]: the one of that name; else, of a glob, all that
 * match it (path_glob.h); else all whose last components it is. Returns how many there are, which
 * may be more than room. */
size_t iot_files_find(const struct iot_trace *trace, const char *name, uint32_t *found,
                      size_t room);

/* The files whose paths it is a part of, and those whose last components are nearest to it, the
 * nearest first: at most `room`, of one name one, and none that has nothing to do with it. Returns
 * how many. */
size_t iot_files_nearest(const struct iot_trace *trace, const char *name, uint32_t *found,
                         size_t room);

/* Of n files what fits of their names, and the same of a few that are nearest to `name`; how many
 * these are. */
void iot_files_names(const struct iot_trace *trace, const uint32_t *files, size_t n, char *text,
                     size_t room);
size_t iot_files_near(const struct iot_trace *trace, const char *name, char *text, size_t room);

#endif
