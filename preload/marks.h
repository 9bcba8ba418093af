/* Rows that say where the program is, by what it says itself: through include/iotrace.h (marks.c)
 * or through NVTX (nvtx.c). */
#ifndef IOT_PRELOAD_MARKS_H
#define IOT_PRELOAD_MARKS_H

#include <stdint.h>

#include "format/mark.h"

/* `id`: of a range that nests in its thread the domain, 0 the usual one; of a range from start to
 * stop its own. name may be NULL; at most 4096 bytes of it are taken. */
void iot_mark_record(const char *name, enum iot_mark_kind kind, uint64_t id);

#endif
