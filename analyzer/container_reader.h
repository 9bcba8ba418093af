/* Between container.c and segments.c: the buffers, and what both check. */
#ifndef IOT_ANALYZER_CONTAINER_READER_H
#define IOT_ANALYZER_CONTAINER_READER_H

#include <zstd.h>

#include "analyzer/container.h"

/* No encoder makes more of a half. */
enum { IOT_RAW_MAX = IOT_HALF_ROWS * IOT_ENCODED_ROW_MAX + IOT_ENCODED_FIXED_MAX };

struct iot_reader {
    _Alignas(64) uint8_t segment[IOT_SEGMENT_BYTES];
    uint8_t raw[IOT_RAW_MAX];
    struct iot_row rows[IOT_HALF_ROWS];
    struct iot_definition definitions[IOT_HALF_ROWS];
    ZSTD_DCtx *zstd;
};

/* Reads at a byte offset, and fills up with zeros what the file does not have. Returns how many
 * bytes it had. */
size_t iot_read_at(int fd, void *to, size_t bytes, uint64_t at);

/* What is wrong with the block that starts here, in words; NULL if nothing is. `room` is what
 * is left of its segment. */
const char *iot_block_fault(const uint8_t *block, size_t room);

#endif
