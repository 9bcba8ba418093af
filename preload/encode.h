/* A full half becomes a block of the trace file. */
#ifndef IOT_PRELOAD_ENCODE_H
#define IOT_PRELOAD_ENCODE_H

#include "preload/record.h"

int iot_encode_start(void);

/* Encodes the first n rows of a half into a block. Returns 0, or -1 if there is no room for it
 * and its rows are lost. */
int iot_encode_half(struct iot_thread *t, const struct iot_half *half, uint32_t n);

#endif
