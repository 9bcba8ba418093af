/* What viewers of timelines show of a run, whatever their format. */
#ifndef IOT_ANALYZER_EXPORT_TIMELINE_H
#define IOT_ANALYZER_EXPORT_TIMELINE_H

#include "analyzer/export.h"
#include "analyzer/path_walk.h"

/* The counters: the bytes of an object, in so many columns over the run. */
enum { IOT_TIMELINE_COLUMNS = 1000 };

struct iot_timeline_rates {
    int64_t bytes[IOT_OBJECTS][IOT_TIMELINE_COLUMNS];
};

/* NULL without memory; the caller frees it. */
struct iot_timeline_rates *iot_timeline_rates(const struct iot_exported *x);

/* Bytes a second in a column. */
double iot_timeline_rate(const struct iot_exported *x, const struct iot_timeline_rates *rates,
                         int object, int column);

/* How many messages wait in a queue of the report from a moment on. */
typedef void iot_timeline_length(void *user, size_t queue, const char *name, int64_t t_ns,
                                 int64_t length);

/* Calls `put` for each queue that the report lists, in order of time: at every change, but not
 * oftener than ten thousand times over the run. 0, or -1 without memory. */
int iot_timeline_queues(const struct iot_exported *x, iot_timeline_length *put, void *user);

/* What a stretch of the critical path is called: "read by worker 1", "compute in main thread". */
void iot_timeline_stretch(const struct iot_exported *x, const struct iot_stretch *stretch,
                          char name[160]);

/* The event of a waker in another lane, or the last of the lane that ended; IOT_NO_INDEX: none. */
uint32_t iot_timeline_waker(const struct iot_exported *x, size_t event);

#endif
