#include "analyzer/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "format/checksum.h"
#include "format/columns.h"

/* What only a mistake in the caller can break. */
static void need(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "trace_writer: %s\n", what);
    abort();
}

struct iot_file_header *iot_written_header(struct iot_written *file)
{
    return (struct iot_file_header *)(void *)file->bytes;
}

/* Large ones are moved by their pages, not copied. */
static int grow(struct iot_written *file)
{
    uint8_t *more = realloc(file->bytes, file->n + IOT_SEGMENT_BYTES);
    if (!more)
        return -1;
    file->bytes = more;
    memset(file->bytes + file->n, 0, IOT_SEGMENT_BYTES);
    file->n += IOT_SEGMENT_BYTES;
    return 0;
}

struct iot_written iot_written_new(uint32_t pid, uint32_t ppid, uint64_t start_ns)
{
    struct iot_written file = {NULL, 0, IOT_HEADER_BYTES};
    if (grow(&file))
        return file;
    struct iot_file_header *h = iot_written_header(&file);
    memcpy(h->magic, IOT_FILE_MAGIC, sizeof h->magic);
    h->major = IOT_FORMAT_MAJOR;
    h->minor = IOT_FORMAT_MINOR;
    h->header_bytes = IOT_HEADER_BYTES;
    h->segment_bytes = IOT_SEGMENT_BYTES;
    h->row_bytes = sizeof(struct iot_row);
    h->half_rows = IOT_HALF_ROWS;
    h->clock = IOT_CLOCK_MONOTONIC;
    h->pid = pid;
    h->ppid = ppid;
    h->parent_lane = UINT32_MAX;
    h->start = h->last = (struct iot_anchor){start_ns, start_ns};
    h->start_realtime_ns = UINT64_C(1700000000000000000) + start_ns;
    h->next_segment = 1;
    h->segment_limit = 32;
    return file;
}

void iot_written_fact(struct iot_written *file, enum iot_fact_tag tag, const void *value,
                      size_t bytes)
{
    struct iot_fact fact = {tag, (uint32_t)bytes};
    need(file->facts + sizeof fact + bytes <= IOT_SEGMENT_BYTES, "too many facts");
    memcpy(file->bytes + file->facts, &fact, sizeof fact);
    memcpy(file->bytes + file->facts + sizeof fact, value, bytes);
    file->facts += sizeof fact + (bytes + 7) / 8 * 8;
}

void iot_written_free(struct iot_written *file)
{
    free(file->bytes);
    file->bytes = NULL;
}

void iot_rows_add(struct iot_half_rows *rows, struct iot_row row)
{
    need(rows->n < IOT_HALF_ROWS, "too many rows for a half");
    rows->rows[rows->n++] = row;
}

void iot_written_ops(struct iot_written *file)
{
    static const char table[] =
#define IOT_OP(number, NAME, name, class, moves, subject)                                          \
    #number " " name " " #class " " #moves " " #subject "\n"
#include "format/ops.def"
#undef IOT_OP
        ;
    iot_written_fact(file, IOT_FACT_OPS, table, sizeof table - 1);
}

void iot_rows_string(struct iot_half_rows *rows, uint32_t number, const char *text)
{
    size_t bytes = strlen(text);
    uint32_t more = iot_text_rows(bytes);
    iot_rows_add(rows,
                 (struct iot_row){.op = IOT_DEF_STRING, .obj = number, .bytes = (int64_t)bytes});
    need(rows->n + more <= IOT_HALF_ROWS, "too long a text for a half");
    memset(&rows->rows[rows->n], 0, more * sizeof *rows->rows);
    memcpy(&rows->rows[rows->n], text, bytes);
    rows->n += more;
}

void iot_rows_desc(struct iot_half_rows *rows, uint32_t number, uint32_t string, int fd,
                   uint32_t mode, uint64_t flags, uint64_t dev, uint64_t ino, int64_t offset)
{
    iot_rows_add(rows, (struct iot_row){.op = IOT_DEF_DESC,
                                        .obj = number,
                                        .obj2 = string,
                                        .result = (int64_t)dev,
                                        .bytes = (int64_t)ino,
                                        .offset = offset,
                                        .addr = (uint64_t)mode << 32 | flags,
                                        .site = (uint32_t)fd + 1});
}

uint32_t iot_written_segment(struct iot_written *file, uint32_t kind, uint32_t slot)
{
    struct iot_segment_header h = {.magic = IOT_SEGMENT_MAGIC, .kind = kind, .slot = slot};
    if (grow(file))
        return 0;
    memcpy(file->bytes + file->n - IOT_SEGMENT_BYTES, &h, sizeof h);
    return iot_written_header(file)->next_segment++;
}

void iot_written_half(struct iot_written *file, uint32_t segment, unsigned half, uint32_t lane,
                      uint32_t tid, uint32_t epoch, const struct iot_half_rows *rows)
{
    struct iot_half_header h = {.lane = lane, .tid = tid, .epoch = epoch, .head = rows->n};
    uint8_t *at =
        file->bytes + (size_t)segment * IOT_SEGMENT_BYTES + 64 + (size_t)half * IOT_HALF_BYTES;
    memcpy(at, &h, sizeof h);
    memcpy(at + sizeof h, rows->rows, rows->n * sizeof *rows->rows);
}

/* The payload of a block, as its header's codec stores it. */
static const uint8_t *payload_of(struct iot_block_header *header, const struct iot_half_rows *rows)
{
    static uint8_t raw[IOT_HALF_ROWS * IOT_ENCODED_ROW_MAX + IOT_ENCODED_FIXED_MAX];
    static uint8_t packed[ZSTD_COMPRESSBOUND(sizeof raw)];
    struct iot_counts counts;
    size_t bytes = iot_columns_encode(rows->rows, rows->n, raw, &counts);
    header->magic = IOT_BLOCK_MAGIC;
    header->n_events = counts.events;
    header->n_definitions = counts.definitions;
    header->raw_bytes = header->stored_bytes = (uint32_t)bytes;
    if (header->codec != IOT_CODEC_ZSTD)
        return raw;
    bytes = ZSTD_compress(packed, sizeof packed, raw, bytes, 1);
    need(!ZSTD_isError(bytes), "cannot compress");
    header->stored_bytes = (uint32_t)bytes;
    return packed;
}

static size_t put_block(struct iot_written *file, uint32_t segment, size_t at,
                        const struct iot_block_header *header, const uint8_t *payload)
{
    size_t where = (size_t)segment * IOT_SEGMENT_BYTES + at;
    memcpy(file->bytes + where, header, sizeof *header);
    memcpy(file->bytes + where + sizeof *header, payload, header->stored_bytes);
    iot_written_seal(file, where);
    return at + sizeof *header + ((size_t)header->stored_bytes + 7) / 8 * 8;
}

static int fits(size_t at, const struct iot_block_header *header)
{
    return at + sizeof *header + header->stored_bytes <= IOT_SEGMENT_BYTES;
}

size_t iot_written_block(struct iot_written *file, uint32_t segment, size_t at,
                         struct iot_block_header header, const struct iot_half_rows *rows)
{
    const uint8_t *payload = payload_of(&header, rows);
    need(fits(at, &header), "no room for a block");
    return put_block(file, segment, at, &header, payload);
}

int iot_written_append(struct iot_written *file, struct iot_written_place *place,
                       struct iot_block_header header, const struct iot_half_rows *rows)
{
    const uint8_t *payload = payload_of(&header, rows);
    if (!place->segment || !fits(place->at, &header)) {
        place->segment = iot_written_segment(file, IOT_SEGMENT_BLOCKS, header.slot);
        place->at = sizeof(struct iot_segment_header);
        if (!place->segment)
            return -1;
    }
    place->at = put_block(file, place->segment, place->at, &header, payload);
    return 0;
}

void iot_written_seal(struct iot_written *file, size_t at)
{
    struct iot_file_header *h = iot_written_header(file);
    h->checksum = iot_header_checksum(h);
    if (at) {
        struct iot_block_header b;
        memcpy(&b, file->bytes + at, sizeof b);
        b.checksum = iot_block_checksum(&b, file->bytes + at + sizeof b);
        memcpy(file->bytes + at, &b, sizeof b);
    }
}

int iot_written_write(struct iot_written *file, int folder, const char *name)
{
    iot_written_seal(file, 0);
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    int error = 0;
    for (size_t at = 0; at < file->n && !error;) {
        ssize_t n = write(fd, file->bytes + at, file->n - at);
        if (n >= 0)
            at += (size_t)n;
        else if (errno != EINTR)
            error = -errno;
    }
    if (close(fd) && !error)
        error = -errno;
    return error;
}
