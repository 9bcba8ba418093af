#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "format/columns.h"
#include "format/file.h"
#include "format/ops.h"
#include "tests/unit/trace_writer.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t any(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Values as calls have them, and the extremes of each width. */
static uint64_t value(void)
{
    static const uint64_t extremes[] = {
        0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT32_MAX, 1u << 31, 127, 128,
    };
    switch (any() % 4) {
    case 0:
        return extremes[any() % (sizeof extremes / sizeof *extremes)];
    case 1:
        return any();
    case 2:
        return any() % 100000;
    default:
        return 0;
    }
}

/* A bit for each field that is zero in all rows of a round. */
static uint64_t zero_fields;

static uint64_t field(unsigned k)
{
    return zero_fields >> k & 1 ? 0 : value();
}

static unsigned any_op(void)
{
    unsigned op = 0;
    while (!iot_op_is_event(op))
        op = (unsigned)(any() % IOT_OP_LIMIT);
    return op;
}

static struct iot_row random_event(void)
{
    return (struct iot_row){
        .t0 = field(0),
        .t1 = field(1),
        .result = (int64_t)field(2),
        .bytes = (int64_t)field(3),
        .offset = (int64_t)field(4),
        .addr = field(5),
        .obj = (uint32_t)field(6),
        .obj2 = (uint32_t)field(7),
        .site = (uint32_t)field(8),
        .err = (uint16_t)field(9),
        .op = (uint16_t)(any() % 2 ? IOT_OP_PREAD : any_op())};
}

static void add_any(struct iot_half_rows *rows)
{
    char text[300];
    size_t n;
    switch (any() % 8) {
    case 0:
        n = any() % sizeof text;
        memset(text, 'a' + (int)(any() % 26), n);
        text[n] = 0;
        iot_rows_string(rows, (uint32_t)value(), text);
        break;
    case 1:
        iot_rows_desc(rows, (uint32_t)value(), (uint32_t)value(), (int)(any() % 100),
                      (uint32_t)value(), value() & UINT32_MAX, value(), value(), (int64_t)value());
        break;
    case 2: /* never completed: nothing of it comes back */
        n = 1 + any() % 3;
        iot_rows_add(rows, (struct iot_row){.op = (uint16_t)(IOT_DEF_PENDING | n), .obj = 77});
        while (--n)
            iot_rows_add(rows, random_event());
        break;
    case 3:
        iot_rows_add(rows, (struct iot_row){.op = 0, .t0 = 5});
        break;
    default:
        iot_rows_add(rows, random_event());
    }
}

/* What a visit of the rows themselves meets, to hold the decoded against. */
struct expected {
    struct iot_row events[IOT_HALF_ROWS];
    struct iot_definition definitions[IOT_HALF_ROWS];
    struct iot_counts n;
};

static void expect_event(void *user, const struct iot_row *row)
{
    struct expected *e = user;
    e->events[e->n.events++] = *row;
}

static void expect_definition(void *user, const struct iot_definition *definition)
{
    struct expected *e = user;
    e->definitions[e->n.definitions++] = *definition;
}

static void check_round_trip(const struct iot_half_rows *rows)
{
    static uint8_t payload[IOT_HALF_ROWS * IOT_ENCODED_ROW_MAX + IOT_ENCODED_FIXED_MAX];
    static struct iot_row events[IOT_HALF_ROWS];
    static struct iot_definition definitions[IOT_HALF_ROWS];
    static struct expected expected;
    struct iot_counts counts;

    memset(&expected, 0, sizeof expected);
    const struct iot_row_visitor visitor = {expect_event, expect_definition, &expected};
    iot_rows_visit(rows->rows, rows->n, &visitor);

    size_t bytes = iot_columns_encode(rows->rows, rows->n, payload, &counts);
    cr_assert_leq(bytes, rows->n * IOT_ENCODED_ROW_MAX + IOT_ENCODED_FIXED_MAX);
    cr_assert_eq(counts.events, expected.n.events);
    cr_assert_eq(counts.definitions, expected.n.definitions);

    /* Exactly so many bytes, so that a sanitizer sees any that is read beyond. */
    uint8_t *exact = malloc(bytes);
    memcpy(exact, payload, bytes);
    cr_assert_eq(iot_columns_decode(exact, bytes, &counts, events, definitions), 0);
    for (uint32_t i = 0; i < counts.events; i++)
        cr_assert(!memcmp(&events[i], &expected.events[i], sizeof *events), "event %u", i);
    for (uint32_t i = 0; i < counts.definitions; i++) {
        const struct iot_definition *got = &definitions[i], *want = &expected.definitions[i];
        cr_assert_eq(got->row.op, want->row.op);
        cr_assert_eq(got->row.obj, want->row.obj);
        cr_assert_eq(got->row.bytes, want->row.bytes);
        if (want->row.op == IOT_DEF_STRING)
            cr_assert(!want->row.bytes || !memcmp(got->text, want->text, (size_t)want->row.bytes));
        else
            cr_assert(!memcmp(&got->row, &want->row, sizeof got->row), "definition %u", i);
    }
    free(exact);
}

Test(columns, random_rows_come_back)
{
    static struct iot_half_rows rows;
    for (int round = 0; round < 300; round++) {
        rows.n = 0;
        zero_fields = any() & any();
        uint32_t n = (uint32_t)(any() % 1000);
        while (rows.n < n)
            add_any(&rows);
        check_round_trip(&rows);
    }
}

Test(columns, all_extremes_come_back)
{
    static struct iot_half_rows rows;
    for (uint32_t i = 0; i < IOT_HALF_ROWS; i++)
        iot_rows_add(&rows, (struct iot_row){.t0 = i % 2 ? UINT64_MAX : 0,
                                             .t1 = i % 3 ? 0 : UINT64_MAX,
                                             .result = i % 2 ? INT64_MIN : INT64_MAX,
                                             .bytes = i % 2 ? INT64_MAX : INT64_MIN,
                                             .offset = i % 3 ? INT64_MIN : INT64_MAX,
                                             .addr = i % 2 ? UINT64_MAX : 1,
                                             .obj = i % 2 ? UINT32_MAX : 0,
                                             .obj2 = UINT32_MAX,
                                             .site = UINT32_MAX,
                                             .err = UINT16_MAX,
                                             .op = IOT_OP_LIMIT - 1});
    check_round_trip(&rows);
    rows.n = 0;
    check_round_trip(&rows);
}

Test(columns, definitions_are_no_operations)
{
    cr_assert(!iot_op_is_event(0));
    cr_assert(!iot_op_is_event(IOT_DEF_STRING) && !iot_op_is_event(IOT_DEF_DESC));
    cr_assert(!iot_op_is_event(IOT_OP_LIMIT) && !iot_op_is_event(IOT_DEF_PENDING));
    cr_assert(iot_op_is_event(255) && iot_op_is_event(260) && iot_op_is_event(IOT_OP_LIMIT - 1));
}

/* A column that is all zero is left out, though its prediction would not be zero. */
Test(columns, reading_the_start_again_and_again_comes_back)
{
    static struct iot_half_rows rows;
    for (uint32_t i = 0; i < 10; i++)
        iot_rows_add(&rows, (struct iot_row){.t0 = i,
                                             .t1 = i,
                                             .obj = 1,
                                             .op = IOT_OP_PREAD,
                                             .result = 4096,
                                             .bytes = i % 2 ? 4096 : 100});
    check_round_trip(&rows);
}

Test(columns, a_loop_takes_few_bytes)
{
    static struct iot_half_rows rows;
    static uint8_t payload[IOT_HALF_ROWS * IOT_ENCODED_ROW_MAX + IOT_ENCODED_FIXED_MAX];
    struct iot_counts counts;
    for (uint32_t i = 0; i < IOT_HALF_ROWS; i++)
        iot_rows_add(&rows, (struct iot_row){.t0 = 1000 * i,
                                             .t1 = 1000 * i + 300,
                                             .result = 4096,
                                             .bytes = 4096,
                                             .offset = 4096 * (int64_t)i,
                                             .obj = 1,
                                             .op = IOT_OP_PREAD});
    /* Gaps and spans of 10 bits; where the call before ended says the offset. */
    size_t bytes = iot_columns_encode(rows.rows, rows.n, payload, &counts);
    cr_assert_leq(bytes, 3 * IOT_HALF_ROWS, "%zu bytes", bytes);
}

/* A payload of 18 reads of no length whose gaps are PACKED: the first is 5, then 16 of `width`
 * bits, each all ones but for every third, which is 0, and one that is 1 in a group that says
 * `last`. Gives its bytes. */
static size_t packed_by_hand(uint8_t *payload, unsigned width, unsigned last)
{
    const uint32_t bytes[] = {0, 1, 1 + 1 + 2 * width + 1 + (last + 7) / 8, 3};
    uint8_t *p = payload;
    *p++ = 4;
    for (unsigned column = 0; column < 4; column++) {
        *p++ = (uint8_t)column;
        *p++ = column == 1 ? 1 : column == 0 ? 0 : 3;
        memcpy(p, &bytes[column], sizeof bytes[column]);
        p += sizeof bytes[column];
    }
    *p++ = 2 * IOT_OP_READ;
    *p++ = 5;
    *p++ = (uint8_t)width;
    memset(p, 0, 2 * width);
    for (unsigned bit = 0; bit < 16 * width; bit++)
        if (bit / width % 3)
            p[bit / 8] |= (uint8_t)(1u << bit % 8);
    p += 2 * width;
    *p++ = (uint8_t)last;
    memset(p, 0, (last + 7) / 8);
    if (last)
        *p = 1;
    p += (last + 7) / 8;
    memset(p, 0, 3); /* spans: 0, and two groups of no width */
    return (size_t)(p + 3 - payload);
}

Test(columns, packed_values_have_any_width)
{
    static uint8_t payload[512];
    static struct iot_row rows[18];
    const struct iot_counts counts = {18, 0};
    for (unsigned width = 1; width <= 64; width++) {
        size_t bytes = packed_by_hand(payload, width, 1 + width % 9);
        uint8_t *exact = malloc(bytes);
        memcpy(exact, payload, bytes);
        cr_assert_eq(iot_columns_decode(exact, bytes, &counts, rows, NULL), 0, "%u bits", width);
        free(exact);
        uint64_t ones = UINT64_MAX >> (64 - width), t = 5;
        for (unsigned i = 0; i < 18; i++) {
            t += i == 0 ? 0 : i == 17 ? 1 : (i - 1) % 3 ? ones : 0;
            cr_assert_eq(rows[i].t0, t, "%u bits, row %u", width, i);
            cr_assert_eq(rows[i].t1, t);
            cr_assert_eq(rows[i].op, IOT_OP_READ);
        }
    }
    cr_assert_eq(iot_columns_decode(payload, packed_by_hand(payload, 65, 1), &counts, rows, NULL),
                 -1);
}

Test(columns, clock_readings_take_the_bits_that_they_need)
{
    static struct iot_half_rows rows;
    static uint8_t payload[IOT_HALF_ROWS * IOT_ENCODED_ROW_MAX + IOT_ENCODED_FIXED_MAX];
    struct iot_counts counts;
    uint64_t t = 1000000000;
    for (uint32_t i = 0; i < IOT_HALF_ROWS; i++) {
        uint64_t t0 = t + any() % 256;
        t = t0 + any() % 1024;
        iot_rows_add(&rows, (struct iot_row){.t0 = t0, .t1 = t, .op = IOT_OP_FSYNC});
    }
    check_round_trip(&rows);
    /* 8 and 10 bits, two widths for 16 of them, and less than 64 bytes besides. */
    size_t bytes = iot_columns_encode(rows.rows, rows.n, payload, &counts);
    cr_assert_leq(bytes, IOT_HALF_ROWS * (8 + 10 + 1) / 8 + 64, "%zu bytes", bytes);
}

Test(columns, a_payload_cut_or_changed_is_refused_or_decoded)
{
    static struct iot_half_rows rows;
    static uint8_t payload[IOT_HALF_ROWS * IOT_ENCODED_ROW_MAX + IOT_ENCODED_FIXED_MAX];
    static struct iot_row events[IOT_HALF_ROWS];
    static struct iot_definition definitions[IOT_HALF_ROWS];
    struct iot_counts counts;

    while (rows.n < 40)
        add_any(&rows);
    size_t bytes = iot_columns_encode(rows.rows, rows.n, payload, &counts);
    for (size_t n = 0; n < bytes; n++) {
        uint8_t *cut = malloc(n + 1);
        memcpy(cut, payload, n);
        cr_assert_eq(iot_columns_decode(cut, n, &counts, events, definitions), -1, "%zu", n);
        free(cut);
    }
    for (size_t i = 0; i < bytes; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            payload[i] ^= (uint8_t)(1u << bit);
            iot_columns_decode(payload, bytes, &counts, events, definitions);
            payload[i] ^= (uint8_t)(1u << bit);
        }
    struct iot_counts more = {counts.events + 1, counts.definitions};
    cr_assert_eq(iot_columns_decode(payload, bytes, &more, events, definitions), -1);
    more = (struct iot_counts){counts.events, counts.definitions - 1};
    cr_assert_eq(iot_columns_decode(payload, bytes, &more, events, definitions), -1);
}

Test(columns, a_string_longer_than_its_half_ends_the_visit)
{
    static const int64_t lengths[] = {INT64_MIN, -1, 129, INT64_C(1) << 38, INT64_MAX};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        struct iot_row rows[3] = {{.op = IOT_DEF_STRING, .obj = 1, .bytes = lengths[k]}};
        struct expected *e = calloc(1, sizeof *e);
        const struct iot_row_visitor visitor = {expect_event, expect_definition, e};
        iot_rows_visit(rows, 3, &visitor);
        cr_assert_eq(e->n.definitions, 0u);
        rows[0].bytes = 128;
        iot_rows_visit(rows, 3, &visitor);
        cr_assert_eq(e->n.definitions, 1u);
        free(e);
    }
}
