/* In how many steps of the run each group of files was read or mapped. */
#ifndef IOT_ANALYZER_STEP_USE_H
#define IOT_ANALYZER_STEP_USE_H

#include "analyzer/siblings.h"
#include "analyzer/steps.h"

struct iot_step_use {
    const struct iot_steps *steps; /* NULL or without steps: none are known, and nothing follows */
    uint32_t *read_steps;          /* by group */
};

/* `steps` may be NULL. Returns 0, -1 without memory. Free in either case. */
int iot_step_use_gather(struct iot_step_use *use, const struct iot_trace *trace,
                        const struct iot_groups *groups, const struct iot_steps *steps);
void iot_step_use_free(struct iot_step_use *use);

#endif
