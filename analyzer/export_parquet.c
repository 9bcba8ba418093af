/* A table as an Apache Parquet file: zstd, version 1 pages (parquet.thrift of the format).
 *
 * What is held is one column of a row group, a page, and what the footer says of those written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analyzer/bytes.h"
#include "analyzer/export_tables.h"
#include "analyzer/parquet_values.h"
#include "analyzer/progress.h"

enum { ZSTD_LEVEL = 3 };

/* Types of Thrift's compact protocol. */
enum { T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };
/* Of the format. */
enum {
    INT64 = 2,
    BYTE_ARRAY = 6,
    REQUIRED = 0,
    OPTIONAL = 1,
    UTF8 = 0,
    ZSTD = 6,
    DATA_PAGE = 0,
    DICTIONARY_PAGE = 2
};

static const char magic[] = "PAR1", created_by[] = "iotrace version " IOT_VERSION " (build 0)";

/* --- Thrift --- */

/* A structure being written: fields are numbered by what they add to the one before. */
struct thrift {
    struct iot_bytes *to;
    unsigned last;
};

static void field(struct thrift *t, unsigned id, unsigned type)
{
    iot_bytes_byte(t->to, (id - t->last) << 4 | type);
    t->last = id;
}

static void put_i32(struct thrift *t, unsigned id, int32_t value)
{
    field(t, id, T_I32);
    iot_bytes_zigzag(t->to, value);
}

static void put_i64(struct thrift *t, unsigned id, int64_t value)
{
    field(t, id, T_I64);
    iot_bytes_zigzag(t->to, value);
}

static void put_binary(struct iot_bytes *to, const void *from, size_t n)
{
    iot_bytes_varint(to, n);
    iot_bytes_add(to, from, n);
}

static void put_bytes(struct thrift *t, unsigned id, const void *from, size_t n)
{
    field(t, id, T_BINARY);
    put_binary(t->to, from, n);
}

static void put_list(struct thrift *t, unsigned id, unsigned type, size_t n)
{
    field(t, id, T_LIST);
    iot_bytes_byte(t->to, (n < 15 ? (unsigned)n : 15) << 4 | type);
    if (n >= 15)
        iot_bytes_varint(t->to, n);
}

static struct thrift begin(struct iot_bytes *to)
{
    return (struct thrift){to, 0};
}

static void end(struct thrift *t)
{
    iot_bytes_byte(t->to, 0);
}

/* --- pages --- */

struct writer {
    FILE *out;
    int64_t at; /* bytes written */
    ZSTD_CCtx *zstd;
    struct iot_parquet_values values; /* of the column chunk under way */
    struct iot_bytes page, packed, header;
    int64_t chunk_plain, chunk_packed, first_page;
    struct iot_bytes groups; /* for the footer */
    size_t n_groups;
    bool failed; /* without memory */
};

static void put(struct writer *w, const void *from, size_t n)
{
    fwrite(from, 1, n, w->out);
    w->at += (int64_t)n;
}

/* Of a dictionary (rows 0) or of data. */
static void put_page_header(struct writer *w, size_t packed, long rows)
{
    struct thrift page = begin(&w->header);
    w->header.n = 0;
    put_i32(&page, 1, rows ? DATA_PAGE : DICTIONARY_PAGE);
    put_i32(&page, 2, (int32_t)w->page.n);
    put_i32(&page, 3, (int32_t)packed);
    field(&page, rows ? 5 : 7, T_STRUCT);
    struct thrift data = begin(&w->header);
    put_i32(&data, 1, rows ? (int32_t)rows : (int32_t)w->values.entries);
    put_i32(&data, 2, rows ? (int32_t)w->values.encoding : IOT_PARQUET_PLAIN);
    if (rows) {
        put_i32(&data, 3, IOT_PARQUET_RLE);
        put_i32(&data, 4, IOT_PARQUET_RLE);
    }
    end(&data);
    end(&page);
}

/* What is in w->page. */
static void put_page(struct writer *w, long rows)
{
    size_t bound = ZSTD_compressBound(w->page.n);
    w->packed.n = 0;
    unsigned char *to = iot_bytes_more(&w->packed, bound);
    size_t packed = to && !w->page.failed
                        ? ZSTD_compressCCtx(w->zstd, to, bound, w->page.at, w->page.n, ZSTD_LEVEL)
                        : 0;
    if (!packed || ZSTD_isError(packed)) {
        w->failed = true;
        return;
    }
    put_page_header(w, packed, rows);
    put(w, w->header.at, w->header.n);
    put(w, w->packed.at, packed);
    w->chunk_plain += (int64_t)(w->header.n + w->page.n);
    w->chunk_packed += (int64_t)(w->header.n + packed);
    w->failed |= w->header.failed;
}

/* --- column chunks and row groups --- */

/* What lets a reader pass over the chunk. */
static void put_statistics(struct writer *w, struct thrift *meta)
{
    const struct iot_parquet_values *v = &w->values;
    field(meta, 12, T_STRUCT);
    struct thrift s = begin(meta->to);
    put_i64(&s, 3, (int64_t)(v->rows - v->n));
    if (v->bounded) {
        put_bytes(&s, 5, v->most.at, v->most.n);
        put_bytes(&s, 6, v->least.at, v->least.n);
    }
    end(&s);
}

static void put_chunk(struct writer *w, const struct iot_column *c, int64_t start)
{
    const struct iot_parquet_values *v = &w->values;
    struct thrift chunk = begin(&w->groups);
    put_i64(&chunk, 2, start);
    field(&chunk, 3, T_STRUCT);
    struct thrift meta = begin(&w->groups);
    put_i32(&meta, 1, c->text ? BYTE_ARRAY : INT64);
    put_list(&meta, 2, T_I32, v->entries ? 3 : 2);
    if (v->entries)
        iot_bytes_zigzag(&w->groups, IOT_PARQUET_PLAIN);
    iot_bytes_zigzag(&w->groups, v->encoding);
    iot_bytes_zigzag(&w->groups, IOT_PARQUET_RLE);
    put_list(&meta, 3, T_BINARY, 1);
    put_binary(&w->groups, c->name, strlen(c->name));
    put_i32(&meta, 4, ZSTD);
    put_i64(&meta, 5, (int64_t)v->rows);
    put_i64(&meta, 6, w->chunk_plain);
    put_i64(&meta, 7, w->chunk_packed);
    put_i64(&meta, 9, w->first_page);
    if (v->entries)
        put_i64(&meta, 11, start);
    put_statistics(w, &meta);
    end(&meta);
    end(&chunk);
}

static int64_t write_chunk(struct writer *w, const struct iot_exported *x,
                           const struct iot_column *c, size_t first, size_t rows)
{
    int64_t start = w->at;
    struct iot_bytes *dictionary = &w->values.dictionary;
    w->chunk_plain = w->chunk_packed = 0;
    w->failed |= iot_parquet_values_gather(&w->values, x, c, first, rows) != 0;
    if (!w->failed && w->values.entries) {
        w->page.n = 0;
        iot_bytes_add(&w->page, dictionary->at, dictionary->n);
        put_page(w, 0);
    }
    w->first_page = w->at;
    for (size_t row = 0; row < rows && !w->failed;) {
        w->page.n = 0;
        long n = iot_parquet_values_page(&w->values, &row, &w->page);
        w->failed |= n < 0;
        if (!w->failed)
            put_page(w, n);
    }
    put_chunk(w, c, start);
    return w->chunk_plain;
}

static size_t column_count(const struct iot_export_table *table)
{
    size_t n = 0;
    while (table->columns[n].name)
        n++;
    return n;
}

static void write_group(struct writer *w, const struct iot_exported *x,
                        const struct iot_export_table *table, size_t first, size_t rows)
{
    struct thrift group = begin(&w->groups);
    int64_t plain = 0;
    put_list(&group, 1, T_STRUCT, column_count(table));
    for (const struct iot_column *c = table->columns; c->name; c++)
        plain += write_chunk(w, x, c, first, rows);
    put_i64(&group, 2, plain);
    put_i64(&group, 3, (int64_t)rows);
    end(&group);
    w->n_groups++;
}

/* --- the footer --- */

static void put_schema(struct thrift *file, const struct iot_export_table *table)
{
    put_list(file, 2, T_STRUCT, column_count(table) + 1);
    struct thrift root = begin(file->to);
    put_bytes(&root, 4, table->name, strlen(table->name));
    put_i32(&root, 5, (int32_t)column_count(table));
    end(&root);
    for (const struct iot_column *c = table->columns; c->name; c++) {
        struct thrift column = begin(file->to);
        put_i32(&column, 1, c->text ? BYTE_ARRAY : INT64);
        put_i32(&column, 3, c->nullable ? OPTIONAL : REQUIRED);
        put_bytes(&column, 4, c->name, strlen(c->name));
        if (c->text) {
            put_i32(&column, 6, UTF8);
            field(&column, 10, T_STRUCT); /* the same once more, as newer readers want it */
            struct thrift logical = begin(file->to);
            field(&logical, 1, T_STRUCT);
            struct thrift string = begin(file->to);
            end(&string);
            end(&logical);
        }
        end(&column);
    }
}

/* Bounds are of numbers with their sign, and of texts byte by byte: as their types say. */
static void put_orders(struct thrift *file, const struct iot_export_table *table)
{
    put_list(file, 7, T_STRUCT, column_count(table));
    for (const struct iot_column *c = table->columns; c->name; c++) {
        struct thrift order = begin(file->to);
        field(&order, 1, T_STRUCT);
        struct thrift by_type = begin(file->to);
        end(&by_type);
        end(&order);
    }
}

static void write_footer(struct writer *w, const struct iot_export_table *table, size_t rows)
{
    struct iot_bytes footer = {0};
    struct thrift file = begin(&footer);
    put_i32(&file, 1, 1);
    put_schema(&file, table);
    put_i64(&file, 3, (int64_t)rows);
    put_list(&file, 4, T_STRUCT, w->n_groups);
    iot_bytes_add(&footer, w->groups.at, w->groups.n);
    put_bytes(&file, 6, created_by, sizeof created_by - 1);
    put_orders(&file, table);
    end(&file);
    size_t n = footer.n;
    iot_bytes_fixed(&footer, n, 4);
    iot_bytes_add(&footer, magic, 4);
    w->failed |= footer.failed || w->groups.failed;
    if (!w->failed)
        put(w, footer.at, footer.n);
    iot_bytes_free(&footer);
}

int iot_export_parquet(const struct iot_exported *x, const struct iot_export_table *table,
                       FILE *out)
{
    struct writer w = {.out = out, .zstd = ZSTD_createCCtx()};
    size_t rows = table->rows(x);

    w.failed = iot_parquet_values_init(&w.values) || !w.zstd;
    put(&w, magic, 4);
    for (size_t row = 0, n; row < rows && !w.failed && !ferror(out); row += n) {
        n = rows - row < IOT_PARQUET_GROUP_ROWS ? rows - row : IOT_PARQUET_GROUP_ROWS;
        iot_progress(table->name, row, rows);
        write_group(&w, x, table, row, n);
    }
    if (!w.failed)
        write_footer(&w, table, rows);
    iot_parquet_values_free(&w.values);
    struct iot_bytes *all[] = {&w.page, &w.packed, &w.header, &w.groups};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        iot_bytes_free(all[k]);
    ZSTD_freeCCtx(w.zstd);
    errno = w.failed ? ENOMEM : errno;
    return w.failed || ferror(out) ? -1 : 0;
}
