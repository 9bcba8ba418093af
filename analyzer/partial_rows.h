/* The rows with names of a partial result, of all kinds alike: partial_rows.def. Adding up is
 * associative and commutative to the bit. */
#ifndef IOT_ANALYZER_PARTIAL_ROWS_H
#define IOT_ANALYZER_PARTIAL_ROWS_H

#include <stdint.h>

#include "analyzer/arena.h"
#include "analyzer/histogram.h"
#include "analyzer/objects.h"
#include "analyzer/table.h"

enum iot_row_kind {
#define IOT_ROWS(kind, most, flags) IOT_ROWS_##kind,
#include "analyzer/partial_rows.def"
    IOT_ROW_KINDS
};

/* IOT_ROW_ranges_bytes and so on: which number, or text, of its kind. */
enum {
#define IOT_ROWS(kind, most, flags) IOT_ROW_##kind##_numbers = -1,
#define IOT_ROW_NUMBER(kind, how, name) IOT_ROW_##kind##_##name,
#include "analyzer/partial_rows.def"
};
enum {
#define IOT_ROWS(kind, most, flags) IOT_ROW_TEXT_##kind##_texts = -1,
#define IOT_ROW_TEXT(kind, name) IOT_ROW_TEXT_##kind##_##name,
#include "analyzer/partial_rows.def"
};

enum { IOT_ROW_TEXTS = 4, IOT_ROW_NUMBERS = 9 };

struct iot_row_about {
    const char *name;
    size_t most; /* of a unit; SIZE_MAX: all */
    unsigned flags;
    const char *texts[IOT_ROW_TEXTS + 1]; /* their names, up to NULL */
    struct {
        uint8_t how;
        const char *name; /* up to NULL */
    } numbers[IOT_ROW_NUMBERS + 1];
};
enum {
    IOT_ROW_FAMILY = 1,
    IOT_ROW_OBJECT = 2,
    IOT_ROW_TIMES = 4,
    IOT_ROW_SHOWN = 8,
    IOT_ROW_SPAN = 16
};
/* Which kinds have `shown`. */
enum { IOT_ROW_MORE = IOT_ROW_SHOWN | IOT_ROW_SPAN };
extern const struct iot_row_about iot_rows_about[IOT_ROW_KINDS];

struct iot_named_row {
    const char *texts[IOT_ROW_TEXTS];
    const char *shown; /* SPAN: the text with the most of its numbers */
    uint8_t object;    /* IOT_OBJECTS: none */
    int64_t numbers[IOT_ROW_NUMBERS];
    struct iot_histogram times;
};

/* All zero: none. */
struct iot_named_rows {
    struct iot_named_row *rows;
    size_t n, room;
    struct iot_table table;
};

/* Adds to the row that is alike. Texts are copied into the arena. Returns 0, -1 without memory. */
int iot_named_rows_add(struct iot_named_rows *rows, enum iot_row_kind kind,
                       const struct iot_named_row *row, struct iot_arena *arena);
/* How much of the text is a number (digits, with dots between them) or a '#' that stands for one;
 * 0: it begins with none. */
size_t iot_number_length(const char *text);
/* Of two texts that are kin, that which has the least (way -1) or the most (1) of each number. NULL
 * without memory. */
const char *iot_text_of_numbers(const char *x, const char *y, int way, struct iot_arena *arena);
/* Whether the texts differ in their numbers alone. */
int iot_texts_are_kin(const char *x, const char *y);
/* The text of a row of SPAN, with "3 to 9" where its units do not have the same number, and '#'
 * where that is part of a word. NULL without memory; free it. */
char *iot_named_row_span(const struct iot_named_row *row);
/* Into their one order. Returns 0, -1 without memory. */
int iot_named_rows_order(struct iot_named_rows *rows, enum iot_row_kind kind);
void iot_named_rows_free(struct iot_named_rows *rows);

#endif
