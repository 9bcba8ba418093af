#include "analyzer/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/names.h"
#include "analyzer/room.h"

/* What a number was found to mean. */
struct iot_numbered {
    const struct iot_names *names;
    uint32_t number, stack;
};

int iot_frame_is_python(const struct iot_frame *frame)
{
    return !strncmp(frame->module, IOT_PYTHON_MODULE, strlen(IOT_PYTHON_MODULE));
}

struct iot_python_words iot_frame_python(const struct iot_frame *frame)
{
    const char *function = frame->module + strlen(IOT_PYTHON_MODULE);
    int n = (int)strcspn(function, " ");
    return (struct iot_python_words){function, n, function[n] ? function + n + 1 : "?"};
}

uint32_t iot_stack_parse(const char *text, const char *(*text_of)(void *user, uint32_t number),
                         void *user, struct iot_frame frames[IOT_FRAMES_MAX])
{
    uint32_t n = 0;
    while (*text && n < IOT_FRAMES_MAX) {
        char *end;
        if (*text < '0' || *text > '9')
            break;
        unsigned long module = strtoul(text, &end, 10);
        if (*end != ' ' || module > UINT32_MAX || !strchr("0123456789abcdef", end[1]) || !end[1])
            break;
        uint64_t offset = strtoull(end + 1, &end, 16);
        if (*end && *end != '\n')
            break;
        frames[n++] = (struct iot_frame){text_of(user, (uint32_t)module), offset};
        text = *end ? end + 1 : end;
    }
    return n;
}

struct looking {
    const struct iot_stacks *stacks;
    const struct iot_frame *frames;
    const struct iot_names *names;
    uint32_t n, number;
};

static int same_number(const void *user, uint32_t index)
{
    const struct looking *l = user;
    const struct iot_numbered *have = &l->stacks->numbered[index];
    return have->names == l->names && have->number == l->number;
}

static int same_frames(const void *user, uint32_t index)
{
    const struct looking *l = user;
    const struct iot_stack *have = &l->stacks->list[index];
    if (have->n != l->n)
        return 0;
    for (uint32_t k = 0; k < l->n; k++) {
        const struct iot_frame *f = &l->stacks->frames[have->first + k];
        if (f->offset != l->frames[k].offset || strcmp(f->module, l->frames[k].module))
            return 0;
    }
    return 1;
}

static uint64_t hash_of(const struct iot_frame *frames, uint32_t n)
{
    uint64_t hashes[2 * IOT_FRAMES_MAX];
    for (uint32_t k = 0; k < n; k++) {
        hashes[2 * k] = iot_table_hash(frames[k].module, strlen(frames[k].module));
        hashes[2 * k + 1] = frames[k].offset;
    }
    return iot_table_hash(hashes, 2 * n * sizeof *hashes);
}

static uint32_t intern(struct iot_stacks *s, const struct iot_frame *frames, uint32_t n)
{
    struct looking look = {.stacks = s, .frames = frames, .n = n};
    uint64_t hash = hash_of(frames, n);
    uint32_t found = iot_table_find(&s->by_content, hash, same_frames, &look);
    if (found != UINT32_MAX)
        return found;
    size_t index = s->n ? s->n : 1;
    if (index >= UINT32_MAX || IOT_ROOM(s->list, index + 1, s->room) ||
        IOT_ROOM(s->frames, s->n_frames + n, s->frames_room) ||
        iot_table_add(&s->by_content, hash, (uint32_t)index))
        return UINT32_MAX;
    s->list[0] = (struct iot_stack){0, 0};
    s->list[index] = (struct iot_stack){s->n_frames, n};
    memcpy(s->frames + s->n_frames, frames, n * sizeof *frames);
    s->n_frames += n;
    s->n = index + 1;
    return (uint32_t)index;
}

static const char *text_of(void *user, uint32_t number)
{
    return iot_names_text(user, number);
}

static uint32_t without_interpreter(const struct iot_frame *frames, uint32_t n)
{
    uint32_t last = n;
    while (last && !iot_frame_is_python(&frames[last - 1]))
        last--;
    return last ? last : n;
}

uint32_t iot_stacks_of(struct iot_stacks *s, struct iot_names *names, uint32_t number, uint32_t pid,
                       struct iot_arena *arena)
{
    struct looking look = {.stacks = s, .names = names, .number = number};
    const uint64_t key[2] = {(uint64_t)(uintptr_t)names, number};
    uint64_t hash = iot_table_hash(key, sizeof key);
    struct iot_frame frames[IOT_FRAMES_MAX];
    char jit[32];

    if (!number)
        return 0;
    uint32_t found = iot_table_find(&s->by_number, hash, same_number, &look);
    if (found != UINT32_MAX)
        return s->numbered[found].stack;
    const char *text = iot_names_text(names, number);
    uint32_t n = text ? iot_stack_parse(text, text_of, names, frames) : 0;
    int length = snprintf(jit, sizeof jit, "jit %u", pid);
    const char *outside = NULL;
    for (uint32_t k = 0; k < n; k++) {
        if (frames[k].module)
            continue;
        if (!outside && !(outside = iot_arena_text(arena, jit, (size_t)length)))
            return UINT32_MAX;
        frames[k].module = outside;
    }
    uint32_t stack = n ? intern(s, frames, without_interpreter(frames, n)) : 0;
    if (stack == UINT32_MAX || IOT_ROOM(s->numbered, s->n_numbered + 1, s->numbered_room))
        return UINT32_MAX;
    s->numbered[s->n_numbered] = (struct iot_numbered){names, number, stack};
    if (iot_table_add(&s->by_number, hash, (uint32_t)s->n_numbered))
        return UINT32_MAX;
    s->n_numbered++;
    return stack;
}

void iot_stacks_free(struct iot_stacks *s)
{
    free(s->list);
    free(s->frames);
    free(s->numbered);
    iot_table_free(&s->by_number);
    iot_table_free(&s->by_content);
    *s = (struct iot_stacks){0};
}
