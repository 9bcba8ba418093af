/* What was put into each queue of a run and taken from it, found in the events. */
#ifndef IOT_ANALYZER_QUEUE_MOVES_H
#define IOT_ANALYZER_QUEUE_MOVES_H

#include "analyzer/arena.h"
#include "analyzer/trace.h"

struct iot_move {
    int64_t t_ns;
    uint32_t lane;
    int32_t by; /* +1 a message put in, -1 one taken out */
};

typedef int iot_queue_found(void *user, const char *name, const struct iot_move *moves, size_t n);

/* Calls `found` for each, with its moves in order of time (at one moment, puts first); the name is
 * in the arena. `source` is the model's stream_source. Ends with what `found` returns if that is
 * not 0; else 0, or -1 without memory. */
int iot_queue_moves(const struct iot_trace *trace, const uint32_t *source, struct iot_arena *arena,
                    iot_queue_found *found, void *user);

#endif
