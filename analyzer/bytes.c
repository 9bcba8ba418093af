#include "analyzer/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/room.h"

unsigned char *iot_bytes_more(struct iot_bytes *bytes, size_t n)
{
    if (bytes->failed)
        return NULL;
    /* One more than is needed, so that there is a place to name also for none. */
    if (IOT_ROOM(bytes->at, bytes->n + n + 1, bytes->room)) {
        bytes->failed = true;
        return NULL;
    }
    bytes->n += n;
    return bytes->at + bytes->n - n;
}

void iot_bytes_add(struct iot_bytes *bytes, const void *from, size_t n)
{
    unsigned char *to = n ? iot_bytes_more(bytes, n) : NULL;
    if (to)
        memcpy(to, from, n);
}

void iot_bytes_byte(struct iot_bytes *bytes, unsigned byte)
{
    unsigned char b = (unsigned char)byte;
    iot_bytes_add(bytes, &b, 1);
}

void iot_bytes_fixed(struct iot_bytes *bytes, uint64_t value, unsigned width)
{
    unsigned char *to = iot_bytes_more(bytes, width);
    for (unsigned k = 0; to && k < width; k++)
        to[k] = (unsigned char)(value >> 8 * k);
}

void iot_bytes_varint(struct iot_bytes *bytes, uint64_t value)
{
    unsigned char b[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        b[n++] = (unsigned char)(value | 0x80);
    b[n++] = (unsigned char)value;
    iot_bytes_add(bytes, b, n);
}

void iot_bytes_zigzag(struct iot_bytes *bytes, int64_t value)
{
    iot_bytes_varint(bytes, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void iot_bytes_free(struct iot_bytes *bytes)
{
    free(bytes->at);
    *bytes = (struct iot_bytes){0};
}
