/* The steps of a run: of training one batch, of serving one request or token.
 *
 * They come from the marks that the program made (include/iotrace.h: a step begins at each), or
 * where it made none, from ranges whose name says that they are steps, or from the period of the
 * lane that carries the run, or of a thread it waits for (period.h). Of marks in several lanes,
 * those of the lane that has most of them count.
 */
#ifndef IOT_ANALYZER_STEPS_H
#define IOT_ANALYZER_STEPS_H

#include "analyzer/model.h"

enum iot_step_source { IOT_STEPS_NONE, IOT_STEPS_MARKS, IOT_STEPS_PERIOD };

struct iot_steps {
    int64_t *starts_ns; /* ascending; a step lasts until the next one starts */
    size_t n;           /* 0: no steps are known, and then the rest says nothing */
    int64_t end_ns;     /* of the last step: nothing tells it, so it lasts as long as the median of
                         * the others and the call that is then under way, or until the run ends */
    size_t anchor;      /* an event: one of those that the steps were found from */
    uint8_t source;     /* enum iot_step_source */
};

/* Whether an event is a mark at which a step begins. */
int iot_is_step(const struct iot_trace *trace, size_t event);

/* How many steps have begun at a moment, one that begins right then included. */
size_t iot_steps_begun(const struct iot_steps *steps, int64_t ns);

/* Which step, from 0, what ends at a moment belongs to: the one that began before it. SIZE_MAX:
 * before the first, or after the last. */
size_t iot_steps_at(const struct iot_steps *steps, int64_t ns);

/* model: its `waited` says which lane carries the run. Returns 0, -1 without memory; free in either
 * case. */
int iot_steps_find(struct iot_steps *steps, const struct iot_trace *trace,
                   const struct iot_model *model);
void iot_steps_free(struct iot_steps *steps);

#endif
