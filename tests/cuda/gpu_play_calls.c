/* The calls of gpu_play: their parameters, as CUPTI shows them. */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/gpu_play.h"

enum { BATCH = 1024, RUNTIME = 2, DRIVER = 1 };

union parameters {
    uint64_t words[16];
    struct {
        const void *pointers[3];
        uint64_t n;
    } batch;
    struct {
        uint64_t n;
        const void *list;
    } blocks;
};

/* Structures that parameters point to; one call at a time has them. */
static union {
    struct cudaMemcpy3DParms block;
    CUDA_MEMCPY2D flat;
    CUDA_MEMCPY3D solid;
    uint64_t batch[3][BATCH];
    struct cudaMemcpy3DBatchOp blocks[BATCH];
} pointed;

static void fill_linear(union parameters *p, const struct line *line)
{
    p->words[0] = V("dst");
    p->words[1] = V("src");
    p->words[2] = V("bytes");
    p->words[3] = V("kind");
    p->words[4] = V("stream");
}

static void fill_driver_linear(union parameters *p, const struct line *line)
{
    fill_linear(p, line);
    p->words[3] = V("stream");
}

static void fill_pitched(union parameters *p, const struct line *line)
{
    uint64_t words[] = {V("dst"),   V("dpitch"), V("src"),  V("spitch"),
                        V("width"), V("height"), V("kind"), V("stream")};
    memcpy(p, words, sizeof words);
}

static void fill_block(union parameters *p, const struct line *line)
{
    pointed.block = (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)(uintptr_t)V("src"), V("spitch"), V("width"), V("height")},
        .dstPtr = {(void *)(uintptr_t)V("dst"), V("dpitch"), V("width"), V("height")},
        .extent = {V("width"), V("height"), V("depth")},
        .kind = (enum cudaMemcpyKind)V("kind")};
    p->words[0] = (uint64_t)(uintptr_t)&pointed.block;
    p->words[1] = V("stream");
}

static void fill_flat(union parameters *p, const struct line *line)
{
    pointed.flat = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                                   .srcHost = (void *)(uintptr_t)V("src"),
                                   .srcPitch = V("spitch"),
                                   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                   .dstDevice = V("dst"),
                                   .WidthInBytes = V("width"),
                                   .Height = V("height")};
    p->words[0] = (uint64_t)(uintptr_t)&pointed.flat;
}

static void fill_solid(union parameters *p, const struct line *line)
{
    pointed.solid = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                    .srcDevice = V("src"),
                                    .dstMemoryType = CU_MEMORYTYPE_HOST,
                                    .dstHost = (void *)(uintptr_t)V("dst"),
                                    .dstPitch = V("dpitch"),
                                    .dstHeight = V("height"),
                                    .dstZ = 1,
                                    .dstY = 2,
                                    .dstXInBytes = 3,
                                    .WidthInBytes = V("width"),
                                    .Height = V("height"),
                                    .Depth = V("depth")};
    p->words[0] = (uint64_t)(uintptr_t)&pointed.solid;
}

static void fill_batch(union parameters *p, const struct line *line)
{
    uint64_t n = V("count");
    for (uint64_t k = 0; k < n && k < BATCH; k++) {
        pointed.batch[0][k] = V("dst") + k * V("dpitch");
        pointed.batch[1][k] = V("src") + k * V("spitch");
        pointed.batch[2][k] = V("bytes");
    }
    for (int k = 0; k < 3; k++)
        p->batch.pointers[k] = pointed.batch[k];
    p->batch.n = n;
}

/* The second one ends in an array. */
static void fill_blocks(union parameters *p, const struct line *line)
{
    uint64_t n = V("count") < BATCH ? V("count") : BATCH;
    for (uint64_t k = 0; k < n; k++) {
        struct cudaMemcpy3DBatchOp *op = &pointed.blocks[k];
        *op = (struct cudaMemcpy3DBatchOp){
            .src.type = cudaMemcpyOperandTypePointer,
            .dst.type = k == 1 ? cudaMemcpyOperandTypeArray : cudaMemcpyOperandTypePointer,
            .extent = {V("width"), V("height"), V("depth")}};
        op->src.op.ptr.ptr = (void *)(uintptr_t)(V("src") + k * V("bytes"));
        op->src.op.ptr.rowLength = V("spitch");
        op->src.op.ptr.layerHeight = V("slayer");
        op->dst.op.ptr.ptr = (void *)(uintptr_t)(V("dst") + k * V("bytes"));
        op->dst.op.ptr.rowLength = V("dpitch");
    }
    p->blocks.n = n;
    p->blocks.list = pointed.blocks;
}

static void fill_symbol(union parameters *p, const struct line *line)
{
    uint64_t words[] = {V("dst"), V("src"), V("bytes"), 0, V("kind"), V("stream")};
    memcpy(p, words, sizeof words);
}

static void fill_event(union parameters *p, const struct line *line)
{
    p->words[0] = V("event");
    p->words[1] = V("stream");
}

static void fill_stream(union parameters *p, const struct line *line)
{
    p->words[0] = V("stream");
    p->words[1] = V("event");
}

static void fill_nothing(union parameters *p, const struct line *line)
{
    (void)p, (void)line;
}

#define R(name, version, fill) {#name, RUNTIME, CUPTI_RUNTIME_TRACE_CBID_##name##version, fill}
#define D(name, fill) {#name, DRIVER, CUPTI_DRIVER_TRACE_CBID_##name, fill}
static const struct function {
    const char *name;
    uint32_t domain, id;
    void (*fill)(union parameters *p, const struct line *line);
} functions[] = {
    R(cudaMemcpy, _v3020, fill_linear),
    R(cudaMemcpyAsync, _v3020, fill_linear),
    R(cudaMemcpyAsync, _ptsz_v7000, fill_linear),
    R(cudaMemcpyToSymbol, _v3020, fill_symbol),
    R(cudaMemcpy2DAsync, _v3020, fill_pitched),
    R(cudaMemcpy3D, _v3020, fill_block),
    R(cudaMemcpyBatchAsync, _v13000, fill_batch),
    R(cudaMemcpy3DBatchAsync, _v13000, fill_blocks),
    R(cudaMemcpyPeerAsync, _v4000, fill_nothing),
    R(cudaMemsetAsync, _v3020, fill_nothing),
    R(cudaLaunchKernel, _v7000, fill_nothing),
    R(cudaGraphLaunch, _v10000, fill_nothing),
    R(cudaMalloc, _v3020, fill_nothing),
    R(cudaFree, _v3020, fill_nothing),
    R(cudaStreamCreate, _v3020, fill_nothing),
    R(cudaStreamSynchronize, _v3020, fill_stream),
    R(cudaStreamSynchronize, _ptsz_v7000, fill_stream),
    R(cudaDeviceSynchronize, _v3020, fill_nothing),
    R(cudaEventSynchronize, _v3020, fill_event),
    R(cudaEventRecord, _v3020, fill_event),
    R(cudaEventDestroy, _v3020, fill_event),
    R(cudaStreamWaitEvent, _v3020, fill_stream),
    R(cudaStreamBeginCapture, _v10000, fill_stream),
    R(cudaStreamEndCapture, _v10000, fill_stream),
    R(cudaGetDevice, _v3020, fill_nothing),
    R(cudaGetLastError, _v3020, fill_nothing),
    R(cudaPeekAtLastError, _v3020, fill_nothing),
    R(cudaStreamIsCapturing, _v10000, fill_stream),
    D(cuMemcpyHtoD_v2, fill_driver_linear),
    D(cuMemcpyHtoDAsync_v2, fill_driver_linear),
    D(cuMemcpyDtoH_v2, fill_driver_linear),
    D(cuMemcpyDtoHAsync_v2, fill_driver_linear),
    D(cuMemcpyAsync, fill_driver_linear),
    D(cuMemcpy2D_v2, fill_flat),
    D(cuMemcpy3D_v2, fill_solid),
    D(cuMemcpy3DBatchAsync, fill_blocks),
    D(cuMemcpy3DBatchAsync_v2, fill_blocks),
    D(cuLaunchKernel, fill_nothing),
    D(cuStreamSynchronize, fill_stream),
    D(cuCtxSynchronize, fill_nothing),
    D(cuEventRecord, fill_event),
    D(cuStreamWaitEvent, fill_stream),
};

/* per-thread twins come second */
static const struct function *function_of(const char *name, int per_thread)
{
    const struct function *found = NULL;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (!strcmp(functions[k].name, name) && (!found || per_thread))
            found = &functions[k];
    if (!found) {
        fprintf(stderr, "gpu_play: no function %s\n", name);
        exit(3);
    }
    return found;
}

static void enter(const struct function *f, uint64_t corr, uint64_t context, const void *p)
{
    if (play_enter)
        play_enter(f->domain, f->id, f->name, (uint32_t)corr, (uint32_t)context, p);
}

static void leave(const struct function *f, uint64_t corr, uint64_t context, const void *p,
                  int result)
{
    if (play_exit)
        play_exit(f->domain, f->id, f->name, (uint32_t)corr, (uint32_t)context, p, result);
}

void play_call(const struct line *line)
{
    union parameters p = {{0}}, inner_p = {{0}};
    const struct function *f = function_of(line->keys[0].value, (int)V("per_thread"));
    const char *inner_name = line_text(line, "inner");
    uint64_t context = line_value(line, "context", 1);
    int result = (int)V("result");
    f->fill(&p, line);
    enter(f, V("corr"), context, &p);
    if (inner_name) {
        const struct function *inner = function_of(inner_name, 0);
        inner->fill(&inner_p, line);
        enter(inner, V("icorr"), context, &inner_p);
        if (line_text(line, "until"))
            play_wait_until(V("until"));
        leave(inner, V("icorr"), context, &inner_p, result);
    } else if (line_text(line, "until")) {
        play_wait_until(V("until"));
    }
    leave(f, V("corr"), context, &p, result);
}
