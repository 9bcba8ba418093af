#include "format/cupti_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, NAME_BYTES = 32 };

/* Beside a library of PyTorch's wheels that is loaded. */
static const struct {
    const char *library, *within;
} wheels[] = {
    {"libcudart.so", ""},                      /* all in one folder: CUDA 13 */
    {"libcudart.so", "/../../cuda_cupti/lib"}, /* a folder each: CUDA 12 */
    {"libtorch_cuda.so", "/../../nvidia/cu13/lib"},
    {"libtorch_cuda.so", "/../../nvidia/cuda_cupti/lib"},
};

static const char *const in_toolkits[] = {"/extras/CUPTI/lib64", "/lib64", "/lib"};

static const char *const suffixes[] = {".13", ".12", ""};

struct search {
    int driver;
    iot_cupti_beside *beside;
    iot_cupti_try *try;
    void *user;
};

static int try_in(const struct search *s, const char *folder, const char *within, const char *name)
{
    char path[2 * PATH_BYTES];
    if (!folder || !*folder)
        return 0;
    snprintf(path, sizeof path, "%s%s/%s", folder, within, name);
    return access(path, R_OK) ? 0 : s->try(s->user, path);
}

static int try_wheels(const struct search *s, const char *name)
{
    char folder[PATH_BYTES];
    int found = 0;
    for (size_t k = 0; s->beside && k < sizeof wheels / sizeof *wheels && !found; k++)
        found = s->beside(wheels[k].library, folder) && try_in(s, folder, wheels[k].within, name);
    return found;
}

static int try_toolkits(const struct search *s, const char *name)
{
    char of_version[NAME_BYTES] = "";
    if (s->driver)
        snprintf(of_version, sizeof of_version, "/usr/local/cuda-%d.%d", s->driver / 1000,
                 s->driver % 1000 / 10);
    const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda",
                                 of_version};
    int found = 0;
    for (size_t h = 0; h < sizeof homes / sizeof *homes && !found; h++)
        for (size_t k = 0; k < sizeof in_toolkits / sizeof *in_toolkits && !found; k++)
            found = try_in(s, homes[h], in_toolkits[k], name);
    return found;
}

static int try_name(const struct search *s, const char *suffix)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, IOT_CUPTI_FILE "%s", suffix);
    int found = try_wheels(s, name);
    if (!found)
        found = s->try(s->user, name);
    return found ? found : try_toolkits(s, name);
}

int iot_cupti_places(int driver, iot_cupti_beside *beside, iot_cupti_try *try, void *user)
{
    const struct search s = {driver, beside, try, user};
    char own[NAME_BYTES];
    int found = 0;
    snprintf(own, sizeof own, ".%d", driver / 1000);
    if (driver)
        found = try_name(&s, own);
    for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes && !found; k++)
        found = try_name(&s, suffixes[k]);
    return found;
}
