/* The GPU's driver, its tracing library, and other tools that use the same way in. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/doctor.h"
#include "format/cupti_places.h"

static const char *const injections[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};

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

/* A name that the linker finds is loaded to learn from where. */
static int note_path(void *user, const char *path)
{
    struct iot_doctor *d = user;
    void *library = *path == '/' ? NULL : dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    const struct link_map *map = NULL;
    if (library && !dlinfo(library, RTLD_DI_LINKMAP, &map))
        path = map->l_name;
    if (*path == '/')
        snprintf(d->cupti, sizeof d->cupti, "%s", path);
    if (library)
        dlclose(library);
    return *d->cupti != '\0';
}

int iot_subscriber_find(const char *library, char *path, size_t size)
{
    static const char *const places[] = {"", "../cupti/"};
    const char *slash = strrchr(library, '/');
    int folder = slash ? (int)(slash + 1 - library) : 0, missing = 1;
    for (size_t k = 0; k < sizeof places / sizeof *places && missing; k++) {
        snprintf(path, size, "%.*s%slibiotrace-cupti.so", folder, library, places[k]);
        missing = access(path, R_OK);
    }
    return missing ? -1 : 0;
}

static void check_subscriber(struct iot_doctor *d)
{
    char path[sizeof d->library + 64];
    int missing = iot_subscriber_find(d->library, path, sizeof path);
    if (missing && *d->library)
        iot_doctor_add(d, IOT_LEVEL_NOTE, "install it beside libiotrace.so",
                       "there is no libiotrace-cupti.so, so no GPU work will be recorded");
    else if (IOT_CUPTI_CHECKED)
        iot_doctor_add(d, IOT_LEVEL_OK, NULL,
                       "libiotrace-cupti.so agrees with the headers of CUPTI's version %d",
                       IOT_CUPTI_CHECKED);
    else
        iot_doctor_add(d, IOT_LEVEL_NOTE,
                       "build it with the option cupti_include naming the folder of cupti.h",
                       "CUPTI's headers were missing when libiotrace-cupti.so was built: it works "
                       "without, but what it takes for granted was not compared with them");
}

static void check_wishes(struct iot_doctor *d)
{
    const char *wish = getenv("IOTRACE_CUDA");
    for (size_t i = 0; i < sizeof injections / sizeof *injections; i++) {
        const char *value = getenv(injections[i]);
        if (value && *value && !strstr(value, "libiotrace"))
            iot_doctor_add(d, IOT_LEVEL_NOTE, "unset it, unless that tool shall run as well",
                           "%s is set to %s: another tool traces the GPU, and that costs time",
                           injections[i], value);
    }
    if (wish && (!strcmp(wish, "0") || !strcmp(wish, "off")))
        iot_doctor_add(d, IOT_LEVEL_NOTE, "unset it to record GPU work", "IOTRACE_CUDA is %s",
                       wish);
    else if (wish && *wish && strcmp(wish, "copies") != 0 && strcmp(wish, "kernels") != 0)
        iot_doctor_add(d, IOT_LEVEL_NOTE, "set it to off, copies or kernels",
                       "IOTRACE_CUDA is %s, which counts for nothing: copies are recorded", wish);
}

void iot_doctor_gpu(struct iot_doctor *d)
{
    int version = driver_version();
    check_wishes(d);
    check_subscriber(d);
    if (!version) {
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "no CUDA driver (libcuda.so.1), so no GPU work");
        return;
    }
    iot_cupti_places(version, NULL, note_path, d);
    if (*d->cupti)
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "CUDA driver for %d.%d, CUPTI in %s", version / 1000,
                       version % 1000 / 10, d->cupti);
    else
        iot_doctor_add(
            d, IOT_LEVEL_NOTE,
            "install the CUPTI of the CUDA toolkit, or set CUDA_HOME; a program that brings "
            "its own (PyTorch) needs neither",
            "CUDA driver for %d.%d, but no libcupti: GPU work will not be recorded", version / 1000,
            version % 1000 / 10);
}
