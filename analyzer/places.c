#include "analyzer/places.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/demangle.h"

enum { WORDS_BYTES = 400 };

static const char *kept(struct iot_arena *arena, const char *text)
{
    return text ? iot_arena_text(arena, text, strlen(text)) : NULL;
}

int iot_place_is_import(const struct iot_frame *frame)
{
    static const char begin[] = "<frozen importlib";
    return iot_frame_is_python(frame) &&
           !strncmp(iot_frame_python(frame).file, begin, sizeof begin - 1);
}

static unsigned of_python(struct iot_symbols *symbols, const struct iot_frame *frame,
                          struct iot_place *place, struct iot_arena *arena)
{
    char words[WORDS_BYTES] = "import";
    struct iot_python_words p = iot_frame_python(frame);
    uint32_t line = frame->offset <= UINT32_MAX ? (uint32_t)frame->offset : 0;
    if (!iot_place_is_import(frame))
        iot_symbols_name(symbols, frame, words, sizeof words);
    *place = (struct iot_place){kept(arena, words),
                                iot_arena_text(arena, p.function, (size_t)p.n_function),
                                kept(arena, p.file), line, 1};
    return place->words != NULL;
}

static unsigned of_source(const struct iot_frame *frame, const struct iot_source_line *lines,
                          unsigned n, struct iot_place *places, struct iot_arena *arena)
{
    char words[WORDS_BYTES];
    for (unsigned i = 0; i < n; i++) {
        const char *function = lines[i].function ? lines[i].function : "?";
        snprintf(words, sizeof words, "%s:%" PRIu32 " %s (%s)", basename(lines[i].file),
                 lines[i].line, function, basename(frame->module));
        places[i] = (struct iot_place){.words = kept(arena, words),
                                       .function = kept(arena, lines[i].function),
                                       .file = kept(arena, lines[i].file),
                                       .line = lines[i].line};
        if (!places[i].words)
            return 0;
    }
    return n;
}

unsigned iot_places_of(struct iot_symbols *symbols, const struct iot_frame *frame,
                       struct iot_place places[IOT_PLACES_MAX], struct iot_arena *arena)
{
    struct iot_source_line lines[IOT_PLACES_MAX];
    char words[WORDS_BYTES], plain[WORDS_BYTES];
    if (iot_frame_is_python(frame))
        return of_python(symbols, frame, places, arena);
    unsigned n = iot_symbols_lines(symbols, frame, lines, IOT_PLACES_MAX);
    if (n)
        return of_source(frame, lines, n, places, arena);
    const char *function = iot_symbols_function(symbols, frame);
    iot_symbols_name(symbols, frame, words, sizeof words);
    places[0] = (struct iot_place){
        .words = kept(arena, words),
        .function = function ? kept(arena, iot_demangle(function, plain, sizeof plain)) : NULL};
    return places[0].words != NULL;
}

/* --- frames of no interest --- */

static const char *const starts[] = {
    "_start",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "__libc_init_first",
    "start_thread",
    "clone",
    "__clone",
    "clone3",
    "__clone3",
    "thread_start",
};

static int is_of_libc(const struct iot_frame *frame)
{
    const char *name = basename(frame->module);
    return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-", 5) ||
           !strncmp(name, "libpthread", 10);
}

/* In a libc without its own symbols the middle one of three has no name. */
static int is_start(struct iot_symbols *symbols, const struct iot_frame *frame)
{
    if (iot_frame_is_python(frame))
        return 0;
    const char *function = iot_symbols_function(symbols, frame);
    if (!function)
        return is_of_libc(frame);
    size_t n = strcspn(function, "@"); /* of its version */
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++)
        if (strlen(starts[k]) == n && !strncmp(function, starts[k], n))
            return 1;
    return 0;
}

uint32_t iot_places_inner(struct iot_symbols *symbols, const struct iot_frame *frames, uint32_t n)
{
    uint32_t inner = n;
    while (inner > 1 && is_start(symbols, &frames[inner - 1]))
        inner--;
    return inner;
}
