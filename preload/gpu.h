/* What the process has of a GPU: who the CUDA driver is told of, and notes about that. */
#ifndef IOT_PRELOAD_GPU_H
#define IOT_PRELOAD_GPU_H

#include <stdint.h>

#include "format/gpu_unseen.h"
#include "preload/ours.h"

enum iot_gpu_wanted { IOT_GPU_WANTS_COPIES, IOT_GPU_WANTS_KERNELS, IOT_GPU_WANTS_NOTHING };
extern IOT_OURS enum iot_gpu_wanted iot_gpu_wanted;

/* The value of IOTRACE_CUDA, or NULL. */
void iot_gpu_start(const char *wanted);

/* A gpu_unseen row in the lane of the calling thread. */
void iot_gpu_note(enum iot_gpu_unseen what, const char *text);

#endif
