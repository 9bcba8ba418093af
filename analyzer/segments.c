/* Where the rows of a file are: its segments, the blocks and the live halves in them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/container_reader.h"
#include "analyzer/room.h"
#include "format/checksum.h"

/* How many places of a damaged segment may look like a block before it is given up: a
 * bound on the work that a hostile file can ask for. */
enum { TRIES_MAX = 64 };

struct scan {
    struct iot_container *c;
    struct iot_reader *reader;
    size_t capacity, names_capacity;
    int names; /* whether the segment is one of names */
    uint64_t base; /* byte offset of the segment */
};

const char *iot_block_fault(const uint8_t *block, size_t room)
{
    struct iot_block_header h;
    if (room < sizeof h)
        return "a block that does not fit";
    memcpy(&h, block, sizeof h);
    if (h.magic != IOT_BLOCK_MAGIC)
        return "not a block";
    if (h.stored_bytes > room - sizeof h)
        return "a block that reaches beyond its segment";
    if (h.checksum != iot_block_checksum(&h, block + sizeof h))
        return "a block's checksum does not match";
    if (h.codec != IOT_CODEC_STORED && h.codec != IOT_CODEC_ZSTD)
        return "a block with an unknown codec";
    /* Each row took a row of the half, and is at least a byte in the payload. */
    if (h.raw_bytes > IOT_RAW_MAX || h.n_events > IOT_HALF_ROWS ||
        h.n_definitions > IOT_HALF_ROWS - h.n_events ||
        h.n_events + h.n_definitions > h.raw_bytes ||
        (h.codec == IOT_CODEC_STORED && h.raw_bytes != h.stored_bytes))
        return "a block with impossible sizes";
    return NULL;
}

static int add_to(struct iot_piece **list, size_t *n, size_t *capacity,
                  const struct iot_piece *piece)
{
    if (IOT_ROOM(*list, *n + 1, *capacity))
        return -1;
    (*list)[(*n)++] = *piece;
    return 0;
}

static int add(struct scan *s, const struct iot_piece *piece)
{
    struct iot_container *c = s->c;
    return s->names ? add_to(&c->names, &c->n_names, &s->names_capacity, piece)
                    : add_to(&c->pieces, &c->n_pieces, &s->capacity, piece);
}

/* The next intact block from `at` on; IOT_SEGMENT_BYTES if there is none. */
static size_t next_block(const struct scan *s, size_t at)
{
    int tries = 0;
    for (; at + sizeof(struct iot_block_header) <= IOT_SEGMENT_BYTES; at += 8) {
        uint32_t magic;
        memcpy(&magic, s->reader->segment + at, sizeof magic);
        if (magic == IOT_BLOCK_MAGIC && tries++ < TRIES_MAX &&
            !iot_block_fault(s->reader->segment + at, IOT_SEGMENT_BYTES - at))
            return at;
    }
    return IOT_SEGMENT_BYTES;
}

static int scan_blocks(struct scan *s)
{
    struct iot_block_header h;
    for (size_t at = sizeof(struct iot_segment_header); at + sizeof h <= IOT_SEGMENT_BYTES;) {
        const uint8_t *block = s->reader->segment + at;
        const char *fault = iot_block_fault(block, IOT_SEGMENT_BYTES - at);
        memcpy(&h, block, sizeof h);
        if (fault) {
            /* Magic 0 is the end, or a block that a killed process had not finished: then its rows
             * are still in their live half. But no block can follow it, and what is there of
             * its header is a header's. */
            size_t next = next_block(s, at + 8);
            if (h.magic || h.codec > IOT_CODEC_ZSTD || next < IOT_SEGMENT_BYTES)
                iot_container_damage(s->c, s->base + at, fault);
            at = next;
            continue;
        }
        struct iot_piece piece = {
            s->base + at, h.lane, h.tid, h.slot, h.epoch, h.n_events + h.n_definitions,
            h.n_events,   0,      h.anchor};
        if (add(s, &piece))
            return -1;
        at += sizeof h + ((h.stored_bytes + (size_t)7) & ~(size_t)7);
    }
    return 0;
}

static int scan_halves(struct scan *s, uint32_t slot)
{
    for (unsigned k = 0; k < 2; k++) {
        size_t at = sizeof(struct iot_segment_header) + (size_t)k * IOT_HALF_BYTES;
        struct iot_half_header h;
        memcpy(&h, s->reader->segment + at, sizeof h);
        uint32_t rows = h.head < IOT_HALF_ROWS ? h.head : IOT_HALF_ROWS;
        struct iot_piece piece = {s->base + at, h.lane, h.tid, slot, h.epoch, rows,
                                  rows,         1,      h.anchor};
        if ((h.epoch || rows) && add(s, &piece))
            return -1;
    }
    return 0;
}

static int is_zero(const uint8_t *p, size_t n)
{
    return !n || (!*p && !memcmp(p, p + 1, n - 1));
}

static int scan_segment(struct scan *s)
{
    struct iot_segment_header h;
    memcpy(&h, s->reader->segment, sizeof h);
    s->names = 0;
    if (h.magic != IOT_SEGMENT_MAGIC) {
        iot_container_damage(s->c, s->base, "a segment whose start is damaged");
        return scan_blocks(s);
    }
    if (h.kind == IOT_SEGMENT_ROWS)
        return scan_halves(s, h.slot);
    s->names = h.kind == IOT_SEGMENT_NAMES;
    if (h.kind == IOT_SEGMENT_BLOCKS || s->names)
        return scan_blocks(s);
    if (s->c->header.minor <= IOT_FORMAT_MINOR)
        iot_container_damage(s->c, s->base, "a segment of unknown kind");
    return 0;
}

static int by_slot(const void *a, const void *b)
{
    const struct iot_piece *x = a, *y = b;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    if (x->live != y->live)
        return x->live - y->live;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int by_lane(const void *a, const void *b)
{
    const struct iot_piece *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return by_slot(a, b);
}

/* One piece for each epoch of each slot, and none missing between. */
static void settle(struct iot_container *c)
{
    size_t kept = 0;
    if (c->n_pieces)
        qsort(c->pieces, c->n_pieces, sizeof *c->pieces, by_slot);
    for (size_t i = 0; i < c->n_pieces; i++) {
        const struct iot_piece *p = &c->pieces[i], *before = kept ? &c->pieces[kept - 1] : NULL;
        if (before && before->slot == p->slot && before->epoch == p->epoch) {
            if (before->live || !p->live)
                iot_container_damage(c, p->at, "rows that are there twice; the first are taken");
            continue;
        }
        int first = !before || before->slot != p->slot;
        if (first ? p->epoch > 1 && !c->header.older_events : p->epoch > before->epoch + 1)
            iot_container_damage(c, p->at, "rows that came before these are missing");
        c->pieces[kept++] = *p;
    }
    c->n_pieces = kept;
    if (kept)
        qsort(c->pieces, kept, sizeof *c->pieces, by_lane);
}

int iot_container_scan(struct iot_container *c, struct iot_reader *reader)
{
    struct scan s = {.c = c, .reader = reader};
    uint64_t segments = c->header.next_segment;

    for (uint64_t k = 1; k < segments; k++) {
        s.base = k * IOT_SEGMENT_BYTES;
        size_t there = iot_read_at(c->fd, reader->segment, IOT_SEGMENT_BYTES, s.base);
        if (there < IOT_SEGMENT_BYTES)
            iot_container_damage(c, s.base + there, "the file ends before its last segment does");
        if (!there)
            break;
        if (is_zero(reader->segment, IOT_SEGMENT_BYTES)) {
            /* Handed out, and the process killed before it was used. */
            off_t data = lseek(c->fd, (off_t)s.base, SEEK_DATA);
            if (data < 0 && errno == ENXIO)
                break; /* a hole up to the end */
            if (data > 0 && (uint64_t)data / IOT_SEGMENT_BYTES > k)
                k = (uint64_t)data / IOT_SEGMENT_BYTES - 1;
            continue;
        }
        if (scan_segment(&s))
            return -1;
    }
    /* What is behind the last one is not part of the trace. A segment there says that the
     * number of segments is wrong. */
    uint32_t magic;
    iot_read_at(c->fd, &magic, sizeof magic, segments * IOT_SEGMENT_BYTES);
    if (!segments || magic == IOT_SEGMENT_MAGIC)
        iot_container_damage(c, offsetof(struct iot_file_header, next_segment),
                             "the file has more segments than its header says");
    settle(c);
    return 0;
}
