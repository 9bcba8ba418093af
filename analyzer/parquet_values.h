/* The values of one column in a row group of a Parquet file: gathered from a table, and put into
 * pages by the encoding that suits them.
 *
 * What repeats has a dictionary; other numbers are differences, other texts stand as they are.
 */
#ifndef IOT_ANALYZER_PARQUET_VALUES_H
#define IOT_ANALYZER_PARQUET_VALUES_H

#include "analyzer/bytes.h"
#include "analyzer/export_tables.h"

enum { IOT_PARQUET_GROUP_ROWS = 1 << 17 };

/* The format's numbers of encodings. */
enum iot_parquet_encoding {
    IOT_PARQUET_PLAIN = 0,
    IOT_PARQUET_RLE = 3, /* of levels */
    IOT_PARQUET_DELTA = 5,
    IOT_PARQUET_DICTIONARY = 8,
};

struct iot_parquet_values {
    const struct iot_column *column;
    size_t rows, n; /* n: those that are not null */
    enum iot_parquet_encoding encoding;
    struct iot_bytes dictionary; /* its page, plain */
    uint32_t entries;
    bool bounded; /* `least` and `most` say within which bounds all are, plain */
    struct iot_bytes least, most;
    struct iot_parquet_room *room;
};

/* Returns 0, or -1 without memory; free in either case. */
int iot_parquet_values_init(struct iot_parquet_values *values);
void iot_parquet_values_free(struct iot_parquet_values *values);

/* Takes the rows from `first` on, IOT_PARQUET_GROUP_ROWS at most. -1 without memory. */
int iot_parquet_values_gather(struct iot_parquet_values *values, const struct iot_exported *x,
                              const struct iot_column *column, size_t first, size_t rows);

/* Puts rows from `*row` on into a page, and moves *row on behind them. Pages are to be put from the
 * first row to the last. Returns how many rows, -1 without memory. */
long iot_parquet_values_page(struct iot_parquet_values *values, size_t *row, struct iot_bytes *to);

#endif
