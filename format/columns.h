/* Rows to columns and back: the payload of a block, before compression.
 *
 * Neighbouring rows resemble each other, so each field is stored apart, as the
 * difference from what the rows before let one expect, in as few bytes as the
 * difference needs. FORMAT.md, "Columns", is the definition.
 */
#ifndef IOT_FORMAT_COLUMNS_H
#define IOT_FORMAT_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "format/row.h"

/* The most bytes that one row, or one row's worth of text, can become; and what a
 * payload has besides. */
enum { IOT_ENCODED_ROW_MAX = 88, IOT_ENCODED_FIXED_MAX = 128 };

struct iot_counts {
    uint32_t events, definitions;
};

/* Encodes the completed rows among the first n_rows into `out`, which must have
 * n_rows * IOT_ENCODED_ROW_MAX + IOT_ENCODED_FIXED_MAX bytes. Returns the bytes
 * used. Needs no memory of its own and calls nothing, so that it can run inside any
 * traced call. */
size_t iot_columns_encode(const struct iot_row *rows, uint32_t n_rows, uint8_t *out,
                          struct iot_counts *counts);

/* The same of the definitions alone. */
size_t iot_columns_encode_definitions(const struct iot_row *rows, uint32_t n_rows, uint8_t *out,
                                      struct iot_counts *counts);

/* A definition: `row` is its head, `text` (row.bytes of it, not terminated) lies in the
 * payload. */
struct iot_definition {
    struct iot_row row;
    const char *text;
};

/* Decodes a payload into exactly counts->events rows and counts->definitions definitions.
 * Returns 0, or -1 if the payload is not what an encoder makes. */
int iot_columns_decode(const uint8_t *payload, size_t bytes, const struct iot_counts *counts,
                       struct iot_row *rows, struct iot_definition *definitions);

/* Completed rows of a live half as they lie in memory, a definition's text with it: calls
 * `event` or `definition` for each in order. Stops at what makes no sense, as in the
 * file of a killed process it may. */
struct iot_row_visitor {
    void (*event)(void *user, const struct iot_row *row);
    void (*definition)(void *user, const struct iot_definition *definition);
    void *user;
};
void iot_rows_visit(const struct iot_row *rows, uint32_t n_rows, const struct iot_row_visitor *v);

#endif
