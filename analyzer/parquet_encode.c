#include "analyzer/parquet_encode.h"

/* Of delta coding: the width is chosen for each 32 values, the least difference for each 128. */
enum { DELTA_BLOCK = 128, DELTA_PIECE = 32, DELTA_PIECES = DELTA_BLOCK / DELTA_PIECE };

/* Shorter runs of one value are packed with the others. */
enum { RUN_LEAST = 8 };

/* Values by their lowest bit first; up to 64 bits each. */
struct bits {
    struct iot_bytes *to;
    unsigned __int128 held;
    unsigned n;
};

static void put_bits(struct bits *b, uint64_t value, unsigned width)
{
    b->held |= (unsigned __int128)value << b->n;
    b->n += width;
    if (b->n >= 64) {
        iot_bytes_fixed(b->to, (uint64_t)b->held, 8);
        b->held >>= 64;
        b->n -= 64;
    }
}

static void end_bits(struct bits *b)
{
    iot_bytes_fixed(b->to, (uint64_t)b->held, (b->n + 7) / 8);
}

unsigned iot_parquet_width(uint64_t most)
{
    unsigned width = 0;
    for (; most; most >>= 1)
        width++;
    return width;
}

/* Groups of eight; the last one may be filled up. */
static void put_packed(struct iot_bytes *to, const uint32_t *values, size_t n, unsigned width)
{
    size_t groups = (n + 7) / 8;
    struct bits bits = {.to = to};
    if (!n)
        return;
    iot_bytes_varint(to, groups << 1 | 1);
    for (size_t k = 0; k < groups * 8; k++)
        put_bits(&bits, k < n ? values[k] : 0, width);
    end_bits(&bits);
}

void iot_parquet_hybrid(struct iot_bytes *to, const uint32_t *values, size_t n, unsigned width)
{
    size_t packed = 0, at = 0;
    while (at < n) {
        size_t run = 1, fills = (8 - (at - packed) % 8) % 8;
        while (at + run < n && values[at + run] == values[at])
            run++;
        at += run;
        if (run < fills + RUN_LEAST)
            continue;
        put_packed(to, values + packed, at - run + fills - packed, width);
        iot_bytes_varint(to, (uint64_t)(run - fills) << 1);
        iot_bytes_fixed(to, values[at - 1], (width + 7) / 8);
        packed = at;
    }
    put_packed(to, values + packed, n - packed, width);
}

static void put_block(struct iot_bytes *to, int64_t before, const int64_t *values, size_t n)
{
    uint64_t deltas[DELTA_BLOCK];
    int64_t least = INT64_MAX;
    unsigned char widths[DELTA_PIECES];
    for (size_t k = 0; k < n; k++) {
        /* Around the end of the range, as readers add them. */
        deltas[k] = (uint64_t)values[k] - (uint64_t)before;
        before = values[k];
        least = (int64_t)deltas[k] < least ? (int64_t)deltas[k] : least;
    }
    for (size_t p = 0; p < DELTA_PIECES; p++) {
        uint64_t most = 0;
        for (size_t k = p * DELTA_PIECE; k < (p + 1) * DELTA_PIECE; k++) {
            deltas[k] = k < n ? deltas[k] - (uint64_t)least : 0;
            most |= deltas[k];
        }
        widths[p] = (unsigned char)iot_parquet_width(most);
    }
    iot_bytes_zigzag(to, least);
    iot_bytes_add(to, widths, sizeof widths);
    for (size_t p = 0; p * DELTA_PIECE < n; p++) {
        struct bits bits = {.to = to};
        for (size_t k = p * DELTA_PIECE; k < (p + 1) * DELTA_PIECE; k++)
            put_bits(&bits, deltas[k], widths[p]);
        end_bits(&bits);
    }
}

void iot_parquet_delta(struct iot_bytes *to, const int64_t *values, size_t n)
{
    iot_bytes_varint(to, DELTA_BLOCK);
    iot_bytes_varint(to, DELTA_PIECES);
    iot_bytes_varint(to, n);
    iot_bytes_zigzag(to, n ? values[0] : 0);
    for (size_t at = 1; at < n; at += DELTA_BLOCK)
        put_block(to, values[at - 1], values + at, n - at < DELTA_BLOCK ? n - at : DELTA_BLOCK);
}
