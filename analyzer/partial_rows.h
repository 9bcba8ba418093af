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

enum { IOT_ROW_TEXTS = 4, IOT_ROW_NUMBERS = 7 };

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
enum { IOT_ROW_FAMILY = 1, IOT_ROW_OBJECT = 2, IOT_ROW_TIMES = 4, IOT_ROW_SHOWN = 8 };
extern const struct iot_row_about iot_rows_about[IOT_ROW_KINDS];

struct iot_named_row {
    const char *texts[IOT_ROW_TEXTS];
    const char *shown;
    uint8_t object; /* IOT_OBJECTS: none */
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
/* Into their one order. Returns 0, -1 without memory. */
int iot_named_rows_order(struct iot_named_rows *rows, enum iot_row_kind kind);
void iot_named_rows_free(struct iot_named_rows *rows);

#endif
