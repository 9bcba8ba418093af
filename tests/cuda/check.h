/* What the programs of the GPU check share. They use the runtime's C interface alone, so that a
 * runtime of the tests' own can stand in for it where there is no GPU. */
#ifndef IOT_TESTS_CUDA_CHECK_H
#define IOT_TESTS_CUDA_CHECK_H

#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __cplusplus
extern "C"
#endif
    /* A kernel that keeps a stream busy for about so long. */
    cudaError_t
    spin_us(unsigned us, cudaStream_t stream);

#define GPU(call)                                                                                  \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorName(error_));                                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno));   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Host memory of either kind, touched. */
static inline void *host_memory(int pinned, size_t bytes)
{
    void *memory = NULL;
    if (pinned)
        GPU(cudaMallocHost(&memory, bytes));
    else
        MUST(memory = malloc(bytes));
    memset(memory, 1, bytes);
    return memory;
}

static inline void *device_memory(size_t bytes)
{
    void *memory = NULL;
    GPU(cudaMalloc(&memory, bytes));
    return memory;
}

#endif
