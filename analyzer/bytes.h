/* Bytes that grow as they are written: small-endian numbers, and the varints of Thrift and Protocol
 * Buffers. */
#ifndef IOT_ANALYZER_BYTES_H
#define IOT_ANALYZER_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero it; `failed` stays set after memory ran out, and then nothing more is added. */
struct iot_bytes {
    unsigned char *at;
    size_t n, room;
    bool failed;
};

/* Room for n more, which the caller fills; NULL without memory. */
unsigned char *iot_bytes_more(struct iot_bytes *bytes, size_t n);
void iot_bytes_add(struct iot_bytes *bytes, const void *from, size_t n);
void iot_bytes_byte(struct iot_bytes *bytes, unsigned byte);
/* Little-endian, `width` bytes of it. */
void iot_bytes_fixed(struct iot_bytes *bytes, uint64_t value, unsigned width);
void iot_bytes_varint(struct iot_bytes *bytes, uint64_t value);
/* Numbers near 0 of either sign become small ones. */
void iot_bytes_zigzag(struct iot_bytes *bytes, int64_t value);
void iot_bytes_free(struct iot_bytes *bytes);

#endif
