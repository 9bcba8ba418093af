/* The process images of a run by their system number: one pid has several if it execs, or if the
 * kernel gives it to another process later. */
#ifndef IOT_ANALYZER_BY_PID_H
#define IOT_ANALYZER_BY_PID_H

#include "analyzer/trace.h"

struct iot_by_pid {
    const struct iot_trace *trace;
    uint32_t *processes; /* indexes, by pid, then start */
};

/* Returns 0, -1 without memory. Free in either case. */
int iot_by_pid_make(struct iot_by_pid *index, const struct iot_trace *trace);
void iot_by_pid_free(struct iot_by_pid *index);

/* The images of pid that had started by then are processes[*first] .. processes[return - 1]. */
size_t iot_by_pid_range(const struct iot_by_pid *index, uint32_t pid, int64_t t_ns, size_t *first);

/* The last image of pid that had started by then; IOT_NO_INDEX if there is none. */
uint32_t iot_by_pid_at(const struct iot_by_pid *index, uint32_t pid, int64_t t_ns);

#endif
