/* CUDA's runtime without a GPU: the calls that the programs here make, as callbacks and records of
 * CUPTI show them, on the GPU of standin_gpu.h. */
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/check.h"
#include "tests/cuda/standin.h"
#include "tests/cuda/standin_gpu.h"

struct CUevent_st {
    uint64_t at_ns; /* 0: never recorded */
};

/* --- a call, as it is told --- */

/* Of the calling thread. */
static _Thread_local int device;

static uint32_t context(void)
{
    return (uint32_t)device + 1;
}

struct call {
    uint32_t id, correlation;
    const char *name;
    const void *parameters;
};

/* The driver is started by the first call, and loads whoever wants to look on. */
static void start(void)
{
    static int started;
    if (__atomic_exchange_n(&started, 1, __ATOMIC_SEQ_CST))
        return;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    int (*init)(unsigned) = NULL;
    if (driver)
        *(void **)&init = dlsym(driver, "cuInit");
    if (!init || init(0))
        abort();
}

static void enter(struct call *c, CUpti_runtime_api_trace_cbid id, const char *name,
                  const void *parameters)
{
    static uint32_t correlation;
    start();
    *c = (struct call){id, __atomic_add_fetch(&correlation, 1, __ATOMIC_SEQ_CST), name, parameters};
    standin_enter(CUPTI_CB_DOMAIN_RUNTIME_API, id, name, c->correlation, context(), parameters);
}

static cudaError_t leave(const struct call *c, cudaError_t result)
{
    standin_exit(CUPTI_CB_DOMAIN_RUNTIME_API, c->id, c->name, c->correlation, context(),
                 c->parameters, (int)result);
    return result;
}

#define ENTER(name, version, ...)                                                                  \
    name##_##version##_params parameters_ = {__VA_ARGS__};                                         \
    struct call call_;                                                                             \
    enter(&call_, CUPTI_RUNTIME_TRACE_CBID_##name##_##version, #name, &parameters_)
#define LEAVE(result) return leave(&call_, result)
#define CORRELATION call_.correlation

static struct gpu_stream *stream_of(cudaStream_t stream)
{
    return stream ? (struct gpu_stream *)stream : gpu_stream_default(context());
}

static cudaError_t run(cudaStream_t stream, const struct gpu_op *op, uint32_t correlation)
{
    uint64_t until = gpu_add(stream_of(stream), op, correlation);
    if (until)
        gpu_wait(until);
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int number)
{
    if (number < 0 || number >= GPU_DEVICES)
        return cudaErrorInvalidDevice;
    device = number;
    return cudaSuccess;
}

/* --- memory --- */

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    ENTER(cudaMalloc, v3020, memory, bytes);
    *memory = gpu_memory_new(GPU_DEVICE, bytes);
    LEAVE(*memory ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    ENTER(cudaMallocHost, v3020, memory, bytes);
    *memory = gpu_memory_new(GPU_PINNED, bytes);
    LEAVE(*memory ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaMallocManaged(void **memory, size_t bytes, unsigned flags)
{
    ENTER(cudaMallocManaged, v6000, memory, bytes, flags);
    *memory = gpu_memory_new(GPU_MANAGED, bytes);
    LEAVE(*memory ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *memory)
{
    ENTER(cudaFree, v3020, memory);
    gpu_wait(gpu_end_of_context(context()));
    gpu_memory_free(memory);
    LEAVE(cudaSuccess);
}

cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, struct cudaMemLocation there,
                                 unsigned flags, cudaStream_t stream)
{
    ENTER(cudaMemPrefetchAsync, v12020, memory, bytes, there, flags, stream);
    LEAVE(cudaSuccess);
}

/* --- copies --- */

static struct gpu_op copy_of(void *to, const void *from, size_t bytes, int asynchronous)
{
    return (struct gpu_op){.what = GPU_COPY,
                           .asynchronous = asynchronous,
                           .to = to,
                           .from = from,
                           .width = bytes,
                           .height = 1};
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    ENTER(cudaMemcpy, v3020, to, from, bytes, kind);
    struct gpu_op op = copy_of(to, from, bytes, 0);
    LEAVE(run(NULL, &op, CORRELATION));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    ENTER(cudaMemcpyAsync, v3020, to, from, bytes, kind, stream);
    struct gpu_op op = copy_of(to, from, bytes, 1);
    LEAVE(run(stream, &op, CORRELATION));
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    ENTER(cudaMemcpy2D, v3020, to, to_pitch, from, from_pitch, width, height, kind);
    struct gpu_op op = {.what = GPU_COPY,
                        .to = to,
                        .from = from,
                        .to_pitch = to_pitch,
                        .from_pitch = from_pitch,
                        .width = width,
                        .height = height};
    LEAVE(run(NULL, &op, CORRELATION));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    ENTER(cudaMemcpy2DAsync, v3020, to, to_pitch, from, from_pitch, width, height, kind, stream);
    struct gpu_op op = {.what = GPU_COPY,
                        .asynchronous = 1,
                        .to = to,
                        .from = from,
                        .to_pitch = to_pitch,
                        .from_pitch = from_pitch,
                        .width = width,
                        .height = height};
    LEAVE(run(stream, &op, CORRELATION));
}

cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes,
                                 size_t count, struct cudaMemcpyAttributes *how, size_t *which,
                                 size_t n_how, cudaStream_t stream)
{
    ENTER(cudaMemcpyBatchAsync, v13000, to, from, sizes, count, how, which, n_how, stream);
    for (size_t k = 0; k < count; k++) {
        struct gpu_op op = copy_of(to[k], from[k], sizes[k], 1);
        run(stream, &op, CORRELATION);
    }
    LEAVE(cudaSuccess);
}

/* Slices have no rows between them. */
cudaError_t cudaMemcpy3DBatchAsync(size_t count, struct cudaMemcpy3DBatchOp *list,
                                   unsigned long long flags, cudaStream_t stream)
{
    ENTER(cudaMemcpy3DBatchAsync, v13000, count, list, flags, stream);
    for (size_t k = 0; k < count; k++) {
        const struct cudaMemcpy3DBatchOp *o = &list[k];
        size_t width = o->extent.width, from = o->src.op.ptr.rowLength,
               to = o->dst.op.ptr.rowLength;
        struct gpu_op op = copy_of(o->dst.op.ptr.ptr, o->src.op.ptr.ptr, width, 1);
        op.height = o->extent.height * o->extent.depth;
        op.from_pitch = from ? from : width;
        op.to_pitch = to ? to : width;
        run(stream, &op, CORRELATION);
    }
    LEAVE(cudaSuccess);
}

static struct gpu_op set_of(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return (struct gpu_op){.what = GPU_SET,
                           .to = to,
                           .to_pitch = pitch,
                           .value = value,
                           .width = width,
                           .height = height};
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    ENTER(cudaMemset, v3020, to, value, bytes);
    struct gpu_op op = set_of(to, 0, value, bytes, 1);
    LEAVE(run(NULL, &op, CORRELATION));
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    ENTER(cudaMemsetAsync, v3020, to, value, bytes, stream);
    struct gpu_op op = set_of(to, 0, value, bytes, 1);
    LEAVE(run(stream, &op, CORRELATION));
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    ENTER(cudaMemset2DAsync, v3020, to, pitch, value, width, height, stream);
    struct gpu_op op = set_of(to, pitch, value, width, height);
    LEAVE(run(stream, &op, CORRELATION));
}

/* Stands for a kernel's launch, which nvcc would write. */
cudaError_t spin_us(unsigned us, cudaStream_t stream)
{
    struct dim3 one = {1, 1, 1};
    ENTER(cudaLaunchKernel, v7000, "spin", one, one, NULL, 0, stream);
    struct gpu_op op = {.what = GPU_KERNEL, .kernel_ns = (uint64_t)us * 1000 + GPU_FIXED_NS};
    LEAVE(run(stream, &op, CORRELATION));
}

/* --- streams and events --- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    ENTER(cudaStreamCreateWithFlags, v5000, stream, flags);
    struct gpu_stream *s =
        gpu_stream_new(context(), flags & cudaStreamNonBlocking ? GPU_NON_BLOCKING : GPU_BLOCKING);
    if (s)
        standin_stream_created((uint64_t)(uintptr_t)s, context(), s->number);
    *stream = (cudaStream_t)s;
    LEAVE(*stream ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    ENTER(cudaStreamSynchronize, v3020, stream);
    gpu_wait(gpu_end(stream_of(stream)));
    LEAVE(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void)
{
    struct call call_;
    enter(&call_, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "cudaDeviceSynchronize",
          NULL);
    gpu_wait(gpu_end_of_context(context()));
    LEAVE(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = calloc(1, sizeof **event);
    return *event ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    ENTER(cudaEventDestroy, v3020, event);
    free(event);
    LEAVE(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER(cudaEventRecord, v3020, event, stream);
    uint64_t now = gpu_now(), end = gpu_mark(stream_of(stream));
    event->at_ns = now > end ? now : end;
    LEAVE(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    ENTER(cudaStreamWaitEvent, v3020, stream, event, flags);
    if (event->at_ns)
        gpu_hold(stream_of(stream), event->at_ns);
    LEAVE(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER(cudaEventSynchronize, v3020, event);
    gpu_wait(event->at_ns);
    LEAVE(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    *ms = (float)((double)(end->at_ns - begin->at_ns) / 1e6);
    return cudaSuccess;
}

/* --- graphs: what one stream was asked for --- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    ENTER(cudaStreamBeginCapture, v10000, stream, mode);
    stream_of(stream)->capture = calloc(1, sizeof(struct gpu_graph));
    LEAVE(stream_of(stream)->capture ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    ENTER(cudaStreamEndCapture, v10000, stream, graph);
    *graph = (cudaGraph_t)stream_of(stream)->capture;
    stream_of(stream)->capture = NULL;
    LEAVE(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *ready, cudaGraph_t graph,
                                 unsigned long long flags)
{
    ENTER(cudaGraphInstantiate, v12000, ready, graph, flags);
    *ready = (cudaGraphExec_t)graph;
    LEAVE(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream)
{
    ENTER(cudaGraphLaunch, v10000, ready, stream);
    const struct gpu_graph *graph = (const struct gpu_graph *)ready;
    for (size_t k = 0; k < graph->n; k++)
        gpu_add(stream_of(stream), &graph->ops[k], CORRELATION);
    LEAVE(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready)
{
    (void)ready;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    free((struct gpu_graph *)graph);
    return cudaSuccess;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "an error";
}
