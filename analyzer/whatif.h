/* What if some I/O took another time: the run replayed with other services. */
#ifndef IOT_ANALYZER_WHATIF_H
#define IOT_ANALYZER_WHATIF_H

#include "analyzer/report.h"

/* Not given: a bandwidth of 0, a latency below 0. */
struct iot_whatif_change {
    enum iot_whatif_kind {
        /* Every service times `scale` (0: none is left). */
        IOT_WHATIF_SCALE,
        /* A data call takes fixed latency + bytes / bandwidth; metadata and syncs stay. The fixed
         * latency is `latency_ns`, or that of the line through these calls (fit.h). With a
         * bandwidth no call is slower than it was: what was that fast came from memory. With a
         * latency alone, the fitted fixed part of each call is replaced by it. */
        IOT_WHATIF_TRANSFER,
        /* As if the calls had been asynchronous: between two meetings with another lane (and up
         * to the lane's end) they run beside what else the lane does, one after the other, and
         * must be done at the next meeting. The best that such a change can do. */
        IOT_WHATIF_OVERLAP,
    } kind;
    double scale, bandwidth_gbps;
    int64_t latency_ns;
};

struct iot_whatif {
    int64_t calls, bytes, service_ns; /* of what is selected, as recorded */
    int64_t new_service_ns;
    int64_t fixed_ns; /* fitted; IOT_NOT_COMPUTED: sizes do not differ enough, or no need */
    int64_t wall_ns, new_wall_ns;
    /* The walk: the critical path as recorded, and as it becomes; each sums to its wall time. */
    struct iot_path_parts path, new_path;
    int64_t io_ns[IOT_OBJECTS], new_io_ns[IOT_OBJECTS]; /* add up to the io_ns of the paths */
};

/* `selected`: one byte an event. Returns 0; -ENOMEM; -EDOM where the fixed part is needed and
 * cannot be told; -ERANGE if the new services add up to IOT_TIME_MAX. */
int iot_whatif_run(struct iot_whatif *w, const struct iot_report *report, const uint8_t *selected,
                   const struct iot_whatif_change *change);

#endif
