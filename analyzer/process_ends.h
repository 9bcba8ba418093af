/* When the processes of a run ended: what closes a stream's last writer that no call closed. */
#ifndef IOT_ANALYZER_PROCESS_ENDS_H
#define IOT_ANALYZER_PROCESS_ENDS_H

#include "analyzer/trace.h"

struct iot_process_end {
    int64_t end_ns;
    uint32_t lane; /* that ended last */
};

struct iot_process_ends {
    struct iot_process_end *list; /* of those that exited, by time */
    size_t n;
};

/* Returns 0, -1 without memory. Free in either case. */
int iot_process_ends_make(struct iot_process_ends *ends, const struct iot_trace *trace);
void iot_process_ends_free(struct iot_process_ends *ends);

/* How many are not after `until_ns`: they are the first of the list. */
size_t iot_process_ends_until(const struct iot_process_ends *ends, int64_t until_ns);

#endif
