#include "analyzer/places.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_BYTES = 400 };

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *kept(struct iot_arena *arena, const char *text)
{
    return text ? iot_arena_text(arena, text, strlen(text)) : NULL;
}

int iot_place_is_import(const struct iot_frame *frame)
{
    static const char begin[] = "<frozen importlib";
    return iot_frame_is_python(frame) && !strncmp(iot_frame_python(frame).file, begin, sizeof begin - 1);
}

static unsigned of_python(struct iot_symbols *symbols, const struct iot_frame *frame, struct iot_place *place,
                          struct iot_arena *arena)
{
    char words[WORDS_BYTES] = "import";
    struct iot_python_words p = iot_frame_python(frame);
    uint32_t line = frame->offset <= UINT32_MAX ? (uint32_t)frame->offset : 0;
    if (!iot_place_is_import(frame))
        iot_symbols_name(symbols, frame, words, sizeof words);
    *place = (struct iot_place){kept(arena, words), iot_arena_text(arena, p.function, (size_t)p.n_function),
                                kept(arena, p.file), line, 1};
    return place->words != NULL;
}

static unsigned of_source(const struct iot_frame *frame, const struct iot_source_line *lines, unsigned n,
                          struct iot_place *places, struct iot_arena *arena)
{
    char words[WORDS_BYTES];
    for (unsigned i = 0; i < n; i++) {
        const char *function = lines[i].function ? lines[i].function : "?";
        snprintf(words, sizeof words, "%s:%" PRIu32 " %s (%s)", last_of(lines[i].file), lines[i].line, function,
                 last_of(frame->module));
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
    char words[WORDS_BYTES];
    if (iot_frame_is_python(frame))
        return of_python(symbols, frame, places, arena);
    unsigned n = iot_symbols_lines(symbols, frame, lines, IOT_PLACES_MAX);
    if (n)
        return of_source(frame, lines, n, places, arena);
    iot_symbols_name(symbols, frame, words, sizeof words);
    places[0] = (struct iot_place){.words = kept(arena, words),
                                   .function = kept(arena, iot_symbols_function(symbols, frame))};
    return places[0].words != NULL;
}
