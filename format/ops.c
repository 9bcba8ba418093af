#include "format/ops.h"

#define IOT_SUBJECT_OF_DESC IOT_SUBJECT_DESC
#define IOT_SUBJECT_OF_PATH IOT_SUBJECT_PATH
#define IOT_SUBJECT_OF_NONE IOT_SUBJECT_NONE

const struct iot_op_info iot_op_table[IOT_OP_LIMIT + 1] = {
#define IOT_OP(number, NAME, name, class, moves, subject)                                          \
    [number] = {name, IOT_##class, IOT_##moves, IOT_SUBJECT_OF_##subject},
#include "format/ops.def"
#undef IOT_OP
    [IOT_OP_LIMIT] = {"?", 0, IOT_NONE, IOT_SUBJECT_NONE},
};
