/* The part of NVTX that run_nvtx calls, for where its headers are not installed: the way from the
 * environment's library to the functions that it puts into two tables is NVTX's. */
#ifndef IOT_TEST_NVTX_STAND_IN_H
#define IOT_TEST_NVTX_STAND_IN_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

typedef void *nvtxDomainHandle_t;
typedef uint64_t nvtxRangeId_t;

enum { NVTX_VERSION = 3, NVTX_MESSAGE_TYPE_REGISTERED = 3 };

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved;
    uint64_t payload;
    int32_t messageType;
    union {
        void *registered;
    } message;
} nvtxEventAttributes_t;

static void (*mark_text)(const char *);
static uint64_t (*start_text)(const char *);
static void (*stop)(uint64_t);
static int (*push_text)(const char *);
static int (*push_wide)(const wchar_t *);
static int (*pop)(void);
static int (*domain_push)(void *, const nvtxEventAttributes_t *);
static int (*domain_pop)(void *);
static void *(*register_text)(void *, const char *);
static void *(*create_text)(const char *);

typedef void (**slot)(void);

static slot core[] = {NULL,
                      NULL,
                      (slot)&mark_text,
                      NULL,
                      NULL,
                      (slot)&start_text,
                      NULL,
                      (slot)&stop,
                      NULL,
                      (slot)&push_text,
                      (slot)&push_wide,
                      (slot)&pop};
static slot domains[] = {NULL,
                         NULL,
                         NULL,
                         NULL,
                         (slot)&domain_push,
                         (slot)&domain_pop,
                         NULL,
                         NULL,
                         NULL,
                         NULL,
                         (slot)&register_text,
                         NULL,
                         (slot)&create_text};

static int table_of(int module, slot **table, unsigned *n)
{
    *table = module == 1 ? core : domains;
    *n = module == 1 ? sizeof core / sizeof *core : sizeof domains / sizeof *domains;
    return module == 1 || module == 5;
}

static const struct {
    size_t bytes;
    int (*table_of)(int, slot **, unsigned *);
} callbacks = {sizeof callbacks, table_of};

static const void *export_table(uint32_t which)
{
    return which == 1 ? &callbacks : NULL;
}

static int start_stand_in(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*initialize)(const void *(*)(uint32_t));
    *(void **)&initialize = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
    return initialize && initialize(export_table);
}

#define IF(function, ...) (function ? function(__VA_ARGS__) : 0)
#define nvtxMarkA(name) (mark_text ? mark_text(name) : (void)0)
#define nvtxRangeStartA(name) IF(start_text, name)
#define nvtxRangeEnd(id) (stop ? stop(id) : (void)0)
#define nvtxRangePushA(name) IF(push_text, name)
#define nvtxRangePushW(name) IF(push_wide, name)
#define nvtxRangePop() (pop ? pop() : 0)
#define nvtxDomainRangePushEx(domain, a) IF(domain_push, domain, a)
#define nvtxDomainRangePop(domain) IF(domain_pop, domain)
#define nvtxDomainRegisterStringA(domain, name) IF(register_text, domain, name)
#define nvtxDomainCreateA(name) IF(create_text, name)

#endif
