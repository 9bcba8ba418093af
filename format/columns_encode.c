#include "format/columns.h"

#include <stddef.h>
#include <string.h>

#include "format/columns_layout.h"
#include "format/varint.h"

enum {
    ROWS_MAX = 1024,
    /* Rows: what a half holds has mostly left the near caches when it is full. */
    FETCHED_AHEAD = 32,
};

/* The rows of a half that are events. Where definitions stand between them, `at` says which; where
 * none do, as in most halves, they are the first n. */
struct events {
    const struct iot_row *rows;
    uint32_t n;
    uint16_t at[ROWS_MAX];
};

static inline const struct iot_row *event(const struct events *events, size_t i, int contiguous)
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

/* Half of a vector register on all that this is built for. */
typedef uint64_t two_words __attribute__((vector_size(16)));

/* Of a row's fields but its times, of which hardly two are alike: the bits that were ever set, and
 * those that always were. */
struct survey {
    two_words some_a, some_b, some_c, all_a, all_b, all_c;
};
enum { SURVEYED = offsetof(struct iot_row, result) };
_Static_assert(SURVEYED + 3 * sizeof(two_words) == sizeof(struct iot_row),
               "all fields behind the times are surveyed");

static inline two_words surveyed(const struct iot_row *r, size_t k)
{
    two_words words;
    memcpy(&words, (const char *)r + SURVEYED + k * sizeof words, sizeof words);
    return words;
}

static inline void survey(struct survey *s, const struct iot_row *r)
{
    two_words a = surveyed(r, 0), b = surveyed(r, 1), c = surveyed(r, 2);
    s->some_a |= a;
    s->some_b |= b;
    s->some_c |= c;
    s->all_a &= a;
    s->all_b &= b;
    s->all_c &= c;
}

/* As the fields of a row: which bits are not the same in all of them. */
static inline void differing(const struct survey *s, struct iot_row *differ)
{
    const two_words bits[3] = {s->some_a & ~s->all_a, s->some_b & ~s->all_b, s->some_c & ~s->all_c};
    memcpy((char *)differ + SURVEYED, bits, sizeof bits);
}

/* Encodes the definitions, finds the events between them, and surveys these. */
static uint8_t *sort_out(const struct iot_row *rows, uint32_t n_rows, struct events *events,
                         struct iot_row *differ, uint32_t *definitions, uint8_t *p)
{
    const two_words ones = {UINT64_MAX, UINT64_MAX};
    struct survey s = {.all_a = ones, .all_b = ones, .all_c = ones};
    events->rows = rows;
    events->n = *definitions = 0;
    for (uint32_t i = 0; i < n_rows;) {
        unsigned op = rows[i].op;
        __builtin_prefetch(&rows[i] + FETCHED_AHEAD);
        if (__builtin_expect(iot_op_is_event(op), 1)) {
            survey(&s, &rows[i]);
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
    differing(&s, differ);
    return p;
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

/* Of a group of values, which together have these bits, as many as count; the others are 0. Also
 * writes up to 7 bytes behind its end. */
static inline uint8_t *put_group(uint8_t *p, const uint64_t v[IOT_PACKED_GROUP], uint64_t bits,
                                 size_t count)
{
    unsigned width = bits ? 64 - (unsigned)__builtin_clzll(bits) : 0;
    width = width > 16 ? (width + 7) / 8 * 8 : (width + 1) / 2 * 2;
    *p = (uint8_t)width;
    uint8_t *to = p + 1;
    if (width > 16) {
        for (size_t k = 0; k < count; k++, to += width / 8)
            memcpy(to, &v[k], sizeof v[k]);
    } else {
        for (size_t k = 0; k < IOT_PACKED_GROUP; k += 4, to += width / 2) {
            uint64_t four = ((v[k + 3] << width | v[k + 2]) << width | v[k + 1]) << width | v[k];
            memcpy(to, &four, sizeof four);
        }
    }
    return p + 1 + (count * width + 7) / 8;
}

/* A column with a value for every row, each as likely as any of its size. Whole groups are so many
 * that they have a loop of their own, without a count. */
#define PACKED(column, value)                                                                      \
    do {                                                                                           \
        const struct iot_row *r = event(events, 0, contiguous);                                    \
        uint8_t *p = iot_put_varint(out->p, value);                                                \
        uint64_t v[IOT_PACKED_GROUP], bits;                                                        \
        size_t i = 1, k;                                                                           \
        for (; i + IOT_PACKED_GROUP <= events->n; i += IOT_PACKED_GROUP) {                         \
            for (k = 0, bits = 0; k < IOT_PACKED_GROUP; k++) {                                     \
                r = event(events, i + k, contiguous);                                              \
                bits |= v[k] = value;                                                              \
            }                                                                                      \
            p = put_group(p, v, bits, IOT_PACKED_GROUP);                                           \
        }                                                                                          \
        if (i < events->n) {                                                                       \
            memset(v, 0, sizeof v);                                                                \
            for (k = 0, bits = 0; i + k < events->n; k++) {                                        \
                r = event(events, i + k, contiguous);                                              \
                bits |= v[k] = value;                                                              \
            }                                                                                      \
            p = put_group(p, v, bits, k);                                                          \
        }                                                                                          \
        finish(out, column, IOT_PACKED, p);                                                        \
    } while (0)

/* One where many are. */
#define RUNS(column, value)                                                                        \
    do {                                                                                           \
        uint8_t *p = out->p;                                                                       \
        uint64_t last = 0;                                                                         \
        uint32_t times = 0;                                                                        \
        for (size_t i = 0; i < events->n; i++) {                                                 \
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

/* What a result does not say of the bytes. */
static inline uint64_t unexplained(const struct iot_row *r)
{
    return (uint64_t)r->bytes - iot_explained(r->result);
}

static inline __attribute__((always_inline)) uint64_t any_unexplained(const struct events *events,
                                                                      int contiguous)
{
    uint64_t any = 0;
    for (size_t i = 0; i < events->n; i++)
        any |= unexplained(event(events, i, contiguous));
    return any;
}

/* Made twice: for rows that are neighbours, and for those that are not. */
static inline __attribute__((always_inline)) void
encode_events(const struct events *events, int contiguous, const struct iot_row *differ,
              struct output *out)
{
    const struct iot_row *first = event(events, 0, contiguous);

    if (!same(out, IOT_COL_OP, differ->op, first->op))
        RUNS(IOT_COL_OP, r->op);
    uint64_t before = 0;
    PACKED(IOT_COL_GAP, ({
               uint64_t gap = r->t0 - before;
               before = r->t1;
               gap;
           }));
    PACKED(IOT_COL_SPAN, r->t1 - r->t0);
    before = 0;
    if (!same(out, IOT_COL_OBJ, differ->obj, first->obj))
        RUNS(IOT_COL_OBJ, ({
                 uint64_t step = r->obj - before;
                 before = r->obj;
                 step;
             }));
    if (!same(out, IOT_COL_OBJ2, differ->obj2, first->obj2))
        RUNS(IOT_COL_OBJ2, r->obj2);
    if (!same(out, IOT_COL_RESULT, (uint64_t)differ->result, (uint64_t)first->result))
        RUNS(IOT_COL_RESULT, (uint64_t)r->result);
    if (!same(out, IOT_COL_BYTES, (uint64_t)(differ->result | differ->bytes), unexplained(first)) &&
        any_unexplained(events, contiguous))
        RUNS(IOT_COL_BYTES, unexplained(r));
    if (!same(out, IOT_COL_OFFSET, (uint64_t)differ->offset, (uint64_t)first->offset)) {
        uint64_t ends[IOT_ENDS] = {0};
        before = 0;
        if (!differ->op && !differ->obj && iot_positioned(first->op)) /* no more than one end */
            RUNS(IOT_COL_OFFSET, ({
                     uint64_t step = (uint64_t)r->offset - before;
                     before = (uint64_t)r->offset + (uint64_t)r->bytes;
                     step;
                 }));
        else
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
    if (!same(out, IOT_COL_ADDR, differ->addr, first->addr))
        RUNS(IOT_COL_ADDR, ({
                 uint64_t step = r->addr - before;
                 before = r->addr;
                 step;
             }));
    if (!same(out, IOT_COL_ERR, differ->err, first->err))
        RUNS(IOT_COL_ERR, r->err);
    if (!same(out, IOT_COL_SITE, differ->site, first->site))
        RUNS(IOT_COL_SITE, r->site);
}

static size_t encode(const struct iot_row *rows, uint32_t n_rows, int with_events, uint8_t *to,
                     struct iot_counts *counts)
{
    struct events events;
    struct iot_row differ;
    struct output out = {to + 1, to + 1 + IOT_COLUMNS * IOT_DIRECTORY_ENTRY};
    uint8_t *data = out.p;

    finish(&out, IOT_COL_DEFINITIONS, IOT_EACH,
           sort_out(rows, n_rows, &events, &differ, &counts->definitions, out.p));
    if (!with_events)
        events.n = 0;
    counts->events = events.n;
    if (events.n == n_rows && events.n)
        encode_events(&events, 1, &differ, &out);
    else if (events.n)
        encode_events(&events, 0, &differ, &out);

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
