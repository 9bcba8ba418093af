/* The operations of a trace, read from the table ops.def. */
#ifndef IOT_FORMAT_OPS_H
#define IOT_FORMAT_OPS_H

#include <stdint.h>

enum iot_op {
#define IOT_OP(number, NAME, name, class, moves, subject) IOT_OP_##NAME = number,
#include "format/ops.def"
#undef IOT_OP
    IOT_OP_LIMIT = 512, /* operations are below; the definitions of row.h are no operations */
};

/* Whether a row with this `op` is an event. */
static inline int iot_op_is_event(unsigned op)
{
    return (op > 0 && op < 256) || (op >= 260 && op < IOT_OP_LIMIT);
}

enum iot_class {
    IOT_DATA = 1,
    IOT_META,
    IOT_SYNC,
    IOT_WAIT,
    IOT_LIFE,
    IOT_MARK,
    IOT_WAKE,
    IOT_GPU
};
enum iot_moves { IOT_NONE, IOT_IN, IOT_OUT, IOT_BOTH };
enum iot_subject { IOT_SUBJECT_NONE, IOT_SUBJECT_DESC, IOT_SUBJECT_PATH };

struct iot_op_info {
    const char *name;
    uint8_t class_;  /* enum iot_class; 0: no such operation */
    uint8_t moves;   /* enum iot_moves */
    uint8_t subject; /* enum iot_subject */
};

/* By number; class 0 where there is no such operation. The last row is that of all unknown ones. */
extern const struct iot_op_info iot_op_table[IOT_OP_LIMIT + 1];

/* Never NULL; of an unknown number, the row's name is "?" and its class 0. Here, as some loops over
 * all events do little else. */
static inline const struct iot_op_info *iot_op_info(unsigned op)
{
    return &iot_op_table[op < IOT_OP_LIMIT && iot_op_table[op].class_ ? op : IOT_OP_LIMIT];
}

#endif
