/* Frames of call stacks as a person knows them: function, file and line. */
#ifndef IOT_ANALYZER_PLACES_H
#define IOT_ANALYZER_PLACES_H

#include "analyzer/arena.h"
#include "analyzer/symbols.h"

enum { IOT_PLACES_MAX = 8 /* of one frame */ };

/* Texts lie in the arena. */
struct iot_place {
    const char *words;    /* "train.py:42 load_batch", "read.c:10 fill (app)", "fill+0x1f (app)" */
    const char *function; /* NULL: not known */
    const char *file;     /* its path as the compiler or the interpreter has it; NULL: not known */
    uint32_t line;        /* 0: not known */
    uint32_t is_python;
};

/* The places of a frame: several where functions were put into each other, the innermost first; 0
 * without memory. */
unsigned iot_places_of(struct iot_symbols *symbols, const struct iot_frame *frame,
                       struct iot_place places[IOT_PLACES_MAX], struct iot_arena *arena);

/* How many of a stack's frames, the innermost first, are the program's: without those that started
 * it or its thread, the outermost (_start, __libc_start_main, clone); never 0 of some. */
uint32_t iot_places_inner(struct iot_symbols *symbols, const struct iot_frame *frames, uint32_t n);

/* A frame of Python's import system. */
int iot_place_is_import(const struct iot_frame *frame);

#endif
