/* Which libcupti. Two copies of it are two states: one that the program has loaded already
 * (PyTorch's wheels bring one) is the one. Else the one of the driver's version comes first.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cupti/subscriber.h"

struct iot_cupti iot_cupti;

#define CUPTI_FILE "libcupti.so"
enum { PATH_BYTES = 4096 };

static const struct function {
    const char *name;
    size_t at;
    int is_needed;
} functions[] = {
#define CUPTI(name, needed, parameters) {#name, offsetof(struct iot_cupti, name), needed},
#include "cupti/functions.def"
#undef CUPTI
};

/* --- one that is loaded --- */

struct found {
    char path[PATH_BYTES];
    const char *name; /* what the file's name starts with */
};

static int look(struct dl_phdr_info *object, size_t bytes, void *user)
{
    struct found *found = user;
    (void)bytes;
    if (!object->dlpi_name || strncmp(basename(object->dlpi_name), found->name, strlen(found->name)))
        return 0;
    snprintf(found->path, sizeof found->path, "%s", object->dlpi_name);
    return 1;
}

/* The path of a loaded library by the start of its name; empty without. */
static struct found loaded(const char *name)
{
    struct found found = {"", name};
    dl_iterate_phdr(look, &found);
    return found;
}

static void *the_loaded(void)
{
    struct found found = loaded(CUPTI_FILE);
    return *found.path ? dlopen(found.path, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

/* --- one that is not --- */

/* The major version of CUDA that the driver is for. */
static int driver_major(void)
{
    int version = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    int (*ask)(int *) = driver ? (int (*)(int *))dlsym(driver, "cuDriverGetVersion") : NULL;
    if (!ask || ask(&version))
        version = 0;
    if (driver)
        dlclose(driver);
    return version / 1000;
}

static void *open_at(const char *folder, const char *within, const char *name)
{
    char path[2 * PATH_BYTES];
    if (!folder || !*folder)
        return NULL;
    snprintf(path, sizeof path, "%s%s/%s", folder, within, name);
    return access(path, R_OK) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Beside a library of PyTorch's wheels that is loaded. */
static const struct {
    const char *library, *within;
} wheels[] = {
    {"libcudart.so", ""},                      /* all in one folder: CUDA 13 */
    {"libcudart.so", "/../../cuda_cupti/lib"}, /* a folder each: CUDA 12 */
    {"libtorch_cuda.so", "/../../nvidia/cu13/lib"},
    {"libtorch_cuda.so", "/../../nvidia/cuda_cupti/lib"},
};

static const char *const toolkits[] = {"/extras/CUPTI/lib64", "/lib64", "/lib"};

static void *from_wheels(const char *name)
{
    void *library = NULL;
    for (size_t k = 0; k < sizeof wheels / sizeof *wheels && !library; k++) {
        struct found found = loaded(wheels[k].library);
        char *slash = strrchr(found.path, '/');
        if (slash)
            *slash = '\0';
        library = slash ? open_at(found.path, wheels[k].within, name) : NULL;
    }
    return library;
}

static void *from_toolkits(const char *name)
{
    const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    void *library = NULL;
    for (size_t h = 0; h < sizeof homes / sizeof *homes && !library; h++)
        for (size_t k = 0; k < sizeof toolkits / sizeof *toolkits && !library; k++)
            library = open_at(homes[h], toolkits[k], name);
    return library;
}

static void *one_of(const char *name)
{
    void *library = from_wheels(name);
    if (!library)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    return library ? library : from_toolkits(name);
}

static void *find(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    void *library = the_loaded();
    char own[32];
    int major = driver_major();
    snprintf(own, sizeof own, "libcupti.so.%d", major);
    if (!library && major)
        library = one_of(own);
    for (size_t k = 0; k < sizeof names / sizeof *names && !library; k++)
        library = one_of(names[k]);
    return library;
}

/* From its first segment to the end of its last. */
static int range_of(struct dl_phdr_info *object, size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    if (!object->dlpi_name || strncmp(basename(object->dlpi_name), CUPTI_FILE, sizeof CUPTI_FILE - 1))
        return 0;
    uint64_t end = 0;
    for (int k = 0; k < object->dlpi_phnum; k++) {
        const ElfW(Phdr) *h = &object->dlpi_phdr[k];
        if (h->p_type == PT_LOAD && h->p_vaddr + h->p_memsz > end)
            end = h->p_vaddr + h->p_memsz;
    }
    iot_writer->own_code((const void *)object->dlpi_addr, end);
    return 1;
}

static void say_own_code(void)
{
    dl_iterate_phdr(range_of, NULL);
}

int iot_cupti_load(char why[512])
{
    void *library = find();
    if (!library) {
        const char *said = dlerror();
        snprintf(why, 512, "%s", said ? said : "not found");
        return -1;
    }
    say_own_code();
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        void *found = dlsym(library, functions[k].name);
        *(void **)((char *)&iot_cupti + functions[k].at) = found;
        if (!found && functions[k].is_needed) {
            snprintf(why, 512, "it has no %s: it is of CUDA 11.5 or before", functions[k].name);
            dlerror();
            return -1;
        }
    }
    dlerror();
    return 0;
}
