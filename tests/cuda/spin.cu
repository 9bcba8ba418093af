/* The one kernel of the GPU check. */
#include <cuda_runtime.h>

__global__ void spin(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles)
        ;
}

extern "C" cudaError_t spin_us(unsigned us, cudaStream_t stream)
{
    static int khz = 0;
    if (!khz) {
        cudaError_t error = cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
        if (error != cudaSuccess)
            return error;
    }
    spin<<<1, 1, 0, stream>>>((long long)us * khz / 1000);
    return cudaGetLastError();
}
