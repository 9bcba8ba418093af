#include "format/columns.h"

#include <string.h>

#include "format/columns_layout.h"
#include "format/varint.h"

struct column {
    const uint8_t *from, *to; /* from NULL: not there */
    uint8_t encoding;
};

static int decode_definitions(const uint8_t *p, const uint8_t *end, uint32_t n,
                              struct iot_definition *definitions)
{
    for (uint32_t i = 0; i < n; i++) {
        struct iot_row *r = &definitions[i].row;
        memset(r, 0, sizeof *r);
        uint64_t v[9];
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
            for (int k = 2; k < 9; k++)
                if (!(p = iot_get_varint(p, end, &v[k])))
                    return -1;
            r->obj2 = (uint32_t)v[2];
            r->result = (int64_t)v[3];
            r->bytes = (int64_t)v[4];
            r->offset = (int64_t)v[5];
            r->addr = v[6];
            r->site = (uint32_t)v[7];
            r->err = (uint16_t)v[8];
        } else {
            return -1;
        }
    }
    return p == end ? 0 : -1;
}

/* The values of a column as stored, one after the other. */
struct values {
    const uint8_t *p, *end;
    uint8_t encoding;
    uint64_t last;
    uint64_t left;  /* how often `last` still comes; PACKED: values in all that are still to come */
    int any;        /* RUNS: there is one to compare with; PACKED: the first one is read */
    uint64_t group[IOT_PACKED_GROUP];
    uint32_t taken, in_group;
};

/* `width` bits, from that bit on, of memory that holds them. */
static uint64_t bits_at(const uint8_t *from, size_t bytes, size_t bit, unsigned width)
{
    uint64_t v = 0;
    size_t left = bytes - bit / 8;
    unsigned shift = (unsigned)(bit % 8);
    memcpy(&v, from + bit / 8, left < sizeof v ? left : sizeof v);
    v >>= shift;
    if (shift + width > 64)
        v |= (uint64_t)from[bit / 8 + 8] << (64 - shift);
    return width < 64 ? v & ((UINT64_C(1) << width) - 1) : v;
}

static int next_group(struct values *v)
{
    uint32_t n = v->left < IOT_PACKED_GROUP ? (uint32_t)v->left : IOT_PACKED_GROUP;
    if (v->p == v->end || *v->p > 64)
        return -1;
    unsigned width = *v->p++;
    size_t bytes = ((size_t)n * width + 7) / 8;
    if (bytes > (size_t)(v->end - v->p))
        return -1;
    for (uint32_t k = 0; k < n; k++)
        v->group[k] = bits_at(v->p, bytes, (size_t)k * width, width);
    v->p += bytes;
    v->in_group = n;
    v->taken = 0;
    return 0;
}

static int next_packed(struct values *v, uint64_t *value)
{
    if (!v->any) {
        v->any = 1;
        v->left--;
        return (v->p = iot_get_varint(v->p, v->end, value)) ? 0 : -1;
    }
    if (v->taken == v->in_group && next_group(v))
        return -1;
    v->left--;
    *value = v->group[v->taken++];
    return 0;
}

/* The next one; 0, or -1 at the end of the column. */
static int next_value(struct values *v, uint64_t *value)
{
    uint64_t raw;
    if (v->encoding == IOT_PACKED)
        return next_packed(v, value);
    if (!v->left) {
        if (!(v->p = iot_get_varint(v->p, v->end, &raw)))
            return -1;
        v->left = 1;
        if (v->encoding == IOT_SAME) {
            v->left = UINT64_MAX;
        } else if (v->encoding == IOT_RUNS && v->any && raw == v->last) {
            uint64_t more;
            if (!(v->p = iot_get_varint(v->p, v->end, &more)) || more > UINT32_MAX)
                return -1;
            v->left += more;
            v->any = 0;
        } else {
            v->any = 1;
        }
        v->last = raw;
    }
    v->left--;
    *value = v->last;
    return 0;
}

/* Sets a field to the column's values. Sums and predictions come after, when all columns are
 * there. */
#define SPREAD_AS(field, type, decoded)                                                            \
    for (uint32_t i = 0; i < n; i++) {                                                             \
        uint64_t raw;                                                                              \
        if (next_value(&v, &raw))                                                                  \
            return -1;                                                                             \
        rows[i].field = (type)decoded(raw);                                                        \
    }                                                                                              \
    break;
#define SPREAD(field, type) SPREAD_AS(field, type, iot_unzigzag)

static int spread(enum iot_column column, const struct column *c, uint32_t n, struct iot_row *rows)
{
    struct values v = {.p = c->from, .end = c->to, .encoding = c->encoding};
    if (c->encoding > IOT_PACKED)
        return -1;
    if (c->encoding == IOT_PACKED)
        v.left = n;
    switch (column) {
    case IOT_COL_OP:
        SPREAD(op, uint16_t)
    case IOT_COL_GAP:
        SPREAD_AS(t0, uint64_t, (int64_t))
    case IOT_COL_SPAN:
        SPREAD_AS(t1, uint64_t, (int64_t))
    case IOT_COL_OBJ:
        SPREAD(obj, uint32_t)
    case IOT_COL_OBJ2:
        SPREAD(obj2, uint32_t)
    case IOT_COL_RESULT:
        SPREAD(result, int64_t)
    case IOT_COL_BYTES:
        SPREAD(bytes, int64_t)
    case IOT_COL_OFFSET:
        SPREAD(offset, int64_t)
    case IOT_COL_ADDR:
        SPREAD(addr, uint64_t)
    case IOT_COL_ERR:
        SPREAD(err, uint16_t)
    case IOT_COL_SITE:
        SPREAD(site, uint32_t)
    case IOT_COL_DEFINITIONS:
    case IOT_COLUMNS:
        return -1;
    }
    return v.p == c->to && (v.left == 0 || c->encoding == IOT_SAME) ? 0 : -1;
}

/* Undoes the differences. */
static int sum_up(const struct column *at, uint32_t n, struct iot_row *rows)
{
    uint64_t t1 = 0, addr = 0, ends[IOT_ENDS] = {0};
    uint32_t obj = 0;
    int each_obj = at[IOT_COL_OBJ].encoding != IOT_SAME;
    int each_addr = at[IOT_COL_ADDR].encoding != IOT_SAME;
    int each_offset = at[IOT_COL_OFFSET].encoding != IOT_SAME;
    for (uint32_t i = 0; i < n; i++) {
        struct iot_row *r = &rows[i];
        if (!iot_op_is_event(r->op))
            return -1;
        r->t0 += t1;
        t1 = r->t1 += r->t0;
        if (each_obj)
            obj = r->obj += obj;
        if (each_addr)
            addr = r->addr += addr;
        r->bytes = (int64_t)((uint64_t)r->bytes + iot_explained(r->result));
        if (each_offset && iot_positioned(r->op)) {
            uint64_t *end = &ends[r->obj % IOT_ENDS];
            r->offset = (int64_t)((uint64_t)r->offset + *end);
            *end = (uint64_t)r->offset + (uint64_t)r->bytes;
        }
    }
    return 0;
}

int iot_columns_decode(const uint8_t *payload, size_t bytes, const struct iot_counts *counts,
                       struct iot_row *rows, struct iot_definition *definitions)
{
    struct column at[IOT_COLUMNS];
    for (int k = 0; k < IOT_COLUMNS; k++)
        at[k] = (struct column){NULL, NULL, IOT_SAME};

    if (bytes < 1 || bytes < 1 + (size_t)payload[0] * IOT_DIRECTORY_ENTRY)
        return -1;
    const uint8_t *p = payload + 1 + (size_t)payload[0] * IOT_DIRECTORY_ENTRY;
    const uint8_t *end = payload + bytes;
    for (unsigned k = 0; k < payload[0]; k++) {
        const uint8_t *entry = payload + 1 + k * IOT_DIRECTORY_ENTRY;
        uint32_t n;
        memcpy(&n, entry + 2, sizeof n);
        if (n > (size_t)(end - p))
            return -1;
        if (entry[0] < IOT_COLUMNS) { /* others are of a later minor version */
            if (at[entry[0]].from)
                return -1;
            at[entry[0]] = (struct column){p, p + n, entry[1]};
        }
        p += n;
    }
    if (p != end || !at[IOT_COL_DEFINITIONS].from ||
        decode_definitions(at[IOT_COL_DEFINITIONS].from, at[IOT_COL_DEFINITIONS].to,
                           counts->definitions, definitions))
        return -1;
    if (!counts->events)
        return 0;
    if (!at[IOT_COL_OP].from || !at[IOT_COL_GAP].from || !at[IOT_COL_SPAN].from ||
        at[IOT_COL_GAP].encoding == IOT_SAME)
        return -1;
    memset(rows, 0, counts->events * sizeof *rows);
    for (unsigned k = IOT_COL_OP; k < IOT_COLUMNS; k++)
        if (at[k].from && spread(k, &at[k], counts->events, rows))
            return -1;
    return sum_up(at, counts->events, rows);
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
            if (iot_op_is_event(op))
                v->event(v->user, r);
            i++;
        }
    }
}
