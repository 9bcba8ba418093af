/* What is on the path, and what is not.
 *
 *     check_path blocking|overlapped|default|aside
 *
 * A copy that the host waits for, then as much computing of its own; or a copy beside a kernel that
 * takes far longer. Or a copy in a blocking stream, and the host waits for the default stream,
 * which waits for that; or in one that is not blocking, and the host waits for the default stream
 * and then computes for far longer. Prints what one copy took by CUDA's events, the median: "copy
 * MILLISECONDS". */
#include "tests/cuda/check.h"

enum { TIMES = 20, BYTES = 32 << 20, KERNEL_US = 20000, HOST_MS = 3 };

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void compute(int ms)
{
    for (double until = now_ms() + ms; now_ms() < until;)
        ;
}

int main(int argc, char **argv)
{
    MUST(argc == 2);
    int overlapped = !strcmp(argv[1], "overlapped"), aside = !strcmp(argv[1], "aside");
    int by_default = !strcmp(argv[1], "default");
    char *host = host_memory(1, BYTES), *device = device_memory(BYTES);
    cudaStream_t copies, kernels;
    cudaEvent_t begin, end;
    float ms[TIMES];
    GPU(cudaStreamCreateWithFlags(&copies, by_default ? cudaStreamDefault : cudaStreamNonBlocking));
    GPU(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
    GPU(cudaEventCreate(&begin));
    GPU(cudaEventCreate(&end));
    GPU(spin_us(1, kernels)); /* loads the kernel */
    GPU(cudaDeviceSynchronize());
    for (int k = 0; k < TIMES; k++) {
        if (overlapped)
            GPU(spin_us(KERNEL_US, kernels));
        GPU(cudaEventRecord(begin, copies));
        GPU(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, copies));
        GPU(cudaEventRecord(end, copies));
        if (by_default || aside) {
            GPU(spin_us(1, NULL));
            GPU(cudaStreamSynchronize(NULL));
        }
        if (aside)
            compute(KERNEL_US / 1000);
        if (overlapped)
            GPU(cudaStreamSynchronize(kernels));
        GPU(cudaStreamSynchronize(copies));
        if (!overlapped)
            compute(HOST_MS);
        GPU(cudaEventElapsedTime(&ms[k], begin, end));
    }
    qsort(ms, TIMES, sizeof *ms, by_size);
    printf("copy %.6f\n", (double)ms[TIMES / 2]);
    return 0;
}
