/* A CUDA driver without a GPU, for tests: device memory is memory, and events read a clock. What
 * STANDIN_CUDA names goes wrong:
 *
 *     none        there is no device
 *     full        it has no memory free
 *     wrong       what is copied back is not what was copied there
 *     slow        pinned copies are slower than pageable ones
 *     lost        pinned copies move nothing
 *     memory      device memory cannot be had, though there is enough
 *     NAME        the function of that name fails
 *     secure      it asks for its environment by secure_getenv,
 *     environ     or looks into it by itself
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long long pointer;

enum { OK = 0, OUT_OF_MEMORY = 2, FAILED = 999, PINNED_US = 100, PAGEABLE_US = 300 };

static int is(const char *what)
{
    const char *set = getenv("STANDIN_CUDA");
    return set && !strcmp(set, what);
}

#define CUDA(name, ...)                                                                            \
    int name(__VA_ARGS__);                                                                         \
    int name(__VA_ARGS__)
#define FAILS_IF_NAMED()                                                                           \
    do {                                                                                           \
        if (is(__func__))                                                                          \
            return FAILED;                                                                         \
    } while (0)

static const char *look(const char *name)
{
    size_t n = strlen(name);
    for (char **e = environ; *e; e++)
        if (!strncmp(*e, name, n) && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

/* As the driver does it: whoever the environment names comes first. */
static void load_injection(void)
{
    static const char name[] = "CUDA_INJECTION64_PATH";
    const char *path = is("secure")    ? secure_getenv(name)
                       : is("environ") ? look(name)
                                       : getenv(name);
    void *library = path && strcmp(path, "none") ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(void);
    *(void **)&initialize = library ? dlsym(library, "InitializeInjection") : NULL;
    if (initialize)
        initialize();
}

CUDA(cuInit, unsigned flags)
{
    static int loaded;
    FAILS_IF_NAMED();
    if (!loaded++)
        load_injection();
    return flags ? FAILED : OK;
}

CUDA(cuDriverGetVersion, int *version)
{
    FAILS_IF_NAMED();
    *version = 13000;
    return OK;
}

CUDA(cuDeviceGetCount, int *n)
{
    FAILS_IF_NAMED();
    *n = !is("none");
    return OK;
}

CUDA(cuDeviceGet, int *device, int ordinal)
{
    FAILS_IF_NAMED();
    *device = ordinal;
    return OK;
}

CUDA(cuDeviceGetName, char *name, int n, int device)
{
    FAILS_IF_NAMED();
    (void)device;
    strncpy(name, "a stand-in", (size_t)n);
    return OK;
}

CUDA(cuDeviceTotalMem_v2, size_t *bytes, int device)
{
    FAILS_IF_NAMED();
    (void)device;
    *bytes = (size_t)1 << 30;
    return OK;
}

CUDA(cuDevicePrimaryCtxRetain, void **context, int device)
{
    FAILS_IF_NAMED();
    *context = (void *)(uintptr_t)(device + 1);
    return OK;
}

CUDA(cuDevicePrimaryCtxRelease_v2, int device)
{
    FAILS_IF_NAMED();
    (void)device;
    return OK;
}

CUDA(cuCtxSetCurrent, void *context)
{
    FAILS_IF_NAMED();
    return context ? OK : FAILED;
}

CUDA(cuMemGetInfo_v2, size_t *unused, size_t *all)
{
    FAILS_IF_NAMED();
    *all = (size_t)1 << 30;
    *unused = is("full") ? 0 : *all;
    return OK;
}

CUDA(cuMemAlloc_v2, pointer *memory, size_t n)
{
    FAILS_IF_NAMED();
    if (is("memory"))
        return OUT_OF_MEMORY;
    *memory = (pointer)(uintptr_t)malloc(n);
    return *memory ? OK : FAILED;
}

CUDA(cuMemFree_v2, pointer memory)
{
    free((void *)(uintptr_t)memory);
    FAILS_IF_NAMED();
    return OK;
}

CUDA(cuMemAllocHost_v2, void **memory, size_t n)
{
    FAILS_IF_NAMED();
    *memory = malloc(n);
    return *memory ? OK : FAILED;
}

CUDA(cuMemFreeHost, void *memory)
{
    free(memory);
    FAILS_IF_NAMED();
    return OK;
}

CUDA(cuMemcpyHtoD_v2, pointer to, const void *from, size_t n)
{
    FAILS_IF_NAMED();
    memcpy((void *)(uintptr_t)to, from, n);
    usleep(is("slow") ? PINNED_US : PAGEABLE_US * 100);
    return OK;
}

CUDA(cuMemcpyHtoDAsync_v2, pointer to, const void *from, size_t n, void *stream)
{
    FAILS_IF_NAMED();
    if (!stream)
        return FAILED;
    if (!is("lost"))
        memcpy((void *)(uintptr_t)to, from, n);
    usleep(is("slow") ? PAGEABLE_US * 100 : PINNED_US);
    return OK;
}

CUDA(cuMemcpyDtoH_v2, void *to, pointer from, size_t n)
{
    FAILS_IF_NAMED();
    memcpy(to, (const void *)(uintptr_t)from, n);
    if (is("wrong"))
        ((char *)to)[n / 2] ^= 1;
    return OK;
}

CUDA(cuStreamCreate, void **stream, unsigned flags)
{
    FAILS_IF_NAMED();
    *stream = malloc(1);
    return flags <= 1 ? OK : FAILED;
}

CUDA(cuStreamDestroy_v2, void *stream)
{
    free(stream);
    FAILS_IF_NAMED();
    return OK;
}

CUDA(cuEventCreate, void **event, unsigned flags)
{
    FAILS_IF_NAMED();
    (void)flags;
    *event = calloc(1, sizeof(struct timespec));
    return OK;
}

CUDA(cuEventDestroy_v2, void *event)
{
    free(event);
    FAILS_IF_NAMED();
    return OK;
}

CUDA(cuEventRecord, void *event, void *stream)
{
    FAILS_IF_NAMED();
    (void)stream;
    return clock_gettime(CLOCK_MONOTONIC, event) ? FAILED : OK;
}

CUDA(cuEventSynchronize, void *event)
{
    FAILS_IF_NAMED();
    return event ? OK : FAILED;
}

CUDA(cuEventElapsedTime, float *ms, void *begin, void *end)
{
    FAILS_IF_NAMED();
    const struct timespec *a = begin, *b = end;
    *ms = (float)((double)(b->tv_sec - a->tv_sec) * 1e3 + (double)(b->tv_nsec - a->tv_nsec) / 1e6);
    return OK;
}

CUDA(cuGetErrorName, int error, const char **name)
{
    *name = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN";
    return OK;
}
