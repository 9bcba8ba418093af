/* Operations that do the same, by whatever name: sets that several parts ask for. */
#ifndef IOT_ANALYZER_OP_SETS_H
#define IOT_ANALYZER_OP_SETS_H

#include <stdbool.h>

#include "format/ops.h"

/* Gives a new descriptor or stream to a file; freopen, which has one already, is none of them. */
static inline bool iot_op_opens(unsigned op)
{
    static const bool set[IOT_OP_LIMIT] = {
        [IOT_OP_OPEN] = true,    [IOT_OP_OPENAT] = true,  [IOT_OP_CREAT] = true,
        [IOT_OP_MKSTEMP] = true, [IOT_OP_TMPFILE] = true, [IOT_OP_SHM_OPEN] = true,
        [IOT_OP_FOPEN] = true,
    };
    return op < IOT_OP_LIMIT && set[op];
}

static inline bool iot_op_closes(unsigned op)
{
    return op == IOT_OP_CLOSE || op == IOT_OP_FCLOSE;
}

#endif
