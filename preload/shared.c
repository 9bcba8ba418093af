#include "preload/shared.h"

#include <string.h>
#include <sys/stat.h>

#include "preload/process.h"
#include "preload/sys.h"
#include "preload/text.h"

enum {
    REGIONS = 256, /* more are not told apart between processes */
    NAME_BYTES = 96,
    SEMAPHORE_BYTES = 32,
};

struct region {
    uintptr_t from, to;
    uint64_t offset;     /* of its first byte in what it is named after */
    uint32_t string;     /* number of its name in the trace of generation */
    uint32_t generation;
    char name[NAME_BYTES];
};
static struct region regions[REGIONS];
static uint32_t taken;
uint32_t iot_shared_count;

static struct region *take(const void *at, size_t bytes)
{
    uint32_t n = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
    /* The oldest makes room: what is mapped anew and anew is not waited on. */
    struct region *r = &regions[n % REGIONS];
    r->to = 0;
    r->generation = 0;
    r->offset = 0;
    r->from = (uintptr_t)at;
    r->to = r->from + bytes;
    return r;
}

static void publish(void)
{
    uint32_t n = __atomic_load_n(&taken, __ATOMIC_ACQUIRE);
    __atomic_store_n(&iot_shared_count, n < REGIONS ? n : REGIONS, __ATOMIC_RELEASE);
}

void iot_shared_file(const void *at, size_t bytes, int fd, int64_t offset)
{
    struct stat st;
    if (iot_sys(SYS_fstat, fd, &st))
        return;
    struct region *r = take(at, bytes);
    char *p = iot_text_put(r->name, "map:");
    p = iot_text_number(p, st.st_dev);
    *p++ = ':';
    *iot_text_number(p, st.st_ino) = '\0';
    r->offset = (uint64_t)offset;
    publish();
}

void iot_shared_anonymous(const void *at, size_t bytes)
{
    struct region *r = take(at, bytes);
    char *p = iot_text_put(r->name, "shared:");
    p = iot_text_number(p, iot_process->pid);
    *p++ = ':';
    *iot_text_number(p, iot_now()) = '\0';
    publish();
}

void iot_shared_semaphore(const void *at, const char *name)
{
    struct region *r = take(at, SEMAPHORE_BYTES);
    char *p = iot_text_put(r->name, "sem:");
    size_t n = strnlen(name, NAME_BYTES - 8);
    memcpy(p, name, n);
    p[n] = '\0';
    publish();
}

void iot_shared_forget(const void *at, size_t bytes)
{
    uintptr_t from = (uintptr_t)at;
    uint32_t n = __atomic_load_n(&iot_shared_count, __ATOMIC_ACQUIRE);
    for (uint32_t k = 0; k < n; k++)
        if (regions[k].from >= from && regions[k].to <= from + bytes)
            regions[k].to = 0;
}

void iot_shared_moved(const void *at, size_t bytes, const void *to, size_t wanted)
{
    uintptr_t from = (uintptr_t)at;
    uint32_t n = __atomic_load_n(&iot_shared_count, __ATOMIC_ACQUIRE);
    for (uint32_t k = 0; k < n; k++) {
        struct region *r = &regions[k];
        if (r->from != from || r->to > from + bytes || r->to <= from)
            continue;
        r->to = 0;
        r->from = (uintptr_t)to;
        r->to = r->from + wanted;
    }
}

struct iot_place iot_shared_find(struct iot_thread *t, const void *address)
{
    uintptr_t a = (uintptr_t)address;
    uint32_t n = __atomic_load_n(&iot_shared_count, __ATOMIC_ACQUIRE);
    /* From the newest: an address can have been mapped before. */
    uint32_t last = __atomic_load_n(&taken, __ATOMIC_ACQUIRE);
    for (uint32_t k = 0; k < n; k++) {
        struct region *r = &regions[(last - 1 - k) % REGIONS];
        if (a < r->from || a >= r->to)
            continue;
        uint32_t generation = *iot_generation & IOT_GENERATION_NUMBER;
        if (r->generation != generation) {
            r->string = iot_string(t, "", 0, r->name, strlen(r->name));
            r->generation = generation;
        }
        return (struct iot_place){r->string, a - r->from + r->offset};
    }
    return (struct iot_place){0, a};
}
