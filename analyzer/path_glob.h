/* Which paths a glob means, wherever one is given: to explain and whatif, in rules of objects and
 * in policies. */
#ifndef IOT_ANALYZER_PATH_GLOB_H
#define IOT_ANALYZER_PATH_GLOB_H

#include <stdbool.h>

/* `*` crosses slashes. Without a slash the glob is matched with the last component; with one, with
 * the whole path, or with what follows any slash in it. */
bool iot_path_matches(const char *path, const char *glob);

#endif
