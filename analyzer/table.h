/* A hash table of indexes into an array that its user keeps: what is equal, the user says. */
#ifndef IOT_ANALYZER_TABLE_H
#define IOT_ANALYZER_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct iot_table {
    uint64_t *slots; /* hash << 32 | index + 1; 0 free */
    size_t mask, used;
};

/* Is the entry at this index the one looked for? */
typedef int iot_table_equal(const void *user, uint32_t index);

/* UINT32_MAX: not there. */
uint32_t iot_table_find(const struct iot_table *table, uint64_t hash, iot_table_equal *equal,
                        const void *user);
/* Adds one that is not there yet. Returns 0, -1 if out of memory. */
int iot_table_add(struct iot_table *table, uint64_t hash, uint32_t index);
void iot_table_free(struct iot_table *table);

/* The same hashes within a process, others in the next: no trace can be made to collide. */
uint64_t iot_table_hash(const void *bytes, size_t n);

#endif
