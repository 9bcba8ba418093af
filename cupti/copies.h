/* Which memory of the host a call for a copy touches, from its parameters. */
#ifndef IOT_CUPTI_COPIES_H
#define IOT_CUPTI_COPIES_H

#include <stdint.h>

/* How a call names them: the last column of calls.def. */
enum iot_copy_form {
    IOT_COPY_LINEAR,
    IOT_COPY_TO_SYMBOL,
    IOT_COPY_FROM_SYMBOL,
    IOT_COPY_TO_ARRAY,
    IOT_COPY_FROM_ARRAY,
    IOT_COPY_PITCHED,
    IOT_COPY_PITCHED_TO_ARRAY,
    IOT_COPY_PITCHED_FROM_ARRAY,
    IOT_COPY_BLOCK,
    IOT_COPY_BATCH,
    IOT_COPY_BLOCKS,
    IOT_COPY_NO_HOST,
    IOT_COPY_DRIVER_HTOD,
    IOT_COPY_DRIVER_DTOH,
    IOT_COPY_DRIVER_HTOA,
    IOT_COPY_DRIVER_ATOH,
    IOT_COPY_DRIVER_LINEAR,
    IOT_COPY_DRIVER_PITCHED,
    IOT_COPY_DRIVER_BLOCK,
};

/* Addresses are 0 where the memory cannot be the host's; bytes is the length of the longer range.
 */
struct iot_touched {
    uint64_t source, target, bytes;
};

/* How many copies a call of that form is for; at least 1. */
uint64_t iot_copies_of(enum iot_copy_form form, const void *parameters);

/* The k-th of them. Only of a call that has succeeded: then CUDA has read the parameters as well.
 */
struct iot_touched iot_copy_touched(enum iot_copy_form form, const void *parameters, uint64_t k);

#endif
