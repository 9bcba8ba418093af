/* XXH64 with seed 0 over what the format says is checked. */
#ifndef IOT_FORMAT_CHECKSUM_H
#define IOT_FORMAT_CHECKSUM_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "format/file.h"

static inline uint64_t iot_block_checksum(const struct iot_block_header *h, const void *payload)
{
    struct iot_block_header copy = *h;
    copy.magic = IOT_BLOCK_MAGIC;
    copy.checksum = XXH64(payload, h->stored_bytes, 0);
    return XXH64(&copy, sizeof copy, 0);
}

static inline uint64_t iot_header_checksum(const struct iot_file_header *h)
{
    return XXH64(h, offsetof(struct iot_file_header, checksum), 0);
}

#endif
