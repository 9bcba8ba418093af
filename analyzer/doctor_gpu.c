/* The GPU's driver, its tracing library, and other tools that use the same way in. */
#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>

#include "analyzer/doctor.h"

static const char *const injections[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};

static const char *const cupti_places[] = {
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so*",
    "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*",
    "/usr/local/cuda*/lib64/libcupti.so*",
    "/usr/lib/*-linux-gnu/libcupti.so*",
};

/* The driver's CUDA version, such as 12040; 0 without one. */
static int driver_version(void)
{
    int version = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return 0;
    int (*ask)(int *) = (int (*)(int *))dlsym(driver, "cuDriverGetVersion");
    if (!ask || ask(&version))
        version = 0;
    dlclose(driver);
    return version;
}

static void find_cupti(struct iot_doctor *d)
{
    for (size_t i = 0; i < sizeof cupti_places / sizeof *cupti_places && !*d->cupti; i++) {
        glob_t found;
        if (!glob(cupti_places[i], 0, NULL, &found))
            snprintf(d->cupti, sizeof d->cupti, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
}

void iot_doctor_gpu(struct iot_doctor *d)
{
    int version = driver_version();
    for (size_t i = 0; i < sizeof injections / sizeof *injections; i++) {
        const char *value = getenv(injections[i]);
        if (value && *value)
            iot_doctor_add(d, IOT_LEVEL_NOTE, "unset it, unless that tool shall run as well",
                           "%s is set to %s: another tool traces the GPU, and that costs time",
                           injections[i], value);
    }
    if (!version) {
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "no CUDA driver (libcuda.so.1), so no GPU work");
        return;
    }
    find_cupti(d);
    iot_doctor_add(d, IOT_LEVEL_NOTE, "take GPU work from another profiler",
                   "CUDA driver for %d.%d, %s%s; this version records no GPU work", version / 1000,
                   version % 1000 / 10, *d->cupti ? "CUPTI in " : "no CUPTI library", d->cupti);
}
