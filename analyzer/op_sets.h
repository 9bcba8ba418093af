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

/* Its rows may have the address of the program's buffer, and the length of what lies there. */
static inline bool iot_op_has_buffer(unsigned op)
{
    return (op >= IOT_OP_READ && op <= IOT_OP_PWRITEV2) ||
           (op >= IOT_OP_SEND && op <= IOT_OP_RECVMSG) || op == IOT_OP_FREAD ||
           op == IOT_OP_FWRITE;
}

static inline bool iot_op_closes(unsigned op)
{
    return op == IOT_OP_CLOSE || op == IOT_OP_FCLOSE;
}

#endif
