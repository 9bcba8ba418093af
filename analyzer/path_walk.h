/* The critical path of the run as it was recorded (lambda = 1), from its start to its end: what
 * tiles [0, wall] is, stretch by stretch, and who let whom go on between them. DESIGN's "Walk".
 */
#ifndef IOT_ANALYZER_PATH_WALK_H
#define IOT_ANALYZER_PATH_WALK_H

#include "analyzer/model.h"

enum iot_stretch_kind {
    IOT_STRETCH_COMPUTE,
    IOT_STRETCH_IO,
    IOT_STRETCH_GPU,
    IOT_STRETCH_SLEEP,
    IOT_STRETCH_WAKE, /* from being let go on to running again */
    IOT_STRETCH_EXTERNAL,
    IOT_STRETCH_UNEXPLAINED,
    IOT_STRETCH_KINDS
};
extern const char *const iot_stretch_names[IOT_STRETCH_KINDS]; /* as in the report's "path" */

/* Of a path that comes into this stretch from another lane. */
struct iot_hand_over {
    uint32_t from; /* lane; IOT_NO_INDEX: none, the path stayed in its lane */
    uint32_t
        waker; /* event that let the other one go on; IOT_NO_INDEX: none, as where a lane began */
    uint32_t wait; /* event in which that one waited; IOT_NO_INDEX: none */
    int64_t at_ns;
};

struct iot_stretch {
    int64_t start_ns,
        end_ns; /* of neighbours the end is the next one's start; never of no length */
    uint32_t lane;
    uint32_t event; /* IOT_NO_INDEX: between events */
    enum iot_stretch_kind kind;
    struct iot_hand_over over;
};

/* Calls `stretch` for each, in order of time; ends with what that returns if it is not 0. Else 0,
 * or -1 without memory. */
int iot_path_walk(const struct iot_model *model,
                  int (*stretch)(void *user, const struct iot_stretch *stretch), void *user);

#endif
