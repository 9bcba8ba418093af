#include "format/columns.h"

#include <string.h>

#include "format/columns_layout.h"
#include "format/varint.h"

enum { ROWS_MAX = 1024 };

/* The rows of a half that are events. Where definitions stand between them, `at` says which; where
 * none do, as in most halves, they are the first n. */
struct events {
    const struct iot_row *rows;
    uint32_t n;
    uint16_t at[ROWS_MAX];
};

static inline const struct iot_row *event(const struct events *events, uint32_t i, int contiguous)
{
    return &events->rows[contiguous ? i : events->at[i]];
}

static uint8_t *put(uint8_t *p, uint64_t v)
{
    return iot_put_varint(p, iot_zigzag((int64_t)v));
}

static uint8_t *encode_definition(const struct iot_row *r, uint8_t *p)
{
    p = iot_put_varint(p, r->op);
    p = iot_put_varint(p, r->obj);
    if (r->op == IOT_DEF_STRING) {
        p = iot_put_varint(p, (uint64_t)r->bytes);
        memcpy(p, r + 1, (size_t)r->bytes);
        return p + r->bytes;
    }
    p = iot_put_varint(p, r->obj2);
    p = iot_put_varint(p, (uint64_t)r->result);
    p = iot_put_varint(p, (uint64_t)r->bytes);
    p = iot_put_varint(p, (uint64_t)r->offset);
    p = iot_put_varint(p, r->addr);
    p = iot_put_varint(p, r->site);
    return iot_put_varint(p, r->err);
}

/* Encodes the definitions and finds the events between them. */
static uint8_t *sort_out(const struct iot_row *rows, uint32_t n_rows, struct events *events,
                         uint32_t *definitions, uint8_t *p)
{
    events->rows = rows;
    events->n = *definitions = 0;
    for (uint32_t i = 0; i < n_rows;) {
        unsigned op = rows[i].op;
        if (__builtin_expect(iot_op_is_event(op), 1)) {
            events->at[events->n++] = (uint16_t)i++;
        } else if (op == IOT_DEF_STRING || op == IOT_DEF_DESC) {
            ++*definitions;
            p = encode_definition(&rows[i], p);
            i += 1 + (op == IOT_DEF_STRING ? iot_text_rows((uint64_t)rows[i].bytes) : 0);
        } else { /* never completed */
            uint32_t held = op & IOT_DEF_PENDING ? op & ~(unsigned)IOT_DEF_PENDING : 0;
            i += held ? held : 1;
        }
    }
    return p;
}

/* Which fields are not the same in all events: in the mask of a row, all bits that ever differ from
 * the first row; and the bits of bytes that results do not explain. */
static inline __attribute__((always_inline)) void
survey(const struct events *events, int contiguous, struct iot_row *differ, uint64_t *unexplained)
{
    const struct iot_row *first = event(events, 0, contiguous);
    uint64_t a[8], d[8] = {0}, extra = 0;
    memcpy(a, first, sizeof a);
    for (uint32_t i = 0; i < events->n; i++) {
        const struct iot_row *r = event(events, i, contiguous);
        uint64_t b[8];
        memcpy(b, r, sizeof b);
        for (int k = 0; k < 8; k++)
            d[k] |= a[k] ^ b[k];
        extra |= (uint64_t)r->bytes - iot_explained(r->result);
    }
    memcpy(differ, d, sizeof d);
    *unexplained = extra;
}

/* Appends to the directory and to the data behind it. */
struct output {
    uint8_t *entry, *p;
};

static void finish(struct output *out, enum iot_column column, enum iot_encoding encoding,
                   uint8_t *end)
{
    uint32_t bytes = (uint32_t)(end - out->p);
    out->entry[0] = (uint8_t)column;
    out->entry[1] = (uint8_t)encoding;
    memcpy(out->entry + 2, &bytes, sizeof bytes);
    out->entry += IOT_DIRECTORY_ENTRY;
    out->p = end;
}

/* A column whose field is the same in all rows: left out if that is 0. Returns whether it was. */
static int same(struct output *out, enum iot_column column, uint64_t differ, uint64_t value)
{
    if (differ)
        return 0;
    if (value)
        finish(out, column, IOT_SAME, put(out->p, value));
    return 1;
}

/* A column with a value for every row, none of which is likely to be the one before. */
#define EACH(column, value)                                                                        \
    do {                                                                                           \
        uint8_t *p = out->p;                                                                       \
        for (uint32_t i = 0; i < events->n; i++) {                                                 \
            const struct iot_row *r = event(events, i, contiguous);                                \
            p = iot_put_varint(p, value);                                                          \
        }                                                                                          \
        finish(out, column, IOT_EACH, p);                                                          \
    } while (0)

/* One where many are. */
#define RUNS(column, value)                                                                        \
    do {                                                                                           \
        uint8_t *p = out->p;                                                                       \
        uint64_t last = 0;                                                                         \
        uint32_t times = 0;                                                                        \
        for (uint32_t i = 0; i < events->n; i++) {                                                 \
            const struct iot_row *r = event(events, i, contiguous);                                \
            uint64_t v = value;                                                                    \
            if (times && v == last) {                                                              \
                times++;                                                                           \
                continue;                                                                          \
            }                                                                                      \
            p = end_run(p, last, times);                                                           \
            p = put(p, v);                                                                         \
            last = v;                                                                              \
            times = 1;                                                                             \
        }                                                                                          \
        finish(out, column, IOT_RUNS, end_run(p, last, times));                                    \
    } while (0)

/* What is still to be written of a value that came so often, once written. */
static inline uint8_t *end_run(uint8_t *p, uint64_t value, uint32_t times)
{
    return times < 2 ? p : iot_put_varint(put(p, value), times - 2);
}

/* Made twice: for rows that are neighbours, and for those that are not. */
static inline __attribute__((always_inline)) void
encode_events(const struct events *events, int contiguous, struct output *out)
{
    const struct iot_row *first = event(events, 0, contiguous);
    struct iot_row differ;
    uint64_t unexplained;
    survey(events, contiguous, &differ, &unexplained);

    if (!same(out, IOT_COL_OP, differ.op, first->op))
        RUNS(IOT_COL_OP, r->op);
    uint64_t before = 0;
    EACH(IOT_COL_GAP, ({
             uint64_t gap = r->t0 - before;
             before = r->t1;
             gap;
         }));
    EACH(IOT_COL_SPAN, r->t1 - r->t0);
    before = 0;
    if (!same(out, IOT_COL_OBJ, differ.obj, first->obj))
        RUNS(IOT_COL_OBJ, ({
                 uint64_t step = r->obj - before;
                 before = r->obj;
                 step;
             }));
    if (!same(out, IOT_COL_OBJ2, differ.obj2, first->obj2))
        RUNS(IOT_COL_OBJ2, r->obj2);
    if (!same(out, IOT_COL_RESULT, (uint64_t)differ.result, (uint64_t)first->result))
        RUNS(IOT_COL_RESULT, (uint64_t)r->result);
    if (unexplained)
        RUNS(IOT_COL_BYTES, (uint64_t)r->bytes - iot_explained(r->result));
    if (!same(out, IOT_COL_OFFSET, (uint64_t)differ.offset, (uint64_t)first->offset)) {
        uint64_t ends[IOT_ENDS] = {0};
        RUNS(IOT_COL_OFFSET, ({
                 uint64_t step = (uint64_t)r->offset;
                 if (iot_positioned(r->op)) {
                     uint64_t *end = &ends[r->obj % IOT_ENDS];
                     step -= *end;
                     *end = (uint64_t)r->offset + (uint64_t)r->bytes;
                 }
                 step;
             }));
    }
    before = 0;
    if (!same(out, IOT_COL_ADDR, differ.addr, first->addr))
        RUNS(IOT_COL_ADDR, ({
                 uint64_t step = r->addr - before;
                 before = r->addr;
                 step;
             }));
    if (!same(out, IOT_COL_ERR, differ.err, first->err))
        RUNS(IOT_COL_ERR, r->err);
    if (!same(out, IOT_COL_SITE, differ.site, first->site))
        RUNS(IOT_COL_SITE, r->site);
}

static size_t encode(const struct iot_row *rows, uint32_t n_rows, int with_events, uint8_t *to,
                     struct iot_counts *counts)
{
    struct events events;
    struct output out = {to + 1, to + 1 + IOT_COLUMNS * IOT_DIRECTORY_ENTRY};
    uint8_t *data = out.p;

    finish(&out, IOT_COL_DEFINITIONS, IOT_EACH,
           sort_out(rows, n_rows, &events, &counts->definitions, out.p));
    if (!with_events)
        events.n = 0;
    counts->events = events.n;
    if (events.n == n_rows && events.n)
        encode_events(&events, 1, &out);
    else if (events.n)
        encode_events(&events, 0, &out);

    /* The directory was given room for all columns: close the gap. */
    to[0] = (uint8_t)((out.entry - to - 1) / IOT_DIRECTORY_ENTRY);
    memmove(out.entry, data, (size_t)(out.p - data));
    return (size_t)(out.entry - to) + (size_t)(out.p - data);
}

size_t iot_columns_encode(const struct iot_row *rows, uint32_t n_rows, uint8_t *to,
                          struct iot_counts *counts)
{
    return encode(rows, n_rows, 1, to, counts);
}

size_t iot_columns_encode_definitions(const struct iot_row *rows, uint32_t n_rows, uint8_t *to,
                                      struct iot_counts *counts)
{
    return encode(rows, n_rows, 0, to, counts);
}
