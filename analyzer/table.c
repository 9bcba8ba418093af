#include "analyzer/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { SLOTS_MIN = 64 };

uint64_t iot_table_hash(const void *bytes, size_t n)
{
    static uint64_t seed;
    if (!seed) {
        if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
            seed = (uint64_t)(uintptr_t)&n;
        seed |= 1;
    }
    return XXH3_64bits_withSeed(bytes, n, seed);
}

uint32_t iot_table_find(const struct iot_table *table, uint64_t hash, iot_table_equal *equal,
                        const void *user)
{
    if (!table->slots)
        return UINT32_MAX;
    uint64_t tag = hash >> 32;
    for (size_t i = tag & table->mask; table->slots[i]; i = (i + 1) & table->mask) {
        uint32_t index = (uint32_t)table->slots[i] - 1;
        if (table->slots[i] >> 32 == tag && equal(user, index))
            return index;
    }
    return UINT32_MAX;
}

static void put(uint64_t *slots, size_t mask, uint64_t entry)
{
    size_t i = (entry >> 32) & mask;
    while (slots[i])
        i = (i + 1) & mask;
    slots[i] = entry;
}

int iot_table_add(struct iot_table *table, uint64_t hash, uint32_t index)
{
    if (!table->slots || 2 * table->used > table->mask) {
        size_t n = table->slots ? 2 * (table->mask + 1) : SLOTS_MIN;
        uint64_t *slots = calloc(n, sizeof *slots);
        if (!slots)
            return -1;
        for (size_t i = 0; table->slots && i <= table->mask; i++)
            if (table->slots[i])
                put(slots, n - 1, table->slots[i]);
        free(table->slots);
        table->slots = slots;
        table->mask = n - 1;
    }
    put(table->slots, table->mask, hash >> 32 << 32 | ((uint64_t)index + 1));
    table->used++;
    return 0;
}

void iot_table_free(struct iot_table *table)
{
    free(table->slots);
    *table = (struct iot_table){NULL, 0, 0};
}
