/* What the way in which files were used says about their object. */
#ifndef IOT_ANALYZER_BEHAVIOUR_H
#define IOT_ANALYZER_BEHAVIOUR_H

#include "analyzer/objects.h"
#include "analyzer/siblings.h"
#include "analyzer/step_use.h"
#include "analyzer/use.h"

/* `why` is a format with one %u, the number of siblings, if `counts` is set. */
struct iot_judgement {
    int object; /* enum iot_object; -1: it says nothing */
    int counts;
    const char *why;
};

/* Sure enough to stand before the likely rules. */
struct iot_judgement iot_judge_written(const struct iot_uses *uses, const struct iot_group *group,
                                       const struct iot_use *use);
/* `likely_artifact`: a likely rule says so of its name. */
struct iot_judgement iot_judge_read(const struct iot_uses *uses, const struct iot_group *group,
                                    const struct iot_use *use, int likely_artifact);

/* Where the steps of the run are known. group: its index. */
struct iot_judgement iot_judge_steps(const struct iot_groups *groups, uint32_t group,
                                     const struct iot_step_use *steps);

/* What is left: a file that was read or mapped and that no rule knows. */
struct iot_judgement iot_guess_read(const struct iot_uses *uses, const struct iot_group *group);

/* A pipe or a socket, and what was no regular file and stood on descriptor 0, 1 or 2. */
struct iot_judgement iot_judge_channel(const struct iot_uses *uses, const struct iot_file *file,
                                       const struct iot_use *use, enum iot_direction direction);

#endif
