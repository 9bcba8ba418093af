/* Encodings of Apache Parquet (Encodings.md of the format): what stands in pages, before they are
 * compressed. */
#ifndef IOT_ANALYZER_PARQUET_ENCODE_H
#define IOT_ANALYZER_PARQUET_ENCODE_H

#include "analyzer/bytes.h"

/* How many bits the values up to `most` need. */
unsigned iot_parquet_width(uint64_t most);

/* Run lengths and packed bits by turns: of small numbers (levels, numbers of a dictionary). */
void iot_parquet_hybrid(struct iot_bytes *to, const uint32_t *values, size_t n, unsigned width);

/* DELTA_BINARY_PACKED: the differences of neighbours, in as many bits as those about them need. */
void iot_parquet_delta(struct iot_bytes *to, const int64_t *values, size_t n);

#endif
