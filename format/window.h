/* What part of a run is recorded: how it is asked for (the options of `iotrace run` and the
 * IOTRACE_ variables have one syntax), and the page in which the processes of a run share it. */
#ifndef IOT_FORMAT_WINDOW_H
#define IOT_FORMAT_WINDOW_H

#include <stdint.h>

#include "format/file.h"

/* Each returns 0, or -1 if the text is none; then nothing is stored. */

/* "90", "90s", "1.5h", "250ms", "2m": a time in ns; without a unit it is in seconds. */
int iot_window_time(const char *text, uint64_t *ns);
/* "64M", "1.5G", "4194304": bytes, K, M and G being powers of 1024. */
int iot_window_size(const char *text, uint64_t *bytes);
/* "3-7", "3-" (to the end), "3": steps from 1. `last` is UINT32_MAX for the end. */
int iot_window_steps(const char *text, uint32_t *first, uint32_t *last);

/* A trace that keeps the newest is never smaller: its threads' buffers have to fit. */
#define IOT_KEPT_BYTES_MIN (UINT64_C(32) * IOT_SEGMENT_BYTES)
/* As far as a trace file may go. */
#define IOT_KEPT_BYTES_MAX (UINT64_C(256) << 30)

#endif
