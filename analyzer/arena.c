#include "analyzer/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 256 * 1024, ALIGNMENT = 8 };

struct chunk {
    struct chunk *before;
    size_t left;
    char *at;
};

struct iot_arena {
    struct chunk *newest;
};

struct iot_arena *iot_arena_new(void)
{
    return calloc(1, sizeof(struct iot_arena));
}

void iot_arena_free(struct iot_arena *arena)
{
    if (!arena)
        return;
    for (struct chunk *c = arena->newest; c;) {
        struct chunk *before = c->before;
        free(c);
        c = before;
    }
    free(arena);
}

static char *take(struct iot_arena *arena, size_t bytes, size_t alignment)
{
    struct chunk *c = arena->newest;
    size_t skip = c ? (size_t)(-(uintptr_t)c->at) & (alignment - 1) : 0;
    if (!c || c->left < skip || c->left - skip < bytes) {
        size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        if (room > SIZE_MAX - sizeof *c || !(c = malloc(sizeof *c + room)))
            return NULL;
        c->before = arena->newest;
        c->left = room;
        c->at = (char *)(c + 1);
        arena->newest = c;
        skip = 0;
    }
    char *taken = c->at + skip;
    c->at += skip + bytes;
    c->left -= skip + bytes;
    return taken;
}

void *iot_arena_take(struct iot_arena *arena, size_t bytes)
{
    return take(arena, bytes, ALIGNMENT);
}

char *iot_arena_text(struct iot_arena *arena, const char *text, size_t n)
{
    char *copy = take(arena, n + 1, 1);
    if (!copy)
        return NULL;
    if (n)
        memcpy(copy, text, n);
    copy[n] = 0;
    return copy;
}

void iot_arena_adopt(struct iot_arena *arena, struct iot_arena *other)
{
    struct chunk **oldest = &arena->newest;
    while (*oldest)
        oldest = &(*oldest)->before;
    *oldest = other->newest;
    free(other);
}
