#include "preload/encode.h"

#include <string.h>
#include <sys/mman.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "format/checksum.h"
#include "format/columns.h"
#include "format/columns_layout.h"
#include "preload/process.h"
#include "preload/sys.h"

enum {
    /* Bytes an event at which there is little left to gain: a loop's columns are two clock
     * readings, whose low bits are noise, and compressing them took longer than making them. */
    SMALL_ENOUGH = 4,
    PAYLOAD_MAX = IOT_HALF_ROWS * IOT_ENCODED_ROW_MAX + IOT_ENCODED_FIXED_MAX,
};

_Static_assert(PAYLOAD_MAX + sizeof(struct iot_block_header) + sizeof(struct iot_segment_header) <
                   IOT_SEGMENT_BYTES,
               "any half fits into a segment as it is");

/* What one encoding needs: kept out of the stack, which may be small, and out of malloc. There
 * are a few; who finds none free stores its columns uncompressed rather than wait. */
struct workspace {
    uint8_t columns[PAYLOAD_MAX];
    uint8_t packed[PAYLOAD_MAX];
};
static uint8_t *workspaces;
static size_t workspace_bytes, compressor_bytes;

/* Those of level 1, but for smaller tables: they are cleared for every block, and a block is some
 * 10 KB. */
static const struct {
    ZSTD_cParameter parameter;
    int value;
} settings[] = {
    {ZSTD_c_strategy, ZSTD_fast}, {ZSTD_c_windowLog, 17}, {ZSTD_c_hashLog, 12},
    {ZSTD_c_chainLog, 6},         {ZSTD_c_searchLog, 1},  {ZSTD_c_minMatch, 5},
    {ZSTD_c_targetLength, 1},
};
static const ZSTD_compressionParameters sizes = {
    .windowLog = 17, .chainLog = 6, .hashLog = 12, .searchLog = 1, .minMatch = 5,
    .targetLength = 1, .strategy = ZSTD_fast};

int iot_encode_start(void)
{
    compressor_bytes = ZSTD_estimateCCtxSize_usingCParams(sizes);
    workspace_bytes = (sizeof(struct workspace) + compressor_bytes + 4095) / 4096 * 4096;
    long at = iot_sys(SYS_mmap, 0, IOT_WORKSPACES * workspace_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at < 0 && at > -4096)
        return -1;
    workspaces = (uint8_t *)at;
    return 0;
}

static int workspace_take(void)
{
    for (int i = 0; i < IOT_WORKSPACES; i++)
        if (!__atomic_exchange_n(&iot_process->workspace_busy[i], 1, __ATOMIC_ACQUIRE))
            return i;
    return -1;
}

/* The compressor is made anew each time: a child forked in the middle of a compression may find a
 * half-written one. Returns 0 where packing does not make it smaller. */
static size_t pack(struct workspace *w, size_t bytes, uint32_t events)
{
    if (bytes <= SMALL_ENOUGH * (size_t)events)
        return 0;
    ZSTD_CCtx *c = ZSTD_initStaticCCtx(w + 1, compressor_bytes);
    if (!c)
        return 0;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (ZSTD_isError(ZSTD_CCtx_setParameter(c, settings[i].parameter, settings[i].value)))
            return 0;
    size_t n = ZSTD_compress2(c, w->packed, sizeof w->packed, w->columns, bytes);
    return ZSTD_isError(n) || n >= bytes ? 0 : n;
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* Makes the pages of the next `bytes` bytes ready, and some more with them: as much again as of the
 * segment is in use, so that who records little takes little of the disk. 0 or -1. */
static int room_ready(struct iot_room *room, size_t bytes)
{
    enum { PAGE = 4096, AHEAD_MAX = 8 * PAGE };
    if (room->ready >= bytes)
        return 0;
    size_t ahead = IOT_SEGMENT_BYTES - sizeof(struct iot_segment_header) - room->left;
    size_t wanted = bytes + (ahead < AHEAD_MAX ? ahead : AHEAD_MAX);
    if (wanted > room->left)
        wanted = room->left;
    uint8_t *from = room->at + room->ready;
    if (iot_pages_ready(from, wanted - room->ready)) {
        wanted = bytes;
        if (iot_pages_ready(from, wanted - room->ready))
            return -1;
    }
    room->ready = (uint32_t)wanted;
    return 0;
}

static void room_use(struct iot_room *room, size_t bytes)
{
    room->at += bytes;
    room->left -= (uint32_t)bytes;
    room->ready -= (uint32_t)bytes;
}

/* Room for a block and its payload in segments of that kind, with its pages there. */
static uint8_t *place(struct iot_thread *t, uint32_t kind, size_t bytes)
{
    struct iot_room *room = kind == IOT_SEGMENT_NAMES ? &t->names : &t->blocks;
    bytes = padded(bytes);
    if (room->left < bytes) {
        if (room->at) { /* what is full need not stay in memory: it is the file's */
            uintptr_t begin = (uintptr_t)room->at + room->left - IOT_SEGMENT_BYTES;
            iot_sys(SYS_madvise, begin, IOT_SEGMENT_BYTES, MADV_DONTNEED);
            if (iot_window->kept_bytes)
                iot_kept_filled(kind, iot_segment_of((const void *)begin));
        }
        *room = (struct iot_room){NULL, 0, 0};
        uint8_t *segment = iot_segment_take(kind, t->slot, sizeof(struct iot_segment_header));
        if (!segment)
            return NULL;
        room->at = segment + sizeof(struct iot_segment_header);
        room->left = IOT_SEGMENT_BYTES - sizeof(struct iot_segment_header);
    }
    if (room_ready(room, bytes))
        return NULL;
    uint8_t *at = room->at;
    room_use(room, bytes);
    return at;
}

/* Writes the header of a block whose payload lies behind it; the magic last, so that a block
 * is there whole or not at all. */
static void seal(struct iot_thread *t, const struct iot_half *half,
                 const struct iot_counts *counts, uint32_t codec, size_t raw_bytes,
                 size_t stored_bytes, uint8_t *at)
{
    struct iot_block_header block = {
        .codec = codec,
        .lane = half->header->lane,
        .tid = half->header->tid,
        .slot = t->slot,
        .epoch = half->header->epoch,
        .n_events = counts->events,
        .n_definitions = counts->definitions,
        .raw_bytes = (uint32_t)raw_bytes,
        .stored_bytes = (uint32_t)stored_bytes,
        .anchor = iot_anchor_now(),
    };
    if (iot_window->kept_bytes)
        iot_kept_block(iot_segment_of(at), counts->events, block.anchor.mono_ns);
    block.checksum = iot_block_checksum(&block, at + sizeof block);
    memcpy(at, &block, sizeof block);
    __atomic_store_n(&((struct iot_block_header *)at)->magic, IOT_BLOCK_MAGIC, __ATOMIC_RELEASE);
}

/* What becomes of a half, by kind of segment. */
static size_t columns(const struct iot_half *half, uint32_t n, uint32_t kind, uint8_t *to,
                      struct iot_counts *counts)
{
    return kind == IOT_SEGMENT_NAMES ? iot_columns_encode_definitions(half->rows, n, to, counts)
                                     : iot_columns_encode(half->rows, n, to, counts);
}

/* With no workspace free: columns straight into the segment, as they are. Returns how many
 * definitions there were, or -1. */
static int encode_stored(struct iot_thread *t, const struct iot_half *half, uint32_t n,
                         uint32_t kind)
{
    size_t most = sizeof(struct iot_block_header) + n * IOT_ENCODED_ROW_MAX + IOT_ENCODED_FIXED_MAX;
    uint8_t *at = place(t, kind, most);
    if (!at)
        return -1;
    struct iot_counts counts;
    size_t bytes = columns(half, n, kind, at + sizeof(struct iot_block_header), &counts);
    size_t surplus = padded(most) - padded(sizeof(struct iot_block_header) + bytes);
    struct iot_room *room = kind == IOT_SEGMENT_NAMES ? &t->names : &t->blocks;
    room->at -= surplus;
    room->left += (uint32_t)surplus;
    room->ready += (uint32_t)surplus;
    /* Encoding leaves traces behind its end, where the room for the directory was too large; a
     * reader takes what is not 0 there for the next block. */
    memset(at + sizeof(struct iot_block_header) + bytes, 0,
           IOT_COLUMNS * IOT_DIRECTORY_ENTRY + sizeof(uint64_t));
    seal(t, half, &counts, IOT_CODEC_STORED, bytes, bytes, at);
    return (int)counts.definitions;
}

static int encode_packed(struct iot_thread *t, const struct iot_half *half, uint32_t n,
                         uint32_t kind, struct workspace *w)
{
    struct iot_counts counts;
    size_t raw = columns(half, n, kind, w->columns, &counts);
    size_t packed = pack(w, raw, counts.events);
    size_t bytes = packed ? packed : raw;
    uint8_t *at = place(t, kind, sizeof(struct iot_block_header) + bytes);
    if (!at)
        return -1;
    memcpy(at + sizeof(struct iot_block_header), packed ? w->packed : w->columns, bytes);
    seal(t, half, &counts, packed ? IOT_CODEC_ZSTD : IOT_CODEC_STORED, raw, bytes, at);
    return (int)counts.definitions;
}

static int encode(struct iot_thread *t, const struct iot_half *half, uint32_t n, uint32_t kind)
{
    int which = workspace_take();
    if (which < 0)
        return encode_stored(t, half, n, kind);
    struct workspace *w = (struct workspace *)(workspaces + (size_t)which * workspace_bytes);
    int definitions = encode_packed(t, half, n, kind, w);
    __atomic_store_n(&iot_process->workspace_busy[which], 0, __ATOMIC_RELEASE);
    return definitions;
}

int iot_encode_half(struct iot_thread *t, const struct iot_half *half, uint32_t n)
{
    int definitions = encode(t, half, n, IOT_SEGMENT_BLOCKS);
    if (definitions < 0)
        return -1;
    /* Where there is no room for the names they stand with the events alone. */
    if (definitions && iot_window->kept_bytes)
        encode(t, half, n, IOT_SEGMENT_NAMES);
    return 0;
}
