/* Ranges and marks that the program makes with NVTX, the annotations of NVIDIA's tools. NVTX is
 * headers: each library that uses them looks, at its first call, for a library that the environment
 * names (NVTX_INJECTION64_PATH), and calls InitializeInjectionNvtx2 in it with a function that
 * gives its tables of pointers. What is not put into them stays a no-op. No GPU is needed.
 */
#include <string.h>
#include <wchar.h>

#include "preload/marks.h"
#include "preload/record.h"
#include "preload/sys.h"

#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))

typedef void (*function)(void);

/* What NVTX lays down, version 3. */
enum { EXPORT_CALLBACKS = 1, MODULE_CORE = 1, MODULE_DOMAINS = 5 };
enum { MESSAGE_TEXT = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3, NO_NESTING_KNOWN = -2 };

struct callbacks {
    size_t bytes;
    int (*table_of)(int module, function ***table, unsigned *n);
};

struct attributes {
    uint16_t version, bytes;
    uint32_t category;
    int32_t colour_type;
    uint32_t colour;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

EXPORT int InitializeInjectionNvtx2(const void *(*export)(uint32_t));

/* --- names --- */

enum { NAME_BYTES = 1024, KEPT_BYTES = 64 * 1024 };

/* Names in wide characters become UTF-8. */
static const char *narrow(const wchar_t *wide, char to[NAME_BYTES])
{
    size_t n = 0;
    for (; wide && *wide && n < NAME_BYTES - 4; wide++) {
        uint32_t c = (uint32_t)*wide;
        int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
        to[n++] = (char)(first[more] | c >> 6 * more);
        while (more--)
            to[n++] = (char)(0x80 | (c >> 6 * more & 0x3f));
    }
    to[n] = '\0';
    return to;
}

/* Names that stay, one behind the other. */
struct kept {
    size_t used;
    char bytes[];
};

/* Room that stays, of pages of our own: the program's allocator may be what is being annotated.
 * NULL without memory. There is no lock that a fork or a signal could leave taken. */
static char *room_for(size_t bytes)
{
    static struct kept *current;
    for (;;) {
        struct kept *pages = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
        if (pages) {
            size_t at = __atomic_fetch_add(&pages->used, bytes, __ATOMIC_RELAXED);
            if (at + bytes <= KEPT_BYTES - sizeof *pages)
                return pages->bytes + at;
        }
        long fresh = iot_sys(SYS_mmap, 0, KEPT_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (fresh < 0 && fresh > -4096)
            return NULL;
        if (!__atomic_compare_exchange_n(&current, &pages, (struct kept *)fresh, 0,
                                         __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            iot_sys(SYS_munmap, fresh, KEPT_BYTES); /* another was first */
    }
}

/* A copy that stays; NULL without memory. */
static const char *keep(const char *name)
{
    size_t n = strnlen(name, NAME_BYTES - 1);
    char *copy = room_for(n + 1);
    return copy ? memcpy(copy, name, n) : NULL;
}

static const char *message_of(const struct attributes *a, char wide[NAME_BYTES])
{
    if (!a || a->bytes < sizeof *a)
        return NULL;
    switch (a->message_type) {
    case MESSAGE_TEXT:
    case MESSAGE_REGISTERED: /* the handle is the name that was kept */
        return a->message;
    case MESSAGE_WIDE:
        return narrow(a->message, wide);
    default:
        return NULL;
    }
}

/* --- what NVTX calls --- */

static void record(const struct attributes *a, enum iot_mark_kind kind, uint64_t id)
{
    char wide[NAME_BYTES];
    const char *name = message_of(a, wide);
    iot_mark_record(name ? name : "", kind, id);
}

static uint64_t next_number(void)
{
    static uint64_t number;
    return __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
}

static uint64_t domain_number(const void *domain)
{
    return (uint64_t)(uintptr_t)domain;
}

static void mark_with(const struct attributes *a)
{
    record(a, IOT_MARK_NAMED, 0);
}

static void mark_text(const char *name)
{
    iot_mark_record(name, IOT_MARK_NAMED, 0);
}

static void mark_wide(const wchar_t *name)
{
    char text[NAME_BYTES];
    mark_text(narrow(name, text));
}

static uint64_t start_with(const struct attributes *a)
{
    uint64_t id = next_number();
    record(a, IOT_MARK_START, id);
    return id;
}

static uint64_t start_text(const char *name)
{
    uint64_t id = next_number();
    iot_mark_record(name ? name : "", IOT_MARK_START, id);
    return id;
}

static uint64_t start_wide(const wchar_t *name)
{
    char text[NAME_BYTES];
    return start_text(narrow(name, text));
}

static void stop(uint64_t id)
{
    iot_mark_record(NULL, IOT_MARK_STOP, id);
}

static int push_with(const struct attributes *a)
{
    record(a, IOT_MARK_BEGIN, 0);
    return NO_NESTING_KNOWN;
}

static int push_text(const char *name)
{
    iot_mark_record(name ? name : "", IOT_MARK_BEGIN, 0);
    return NO_NESTING_KNOWN;
}

static int push_wide(const wchar_t *name)
{
    char text[NAME_BYTES];
    return push_text(narrow(name, text));
}

static int pop(void)
{
    iot_mark_record(NULL, IOT_MARK_END, 0);
    return NO_NESTING_KNOWN;
}

static void domain_mark(const void *domain, const struct attributes *a)
{
    (void)domain;
    record(a, IOT_MARK_NAMED, 0);
}

static uint64_t domain_start(const void *domain, const struct attributes *a)
{
    (void)domain;
    return start_with(a);
}

static void domain_stop(const void *domain, uint64_t id)
{
    (void)domain;
    stop(id);
}

static int domain_push(const void *domain, const struct attributes *a)
{
    record(a, IOT_MARK_BEGIN, domain_number(domain));
    return NO_NESTING_KNOWN;
}

static int domain_pop(const void *domain)
{
    iot_mark_record(NULL, IOT_MARK_END, domain_number(domain));
    return NO_NESTING_KNOWN;
}

static const void *register_text(const void *domain, const char *name)
{
    (void)domain;
    return name ? keep(name) : NULL;
}

static const void *register_wide(const void *domain, const wchar_t *name)
{
    char text[NAME_BYTES];
    return register_text(domain, narrow(name, text));
}

/* Only that domains differ matters. */
static const void *create_text(const char *name)
{
    return register_text(NULL, name);
}

static const void *create_wide(const wchar_t *name)
{
    return register_wide(NULL, name);
}

/* --- the tables --- */

static const struct {
    int module;
    unsigned at;
    function call;
} calls[] = {
    {MODULE_CORE, 1, (function)mark_with},
    {MODULE_CORE, 2, (function)mark_text},
    {MODULE_CORE, 3, (function)mark_wide},
    {MODULE_CORE, 4, (function)start_with},
    {MODULE_CORE, 5, (function)start_text},
    {MODULE_CORE, 6, (function)start_wide},
    {MODULE_CORE, 7, (function)stop},
    {MODULE_CORE, 8, (function)push_with},
    {MODULE_CORE, 9, (function)push_text},
    {MODULE_CORE, 10, (function)push_wide},
    {MODULE_CORE, 11, (function)pop},
    {MODULE_DOMAINS, 1, (function)domain_mark},
    {MODULE_DOMAINS, 2, (function)domain_start},
    {MODULE_DOMAINS, 3, (function)domain_stop},
    {MODULE_DOMAINS, 4, (function)domain_push},
    {MODULE_DOMAINS, 5, (function)domain_pop},
    {MODULE_DOMAINS, 10, (function)register_text},
    {MODULE_DOMAINS, 11, (function)register_wide},
    {MODULE_DOMAINS, 12, (function)create_text},
    {MODULE_DOMAINS, 13, (function)create_wide},
};

int InitializeInjectionNvtx2(const void *(*export)(uint32_t))
{
    const struct callbacks *callbacks = export(EXPORT_CALLBACKS);
    if (!iot_enter_always() || !callbacks || callbacks->bytes < sizeof *callbacks)
        return 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        function **table;
        unsigned n;
        if (!callbacks->table_of(calls[i].module, &table, &n))
            return 0;
        if (calls[i].at < n && table[calls[i].at])
            *table[calls[i].at] = calls[i].call;
    }
    return 1;
}
