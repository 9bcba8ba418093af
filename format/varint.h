/* Integers of 1 to 10 bytes, low seven bits first; signed ones folded by zigzag. */
#ifndef IOT_FORMAT_VARINT_H
#define IOT_FORMAT_VARINT_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t iot_zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline int64_t iot_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

static inline uint8_t *iot_put_varint(uint8_t *p, uint64_t v)
{
    if (__builtin_expect(v < 0x4000, 1)) { /* nearly all: no loop */
        if (v < 0x80) {
            *p = (uint8_t)v;
            return p + 1;
        }
        p[0] = (uint8_t)(v | 0x80);
        p[1] = (uint8_t)(v >> 7);
        return p + 2;
    }
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

/* Returns where the next one starts; NULL if there is none whole and in range. */
static inline const uint8_t *iot_get_varint(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
    uint64_t sum = 0;
    for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1)
            return NULL;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *v = sum;
            return p;
        }
    }
    return NULL;
}

#endif
