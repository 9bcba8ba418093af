#include "preload/module_symbols.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

/* Nothing here may take a function of libc that copies or compares: they are found by this file
 * (libc.c). */

struct exports {
    const struct link_map *module;
    const uint32_t *table, *old_table; /* an old one is all that some libraries have */
    const ElfW(Sym) *symbols;
    const char *strings;
    const ElfW(Versym) *versions;
    const ElfW(Verdef) *defined;
};

struct wanted {
    const char *name, *version; /* NULL: any of them, or DEFAULT */
    uint32_t hash;
};

static const char DEFAULT[] = ""; /* the version that a program gets that asks for none */

/* The loader has turned most of these into addresses, but not where it may not write. */
static const void *place(const struct link_map *module, ElfW(Addr) value)
{
    return (const void *)(value < module->l_addr ? value + module->l_addr : value);
}

static uint32_t hash_of(const char *name)
{
    uint32_t h = 5381;
    while (*name)
        h = h * 33 + (uint8_t)*name++;
    return h;
}

static int same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static void look_at(const struct link_map *module, struct exports *e)
{
    e->module = module;
    e->table = e->old_table = NULL;
    e->symbols = NULL;
    e->strings = NULL;
    e->versions = NULL;
    e->defined = NULL;
    for (const ElfW(Dyn) *d = module->l_ld; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_GNU_HASH)
            e->table = place(module, d->d_un.d_ptr);
        else if (d->d_tag == DT_HASH)
            e->old_table = place(module, d->d_un.d_ptr);
        else if (d->d_tag == DT_SYMTAB)
            e->symbols = place(module, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            e->strings = place(module, d->d_un.d_ptr);
        else if (d->d_tag == DT_VERSYM)
            e->versions = place(module, d->d_un.d_ptr);
        else if (d->d_tag == DT_VERDEF)
            e->defined = place(module, d->d_un.d_ptr);
    }
    if (e->table && !e->table[0])
        e->table = NULL;
}

/* As the loader takes it: without a version that was asked for, the one that is not hidden. */
static int is_version(const struct exports *e, uint32_t at, const char *version)
{
    enum { HIDDEN = 0x8000, GLOBAL = 1 };
    if (!version || !e->versions)
        return 1;
    unsigned number = e->versions[at] & (HIDDEN - 1u);
    if (version == DEFAULT)
        return number <= GLOBAL || !(e->versions[at] & HIDDEN);
    for (const ElfW(Verdef) *d = e->defined; d; d = (const void *)((const char *)d + d->vd_next)) {
        const ElfW(Verdaux) *name = (const void *)((const char *)d + d->vd_aux);
        if (d->vd_ndx == number)
            return same(e->strings + name->vda_name, version);
        if (!d->vd_next)
            break;
    }
    return 0;
}

static const ElfW(Sym) *is_it(const struct exports *e, uint32_t at, const struct wanted *w)
{
    const ElfW(Sym) *s = e->symbols + at;
    return s->st_shndx != SHN_UNDEF && ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
                   same(e->strings + s->st_name, w->name) && is_version(e, at, w->version)
               ? s
               : NULL;
}

/* Symbols are counted in the old table's second word; few libraries have that alone, and none of
 * them many. */
static const ElfW(Sym) *find_in_all(const struct exports *e, const struct wanted *w)
{
    const ElfW(Sym) *found = NULL;
    for (uint32_t at = 1; e->old_table && at < e->old_table[1] && !found; at++)
        found = is_it(e, at, w);
    return found;
}

static const ElfW(Sym) *find(const struct exports *e, const struct wanted *w)
{
    if (!e->symbols || !e->strings)
        return NULL;
    if (!e->table)
        return find_in_all(e, w);
    /* Number of buckets, first symbol in them, words of the filter that follows, its shift. */
    const uint32_t n = e->table[0], first = e->table[1], words = e->table[2], shift = e->table[3];
    const ElfW(Addr) *filter = (const void *)(e->table + 4);
    enum { BITS = 8 * sizeof *filter };
    ElfW(Addr) word = words ? filter[w->hash / BITS % words] : 0;
    if (!(word >> w->hash % BITS & word >> (w->hash >> shift) % BITS & 1))
        return NULL;
    const uint32_t *buckets = (const void *)(filter + words), *chains = buckets + n;
    uint32_t at = buckets[w->hash % n], have = 1;
    const ElfW(Sym) *found = NULL;
    while (at >= first && !found) {
        have = chains[at - first];
        if ((have | 1) == (w->hash | 1))
            found = is_it(e, at, w);
        if (have & 1)
            break;
        at++;
    }
    return found;
}

static void *address(const struct exports *e, const ElfW(Sym) *symbol)
{
    return symbol ? (void *)(e->module->l_addr + symbol->st_value) : NULL;
}

void *iot_module_symbol(const struct link_map *module, const char *name)
{
    const struct wanted w = {name, NULL, hash_of(name)};
    struct exports e;
    look_at(module, &e);
    return address(&e, find(&e, &w));
}

/* --- functions of libc, and of what stands before it --- */

/* Of several for several processors the one that its own resolver takes, as the loader would ask
 * it. */
static void *chosen(void *resolver)
{
#if defined(__aarch64__)
    enum { MORE = 62 }; /* the bit that says that a second argument follows */
    const struct {
        unsigned long bytes, hwcap, hwcap2;
    } more = {sizeof more, getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    return ((void *(*)(uint64_t, const void *))resolver)(more.hwcap | UINT64_C(1) << MORE, &more);
#else
    return ((void *(*)(void))resolver)();
#endif
}

static void *function(const struct exports *e, const struct wanted *w)
{
    const ElfW(Sym) *symbol = find(e, w);
    void *found = address(e, symbol);
    return symbol && ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ? chosen(found) : found;
}

static const struct link_map *ours(void)
{
    Dl_info info;
    void *map = NULL;
    return dladdr1((void *)(uintptr_t)ours, &info, &map, RTLD_DL_LINKMAP) ? map : NULL;
}

static const struct link_map *libc_from(const struct link_map *first)
{
    while (first && !iot_module_symbol(first, "gnu_get_libc_version"))
        first = first->l_next;
    return first;
}

static const struct link_map *libc_of_all(void)
{
    const struct link_map *first = ours();
    while (first && first->l_prev)
        first = first->l_prev;
    return libc_from(first);
}

int iot_modules_behind(void)
{
    const struct link_map *us = ours();
    return us && libc_from(us->l_next);
}

void *iot_libc_function(const char *name)
{
    static struct exports libc;
    if (!libc.module) {
        const struct link_map *module = libc_of_all();
        if (!module)
            return NULL;
        look_at(module, &libc);
    }
    const struct wanted w = {name, DEFAULT, hash_of(name)};
    return function(&libc, &w);
}

/* What the loader looks through behind us. Started later, not preloaded, we have libc alone behind
 * us. */
static const struct link_map *behind(void)
{
    const struct link_map *us = ours();
    return us && libc_from(us->l_next) ? us->l_next : libc_of_all();
}

/* Of the version that was asked for, of none, or of the first, which is all that libc has of what
 * it keeps for old programs alone. */
static void *any_function(const struct exports *e, const char *version, struct wanted *w)
{
    const char *const versions[] = {version ? version : DEFAULT, DEFAULT, "GLIBC_2.2.5",
                                    "GLIBC_2.17"}; /* x86-64, aarch64 */
    void *found = NULL;
    for (size_t i = 0; i < sizeof versions / sizeof *versions && !found; i++) {
        w->version = versions[i];
        found = function(e, w);
    }
    return found;
}

void *iot_next_function(const char *name, const char *version)
{
    enum { KEPT = 128 };
    static struct exports kept[KEPT];
    static size_t n;
    static const struct link_map *rest;
    if (!n)
        for (rest = behind(); rest && n < KEPT; rest = rest->l_next)
            look_at(rest, &kept[n++]);
    struct wanted w = {name, NULL, hash_of(name)};
    for (size_t i = 0; i < n; i++, w.version = NULL)
        if (find(&kept[i], &w))
            return any_function(&kept[i], version, &w);
    for (const struct link_map *m = rest; m; m = m->l_next, w.version = NULL) {
        struct exports e;
        look_at(m, &e);
        if (find(&e, &w))
            return any_function(&e, version, &w);
    }
    return NULL;
}
