/* Encodings of Parquet, read back by decoders that were written from its document. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/parquet_encode.h"

enum { MOST = 5000, ROUNDS = 400 };

struct reader {
    const unsigned char *at, *end;
};

static unsigned byte(struct reader *r)
{
    cr_assert(r->at < r->end, "the bytes end too early");
    return *r->at++;
}

static uint64_t varint(struct reader *r)
{
    uint64_t value = 0;
    unsigned b, shift = 0;
    do {
        b = byte(r);
        value |= (uint64_t)(b & 127) << shift;
        shift += 7;
    } while (b & 128);
    return value;
}

static int64_t zigzag(struct reader *r)
{
    uint64_t value = varint(r);
    return (int64_t)(value >> 1 ^ (~(value & 1) + 1));
}

/* The k-th of values packed by their lowest bit first. */
static uint64_t bits(const unsigned char *from, size_t k, unsigned width)
{
    uint64_t value = 0;
    for (unsigned b = 0; b < width; b++) {
        size_t at = k * width + b;
        value |= (uint64_t)(from[at / 8] >> at % 8 & 1) << b;
    }
    return value;
}

static void skip(struct reader *r, size_t n)
{
    cr_assert((size_t)(r->end - r->at) >= n, "the bytes end too early");
    r->at += n;
}

static void check_hybrid(const uint32_t *values, size_t n, unsigned width)
{
    struct iot_bytes bytes = {0};
    iot_parquet_hybrid(&bytes, values, n, width);
    cr_assert(!bytes.failed);
    struct reader r = {bytes.at, bytes.at + bytes.n};
    size_t k = 0;
    while (k < n) {
        uint64_t head = varint(&r), count = head >> 1;
        const unsigned char *from = r.at;
        cr_assert_gt(count, 0);
        if (head & 1)
            skip(&r, (size_t)count * width);
        else
            skip(&r, (width + 7) / 8);
        for (size_t m = 0; m < (head & 1 ? 8 * count : count) && k < n; m++, k++)
            cr_assert_eq(bits(from, head & 1 ? m : 0, width), values[k], "value %zu of %zu", k, n);
        cr_assert(head & 1 || k <= n);
    }
    cr_assert_eq(r.at, r.end, "bytes are left");
    iot_bytes_free(&bytes);
}

static void check_delta(const int64_t *values, size_t n)
{
    struct iot_bytes bytes = {0};
    iot_parquet_delta(&bytes, values, n);
    cr_assert(!bytes.failed);
    struct reader r = {bytes.at, bytes.at + bytes.n};
    uint64_t block = varint(&r), pieces = varint(&r), piece = block / pieces, value;
    cr_assert_eq(block % 128, 0);
    cr_assert_eq(piece % 32, 0);
    cr_assert_eq(varint(&r), n);
    value = (uint64_t)zigzag(&r);
    if (n)
        cr_assert_eq((int64_t)value, values[0]);
    for (size_t k = 1; k < n;) {
        uint64_t least = (uint64_t)zigzag(&r);
        const unsigned char *widths = r.at;
        skip(&r, (size_t)pieces);
        for (size_t p = 0; p < pieces && k < n; p++) {
            const unsigned char *from = r.at;
            skip(&r, (size_t)piece * widths[p] / 8);
            for (size_t m = 0; m < piece && k < n; m++, k++) {
                value += least + bits(from, m, widths[p]);
                cr_assert_eq((int64_t)value, values[k], "value %zu of %zu: %" PRId64, k, n,
                             values[k]);
            }
        }
    }
    cr_assert_eq(r.at, r.end, "bytes are left");
    iot_bytes_free(&bytes);
}

/* Runs and others by turns, of lengths about the border. */
static size_t runs(uint32_t *values, unsigned width)
{
    size_t n = 0, most = (size_t)rand() % MOST;
    uint32_t mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
    while (n < most) {
        uint32_t value = (uint32_t)rand() & mask;
        for (int length = rand() % 3 ? 1 + rand() % 20 : 1; length > 0 && n < most; length--)
            values[n++] = value;
    }
    return n;
}

Test(parquet, hybrid)
{
    static uint32_t values[MOST];
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned width = (unsigned)round % 33;
        check_hybrid(values, runs(values, width), width);
    }
    memset(values, 0, sizeof values);
    for (size_t n = 0; n < 40; n++)
        check_hybrid(values, n, 1);
}

Test(parquet, delta)
{
    static int64_t values[MOST];
    static const int64_t far[] = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1};
    srand(2);
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = (size_t)rand() % MOST;
        unsigned shift = (unsigned)round % 63;
        for (size_t k = 0; k < n; k++) {
            int64_t step = (int64_t)((uint64_t)rand() << 33 ^ (uint64_t)rand()) >> shift;
            values[k] = round % 5 ? (int64_t)((uint64_t)(k ? values[k - 1] : 0) + (uint64_t)step)
                                  : far[rand() % 6];
        }
        check_delta(values, n);
    }
    for (size_t n = 0; n < 300; n++)
        check_delta(values, n);
}

Test(parquet, width)
{
    cr_assert_eq(iot_parquet_width(0), 0);
    cr_assert_eq(iot_parquet_width(1), 1);
    cr_assert_eq(iot_parquet_width(255), 8);
    cr_assert_eq(iot_parquet_width(256), 9);
    cr_assert_eq(iot_parquet_width(UINT64_MAX), 64);
}
