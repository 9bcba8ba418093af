/* What long work is at, on a terminal and nowhere else. */
#ifndef IOT_ANALYZER_PROGRESS_H
#define IOT_ANALYZER_PROGRESS_H

#include <stddef.h>

/* From now on, if standard error is a terminal. A command says so; the library alone never writes.
 */
void iot_progress_start(void);

/* `what` is being done, `done` of `all` parts of it (0 of 0: not known). Shows in one line of
 * standard error once the work has taken a second. May be called often. */
void iot_progress(const char *what, size_t done, size_t all);

/* Takes the line away; to be called before anything else is written. */
void iot_progress_end(void);

#endif
