#include "format/columns.h"

#include <string.h>

#include "format/ops.h"
#include "format/varint.h"

enum column {
    COL_DEFINITIONS = 0,
    COL_OP = 1,
    COL_GAP = 2,  /* t0 less the t1 before */
    COL_SPAN = 3, /* t1 - t0 */
    COL_OBJ = 4,  /* difference */
    COL_OBJ2 = 5,
    COL_RESULT = 6,
    COL_BYTES = 7,  /* less a positive result */
    COL_OFFSET = 8, /* of positioned calls less the end of the one before on this object */
    COL_ADDR = 9,   /* difference */
    COL_ERR = 10,
    COL_SITE = 11,
    COLUMNS
};

/* Every value column is zigzag varints; one that is all zero has no bytes and no entry. */
enum { DIRECTORY_ENTRY = 5 }; /* u8 column, u32 bytes */

/* What the encoder and the decoder must both expect of the next row. */
struct expect {
    uint64_t t1, addr;
    uint32_t obj;
    uint64_t end[64]; /* by object number, modulo: where its last positioned call ended */
};

static int positioned(unsigned op)
{
    return op == IOT_OP_PREAD || op == IOT_OP_PWRITE || op == IOT_OP_PREADV ||
           op == IOT_OP_PWRITEV || op == IOT_OP_PREADV2 || op == IOT_OP_PWRITEV2;
}

/* The rows to be encoded, definitions passed over: what n is after i, and n_rows at the end. */
static uint32_t next_event(const struct iot_row *rows, uint32_t n_rows, uint32_t i)
{
    while (i < n_rows) {
        unsigned op = rows[i].op;
        if (op && op < IOT_OP_LIMIT)
            return i;
        if (op & IOT_DEF_PENDING)
            i += op & ~(unsigned)IOT_DEF_PENDING ? op & ~(unsigned)IOT_DEF_PENDING : 1;
        else if (op == IOT_DEF_STRING)
            i += 1 + iot_text_rows((uint64_t)rows[i].bytes);
        else
            i++;
    }
    return n_rows;
}

static uint64_t grown(int64_t bytes, int64_t result)
{
    return (uint64_t)bytes - (uint64_t)(result > 0 ? result : 0);
}

/* One loop a column keeps each small; the switch is taken apart by the compiler. */
static inline __attribute__((always_inline)) uint8_t *
encode_column(enum column column, const struct iot_row *rows, uint32_t n_rows, uint8_t *p)
{
    struct expect x;
    x.t1 = x.addr = x.obj = 0;
    if (column == COL_OFFSET)
        memset(x.end, 0, sizeof x.end);
    for (uint32_t i = next_event(rows, n_rows, 0); i < n_rows; i = next_event(rows, n_rows, i + 1)) {
        const struct iot_row *r = &rows[i];
        uint64_t v = 0;
        switch (column) {
        case COL_OP:
            v = r->op;
            break;
        case COL_GAP:
            v = r->t0 - x.t1;
            x.t1 = r->t1;
            break;
        case COL_SPAN:
            v = r->t1 - r->t0;
            break;
        case COL_OBJ:
            v = (uint64_t)((int64_t)r->obj - (int64_t)x.obj);
            x.obj = r->obj;
            break;
        case COL_OBJ2:
            v = r->obj2;
            break;
        case COL_RESULT:
            v = (uint64_t)r->result;
            break;
        case COL_BYTES:
            v = grown(r->bytes, r->result);
            break;
        case COL_OFFSET:
            v = (uint64_t)r->offset;
            if (positioned(r->op)) {
                uint64_t *end = &x.end[r->obj % 64];
                v -= *end;
                *end = (uint64_t)r->offset + (uint64_t)r->bytes;
            }
            break;
        case COL_ADDR:
            v = r->addr - x.addr;
            x.addr = r->addr;
            break;
        case COL_ERR:
            v = r->err;
            break;
        case COL_SITE:
            v = r->site;
            break;
        case COL_DEFINITIONS:
        case COLUMNS:
            break;
        }
        p = iot_put_varint(p, iot_zigzag((int64_t)v));
    }
    return p;
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
    return iot_put_varint(p, r->site);
}

static uint8_t *put_entry(uint8_t *directory, unsigned column, size_t bytes)
{
    *directory++ = (uint8_t)column;
    uint32_t n = (uint32_t)bytes;
    memcpy(directory, &n, 4);
    return directory + 4;
}

/* Which columns are not all zero: a bit each. Also counts. */
static unsigned survey(const struct iot_row *rows, uint32_t n_rows, struct iot_counts *counts)
{
    uint64_t obj2 = 0, result = 0, bytes = 0, offset = 0, addr = 0, err = 0, site = 0, obj = 0;
    counts->events = counts->definitions = 0;
    for (uint32_t i = next_event(rows, n_rows, 0); i < n_rows; i = next_event(rows, n_rows, i + 1)) {
        const struct iot_row *r = &rows[i];
        counts->events++;
        obj |= r->obj;
        obj2 |= r->obj2;
        result |= (uint64_t)r->result;
        bytes |= grown(r->bytes, r->result);
        offset |= (uint64_t)r->offset;
        addr |= r->addr;
        err |= r->err;
        site |= r->site;
    }
    return 1u << COL_OP | 1u << COL_GAP | 1u << COL_SPAN | (obj ? 1u << COL_OBJ : 0) |
           (obj2 ? 1u << COL_OBJ2 : 0) | (result ? 1u << COL_RESULT : 0) |
           (bytes ? 1u << COL_BYTES : 0) | (offset ? 1u << COL_OFFSET : 0) |
           (addr ? 1u << COL_ADDR : 0) | (err ? 1u << COL_ERR : 0) | (site ? 1u << COL_SITE : 0);
}

size_t iot_columns_encode(const struct iot_row *rows, uint32_t n_rows, uint8_t *out,
                          struct iot_counts *counts)
{
    unsigned used = survey(rows, n_rows, counts);
    if (!counts->events)
        used = 0;
    uint8_t *directory = out + 1;
    uint8_t *p = directory + DIRECTORY_ENTRY * (__builtin_popcount(used) + 1);

    uint8_t *from = p;
    for (uint32_t i = 0; i < n_rows;) {
        unsigned op = rows[i].op;
        if (op == IOT_DEF_STRING || op == IOT_DEF_DESC) {
            counts->definitions++;
            p = encode_definition(&rows[i], p);
            i += 1 + (op == IOT_DEF_STRING ? iot_text_rows((uint64_t)rows[i].bytes) : 0);
        } else if (op & IOT_DEF_PENDING && op & ~(unsigned)IOT_DEF_PENDING) {
            i += op & ~(unsigned)IOT_DEF_PENDING;
        } else {
            i++;
        }
    }
    directory = put_entry(directory, COL_DEFINITIONS, (size_t)(p - from));
    out[0] = (uint8_t)(__builtin_popcount(used) + 1);

#define COLUMN(column)                                                                             \
    if (used & 1u << column) {                                                                     \
        from = p;                                                                                  \
        p = encode_column(column, rows, n_rows, p);                                                \
        directory = put_entry(directory, column, (size_t)(p - from));                              \
    }
    COLUMN(COL_OP)
    COLUMN(COL_GAP)
    COLUMN(COL_SPAN)
    COLUMN(COL_OBJ)
    COLUMN(COL_OBJ2)
    COLUMN(COL_RESULT)
    COLUMN(COL_BYTES)
    COLUMN(COL_OFFSET)
    COLUMN(COL_ADDR)
    COLUMN(COL_ERR)
    COLUMN(COL_SITE)
#undef COLUMN
    return (size_t)(p - out);
}

static int decode_definitions(const uint8_t *p, const uint8_t *end, uint32_t n,
                              struct iot_definition *definitions)
{
    for (uint32_t i = 0; i < n; i++) {
        struct iot_row *r = &definitions[i].row;
        memset(r, 0, sizeof *r);
        uint64_t v[8];
        if (!(p = iot_get_varint(p, end, &v[0])) || !(p = iot_get_varint(p, end, &v[1])))
            return -1;
        r->op = (uint16_t)v[0];
        r->obj = (uint32_t)v[1];
        definitions[i].text = NULL;
        if (v[0] == IOT_DEF_STRING) {
            if (!(p = iot_get_varint(p, end, &v[2])) || v[2] > (uint64_t)(end - p))
                return -1;
            r->bytes = (int64_t)v[2];
            definitions[i].text = (const char *)p;
            p += v[2];
        } else if (v[0] == IOT_DEF_DESC) {
            for (int k = 2; k < 8; k++)
                if (!(p = iot_get_varint(p, end, &v[k])))
                    return -1;
            r->obj2 = (uint32_t)v[2];
            r->result = (int64_t)v[3];
            r->bytes = (int64_t)v[4];
            r->offset = (int64_t)v[5];
            r->addr = v[6];
            r->site = (uint32_t)v[7];
        } else {
            return -1;
        }
    }
    return p == end ? 0 : -1;
}

static int decode_column(unsigned column, const uint8_t *p, const uint8_t *end, uint32_t n,
                         struct iot_row *rows)
{
    struct expect x;
    memset(&x, 0, sizeof x);
    for (uint32_t i = 0; i < n; i++) {
        struct iot_row *r = &rows[i];
        uint64_t raw;
        if (!(p = iot_get_varint(p, end, &raw)))
            return -1;
        uint64_t v = (uint64_t)iot_unzigzag(raw);
        switch (column) {
        case COL_OP:
            if (v == 0 || v >= IOT_OP_LIMIT)
                return -1;
            r->op = (uint16_t)v;
            break;
        case COL_GAP: /* t1 holds the span: see iot_columns_decode */
            r->t0 = x.t1 + v;
            r->t1 += r->t0;
            x.t1 = r->t1;
            break;
        case COL_SPAN:
            r->t1 = v;
            break;
        case COL_OBJ:
            r->obj = x.obj = x.obj + (uint32_t)v;
            break;
        case COL_OBJ2:
            r->obj2 = (uint32_t)v;
            break;
        case COL_RESULT:
            r->result = (int64_t)v;
            break;
        case COL_BYTES:
            r->bytes = (int64_t)v;
            break;
        case COL_OFFSET:
            r->offset = (int64_t)v;
            break;
        case COL_ADDR:
            r->addr = x.addr = x.addr + v;
            break;
        case COL_ERR:
            r->err = (uint16_t)v;
            break;
        case COL_SITE:
            r->site = (uint32_t)v;
            break;
        default: /* of a later minor version */
            break;
        }
    }
    return p == end ? 0 : -1;
}

int iot_columns_decode(const uint8_t *payload, size_t bytes, const struct iot_counts *counts,
                       struct iot_row *rows, struct iot_definition *definitions)
{
    struct {
        const uint8_t *from, *to;
    } at[COLUMNS] = {{NULL, NULL}};

    if (bytes < 1 || bytes < 1 + (size_t)payload[0] * DIRECTORY_ENTRY)
        return -1;
    const uint8_t *p = payload + 1 + (size_t)payload[0] * DIRECTORY_ENTRY, *end = payload + bytes;
    for (unsigned k = 0; k < payload[0]; k++) {
        const uint8_t *entry = payload + 1 + k * DIRECTORY_ENTRY;
        uint32_t n;
        memcpy(&n, entry + 1, 4);
        if (n > (size_t)(end - p))
            return -1;
        if (entry[0] < COLUMNS) {
            if (at[entry[0]].from)
                return -1;
            at[entry[0]].from = p;
            at[entry[0]].to = p + n;
        }
        p += n;
    }
    if (p != end)
        return -1;
    if (!at[COL_DEFINITIONS].from ||
        decode_definitions(at[COL_DEFINITIONS].from, at[COL_DEFINITIONS].to, counts->definitions,
                           definitions))
        return -1;
    if (!counts->events)
        return 0;
    if (!at[COL_OP].from || !at[COL_GAP].from || !at[COL_SPAN].from)
        return -1;

    memset(rows, 0, counts->events * sizeof *rows);
    static const uint8_t order[] = {COL_SPAN,  COL_GAP,    COL_OP,   COL_OBJ, COL_OBJ2,
                                    COL_RESULT, COL_BYTES, COL_OFFSET, COL_ADDR, COL_ERR, COL_SITE};
    for (size_t k = 0; k < sizeof order; k++)
        if (at[order[k]].from && decode_column(order[k], at[order[k]].from, at[order[k]].to,
                                               counts->events, rows))
            return -1;

    uint64_t ends[64] = {0};
    for (uint32_t i = 0; i < counts->events; i++) {
        struct iot_row *r = &rows[i];
        r->bytes = (int64_t)((uint64_t)r->bytes + (uint64_t)(r->result > 0 ? r->result : 0));
        if (positioned(r->op)) {
            uint64_t *e = &ends[r->obj % 64];
            r->offset = (int64_t)((uint64_t)r->offset + *e);
            *e = (uint64_t)r->offset + (uint64_t)r->bytes;
        }
    }
    return 0;
}

void iot_rows_visit(const struct iot_row *rows, uint32_t n_rows, const struct iot_row_visitor *v)
{
    for (uint32_t i = 0; i < n_rows;) {
        const struct iot_row *r = &rows[i];
        unsigned op = r->op;
        if (op == IOT_DEF_STRING || op == IOT_DEF_DESC) {
            uint64_t left = (uint64_t)(n_rows - i - 1) * IOT_ROW_TEXT;
            if (op == IOT_DEF_STRING && (uint64_t)r->bytes > left)
                return;
            uint32_t text = op == IOT_DEF_STRING ? iot_text_rows((uint64_t)r->bytes) : 0;
            struct iot_definition d = {*r, text ? (const char *)(r + 1) : NULL};
            v->definition(v->user, &d);
            i += 1 + text;
        } else if (op & IOT_DEF_PENDING && op & ~(unsigned)IOT_DEF_PENDING) {
            i += op & ~(unsigned)IOT_DEF_PENDING;
        } else {
            if (op && op < IOT_OP_LIMIT)
                v->event(v->user, r);
            i++;
        }
    }
}
