/* What a payload looks like, for its encoder and its decoder. */
#ifndef IOT_FORMAT_COLUMNS_LAYOUT_H
#define IOT_FORMAT_COLUMNS_LAYOUT_H

#include <stdint.h>

#include "format/ops.h"

enum iot_column {
    IOT_COL_DEFINITIONS = 0,
    IOT_COL_OP = 1,
    IOT_COL_GAP = 2,  /* t0 less the t1 of the row before; of the first row t0 itself. Not folded */
    IOT_COL_SPAN = 3, /* t1 - t0. Not folded */
    IOT_COL_OBJ = 4,  /* less that of the row before */
    IOT_COL_OBJ2 = 5,
    IOT_COL_RESULT = 6,
    IOT_COL_BYTES = 7,  /* less a positive result */
    IOT_COL_OFFSET = 8, /* of a positioned call less where the one before on its object ended */
    IOT_COL_ADDR = 9,   /* less that of the row before */
    IOT_COL_ERR = 10,
    IOT_COL_SITE = 11,
    IOT_COLUMNS
};

/* How a column's values are stored: varints but in PACKED, folded by zigzag but for gaps and spans,
 * which are hardly ever negative and the bulk of many traces. A column that is not there is SAME
 * with 0. */
enum iot_encoding {
    IOT_EACH = 0, /* one a row, as the column says */
    IOT_SAME = 1, /* one for all rows: the field itself, not a difference (BYTES: the difference) */
    IOT_RUNS = 2, /* like EACH, but behind two equal ones comes how many more there are (a plain
                   * varint), and then as if nothing had been before */
    IOT_PACKED = 3, /* one a row: the first a varint, the others in groups: a byte that says how
                     * many bits each of a group has, then these, the lowest of the first value
                     * first, padded to a byte */
};

/* Values in a group; the last one may have fewer. */
enum { IOT_PACKED_GROUP = 16 };

/* The directory in front: a byte with the number of entries, then for each u8 column, u8 encoding,
 * u32 bytes; the columns follow in the same order. */
enum { IOT_DIRECTORY_ENTRY = 6 };

/* Calls that name their file offset. Where the last one on an object ended is kept by object number
 * modulo IOT_ENDS, and starts at 0 in every block. */
enum { IOT_ENDS = 64 };

static inline int iot_positioned(unsigned op)
{
    return op == IOT_OP_PREAD || op == IOT_OP_PWRITE || op == IOT_OP_PREADV ||
           op == IOT_OP_PWRITEV || op == IOT_OP_PREADV2 || op == IOT_OP_PWRITEV2;
}

/* The bytes that a positive result explains. */
static inline uint64_t iot_explained(int64_t result)
{
    return (uint64_t)(result > 0 ? result : 0);
}

#endif
