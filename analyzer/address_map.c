#include "analyzer/address_map.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/room.h"

enum { BLOCK = 128 };

struct iot_extents {
    size_t n; /* never 0 between two calls */
    struct iot_extent at[BLOCK];
};

/* A place between ranges: before range i of block b. */
struct place {
    size_t b, i;
};

/* The first range that ends behind an address. */
static struct place place_of(const struct iot_address_map *m, uint64_t address)
{
    size_t low = 0, high = m->n_blocks;
    while (low < high) { /* the first block whose last range ends behind it */
        size_t middle = low + (high - low) / 2;
        const struct iot_extents *block = m->blocks[middle];
        if (block->at[block->n - 1].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    struct place p = {low, 0};
    if (low == m->n_blocks)
        return p;
    const struct iot_extents *block = m->blocks[low];
    for (high = block->n; p.i < high;) {
        size_t middle = p.i + (high - p.i) / 2;
        if (block->at[middle].end <= address)
            p.i = middle + 1;
        else
            high = middle;
    }
    return p;
}

static int add_block(struct iot_address_map *m, size_t at)
{
    if (IOT_ROOM(m->blocks, m->n_blocks + 1, m->room))
        return -1;
    struct iot_extents *block = malloc(sizeof *block);
    if (!block)
        return -1;
    block->n = 0;
    memmove(&m->blocks[at + 1], &m->blocks[at], (m->n_blocks - at) * sizeof *m->blocks);
    m->blocks[at] = block;
    m->n_blocks++;
    return 0;
}

static void drop_block(struct iot_address_map *m, size_t at)
{
    free(m->blocks[at]);
    memmove(&m->blocks[at], &m->blocks[at + 1], (m->n_blocks - at - 1) * sizeof *m->blocks);
    m->n_blocks--;
}

static int insert(struct iot_address_map *m, struct place p, const struct iot_extent *x)
{
    if (p.b == m->n_blocks && p.b) /* behind the last one */
        p = (struct place){p.b - 1, m->blocks[p.b - 1]->n};
    if (!m->n_blocks && add_block(m, 0))
        return -1;
    struct iot_extents *block = m->blocks[p.b];
    if (block->n == BLOCK) {
        if (add_block(m, p.b + 1))
            return -1;
        struct iot_extents *next = m->blocks[p.b + 1];
        /* Ranges that come in the order of their addresses leave full blocks behind them. */
        size_t keep = p.i == BLOCK ? BLOCK : BLOCK / 2;
        next->n = BLOCK - keep;
        memcpy(next->at, &block->at[keep], next->n * sizeof *next->at);
        block->n = keep;
        if (p.i >= keep && (p.i > keep || !next->n)) {
            p = (struct place){p.b + 1, p.i - keep};
            block = next;
        }
    }
    memmove(&block->at[p.i + 1], &block->at[p.i], (block->n - p.i) * sizeof *block->at);
    block->at[p.i] = *x;
    block->n++;
    m->n++;
    return 0;
}

static void erase(struct iot_address_map *m, struct place p)
{
    struct iot_extents *block = m->blocks[p.b];
    memmove(&block->at[p.i], &block->at[p.i + 1], (block->n - p.i - 1) * sizeof *block->at);
    m->n--;
    if (!--block->n)
        drop_block(m, p.b);
}

/* --- forgetting --- */

static int by_age(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int forget(struct iot_address_map *m)
{
    uint64_t *ages = malloc(m->n * sizeof *ages);
    size_t n = 0;
    if (!ages)
        return -1;
    for (size_t b = 0; b < m->n_blocks; b++)
        for (size_t i = 0; i < m->blocks[b]->n; i++)
            ages[n++] = m->blocks[b]->at[i].age;
    qsort(ages, n, sizeof *ages, by_age);
    uint64_t oldest = ages[n / 2]; /* that stays */
    if (ages[0] == oldest)         /* pieces of one: they go together */
        oldest++;
    free(ages);
    for (size_t b = m->n_blocks; b-- > 0;) {
        struct iot_extents *block = m->blocks[b];
        size_t kept = 0;
        for (size_t i = 0; i < block->n; i++)
            if (block->at[i].age >= oldest)
                block->at[kept++] = block->at[i];
        m->forgotten += block->n - kept;
        m->n -= block->n - kept;
        block->n = kept;
        if (!kept)
            drop_block(m, b);
    }
    return 0;
}

/* --- putting in, taking out, looking --- */

int iot_address_map_cut(struct iot_address_map *m, uint64_t begin, uint64_t end)
{
    while (begin < end) {
        struct place p = place_of(m, begin);
        if (p.b == m->n_blocks)
            return 0;
        struct iot_extent *x = &m->blocks[p.b]->at[p.i];
        if (x->begin >= end)
            return 0;
        if (x->begin < begin && x->end > end) {
            struct iot_extent rest = *x;
            rest.begin = end;
            x->end = begin;
            return insert(m, (struct place){p.b, p.i + 1}, &rest) ||
                           (m->n > m->limit && forget(m))
                       ? -1
                       : 0;
        }
        if (x->begin < begin) {
            x->end = begin;
        } else if (x->end > end) {
            x->begin = end;
            return 0;
        } else {
            erase(m, p);
        }
    }
    return 0;
}

static int same(const struct iot_extent *a, const struct iot_extent *b)
{
    return a->kind == b->kind && a->subject == b->subject;
}

int iot_address_map_put(struct iot_address_map *m, uint64_t begin, uint64_t end, uint32_t kind,
                        uint32_t subject)
{
    struct iot_extent x = {begin, end, ++m->puts, kind, subject};
    if (begin >= end)
        return 0;
    struct place here = place_of(m, begin);
    if (here.b < m->n_blocks) { /* a buffer that is used again */
        struct iot_extent *before = &m->blocks[here.b]->at[here.i];
        if (before->begin == begin && before->end == end) {
            *before = x;
            return 0;
        }
    }
    if (iot_address_map_cut(m, begin, end) || (m->n >= m->limit && forget(m)))
        return -1;
    struct place p = begin ? place_of(m, begin - 1) : (struct place){0, 0};
    if (p.b < m->n_blocks) {
        struct iot_extent *before = &m->blocks[p.b]->at[p.i];
        if (before->end == begin && same(before, &x)) {
            x.begin = before->begin;
            erase(m, p);
        }
    }
    p = place_of(m, x.begin);
    if (p.b < m->n_blocks) {
        struct iot_extent *after = &m->blocks[p.b]->at[p.i];
        if (after->begin == end && same(after, &x)) {
            after->begin = x.begin;
            after->age = x.age;
            return 0;
        }
    }
    return insert(m, p, &x);
}

void iot_address_map_look(const struct iot_address_map *m, uint64_t begin, uint64_t end,
                          iot_address_map_part *part, void *user)
{
    for (struct place p = place_of(m, begin); begin < end && p.b < m->n_blocks;) {
        struct iot_extent x = m->blocks[p.b]->at[p.i];
        if (x.begin >= end)
            return;
        x.begin = x.begin > begin ? x.begin : begin;
        x.end = x.end < end ? x.end : end;
        part(user, &x);
        if (++p.i == m->blocks[p.b]->n)
            p = (struct place){p.b + 1, 0};
    }
}

void iot_address_map_free(struct iot_address_map *m)
{
    for (size_t b = 0; b < m->n_blocks; b++)
        free(m->blocks[b]);
    free(m->blocks);
    *m = (struct iot_address_map){.limit = m->limit};
}
