/* Which libcupti. Two copies of it are two states: one that the program has loaded already
 * (PyTorch's wheels bring one) is the one. Else the one of the driver's version comes first.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "cupti/subscriber.h"
#include "format/cupti_places.h"

struct iot_cupti iot_cupti;

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
    if (!object->dlpi_name ||
        strncmp(basename(object->dlpi_name), found->name, strlen(found->name)))
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
    struct found found = loaded(IOT_CUPTI_FILE);
    return *found.path ? dlopen(found.path, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

/* --- one that is not --- */

/* The version of CUDA that the driver is for; 0 not known. */
static int driver_version(void)
{
    int version = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    int (*ask)(int *) = driver ? (int (*)(int *))dlsym(driver, "cuDriverGetVersion") : NULL;
    if (!ask || ask(&version))
        version = 0;
    if (driver)
        dlclose(driver);
    return version;
}

static int folder_of(const char *library, char *folder)
{
    struct found found = loaded(library);
    char *slash = strrchr(found.path, '/');
    if (slash)
        snprintf(folder, PATH_BYTES, "%.*s", (int)(slash - found.path), found.path);
    return slash != NULL;
}

static int open_it(void *user, const char *path)
{
    void **library = user;
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *library != NULL;
}

static void *find(void)
{
    void *library = the_loaded();
    if (!library)
        iot_cupti_places(driver_version(), folder_of, open_it, &library);
    return library;
}

/* From its first segment to the end of its last. */
static int range_of(struct dl_phdr_info *object, size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    if (!object->dlpi_name ||
        strncmp(basename(object->dlpi_name), IOT_CUPTI_FILE, sizeof IOT_CUPTI_FILE - 1))
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
