/* What of a GPU's work is wanted. */
#ifndef IOT_PRELOAD_GPU_H
#define IOT_PRELOAD_GPU_H

#include "preload/ours.h"

enum iot_gpu_wanted { IOT_GPU_WANTS_COPIES, IOT_GPU_WANTS_KERNELS, IOT_GPU_WANTS_NOTHING };
extern IOT_OURS enum iot_gpu_wanted iot_gpu_wanted;

/* The value of IOTRACE_CUDA, or NULL. */
void iot_gpu_start(const char *wanted);

#endif
