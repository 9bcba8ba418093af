/* Copies that are known to the byte.
 *
 *     check_copies pageable|pinned [graph] [batch] [blocks] [managed]
 *
 * moves bytes in all the ways that there are, with host memory of one kind, and prints what a
 * recorder must have seen: "HtoD COUNT BYTES", likewise DtoH, DtoD and memset, then "kernels
 * COUNT", and for each big copy in a stream of its own "timed KIND BYTES MILLISECONDS" by CUDA's
 * events. Each way has a size of its own, so that one that is missing is known by its bytes. */
#include "tests/cuda/check.h"

#ifndef BIG_MIB
#define BIG_MIB 256
#endif

enum { HTOD, DTOH, DTOD, MEMSET, KINDS };
enum { SMALL = 64 << 10, BIG = BIG_MIB << 20, SLACK = 1 << 20, PITCH = 4096, BIG_TIMES = 3 };

static const char *const kinds[KINDS] = {"HtoD", "DtoH", "DtoD", "memset"};
static unsigned long long counts[KINDS], sums[KINDS], kernels;
static char *host, *device, *other;

static size_t seen(int kind, size_t bytes)
{
    counts[kind]++;
    sums[kind] += bytes;
    return bytes;
}

/* Each has a size that no other has. */
static size_t next_size(void)
{
    static size_t size = SMALL;
    return size += 4096 + 64;
}

static size_t next(int kind)
{
    return seen(kind, next_size());
}

static void plain(cudaStream_t stream)
{
    for (int k = 0; k < 3; k++) {
        GPU(cudaMemcpy(device, host, next(HTOD), cudaMemcpyHostToDevice));
        GPU(cudaMemcpy(host, device, next(DTOH), cudaMemcpyDeviceToHost));
        GPU(cudaMemcpy(other, device, next(DTOD), cudaMemcpyDeviceToDevice));
        GPU(cudaMemcpyAsync(device, host, next(HTOD), cudaMemcpyHostToDevice, stream));
        GPU(cudaMemcpyAsync(host, device, next(DTOH), cudaMemcpyDeviceToHost, stream));
        GPU(cudaMemcpyAsync(other, device, next(DTOD), cudaMemcpyDeviceToDevice, stream));
        GPU(cudaMemset(device, k, next(MEMSET)));
        GPU(cudaMemsetAsync(device, k, next(MEMSET), stream));
        GPU(cudaStreamSynchronize(stream));
    }
}

/* The runtime finds out by itself which way it is: only of memory that it knows. */
static void by_default(void)
{
    GPU(cudaMemcpy(device, host, next(HTOD), cudaMemcpyDefault));
    GPU(cudaMemcpy(host, device, next(DTOH), cudaMemcpyDefault));
    GPU(cudaMemcpy(other, device, next(DTOD), cudaMemcpyDefault));
}

static void with_rows(cudaStream_t stream)
{
    enum { WIDTH = 1000, HEIGHT = 48 };
    seen(HTOD, WIDTH * HEIGHT);
    GPU(cudaMemcpy2D(device, PITCH, host, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    seen(DTOH, WIDTH * (HEIGHT + 1));
    GPU(cudaMemcpy2DAsync(host, WIDTH, device, PITCH, WIDTH, HEIGHT + 1, cudaMemcpyDeviceToHost,
                          stream));
    seen(MEMSET, WIDTH * (HEIGHT + 2));
    GPU(cudaMemset2DAsync(device, PITCH, 3, WIDTH, HEIGHT + 2, stream));
    GPU(cudaStreamSynchronize(stream));
}

/* What one stream copies, another copies on when an event says that it is there. */
static void two_streams(cudaStream_t a, cudaStream_t b)
{
    cudaEvent_t event;
    GPU(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int k = 0; k < 4; k++) {
        GPU(cudaMemcpyAsync(device, host, next(HTOD), cudaMemcpyHostToDevice, a));
        GPU(spin_us(50, a));
        GPU(cudaEventRecord(event, a));
        GPU(cudaStreamWaitEvent(b, event, 0));
        GPU(cudaMemcpyAsync(other, device, next(DTOD), cudaMemcpyDeviceToDevice, b));
        kernels++;
    }
    GPU(cudaEventSynchronize(event));
    GPU(cudaDeviceSynchronize());
    GPU(cudaEventDestroy(event));
}

/* The nodes are recorded anew in each launch. */
static void graph(cudaStream_t stream)
{
    enum { LAUNCHES = 4 };
    size_t in = next_size(), within = next_size(), out = next_size();
    cudaGraph_t captured;
    cudaGraphExec_t ready;
    GPU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    GPU(cudaMemcpyAsync(device, host, in, cudaMemcpyHostToDevice, stream));
    GPU(spin_us(20, stream));
    GPU(cudaMemcpyAsync(other, device, within, cudaMemcpyDeviceToDevice, stream));
    GPU(cudaMemcpyAsync(host, other, out, cudaMemcpyDeviceToHost, stream));
    GPU(cudaStreamEndCapture(stream, &captured));
#if CUDART_VERSION >= 12000
    GPU(cudaGraphInstantiate(&ready, captured, 0));
#else
    GPU(cudaGraphInstantiate(&ready, captured, NULL, NULL, 0));
#endif
    for (int k = 0; k < LAUNCHES; k++) {
        GPU(cudaGraphLaunch(ready, stream));
        seen(HTOD, in);
        seen(DTOD, within);
        seen(DTOH, out);
        kernels++;
    }
    GPU(cudaStreamSynchronize(stream));
    GPU(cudaGraphExecDestroy(ready));
    GPU(cudaGraphDestroy(captured));
}

static void batch(cudaStream_t stream)
{
#if CUDART_VERSION >= 12080
    size_t sizes[2] = {next(HTOD), next(HTOD)}, which[1] = {0};
    void *to[2] = {device, other};
#if CUDART_VERSION >= 13000
    const void *from[2] = {host, host + SMALL};
#else
    void *from[2] = {host, host + SMALL};
    size_t failed;
#endif
    struct cudaMemcpyAttributes how = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
#if CUDART_VERSION >= 13000
    GPU(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, which, 1, stream));
#else
    GPU(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, which, 1, &failed, stream));
#endif
    GPU(cudaStreamSynchronize(stream));
#else
    (void)stream;
    fprintf(stderr, "check_copies: no batched copies in this toolkit: left out\n");
#endif
}

/* Blocks handed over together: rows that follow each other here, and lie apart there. */
static void blocks(cudaStream_t stream)
{
#if CUDART_VERSION >= 12080
    enum { WIDTH = 1000, HEIGHT = 12, DEPTH = 4 };
    struct cudaMemcpy3DBatchOp ops[2];
    memset(ops, 0, sizeof ops);
    for (int k = 0; k < 2; k++) {
        struct cudaMemcpy3DOperand *in = &ops[k].src, *out = &ops[k].dst;
        in->type = out->type = cudaMemcpyOperandTypePointer;
        in->op.ptr.ptr = k ? device : host;
        out->op.ptr.ptr = k ? host + SMALL : device;
        (k ? in : out)->op.ptr.rowLength = PITCH;
        ops[k].extent = (struct cudaExtent){WIDTH, HEIGHT + (size_t)k, DEPTH};
        ops[k].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
        seen(k ? DTOH : HTOD, WIDTH * (HEIGHT + (size_t)k) * DEPTH);
    }
#if CUDART_VERSION >= 13000
    GPU(cudaMemcpy3DBatchAsync(2, ops, 0, stream));
#else
    size_t failed;
    GPU(cudaMemcpy3DBatchAsync(2, ops, &failed, 0, stream));
#endif
    GPU(cudaStreamSynchronize(stream));
#else
    (void)stream;
    fprintf(stderr, "check_copies: no batched copies of blocks in this toolkit: left out\n");
#endif
}

/* Pages that move are no copies: nothing is added to what must be seen. */
static void managed(cudaStream_t stream)
{
    enum { BYTES = 16 << 20 };
    void *memory;
    GPU(cudaMallocManaged(&memory, BYTES, cudaMemAttachGlobal));
    memset(memory, 5, BYTES);
#if CUDART_VERSION >= 13000
    struct cudaMemLocation there = {.type = cudaMemLocationTypeDevice, .id = 0};
    GPU(cudaMemPrefetchAsync(memory, BYTES, there, 0, stream));
#else
    GPU(cudaMemPrefetchAsync(memory, BYTES, 0, stream));
#endif
    GPU(spin_us(20, stream));
    kernels++;
    GPU(cudaStreamSynchronize(stream));
    MUST(((char *)memory)[BYTES - 1] == 5);
    GPU(cudaFree(memory));
}

static void timed(int kind, cudaStream_t stream)
{
    cudaEvent_t begin, end;
    float ms;
    GPU(cudaEventCreate(&begin));
    GPU(cudaEventCreate(&end));
    for (int k = 0; k < BIG_TIMES; k++) {
        size_t bytes = seen(kind, (size_t)BIG + 64 * (size_t)k);
        GPU(cudaEventRecord(begin, stream));
        GPU(cudaMemcpyAsync(kind == HTOD   ? device
                            : kind == DTOH ? host
                                           : other,
                            kind == HTOD ? host : device, bytes,
                            kind == HTOD   ? cudaMemcpyHostToDevice
                            : kind == DTOH ? cudaMemcpyDeviceToHost
                                           : cudaMemcpyDeviceToDevice,
                            stream));
        GPU(cudaEventRecord(end, stream));
        GPU(cudaEventSynchronize(end));
        GPU(cudaEventElapsedTime(&ms, begin, end));
        printf("timed %s %zu %.6f\n", kinds[kind], bytes, (double)ms);
    }
    GPU(cudaEventDestroy(begin));
    GPU(cudaEventDestroy(end));
}

int main(int argc, char **argv)
{
    cudaStream_t a, b;
    MUST(argc > 1);
    int pinned = !strcmp(argv[1], "pinned");
    host = host_memory(pinned, BIG + SLACK);
    device = device_memory(BIG + SLACK);
    other = device_memory(BIG + SLACK);
    GPU(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    GPU(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));

    plain(a);
    by_default();
    with_rows(a);
    two_streams(a, b);
    for (int k = 2; k < argc; k++)
        if (!strcmp(argv[k], "graph"))
            graph(a);
        else if (!strcmp(argv[k], "batch"))
            batch(a);
        else if (!strcmp(argv[k], "blocks"))
            blocks(a);
        else if (!strcmp(argv[k], "managed"))
            managed(a);
    if (pinned) {
        timed(HTOD, a);
        timed(DTOH, a);
        timed(DTOD, a);
    }
    GPU(cudaDeviceSynchronize());
    for (int k = 0; k < KINDS; k++)
        printf("%s %llu %llu\n", kinds[k], counts[k], sums[k]);
    printf("kernels %llu\n", kernels);
    return 0;
}
