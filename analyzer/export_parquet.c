/* A table as an Apache Parquet file: plain values, zstd, version 1 pages (parquet.thrift of the
 * format).
 *
 * A page is written when it is full, so what is held is a page and what the footer says of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analyzer/bytes.h"
#include "analyzer/export_tables.h"
#include "analyzer/progress.h"

enum { GROUP_ROWS = 1 << 17, PAGE_BYTES = 1 << 20, ZSTD_LEVEL = 3 };

/* Types of Thrift's compact protocol. */
enum { T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };
/* Of the format. */
enum {
    INT64 = 2,
    BYTE_ARRAY = 6,
    REQUIRED = 0,
    OPTIONAL = 1,
    UTF8 = 0,
    PLAIN = 0,
    RLE = 3,
    ZSTD = 6
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
    /* The page under way: levels say which of its values are null, run by run. */
    struct iot_bytes levels, values, page, packed, header;
    uint32_t page_rows, run, run_level;
    /* The column chunk under way. */
    int64_t chunk_start, chunk_plain, chunk_packed;
    int64_t min, max, nulls;
    bool any;
    struct iot_bytes groups; /* for the footer */
    size_t n_groups;
    char *room;
    bool failed; /* without memory */
};

static void put(struct writer *w, const void *from, size_t n)
{
    fwrite(from, 1, n, w->out);
    w->at += (int64_t)n;
}

static void end_run(struct writer *w)
{
    if (w->run) {
        iot_bytes_varint(&w->levels, (uint64_t)w->run << 1);
        iot_bytes_byte(&w->levels, w->run_level);
    }
    w->run = 0;
}

static void put_page_header(struct writer *w, size_t plain, size_t packed)
{
    struct thrift page = begin(&w->header);
    w->header.n = 0;
    put_i32(&page, 1, 0); /* a data page */
    put_i32(&page, 2, (int32_t)plain);
    put_i32(&page, 3, (int32_t)packed);
    field(&page, 5, T_STRUCT);
    struct thrift data = begin(&w->header);
    put_i32(&data, 1, (int32_t)w->page_rows);
    put_i32(&data, 2, PLAIN);
    put_i32(&data, 3, RLE);
    put_i32(&data, 4, RLE);
    end(&data);
    end(&page);
}

static void end_page(struct writer *w, const struct iot_column *c)
{
    if (!w->page_rows)
        return;
    end_run(w);
    w->page.n = 0;
    if (c->nullable) {
        iot_bytes_fixed(&w->page, w->levels.n, 4);
        iot_bytes_add(&w->page, w->levels.at, w->levels.n);
    }
    iot_bytes_add(&w->page, w->values.at, w->values.n);
    size_t bound = ZSTD_compressBound(w->page.n);
    if (w->packed.room < bound) {
        unsigned char *more = realloc(w->packed.at, bound);
        w->packed.failed |= !more;
        w->packed.at = more ? more : w->packed.at;
        w->packed.room = more ? bound : w->packed.room;
    }
    w->failed |= w->levels.failed || w->values.failed || w->page.failed || w->packed.failed;
    if (w->failed)
        return;
    size_t packed =
        ZSTD_compressCCtx(w->zstd, w->packed.at, w->packed.room, w->page.at, w->page.n, ZSTD_LEVEL);
    if (ZSTD_isError(packed)) {
        w->failed = true;
        return;
    }
    put_page_header(w, w->page.n, packed);
    put(w, w->header.at, w->header.n);
    put(w, w->packed.at, packed);
    w->chunk_plain += (int64_t)(w->header.n + w->page.n);
    w->chunk_packed += (int64_t)(w->header.n + packed);
    w->levels.n = w->values.n = 0;
    w->page_rows = 0;
}

static void add_value(struct writer *w, const struct iot_column *c, struct iot_cell cell)
{
    uint32_t level = !cell.null;
    if (c->nullable && (!w->run || level != w->run_level)) {
        end_run(w);
        w->run_level = level;
    }
    w->run++;
    w->page_rows++;
    w->nulls += cell.null;
    if (cell.null)
        return;
    if (c->text) {
        const char *text = iot_cell_text(cell.text, &w->room);
        w->failed |= !text;
        iot_bytes_fixed(&w->values, text ? strlen(text) : 0, 4);
        iot_bytes_add(&w->values, text, text ? strlen(text) : 0);
    } else {
        iot_bytes_fixed(&w->values, (uint64_t)cell.number, 8);
        w->min = !w->any || cell.number < w->min ? cell.number : w->min;
        w->max = !w->any || cell.number > w->max ? cell.number : w->max;
    }
    w->any = true;
    if (w->values.n >= PAGE_BYTES)
        end_page(w, c);
}

/* --- column chunks and row groups --- */

/* What lets a reader pass over the chunk. */
static void put_statistics(struct writer *w, struct thrift *meta, const struct iot_column *c)
{
    struct iot_bytes number = {0};
    field(meta, 12, T_STRUCT);
    struct thrift s = begin(meta->to);
    put_i64(&s, 3, w->nulls);
    if (w->any && !c->text) {
        iot_bytes_fixed(&number, (uint64_t)w->max, 8);
        iot_bytes_fixed(&number, (uint64_t)w->min, 8);
        w->failed |= number.failed;
        put_bytes(&s, 5, number.at, number.failed ? 0 : 8);
        put_bytes(&s, 6, number.at ? number.at + 8 : NULL, number.failed ? 0 : 8);
    }
    end(&s);
    iot_bytes_free(&number);
}

static void put_chunk(struct writer *w, const struct iot_column *c, size_t rows)
{
    struct thrift chunk = begin(&w->groups);
    put_i64(&chunk, 2, w->chunk_start);
    field(&chunk, 3, T_STRUCT);
    struct thrift meta = begin(&w->groups);
    put_i32(&meta, 1, c->text ? BYTE_ARRAY : INT64);
    put_list(&meta, 2, T_I32, 2);
    iot_bytes_zigzag(&w->groups, PLAIN);
    iot_bytes_zigzag(&w->groups, RLE);
    put_list(&meta, 3, T_BINARY, 1);
    put_binary(&w->groups, c->name, strlen(c->name));
    put_i32(&meta, 4, ZSTD);
    put_i64(&meta, 5, (int64_t)rows);
    put_i64(&meta, 6, w->chunk_plain);
    put_i64(&meta, 7, w->chunk_packed);
    put_i64(&meta, 9, w->chunk_start);
    put_statistics(w, &meta, c);
    end(&meta);
    end(&chunk);
}

static int64_t write_chunk(struct writer *w, const struct iot_exported *x,
                           const struct iot_column *c, size_t first, size_t rows)
{
    w->chunk_start = w->at;
    w->chunk_plain = w->chunk_packed = w->nulls = 0;
    w->any = false;
    for (size_t row = first; row < first + rows && !w->failed; row++)
        add_value(w, c, c->get(x, row));
    end_page(w, c);
    put_chunk(w, c, rows);
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

    w.failed = !w.zstd;
    put(&w, magic, 4);
    for (size_t row = 0; row < rows && !w.failed && !ferror(out); row += GROUP_ROWS) {
        iot_progress(table->name, row, rows);
        write_group(&w, x, table, row, rows - row < GROUP_ROWS ? rows - row : GROUP_ROWS);
    }
    if (!w.failed)
        write_footer(&w, table, rows);
    struct iot_bytes *all[] = {&w.levels, &w.values, &w.page, &w.packed, &w.header, &w.groups};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        iot_bytes_free(all[k]);
    ZSTD_freeCCtx(w.zstd);
    free(w.room);
    errno = w.failed ? ENOMEM : errno;
    return w.failed || ferror(out) ? -1 : 0;
}
