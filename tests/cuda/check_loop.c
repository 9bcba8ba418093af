/* Many small copies and kernels: what recording them costs.
 *
 *     check_loop COUNT
 *
 * prints "loop NANOSECONDS", of one turn (a copy, a kernel, a copy back), without starting CUDA. */
#include "tests/cuda/check.h"

int main(int argc, char **argv)
{
    enum { BYTES = 4096, SYNC_EVERY = 64 };
    MUST(argc == 2);
    int n = atoi(argv[1]);
    MUST(n > 0);
    char *host = host_memory(1, BYTES), *device = device_memory(BYTES);
    cudaStream_t stream;
    GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    double start = 0;
    for (int k = -SYNC_EVERY; k < n; k++) {
        if (k == 0) {
            GPU(cudaStreamSynchronize(stream));
            start = now_ms();
        }
        GPU(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, stream));
        GPU(spin_us(1, stream));
        GPU(cudaMemcpyAsync(host, device, BYTES, cudaMemcpyDeviceToHost, stream));
        if (k % SYNC_EVERY == 0)
            GPU(cudaStreamSynchronize(stream));
    }
    GPU(cudaStreamSynchronize(stream));
    printf("loop %.0f\n", (now_ms() - start) * 1e6 / n);
    return 0;
}
