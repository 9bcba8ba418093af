#include "analyzer/container.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/container_reader.h"
#include "format/checksum.h"

struct iot_reader *iot_reader_new(void)
{
    struct iot_reader *reader = malloc(sizeof *reader);
    if (reader && !(reader->zstd = ZSTD_createDCtx())) {
        free(reader);
        return NULL;
    }
    return reader;
}

void iot_reader_free(struct iot_reader *reader)
{
    if (reader)
        ZSTD_freeDCtx(reader->zstd);
    free(reader);
}

size_t iot_read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = pread(fd, (char *)to + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    memset((char *)to + done, 0, bytes - done);
    return done;
}

void iot_container_damage(struct iot_container *c, uint64_t at, const char *what)
{
    if (!c->damages++)
        snprintf(c->damage, sizeof c->damage, "byte %" PRIu64 ": %s", at, what);
}

static int refuse(struct iot_container *c, uint64_t at, const char *what)
{
    iot_container_damage(c, at, what);
    iot_container_close(c);
    return -1;
}

int iot_container_reopen(struct iot_container *c, int folder, const char *name)
{
    struct stat st;
    /* Not blocking: a FIFO of that name must not hold us. */
    c->fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (c->fd < 0)
        return refuse(c, 0, strerror(errno));
    if (fstat(c->fd, &st) || !S_ISREG(st.st_mode))
        return refuse(c, 0, "not a regular file");
    c->bytes = (uint64_t)st.st_size;
    return 0;
}

int iot_container_open(struct iot_container *c, int folder, const char *name)
{
    *c = (struct iot_container){.fd = -1};
    if (iot_container_reopen(c, folder, name))
        return -1;

    const struct iot_file_header *h = &c->header;
    size_t there = iot_read_at(c->fd, &c->header, sizeof c->header, 0);
    if (!there)
        return refuse(c, 0, "the file is empty");
    if (memcmp(h->magic, IOT_FILE_MAGIC, sizeof h->magic))
        return refuse(c, 0, "not a trace file: it does not start with \"iotrace\"");
    if (there >= offsetof(struct iot_file_header, header_bytes) && h->major > IOT_FORMAT_MAJOR) {
        char what[100];
        snprintf(what, sizeof what, "format version %u.%u, and this iotrace reads up to %d.%d",
                 h->major, h->minor, IOT_FORMAT_MAJOR, IOT_FORMAT_MINOR);
        c->newer = 1;
        return refuse(c, offsetof(struct iot_file_header, major), what);
    }
    if (there < IOT_HEADER_LEAST)
        return refuse(c, there, "the file ends within its header");
    if (h->checksum != iot_header_checksum(h))
        return refuse(c, offsetof(struct iot_file_header, checksum),
                      "the header's checksum does not match");
    if (h->major != IOT_FORMAT_MAJOR)
        return refuse(c, offsetof(struct iot_file_header, major), "no such format version");
    if (h->header_bytes != IOT_HEADER_BYTES || h->segment_bytes != IOT_SEGMENT_BYTES ||
        h->row_bytes != sizeof(struct iot_row) || h->half_rows != IOT_HALF_ROWS)
        return refuse(c, offsetof(struct iot_file_header, header_bytes),
                      "sizes that this format version does not have");
    if (h->clock != IOT_CLOCK_MONOTONIC && h->clock != IOT_CLOCK_TSC)
        return refuse(c, offsetof(struct iot_file_header, clock), "an unknown clock");
    if (h->start.mono_ns > INT64_MAX)
        return refuse(c, offsetof(struct iot_file_header, start), "an impossible start time");
    if (h->end > IOT_END_EXEC) {
        iot_container_damage(c, offsetof(struct iot_file_header, end), "an unknown kind of end");
        c->header.end = IOT_END_OPEN;
    }
    return 0;
}

void iot_container_close(struct iot_container *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

void iot_container_free(struct iot_container *c)
{
    iot_container_close(c);
    free(c->pieces);
    free(c->names);
    free(c->older);
    c->pieces = c->names = c->older = NULL;
    c->n_pieces = c->n_names = c->n_older = 0;
}

void iot_container_facts(struct iot_container *c, struct iot_reader *reader,
                         void (*fact)(void *user, uint32_t tag, const char *value, size_t bytes),
                         void *user)
{
    struct iot_fact f;
    size_t there = iot_read_at(c->fd, reader->segment, IOT_SEGMENT_BYTES, 0);
    for (size_t at = IOT_HEADER_BYTES; at + sizeof f <= there;) {
        memcpy(&f, reader->segment + at, sizeof f);
        if (f.tag == IOT_FACT_END)
            return;
        at += sizeof f;
        if (f.bytes > there - at) {
            iot_container_damage(c, at - sizeof f, "a fact that is longer than its segment");
            return;
        }
        fact(user, f.tag, (const char *)reader->segment + at, f.bytes);
        at += (f.bytes + (size_t)7) & ~(size_t)7;
    }
}

void iot_container_rows(struct iot_container *c, struct iot_reader *reader,
                        const struct iot_piece *piece, const struct iot_row_visitor *visitor)
{
    uint8_t *from = reader->segment;

    if (piece->live) {
        struct iot_half_header h;
        iot_read_at(c->fd, from, IOT_HALF_BYTES, piece->at);
        memcpy(&h, from, sizeof h);
        if (h.epoch == piece->epoch) /* else it has been refilled since the scan */
            iot_rows_visit((const struct iot_row *)(const void *)(from + sizeof h), piece->rows,
                           visitor);
        return;
    }

    struct iot_block_header h;
    iot_read_at(c->fd, from, sizeof h, piece->at);
    memcpy(&h, from, sizeof h);
    if (h.stored_bytes > IOT_SEGMENT_BYTES - sizeof h)
        h.stored_bytes = 0;
    iot_read_at(c->fd, from + sizeof h, h.stored_bytes, piece->at + sizeof h);
    const char *wrong = iot_block_fault(from, sizeof h + h.stored_bytes);
    if (!wrong && (h.n_events != piece->events || h.n_events + h.n_definitions != piece->rows))
        wrong = "a block that changed while it was read";
    if (wrong) {
        iot_container_damage(c, piece->at, wrong);
        return;
    }
    const uint8_t *payload = from + sizeof h;
    if (h.codec == IOT_CODEC_ZSTD) {
        size_t n = ZSTD_decompressDCtx(reader->zstd, reader->raw, sizeof reader->raw, payload,
                                       h.stored_bytes);
        if (ZSTD_isError(n) || n != h.raw_bytes) {
            iot_container_damage(c, piece->at, "a block that does not decompress");
            return;
        }
        payload = reader->raw;
    }
    struct iot_counts counts = {h.n_events, h.n_definitions};
    if (iot_columns_decode(payload, h.raw_bytes, &counts, reader->rows, reader->definitions)) {
        iot_container_damage(c, piece->at, "a block whose columns cannot be decoded");
        return;
    }
    for (uint32_t i = 0; i < counts.definitions; i++)
        visitor->definition(visitor->user, &reader->definitions[i]);
    for (uint32_t i = 0; i < counts.events; i++)
        visitor->event(visitor->user, &reader->rows[i]);
}
