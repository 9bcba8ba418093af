#include "preload/stacks.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <unwind.h>

#include "preload/process.h"
#include "preload/python.h"
#include "preload/readable.h"
#include "preload/strings.h"
#include "preload/sys.h"
#include "preload/text.h"

#define EXPORT __attribute__((visibility("default")))

enum iot_stacks iot_stacks;

enum {
    FRAMES = 40,
#if defined(__x86_64__)
    FRAME_POINTER = 6, /* as DWARF numbers registers */
#else
    FRAME_POINTER = 29,
#endif
    LINE_BYTES = 32,
    PYTHON_LINE_BYTES = 24, /* two numbers of 32 bits */
    /* What it takes of the stack, and half as much again. */
    STACK_BYTES = 12 << 10,
};

static _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
static uintptr_t (*ip_of)(struct _Unwind_Context *);
static int (*find_object)(void *, struct dl_find_object *);
static _Unwind_Word (*register_of)(struct _Unwind_Context *, int);
static _Unwind_Word (*cfa_of)(struct _Unwind_Context *);
static uintptr_t own_from, own_to;

static int find(uintptr_t address, struct dl_find_object *found)
{
    return find_object((void *)address, found) ? -1 : 0;
}

void iot_stacks_start(const char *wanted)
{
    if (wanted && !strcmp(wanted, "sites"))
        iot_stacks = IOT_STACKS_SITES;
    else if (wanted && !strcmp(wanted, "all"))
        iot_stacks = IOT_STACKS_ALL;
}

static _Unwind_Reason_Code only_once(struct _Unwind_Context *at, void *user)
{
    (void)at;
    (void)user;
    return _URC_END_OF_STACK;
}

static void load(void)
{
    void *unwinder = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!unwinder)
        return;
    _Unwind_Reason_Code (*unwinds)(_Unwind_Trace_Fn, void *);
    *(void **)&unwinds = dlsym(unwinder, "_Unwind_Backtrace");
    *(void **)&ip_of = dlsym(unwinder, "_Unwind_GetIP");
    *(void **)&register_of = dlsym(unwinder, "_Unwind_GetGR");
    *(void **)&cfa_of = dlsym(unwinder, "_Unwind_GetCFA");
    *(void **)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
    struct dl_find_object own;
    if (!unwinds || !ip_of || !register_of || !cfa_of || !find_object ||
        find((uintptr_t)iot_stacks_start, &own))
        return;
    unwinds(only_once, NULL); /* its first time goes through pthread_once, which is recorded */
    own_from = (uintptr_t)own.dlfo_map_start;
    own_to = (uintptr_t)own.dlfo_map_end;
    backtrace = unwinds;
}

typedef int (*main_function)(int, char **, char **);
typedef int (*start_function)(main_function, int, char **, void (*)(void), void (*)(void),
                              void (*)(void), void *);

EXPORT int __libc_start_main(main_function main, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*loader_fini)(void), void *stack_end);

/* Our constructor runs before libc's own, which a dlopen() there would run as well, without an
 * environment to give it. Here all is ready, and the program has not begun. */
int __libc_start_main(main_function main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    start_function start;
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    if (iot_stacks)
        load();
    return start(main, argc, argv, init, fini, loader_fini, stack_end);
}

/* --- modules --- */

static char *put_hex(char *to, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        *to++ = "0123456789abcdef"[bytes[i] >> 4];
        *to++ = "0123456789abcdef"[bytes[i] & 15];
    }
    return to;
}

/* From the notes of a module in memory; what is behind is a path. */
static char *put_build_id(char *to, const struct dl_find_object *module)
{
    enum { MAX_BYTES = 32 };
    const uint8_t *base = module->dlfo_map_start;
    const ElfW(Ehdr) *h = (const void *)base;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_phentsize != sizeof(ElfW(Phdr)) ||
        h->e_phoff + h->e_phnum * sizeof(ElfW(Phdr)) > 4096)
        return iot_text_put(to, "-");
    const ElfW(Phdr) *p = (const void *)(base + h->e_phoff);
    for (unsigned i = 0; i < h->e_phnum; i++) {
        const uint8_t *at = (const uint8_t *)module->dlfo_link_map->l_addr + p[i].p_vaddr;
        const uint8_t *end = at + p[i].p_memsz;
        while (p[i].p_type == PT_NOTE && (size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof note);
            size_t name = (note.n_namesz + 3u) & ~(size_t)3,
                   bytes = (note.n_descsz + 3u) & ~(size_t)3;
            at += sizeof note;
            if (name > (size_t)(end - at) || bytes > (size_t)(end - at) - name)
                break;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(at, "GNU", 4) &&
                note.n_descsz <= MAX_BYTES)
                return put_hex(to, at + name, note.n_descsz);
            at += name + bytes;
        }
    }
    return iot_text_put(to, "-");
}

static uint32_t define_module(struct iot_thread *t, const struct dl_find_object *module)
{
    char id[80], exe[1024];
    char *end = put_build_id(id, module);
    *end++ = ' ';
    const char *path = module->dlfo_link_map->l_name;
    size_t n = strnlen(path, 4096);
    if (!n) { /* the program itself */
        long r = iot_sys(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", exe, sizeof exe);
        if (r <= 0)
            return 0;
        path = exe;
        n = (size_t)r;
    }
    return iot_string(t, id, (size_t)(end - id), path, n);
}

static uint32_t module_number(struct iot_thread *t, const struct dl_find_object *module)
{
    uintptr_t from = (uintptr_t)module->dlfo_map_start;
    struct iot_module_seen *seen =
        &iot_process->modules[(from >> 12 ^ from >> 21) % IOT_MODULES_KEPT];
    if (seen->from == from && seen->number)
        return seen->number;
    iot_python_meet(module);
    uint32_t number = define_module(t, module);
    if (iot_is_here(t)) {
        seen->number = 0;
        seen->from = from;
        __atomic_store_n(&seen->number, number, __ATOMIC_RELEASE);
    }
    return number;
}

/* --- frames --- */

struct frames {
    uintptr_t at[FRAMES];
    unsigned n;
    uintptr_t base, below; /* of the last: its frame pointer, and where its callee's frame ends */
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *user)
{
    struct frames *frames = user;
    uintptr_t ip = ip_of(context);
    frames->base = register_of(context, FRAME_POINTER);
    frames->below = cfa_of(context);
    if (!ip || frames->n == FRAMES)
        return _URC_END_OF_STACK;
    if (ip < own_from || ip >= own_to)
        frames->at[frames->n++] = ip - 1; /* the call, not what it returns to */
    return _URC_NO_REASON;
}

static int is_readable(uintptr_t from, size_t bytes)
{
    return iot_readable((const void *)from, bytes) == bytes;
}

/* Whether a call can have been the instruction before: call rel32, or one of the forms of call
 * r/m64. */
static int follows_call(uintptr_t address)
{
    const uint8_t *p = (const uint8_t *)address;
    return is_readable(address - 7, 7) &&
           (p[-5] == 0xe8 || p[-2] == 0xff || p[-3] == 0xff || p[-6] == 0xff || p[-7] == 0xff);
}

/* Compilers at run time, and node's own code that is like theirs, say nothing to an unwinder, but
 * keep frame pointers. What is none is found out by what it points to. */
static void go_on_by_frame_pointers(struct frames *f)
{
    enum { FRAME_BYTES_MAX = 1 << 20 };
#if defined(__x86_64__)
    while (f->n < FRAMES && f->base % sizeof(uintptr_t) == 0 && f->base >= f->below &&
           f->base - f->below < FRAME_BYTES_MAX && is_readable(f->base, 2 * sizeof(uintptr_t))) {
        const uintptr_t *frame = (const uintptr_t *)f->base;
        if (!follows_call(frame[1]))
            return;
        f->at[f->n++] = frame[1] - 1;
        f->below = f->base + 2 * sizeof(uintptr_t);
        f->base = frame[0];
    }
#endif
}

/* Threads may have little stack, and so have handlers of signals; the first thread's grows. */
static int has_room(const struct iot_thread *t)
{
    uintptr_t below = (iot_stack_at() - STACK_BYTES) & ~(uintptr_t)4095;
    if (is_readable(below, 1))
        return 1;
    stack_t alternate;
    return t->tid == iot_process->pid && iot_sys(SYS_sigaltstack, 0, &alternate) == 0 &&
           !(alternate.ss_flags & SS_ONSTACK);
}

static char *put_frame(char *p, uint32_t number, uint64_t offset)
{
    p = iot_text_number(p, number);
    *p++ = ' ';
    p = iot_text_base(p, offset, 16);
    *p++ = '\n';
    return p;
}

/* Before the interpreter's own frames. */
static char *put_python(struct iot_thread *t, char *p, int each)
{
    struct iot_python_frame frames[IOT_PYTHON_FRAMES_MAX];
    unsigned n = iot_python_frames(t, frames, each ? IOT_PYTHON_FRAMES_MAX : IOT_PYTHON_FRAMES);
    for (unsigned i = 0; i < n; i++)
        p = put_frame(p, frames[i].function, frames[i].line);
    return p;
}

static __attribute__((noinline)) uint32_t unwind(struct iot_thread *t)
{
    struct frames frames = {.n = 0};
    char text[FRAMES * LINE_BYTES + IOT_PYTHON_FRAMES_MAX * PYTHON_LINE_BYTES];
    char *p = text;
    int each = iot_stacks == IOT_STACKS_ALL, is_put = 0;
    backtrace(on_frame, &frames);
    if (frames.n)
        go_on_by_frame_pointers(&frames);
    for (unsigned i = 0; i < frames.n; i++) {
        struct dl_find_object module;
        uint32_t number = 0;
        uintptr_t offset = frames.at[i];
        if (!find(offset, &module)) {
            number = module_number(t, &module);
            if (!is_put && iot_python_is(&module)) {
                p = put_python(t, p, each);
                is_put = 1;
            }
            offset -= module.dlfo_link_map->l_addr;
        }
        p = put_frame(p, number, offset);
    }
    if (!is_put)
        p = put_python(t, p, each);
    return p > text ? iot_string(t, "", 0, text, (size_t)(p - text) - 1) : 0;
}

uint32_t iot_stack(struct iot_thread *t, const void *caller)
{
    if (!backtrace || t->depth) /* a handler inside a record */
        return 0;
    int known = iot_stacks == IOT_STACKS_SITES &&
                !((uintptr_t)caller >= own_from && (uintptr_t)caller < own_to);
    uint64_t hash = (uint64_t)(uintptr_t)caller * UINT64_C(0x9e3779b97f4a7c15);
    if (known)
        hash ^= iot_python_signature();
    uint64_t *place = &iot_process->sites[hash >> 52 & (IOT_SITES_KEPT - 1)];
    uint64_t tag = (hash & ((UINT64_C(1) << 40) - 1)) | 1;
    uint64_t kept = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (known && kept >> IOT_STRING_NUMBER_BITS == tag)
        return (uint32_t)(kept & ((1u << IOT_STRING_NUMBER_BITS) - 1));
    if (!has_room(t))
        return 0;
    uint32_t number = unwind(t);
    if (known && number < 1u << IOT_STRING_NUMBER_BITS && iot_is_here(t))
        __atomic_store_n(place, tag << IOT_STRING_NUMBER_BITS | number, __ATOMIC_RELAXED);
    return number;
}

void iot_stacks_forget(void)
{
    for (unsigned i = 0; i < IOT_SITES_KEPT; i++)
        __atomic_store_n(&iot_process->sites[i], 0, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < IOT_MODULES_KEPT; i++)
        __atomic_store_n(&iot_process->modules[i].number, 0, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < IOT_PYTHON_KEPT; i++)
        __atomic_store_n(&iot_process->places[i].means, 0, __ATOMIC_RELAXED);
}
