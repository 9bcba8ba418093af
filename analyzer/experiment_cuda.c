/* The GPU's half, through the driver's own library: copies timed by its events. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/experiment.h"

/* The driver's interface is stable: these are its types and names as cuda.h has them. */
typedef int result;
typedef unsigned long long device_pointer;
typedef void *handle;

struct iot_experiment_cuda {
    void *library;
    result (*init)(unsigned);
    result (*driver_version)(int *);
    result (*device_count)(int *);
    result (*device_get)(int *, int);
    result (*device_name)(char *, int, int);
    result (*device_memory)(size_t *, int);
    result (*context_retain)(handle *, int);
    result (*context_release)(int);
    result (*context_set)(handle);
    result (*memory_info)(size_t *, size_t *);
    result (*memory_take)(device_pointer *, size_t);
    result (*memory_free)(device_pointer);
    result (*pinned_take)(void **, size_t);
    result (*pinned_free)(void *);
    result (*to_device)(device_pointer, const void *, size_t);
    result (*to_device_async)(device_pointer, const void *, size_t, handle);
    result (*to_host)(void *, device_pointer, size_t);
    result (*stream_create)(handle *, unsigned);
    result (*stream_destroy)(handle);
    result (*event_create)(handle *, unsigned);
    result (*event_destroy)(handle);
    result (*event_record)(handle, handle);
    result (*event_wait)(handle);
    result (*event_elapsed)(float *, handle, handle);
    result (*error_name)(result, const char **);

    int device, retained;
    device_pointer memory;
    void *pinned;
    handle stream, begin, end;
};

#define ROW(member, symbol)                                                                        \
    {                                                                                              \
        offsetof(struct iot_experiment_cuda, member), symbol                                       \
    }
static const struct {
    size_t at;
    const char *symbol;
} functions[] = {
    ROW(init, "cuInit"),
    ROW(driver_version, "cuDriverGetVersion"),
    ROW(device_count, "cuDeviceGetCount"),
    ROW(device_get, "cuDeviceGet"),
    ROW(device_name, "cuDeviceGetName"),
    ROW(device_memory, "cuDeviceTotalMem_v2"),
    ROW(context_retain, "cuDevicePrimaryCtxRetain"),
    ROW(context_release, "cuDevicePrimaryCtxRelease_v2"),
    ROW(context_set, "cuCtxSetCurrent"),
    ROW(memory_info, "cuMemGetInfo_v2"),
    ROW(memory_take, "cuMemAlloc_v2"),
    ROW(memory_free, "cuMemFree_v2"),
    ROW(pinned_take, "cuMemAllocHost_v2"),
    ROW(pinned_free, "cuMemFreeHost"),
    ROW(to_device, "cuMemcpyHtoD_v2"),
    ROW(to_device_async, "cuMemcpyHtoDAsync_v2"),
    ROW(to_host, "cuMemcpyDtoH_v2"),
    ROW(stream_create, "cuStreamCreate"),
    ROW(stream_destroy, "cuStreamDestroy_v2"),
    ROW(event_create, "cuEventCreate"),
    ROW(event_destroy, "cuEventDestroy_v2"),
    ROW(event_record, "cuEventRecord"),
    ROW(event_wait, "cuEventSynchronize"),
    ROW(event_elapsed, "cuEventElapsedTime"),
    ROW(error_name, "cuGetErrorName"),
};

static int failed(const struct iot_experiment_cuda *c, struct iot_experiment *x, result error,
                  const char *what)
{
    const char *name = NULL;
    if (!error)
        return 0;
    c->error_name(error, &name);
    snprintf(x->failure, sizeof x->failure, "%s: %s", what, name ? name : "unknown error");
    return -1;
}

static int load(struct iot_experiment_cuda *c, struct iot_experiment *x)
{
    c->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!c->library) {
        snprintf(x->failure, sizeof x->failure, "no CUDA driver is installed (libcuda.so.1)");
        return -1;
    }
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        void *function = dlsym(c->library, functions[k].symbol);
        if (!function) {
            snprintf(x->failure, sizeof x->failure, "the CUDA driver is too old: it has no %s",
                     functions[k].symbol);
            return -1;
        }
        memcpy((char *)c + functions[k].at, &function, sizeof function);
    }
    return 0;
}

static int start(struct iot_experiment_cuda *c, struct iot_experiment *x)
{
    int devices = 0;
    size_t memory = 0, unused = 0;
    handle context;
    if (load(c, x) || failed(c, x, c->init(0), "the driver does not start") ||
        failed(c, x, c->driver_version(&x->gpu.driver), "the driver's version") ||
        failed(c, x, c->device_count(&devices), "the devices"))
        return -1;
    if (!devices) {
        snprintf(x->failure, sizeof x->failure, "the driver has no device");
        return -1;
    }
    if (failed(c, x, c->device_get(&c->device, 0), "device 0") ||
        failed(c, x, c->device_name(x->gpu.name, sizeof x->gpu.name, c->device), "its name") ||
        failed(c, x, c->device_memory(&memory, c->device), "its memory") ||
        failed(c, x, c->context_retain(&context, c->device), "a context"))
        return -1;
    c->retained = 1;
    x->gpu.memory_bytes = memory;
    if (failed(c, x, c->context_set(context), "a context") ||
        failed(c, x, c->memory_info(&unused, &memory), "its free memory"))
        return -1;
    if (unused < x->bytes + x->bytes / 8) {
        snprintf(x->failure, sizeof x->failure, "the device has only %zu MiB free", unused >> 20);
        return -1;
    }
    return failed(c, x, c->memory_take(&c->memory, x->bytes), "memory of the device") ||
                   failed(c, x, c->pinned_take(&c->pinned, x->bytes), "pinned memory") ||
                   failed(c, x, c->stream_create(&c->stream, 1), "a stream") ||
                   failed(c, x, c->event_create(&c->begin, 0), "an event") ||
                   failed(c, x, c->event_create(&c->end, 0), "an event")
               ? -1
               : 0;
}

struct iot_experiment_cuda *iot_experiment_cuda_open(struct iot_experiment *x)
{
    struct iot_experiment_cuda *c = calloc(1, sizeof *c);
    if (!c) {
        snprintf(x->failure, sizeof x->failure, "out of memory");
        return NULL;
    }
    if (start(c, x)) {
        iot_experiment_cuda_close(c);
        return NULL;
    }
    memcpy(c->pinned, x->tensor, x->bytes);
    return c;
}

void iot_experiment_cuda_close(struct iot_experiment_cuda *c)
{
    if (!c)
        return;
    if (c->end)
        c->event_destroy(c->end);
    if (c->begin)
        c->event_destroy(c->begin);
    if (c->stream)
        c->stream_destroy(c->stream);
    if (c->pinned)
        c->pinned_free(c->pinned);
    if (c->memory)
        c->memory_free(c->memory);
    if (c->retained)
        c->context_release(c->device);
    if (c->library)
        dlclose(c->library);
    free(c);
}

static result start_copy(const struct iot_experiment_cuda *c, struct iot_experiment *x,
                         enum iot_experiment_part part)
{
    switch (part) {
    case IOT_EXPERIMENT_PINNED:
        return c->to_device_async(c->memory, c->pinned, x->bytes, c->stream);
    case IOT_EXPERIMENT_PAGEABLE:
        return c->to_device(c->memory, x->tensor, x->bytes);
    default:
        return c->to_host(x->loaded, c->memory, x->bytes);
    }
}

/* The stream does not block, so the default one does not order itself with it: each copy has the
 * events of its own. */
static int copy(struct iot_experiment_cuda *c, struct iot_experiment *x,
                enum iot_experiment_part part, int64_t *ns)
{
    handle stream = part == IOT_EXPERIMENT_PINNED ? c->stream : NULL;
    float ms = 0;
    if (failed(c, x, c->event_record(c->begin, stream), "an event") ||
        failed(c, x, start_copy(c, x, part), iot_experiment_parts[part]) ||
        failed(c, x, c->event_record(c->end, stream), "an event") ||
        failed(c, x, c->event_wait(c->end), iot_experiment_parts[part]) ||
        failed(c, x, c->event_elapsed(&ms, c->begin, c->end), "an event"))
        return -1;
    *ns = (int64_t)((double)ms * 1e6);
    return 0;
}

/* Makes what an earlier part left on the device unlike the source, and waits until it is: else a
 * copy that did nothing would pass for a right one. */
static int wipe(struct iot_experiment_cuda *c, struct iot_experiment *x)
{
    memset(x->loaded, 0xff, x->bytes);
    return failed(c, x, c->to_device(c->memory, x->loaded, x->bytes), "the device's memory") ||
                   failed(c, x, c->event_record(c->end, NULL), "an event") ||
                   failed(c, x, c->event_wait(c->end), "the device's memory")
               ? -1
               : 0;
}

int iot_experiment_cuda_measure(struct iot_experiment_cuda *c, struct iot_experiment *x,
                                enum iot_experiment_part part, int64_t *ns)
{
    int64_t saving = 0;
    if (part == IOT_EXPERIMENT_OUTPUT)
        memset(x->loaded, 0, x->bytes);
    if ((part == IOT_EXPERIMENT_PINNED && wipe(c, x)) || copy(c, x, part, ns))
        return -1;
    if (part != IOT_EXPERIMENT_OUTPUT)
        return 0;
    if (iot_experiment_save(x->output, x->loaded, x->bytes, x->config->fsync, &saving)) {
        snprintf(x->failure, sizeof x->failure, "the output cannot be saved: %m");
        return -1;
    }
    *ns += saving;
    return 0;
}
