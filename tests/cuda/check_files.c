/* Bytes on their way from files to a GPU and back.
 *
 *     check_files WEIGHTS SAMPLES OUTPUT
 *
 * reads the one into pageable and the other into pinned memory, copies both to the GPU, copies as
 * much back and writes it, and once more into the mapped file. The files are made beforehand;
 * OUTPUT is twice what WEIGHTS held. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cuda/check.h"

static void *read_file(const char *path, int pinned, size_t *bytes)
{
    int fd = open(path, O_RDONLY);
    MUST(fd >= 0);
    off_t end = lseek(fd, 0, SEEK_END);
    MUST(end > 0);
    *bytes = (size_t)end;
    char *memory = host_memory(pinned, *bytes);
    for (size_t at = 0; at < *bytes;) {
        ssize_t n = pread(fd, memory + at, *bytes - at, (off_t)at);
        MUST(n > 0);
        at += (size_t)n;
    }
    close(fd);
    return memory;
}

int main(int argc, char **argv)
{
    size_t weights, samples;
    cudaStream_t stream;
    MUST(argc == 4);
    char *pageable = read_file(argv[1], 0, &weights), *pinned = read_file(argv[2], 1, &samples);
    char *a = device_memory(weights), *b = device_memory(samples);
    char *back = host_memory(0, weights);
    GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    GPU(cudaMemcpy(a, pageable, weights, cudaMemcpyHostToDevice));
    GPU(cudaMemcpyAsync(b, pinned, samples, cudaMemcpyHostToDevice, stream));
    GPU(cudaStreamSynchronize(stream));
    GPU(cudaMemcpy(back, a, weights, cudaMemcpyDeviceToHost));
    int fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0666);
    MUST(fd >= 0);
    for (size_t at = 0; at < weights;) {
        ssize_t n = write(fd, back + at, weights - at);
        MUST(n > 0);
        at += (size_t)n;
    }
    MUST(!ftruncate(fd, (off_t)(2 * weights)));
    char *mapped = mmap(NULL, 2 * weights, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MUST(mapped != MAP_FAILED);
    GPU(cudaMemcpy(mapped + weights, a, weights, cudaMemcpyDeviceToHost));
    MUST(!munmap(mapped, 2 * weights) && !close(fd));
    return 0;
}
