#include "preload/module_symbols.h"

#include <stdint.h>
#include <string.h>

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

void *iot_module_symbol(const struct link_map *module, const char *name)
{
    const uint32_t *table = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    for (const ElfW(Dyn) *d = module->l_ld; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_GNU_HASH)
            table = place(module, d->d_un.d_ptr);
        else if (d->d_tag == DT_SYMTAB)
            symbols = place(module, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            strings = place(module, d->d_un.d_ptr);
    }
    if (!table || !symbols || !strings || !table[0])
        return NULL;
    /* Number of buckets, first symbol in them, words of the filter before them, its shift. */
    const uint32_t *buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof *table);
    const uint32_t *chains = buckets + table[0];
    uint32_t hash = hash_of(name), at = buckets[hash % table[0]];
    if (at < table[1])
        return NULL;
    for (;; at++) {
        uint32_t have = chains[at - table[1]];
        if ((have | 1) == (hash | 1) && symbols[at].st_shndx != SHN_UNDEF &&
            !strcmp(strings + symbols[at].st_name, name))
            return (void *)(module->l_addr + symbols[at].st_value);
        if (have & 1)
            return NULL;
    }
}
