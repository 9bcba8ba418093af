/* The CUDA driver asks, as it is initialised, for the library that CUDA_INJECTION64_PATH names,
 * loads it, and calls InitializeInjection in it. Where the program's environment says nothing of
 * that, it is told of libiotrace-cupti.so.
 *
 * By getenv: the environment itself stays the program's, libc sets it after we have begun, and in a
 * program that has no use for a driver nobody asks. What counts is that the driver is loaded,
 * wherever it lies; each process of the run finds out for itself.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>

#include "format/gpu_unseen.h"
#include "preload/gpu.h"
#include "preload/image.h"
#include "preload/real.h"
#include "preload/record.h"
#include "preload/sys.h"
#include "preload/text.h"

#define INJECTION "CUDA_INJECTION64_PATH"
#define SUBSCRIBER "libiotrace-cupti.so"

enum iot_gpu_wanted iot_gpu_wanted;

static char start_folder[IOT_PATH_BYTES]; /* empty where the library's own path does not need it */

static const struct {
    const char *word;
    enum iot_gpu_wanted wanted;
} words[] = {
    {"0", IOT_GPU_WANTS_NOTHING},
    {"off", IOT_GPU_WANTS_NOTHING},
    {"copies", IOT_GPU_WANTS_COPIES},
    {"kernels", IOT_GPU_WANTS_KERNELS},
};

static const char *own_path(void)
{
    Dl_info info;
    return dladdr((void *)(uintptr_t)iot_gpu_start, &info) ? info.dli_fname : "";
}

void iot_gpu_start(const char *wanted)
{
    for (size_t k = 0; wanted && k < sizeof words / sizeof *words; k++)
        if (strcmp(wanted, words[k].word) == 0)
            iot_gpu_wanted = words[k].wanted;
    if (*own_path() != '/' && iot_sys(SYS_getcwd, start_folder, sizeof start_folder / 2) <= 0)
        *start_folder = '\0';
}

/* A gpu_unseen row in the lane of the calling thread. */
static void note(enum iot_gpu_unseen what, const char *text)
{
    static uint32_t noted; /* once each */
    struct iot_thread *t = iot_enter_always();
    if (!t || __atomic_fetch_or(&noted, 1u << what, __ATOMIC_RELAXED) & 1u << what)
        return;
    uint32_t string = iot_string(t, "", 0, text, strnlen(text, 1024));
    uint64_t now = iot_now();
    iot_event(t, &(struct iot_row){
                     .t0 = now, .t1 = now, .result = what, .obj = string, .op = IOT_OP_GPU_UNSEEN});
}

/* Beside our own, or in the folder beside ours where nothing is installed yet. */
static const char *find_subscriber(void)
{
    static const char *const places[] = {"/" SUBSCRIBER, "/../cupti/" SUBSCRIBER};
    static char path[2 * IOT_PATH_BYTES];
    const char *own = own_path(), *slash = strrchr(own, '/');
    if (!slash || strlen(own) >= IOT_PATH_BYTES || (*own != '/' && !*start_folder))
        return NULL;
    char *p = path;
    if (*own != '/') {
        p = iot_text_put(p, start_folder);
        *p++ = '/';
    }
    memcpy(p, own, (size_t)(slash - own));
    p += slash - own;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        *iot_text_put(p, places[k]) = '\0';
        if (iot_sys(SYS_faccessat, AT_FDCWD, path, R_OK) == 0)
            return path;
    }
    *iot_text_put(p, places[0]) = '\0';
    note(IOT_GPU_SUBSCRIBER, path);
    return NULL;
}

static int driver_is_loaded(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (driver)
        dlclose(driver);
    else
        dlerror(); /* else the program would be told of it */
    return driver != NULL;
}

static char *answer(char *given)
{
    int saved = errno;
    const char *path = NULL;
    if (!iot_enter_always() || !driver_is_loaded())
        path = NULL;
    else if (given && strcmp(given, "none") == 0)
        note(IOT_GPU_OFF, INJECTION "=none");
    else if (given && !strstr(given, SUBSCRIBER))
        note(IOT_GPU_TAKEN, given);
    else if (!given && iot_gpu_wanted == IOT_GPU_WANTS_NOTHING)
        note(IOT_GPU_OFF, "IOTRACE_CUDA=0");
    else if (!given)
        path = find_subscriber();
    errno = saved;
    return given ? given : (char *)(uintptr_t)path;
}

static int asks_for_it(const char *name)
{
    return name[0] == 'C' && name[1] == 'U' && strcmp(name, INJECTION) == 0;
}

#define GETENV(sym)                                                                                \
    char *sym(const char *name)                                                                    \
    {                                                                                              \
        char *value = iot_real.sym(name);                                                          \
        return __builtin_expect(asks_for_it(name), 0) ? answer(value) : value;                     \
    }

GETENV(getenv)
GETENV(secure_getenv)
GETENV(__secure_getenv)
