/* Makes trace files as a recorder would, and, for tests of what reads them, such as none would.
 *
 * A file is built in memory, where a test may damage it, and then written. FORMAT.md is the
 * definition of what is in it. Rows that do not fit their half, and facts beyond segment 0, are
 * the caller's mistake: the program aborts.
 */
#ifndef IOT_ANALYZER_TRACE_WRITER_H
#define IOT_ANALYZER_TRACE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "format/file.h"
#include "format/row.h"

struct iot_written {
    uint8_t *bytes; /* whole segments */
    size_t n;
    size_t facts; /* where the next fact goes */
};

/* Rows of one half, in the order they were recorded. */
struct iot_half_rows {
    struct iot_row rows[IOT_HALF_ROWS];
    uint32_t n;
};

/* A file with its header and no facts, of a process with the MONOTONIC clock that starts at
 * `start_ns`. Fields of the header may be changed until it is written: the checksum is made then.
 * `bytes` is NULL without memory. */
struct iot_written iot_written_new(uint32_t pid, uint32_t ppid, uint64_t start_ns);
struct iot_file_header *iot_written_header(struct iot_written *file);
void iot_written_fact(struct iot_written *file, enum iot_fact_tag tag, const void *value,
                      size_t bytes);
/* The fact that names the operations. */
void iot_written_ops(struct iot_written *file);
void iot_written_free(struct iot_written *file);

void iot_rows_add(struct iot_half_rows *rows, struct iot_row row);
void iot_rows_string(struct iot_half_rows *rows, uint32_t number, const char *text);
/* mode: S_IFREG … ; flags: IOT_DESC_ADOPTED …; offset: st_size, or what the flags say. */
void iot_rows_desc(struct iot_half_rows *rows, uint32_t number, uint32_t string, int fd,
                   uint32_t mode, uint64_t flags, uint64_t dev, uint64_t ino, int64_t offset);

/* A new segment at the end; returns its number, 0 without memory. */
uint32_t iot_written_segment(struct iot_written *file, uint32_t kind, uint32_t slot);
/* Writes one half (0 or 1) of a segment of rows. */
void iot_written_half(struct iot_written *file, uint32_t segment, unsigned half, uint32_t lane,
                      uint32_t tid, uint32_t epoch, const struct iot_half_rows *rows);
/* Writes a block into a segment of blocks at byte `at` of it (64 for the first). lane, tid, slot,
 * epoch, codec and anchor come from `header`. Returns where the next one goes. */
size_t iot_written_block(struct iot_written *file, uint32_t segment, size_t at,
                         struct iot_block_header header, const struct iot_half_rows *rows);

/* Where the next block of a slot goes; zero before its first. */
struct iot_written_place {
    uint32_t segment;
    size_t at;
};
/* Writes a block behind the one before it, in a new segment where that one is full. -1 without
 * memory. */
int iot_written_append(struct iot_written *file, struct iot_written_place *place,
                        struct iot_block_header header, const struct iot_half_rows *rows);

/* The header's and, where `at` is not 0, a block's checksum over what is there now. */
void iot_written_seal(struct iot_written *file, size_t at);
/* Seals the header and writes the file, which must not be there yet, into a folder. 0 or
 * -errno. */
int iot_written_write(struct iot_written *file, int folder, const char *name);

#endif
