/* The time in which objects were encoded or decoded (README, "serialization"): what a lane computes
 * between two neighbouring data calls on one open file, with no other I/O, wait or mark between.
 *
 * Between two calls a program may as well do its work, so it counts only where coding is meant:
 *
 *  - it takes a microsecond or more;
 *  - both calls go the same way, on the same descriptor of a regular file;
 *  - read of an artifact: until as many bytes were read as the file has;
 *  - read of input: nothing where steps are not known, since a sample's decoding cannot be told
 *    from the work on it; in a lane that goes step by step only within a step;
 *  - written, and state both ways: within a file that is opened and closed between two steps, in
 *    other lanes or without steps within a quarter of the run; and not in front of a write of less
 *    than IOT_SMALL_BYTES, which is a line of a stream.
 */
#ifndef IOT_ANALYZER_SERIALIZATION_H
#define IOT_ANALYZER_SERIALIZATION_H

#include "analyzer/classify.h"
#include "analyzer/model.h"
#include "analyzer/phases.h"

#define IOT_NO_CODING INT64_C(-1)

struct iot_coding {
    /* In each phase, of what was read and of what was written; IOT_NO_CODING: none. */
    int64_t ns[IOT_PHASES_MAX][IOT_DIRECTIONS];
};

/* One stretch of coding: between two events of one lane. */
struct iot_gap {
    uint32_t from, to; /* the data calls around it; what was coded is what `to` moves on with */
    int64_t ns;
    size_t next; /* for serialization.c alone */
};

struct iot_gaps {
    struct iot_gap *gaps; /* by event; the caller frees them */
    size_t n, room;
};

/* `coding`: an entry for each file of the trace. `gaps`: zeroed; what counts in `coding`, one by
 * one. A gap belongs to the phase of the call behind it. Returns 0, -1 without memory. */
int iot_serialization_find(struct iot_coding *coding, struct iot_gaps *gaps,
                           const struct iot_model *model, const struct iot_classes *classes,
                           const struct iot_phases *phases);

#endif
