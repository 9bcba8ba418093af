#include "preload/python.h"

#include <link.h>
#include <string.h>

#include "format/checksum.h"
#include "preload/module_symbols.h"
#include "preload/process.h"
#include "preload/python_layout.h"
#include "preload/readable.h"
#include "preload/text.h"

enum {
    STEPS_MAX = 128, /* frames that are passed, kept or not */
    LINES_MAX = 1 << 20,
    NAME_MAX_BYTES = 200,
    FILE_MAX_BYTES = 1000,
    /* What is read of them lies in so many bytes. */
    OBJECT_BYTES = 256,
    FRAME_BYTES = 128,
    TEXT_BYTES = 64,
    PUBLISHED_WORDS = 96,
};

/* The interpreter; there is at most one in a process. */
static struct {
    uint32_t state; /* 0 none met, 1 somebody looks, 2 it is there */
    const void *from;
    void *(*thread_state)(void);
    const void *code_type, *text_type, *bytes_type;
    struct iot_python_layout layout;
} python;

static int (*find_object)(void *, struct dl_find_object *);

/* --- meeting it --- */

/* Symbols that a release brought: of the first that is there. */
static const struct {
    const char *symbol;
    unsigned version;
} brought[] = {
    {"PyModule_AddObjectRef", 0x030a},
    {"PyFrame_GetCode", 0x0309},
};

static unsigned version_of(const struct link_map *module)
{
    const unsigned long *says = iot_module_symbol(module, "Py_Version");
    if (says && iot_readable_kept(says, sizeof *says))
        return (unsigned)(*says >> 16);
    for (size_t i = 0; i < sizeof brought / sizeof *brought; i++)
        if (iot_module_symbol(module, brought[i].symbol))
            return brought[i].version;
    return 0;
}

static int look(const struct dl_find_object *found)
{
    const struct link_map *module = found->dlfo_link_map;
    const uint64_t *runtime = iot_module_symbol(module, "_PyRuntime");
    if (!runtime || !iot_readable_kept(runtime, PUBLISHED_WORDS * sizeof *runtime))
        return 0;
    *(void **)&python.thread_state = iot_module_symbol(module, "PyGILState_GetThisThreadState");
    *(void **)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
    python.code_type = iot_module_symbol(module, "PyCode_Type");
    python.text_type = iot_module_symbol(module, "PyUnicode_Type");
    python.bytes_type = iot_module_symbol(module, "PyBytes_Type");
    python.from = found->dlfo_map_start;
    return python.thread_state && find_object && python.code_type && python.text_type &&
           python.bytes_type &&
           !iot_python_layout(&python.layout, version_of(module), runtime, PUBLISHED_WORDS);
}

void iot_python_meet(const struct dl_find_object *module)
{
    uint32_t none = 0;
    if (__atomic_compare_exchange_n(&python.state, &none, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        __atomic_store_n(&python.state, look(module) ? 2u : 0u, __ATOMIC_RELEASE);
}

int iot_python_is(const struct dl_find_object *module)
{
    return __atomic_load_n(&python.state, __ATOMIC_ACQUIRE) == 2 &&
           python.from == module->dlfo_map_start;
}

/* --- reading --- */

static int is_object(uintptr_t at, size_t bytes)
{
    return at && at % sizeof(void *) == 0 && iot_readable_kept((const void *)at, bytes);
}

static uintptr_t word_at(uintptr_t at)
{
    return *(const uintptr_t *)at;
}

static int has_type(uintptr_t object, const void *type)
{
    return word_at(object + python.layout.type) == (uintptr_t)type;
}

/* From 3.14 on references have marks in their low bits. */
static uintptr_t unmarked(uintptr_t reference)
{
    return reference & ~(uintptr_t)(sizeof(void *) - 1);
}

static uintptr_t first_frame(void)
{
    const struct iot_python_layout *l = &python.layout;
    struct dl_find_object there;
    if (__atomic_load_n(&python.state, __ATOMIC_ACQUIRE) != 2 ||
        find_object((void *)(uintptr_t)python.thread_state, &there) ||
        there.dlfo_map_start != python.from)
        return 0; /* it was unloaded */
    uintptr_t at = (uintptr_t)python.thread_state();
    if (!is_object(at, OBJECT_BYTES))
        return 0;
    at = word_at(at + l->frame);
    if (l->linked != IOT_PYTHON_NOWHERE && at)
        at = is_object(at, TEXT_BYTES) ? word_at(at + l->linked) : 0;
    return at;
}

struct place {
    uintptr_t code;
    int at; /* the instruction, in bytes; below 0 before the first */
};

/* The first instruction of the copy of a function that a frame runs. */
static uintptr_t instructions(uintptr_t frame, uintptr_t code)
{
    const struct iot_python_layout *l = &python.layout;
    if (l->copies == IOT_PYTHON_NOWHERE)
        return code + l->instructions;
    uintptr_t copies = word_at(code + l->copies);
    int32_t copy = *(const int32_t *)(frame + l->copy);
    if (!is_object(copies, sizeof(uintptr_t)) || copy < 0 || (uintptr_t)copy >= word_at(copies))
        return code + l->instructions;
    uintptr_t entry = copies + (1 + (uintptr_t)copy) * sizeof(uintptr_t);
    return is_object(entry, sizeof(uintptr_t)) ? word_at(entry) : code + l->instructions;
}

/* Where a frame is that can be read; 0, or -1 if it runs no Python, or cannot be. */
static int place_of(uintptr_t frame, struct place *place)
{
    const struct iot_python_layout *l = &python.layout;
    if (l->owner != IOT_PYTHON_NOWHERE && *(const uint8_t *)(frame + l->owner) > l->last_owner)
        return -1;
    uintptr_t code = unmarked(word_at(frame + l->code));
    if (!is_object(code, OBJECT_BYTES) || !has_type(code, python.code_type))
        return -1;
    if (l->instructions == IOT_PYTHON_NOWHERE) {
        int32_t at = *(const int32_t *)(frame + l->at);
        *place = (struct place){code, at < 0 ? -1 : at * l->unit};
    } else {
        intptr_t at = (intptr_t)(word_at(frame + l->at) - instructions(frame, code));
        *place = (struct place){code, at < 0 || at > INT32_MAX ? -1 : (int)at};
    }
    return 0;
}

/* A string that can be read: its characters, as many as `kind` bytes each say. */
struct text {
    const uint8_t *at;
    size_t n;
    unsigned kind;
    uint64_t hash; /* as the interpreter has it; all ones: it has none */
};

static int text_of(uintptr_t object, struct text *text)
{
    const struct iot_python_layout *l = &python.layout;
    enum { COMPACT = 1 << 3, ASCII = 1 << 4 };
    if (!is_object(object, TEXT_BYTES) || !has_type(object, python.text_type))
        return -1;
    unsigned state = *(const uint32_t *)(object + l->state) >> l->kind_shift;
    *text = (struct text){(const uint8_t *)object + l->bytes + (state & ASCII ? 0 : l->wide),
                          word_at(object + l->length), state & 7,
                          word_at(object + l->length + sizeof(uintptr_t))};
    return state & COMPACT && (text->kind == 1 || text->kind == 2 || text->kind == 4) ? 0 : -1;
}

static int begins_with(const struct text *text, const char *word)
{
    size_t n = strlen(word);
    return text->n >= n && text->kind == 1 && iot_readable_kept(text->at, n) &&
           !memcmp(text->at, word, n);
}

/* --- walking --- */

static uint64_t mixed(uint64_t hash, uint64_t more)
{
    hash = (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* By what it says: an interpreter asks for the hash of most of its strings sooner or later. */
static uint64_t hash_of(const struct text *text)
{
    enum { TAIL = 64 };
    size_t bytes = text->n < TAIL ? text->n : TAIL;
    if (text->hash != UINT64_MAX)
        return text->hash;
    const uint8_t *tail = text->at + (text->n - bytes) * text->kind;
    return bytes && iot_readable_kept(tail, bytes) ? XXH64(tail, bytes, text->n) : text->n;
}

/* Of two functions that have the same name and first line, as of a file that was changed and loaded
 * again. Looks at the ends of what may be long. */
static uint64_t lines_hash(uintptr_t table)
{
    const struct iot_python_layout *l = &python.layout;
    uint64_t ends[2] = {0, 0};
    if (!is_object(table, TEXT_BYTES) || !has_type(table, python.bytes_type))
        return 0;
    size_t n = word_at(table + l->bytes_length), each = n < sizeof *ends ? n : sizeof *ends;
    const uint8_t *bytes = (const uint8_t *)table + l->bytes_bytes;
    if (!each || !iot_readable_kept(bytes, each) || !iot_readable_kept(bytes + n - each, each))
        return n;
    memcpy(&ends[0], bytes, each);
    memcpy(&ends[1], bytes + n - each, each);
    return mixed(mixed(n, ends[0]), ends[1]);
}

struct walk {
    uintptr_t frame;
    unsigned steps;
    int importing; /* the frame before was of the import system */
};

struct found {
    struct place place;
    struct text file, name;
    uint64_t key; /* equal for equal places, whatever address their code has */
};

/* To the next frame outwards; 0 behind the last. */
static int next(struct walk *walk, struct found *found)
{
    const struct iot_python_layout *l = &python.layout;
    while (walk->frame && walk->steps++ < STEPS_MAX && is_object(walk->frame, FRAME_BYTES)) {
        int is_python = !place_of(walk->frame, &found->place);
        walk->frame = word_at(walk->frame + l->previous);
        if (!is_python)
            continue;
        uintptr_t code = found->place.code;
        if (text_of(word_at(code + l->filename), &found->file) ||
            text_of(word_at(code + l->name), &found->name))
            continue;
        int importing = begins_with(&found->file, "<frozen importlib");
        int again = importing && walk->importing;
        walk->importing = importing;
        if (again)
            continue;
        uint64_t where =
            (uint64_t)(uint32_t)found->place.at << 32 | *(const uint32_t *)(code + l->first_line);
        found->key = mixed(mixed(hash_of(&found->file), hash_of(&found->name)),
                           mixed(where, lines_hash(word_at(code + l->lines))));
        return 1;
    }
    return 0;
}

uint64_t iot_python_signature(void)
{
    struct walk walk = {.frame = first_frame()};
    struct found found;
    uint64_t hash = 0;
    for (unsigned n = 0; n < IOT_PYTHON_FRAMES && walk.frame && next(&walk, &found); n++)
        hash = mixed(hash, found.key) | 1;
    return hash;
}

/* --- telling --- */

static char *put_character(char *to, uint32_t c)
{
    if (c < ' ' || c == 0x7f)
        c = '?';
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 63));
        *to++ = (char)(0x80 | (c & 63));
    } else {
        *to++ = (char)(0xf0 | (c >> 18 & 7));
        *to++ = (char)(0x80 | (c >> 12 & 63));
        *to++ = (char)(0x80 | (c >> 6 & 63));
        *to++ = (char)(0x80 | (c & 63));
    }
    return to;
}

/* In UTF-8, cut at so many bytes. `space`: what stands for one. */
static char *put_text(char *to, const struct text *text, size_t most, char space)
{
    enum { CHARACTER_MAX = 4 };
    char *end = to + most - CHARACTER_MAX;
    for (size_t i = 0; i < text->n && to < end; i++) {
        const uint8_t *at = text->at + i * text->kind;
        if (!iot_readable_kept(at, text->kind))
            break;
        uint32_t c = text->kind == 1   ? *at
                     : text->kind == 2 ? *(const uint16_t *)(const void *)at
                                       : *(const uint32_t *)(const void *)at;
        to = put_character(to, c == ' ' ? (uint32_t)space : c);
    }
    return to;
}

static uint32_t line_of(const struct place *place)
{
    const struct iot_python_layout *l = &python.layout;
    int first = *(const int32_t *)(place->code + l->first_line);
    uintptr_t table = word_at(place->code + l->lines);
    if (!is_object(table, TEXT_BYTES) || !has_type(table, python.bytes_type))
        return (uint32_t)first;
    size_t n = word_at(table + l->bytes_length);
    const uint8_t *bytes = (const uint8_t *)table + l->bytes_bytes;
    if (n > LINES_MAX || iot_readable(bytes, n) < n)
        return (uint32_t)first;
    int line = iot_python_line(l->line_table, bytes, n, first, place->at);
    return line > 0 ? (uint32_t)line : 0;
}

static __attribute__((noinline)) uint32_t define(struct iot_thread *t, const struct found *found)
{
    static const char word[] = "python ";
    char text[sizeof word + NAME_MAX_BYTES + FILE_MAX_BYTES];
    char *p = iot_text_put(text, word);
    p = put_text(p, &found->name, NAME_MAX_BYTES, '_');
    *p++ = ' ';
    p = put_text(p, &found->file, FILE_MAX_BYTES, ' ');
    return iot_string(t, "", 0, text, (size_t)(p - text));
}

static struct iot_python_frame frame_of(struct iot_thread *t, const struct found *found)
{
    struct iot_python_seen *seen = &iot_process->places[found->key >> 32 & (IOT_PYTHON_KEPT - 1)];
    uint64_t means = __atomic_load_n(&seen->means, __ATOMIC_RELAXED);
    if ((__atomic_load_n(&seen->check, __ATOMIC_RELAXED) ^ means) == found->key && means)
        return (struct iot_python_frame){(uint32_t)(means >> 32), (uint32_t)means};
    struct iot_python_frame frame = {define(t, found), line_of(&found->place)};
    if (frame.function && iot_is_here(t)) {
        means = (uint64_t)frame.function << 32 | frame.line;
        __atomic_store_n(&seen->means, means, __ATOMIC_RELAXED);
        __atomic_store_n(&seen->check, found->key ^ means, __ATOMIC_RELAXED);
    }
    return frame;
}

unsigned iot_python_frames(struct iot_thread *t, struct iot_python_frame *frames, unsigned most)
{
    struct walk walk = {.frame = first_frame()};
    struct found found;
    unsigned n = 0;
    while (n < most && walk.frame && next(&walk, &found))
        frames[n++] = frame_of(t, &found);
    return n;
}
