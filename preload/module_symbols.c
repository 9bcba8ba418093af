#include "preload/module_symbols.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

struct exports {
    const uint32_t *table, *old_table; /* an old one is all that some libraries have */
    const ElfW(Sym) *symbols;
    const char *strings;
    const ElfW(Versym) *versions;
    const ElfW(Verdef) *defined;
    const uint32_t *buckets, *chains;
};

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

/* Of our own, as libc's functions are found through this file (libc.c). */
static int same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* 0: it has nothing. */
static int exports_of(const struct link_map *module, struct exports *e)
{
    /* One by one: to clear it whole might take a function that is being looked up (libc.c). */
    e->table = e->old_table = e->buckets = e->chains = NULL;
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
    if (!e->symbols || !e->strings)
        return 0;
    if (!e->table || !e->table[0])
        return e->old_table != NULL;
    /* Number of buckets, first symbol in them, words of the filter before them, its shift. */
    e->buckets = e->table + 4 + e->table[2] * (sizeof(ElfW(Addr)) / sizeof *e->table);
    e->chains = e->buckets + e->table[0];
    return 1;
}

/* Which of several symbols of one name. */
typedef int taken_function(const struct exports *e, uint32_t at, const char *version);

static const ElfW(Sym) *is_it(const struct exports *e, uint32_t at, const char *name,
                              const char *version, taken_function *taken)
{
    const ElfW(Sym) *symbol = e->symbols + at;
    return symbol->st_shndx != SHN_UNDEF && same(e->strings + symbol->st_name, name) &&
                   taken(e, at, version)
               ? symbol
               : NULL;
}

/* Symbols are counted in the old table's second word; few libraries have that alone, and none of them many. */
static const ElfW(Sym) *find_in_all(const struct exports *e, const char *name, const char *version,
                                    taken_function *taken)
{
    const ElfW(Sym) *found = NULL;
    for (uint32_t at = 1; at < e->old_table[1] && !found; at++)
        found = is_it(e, at, name, version, taken);
    return found;
}

static const ElfW(Sym) *find(const struct exports *e, const char *name, const char *version,
                             taken_function *taken)
{
    if (!e->buckets)
        return find_in_all(e, name, version, taken);
    uint32_t hash = hash_of(name), at = e->buckets[hash % e->table[0]], have = 1;
    if (at < e->table[1])
        return NULL;
    const ElfW(Sym) *found = NULL;
    do {
        have = e->chains[at - e->table[1]];
        if ((have | 1) == (hash | 1))
            found = is_it(e, at, name, version, taken);
        at++;
    } while (!found && !(have & 1));
    return found;
}

static int any(const struct exports *e, uint32_t at, const char *version)
{
    (void)e, (void)at, (void)version;
    return 1;
}

void *iot_module_symbol(const struct link_map *module, const char *name)
{
    struct exports e;
    const ElfW(Sym) *symbol = exports_of(module, &e) ? find(&e, name, NULL, any) : NULL;
    return symbol ? (void *)(module->l_addr + symbol->st_value) : NULL;
}

/* As the loader takes it: without a version that was asked for, the one that is not hidden. */
static int of_version(const struct exports *e, uint32_t at, const char *version)
{
    enum { HIDDEN = 0x8000, GLOBAL = 1 };
    if (!e->versions)
        return 1;
    unsigned number = e->versions[at] & (HIDDEN - 1u);
    if (!version)
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

/* Of several for several processors the one that its own resolver takes, as the loader would ask it. */
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

void *iot_module_function(const struct link_map *module, const char *name)
{
    struct exports e;
    const ElfW(Sym) *symbol = exports_of(module, &e) ? find(&e, name, NULL, of_version) : NULL;
    if (!symbol)
        return NULL;
    void *function = (void *)(module->l_addr + symbol->st_value);
    return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ? chosen(function) : function;
}

int iot_module_has(const struct link_map *module, const char *name, const char *version)
{
    struct exports e;
    return module && exports_of(module, &e) && find(&e, name, version, of_version);
}

const struct link_map *iot_modules_with(const struct link_map *first, const char *name)
{
    while (first && !iot_module_symbol(first, name))
        first = first->l_next;
    return first;
}

static const char of_libc[] = "gnu_get_libc_version";

static const struct link_map *ours(void)
{
    Dl_info info;
    void *map = NULL;
    return dladdr1((void *)(uintptr_t)ours, &info, &map, RTLD_DL_LINKMAP) ? map : NULL;
}

const struct link_map *iot_modules_libc(void)
{
    const struct link_map *first = ours();
    while (first && first->l_prev)
        first = first->l_prev;
    return iot_modules_with(first, of_libc);
}

const struct link_map *iot_modules_behind(void)
{
    const struct link_map *us = ours();
    return us && iot_modules_with(us->l_next, of_libc) ? us->l_next : NULL;
}
