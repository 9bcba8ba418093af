/* What to do about a run: findings, each with what to change and what that would win.
 *
 * The findings are the table advice_finds.c. What a finding wins is the run's wall time minus that
 * of a replay in which the services are as they would be after the change; findings that win less
 * than 1 % of the run are left out. They do not add up. That I/O is not what limits the run is a
 * finding, too: its gain is the time that something else takes on the run's path, and of waiting
 * for a CPU the time that the carrying process was ready to run and did not.
 */
#ifndef IOT_ANALYZER_ADVICE_H
#define IOT_ANALYZER_ADVICE_H

#include "analyzer/report.h"

struct iot_advice {
    int object;                   /* enum iot_object; -1: it is not about I/O */
    const char *finding, *action; /* sentences without their full stop */
    int64_t gain_ns;
};

struct iot_advice_list {
    struct iot_advice *advice; /* by gain, the largest first */
    size_t n, room;
};

/* NULL is allowed. */
void iot_advice_free(struct iot_advice_list *list);

#endif
