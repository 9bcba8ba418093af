/* Writes the must-reject list of FORMAT.md's section 11: a folder for each line of it, with a trace
 * that is wrong in that way alone. tests/cli/test_bad.py says what a reader has to do with each.
 *
 *     make_bad FOLDER
 *
 * The run: a root of 30 reads in two blocks and a live half of 5 more, and its child. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/columns.h"
#include "format/ops.h"
#include "tests/unit/trace_writer.h"

enum { START = 1000000, ROOT = 100, CHILD = 101, READS = 15, LIVE_READS = 5 };
enum { BLOCKS = 1, ROWS = 2, FIRST_BLOCK = IOT_SEGMENT_BYTES + 64 }; /* segments, byte */

static struct iot_half_rows rows;
static size_t second_block; /* byte */

static void event(uint32_t op, uint64_t at, struct iot_row row)
{
    row.op = (uint16_t)op;
    row.t0 = START + at;
    row.t1 = row.t0 + 50;
    iot_rows_add(&rows, row);
}

static void reads(int n, uint64_t at)
{
    for (int i = 0; i < n; i++)
        event(IOT_OP_READ, at + 100 * (unsigned)i,
              (struct iot_row){.obj = 1, .result = 1000, .bytes = 1000});
}

static void block(struct iot_written *file, struct iot_written_place *place, uint32_t epoch)
{
    struct iot_block_header h = {.tid = ROOT, .epoch = epoch, .anchor = {START + 1, START + 1}};
    iot_written_append(file, place, h, &rows);
    rows.n = 0;
}

static struct iot_written root(void)
{
    struct iot_written file = iot_written_new(ROOT, 1, START);
    struct iot_written_place place = {0, 0};
    iot_written_header(&file)->root = 1;
    iot_written_header(&file)->end = IOT_END_EXIT;
    iot_written_fact(&file, IOT_FACT_CWD, "/data", 5);
    rows.n = 0;
    iot_rows_string(&rows, 1, "/data/model.bin");
    iot_rows_desc(&rows, 1, 1, 3, S_IFREG | 0644, 0, 2049, 1001, 1 << 20);
    reads(READS, 1000);
    block(&file, &place, 1);
    second_block = (size_t)place.segment * IOT_SEGMENT_BYTES + place.at;
    reads(READS, 5000);
    block(&file, &place, 2);
    event(IOT_OP_FORK, 9000, (struct iot_row){.result = CHILD});
    reads(LIVE_READS, 10000);
    event(IOT_OP_WAITPID, 20000, (struct iot_row){.result = CHILD});
    event(IOT_OP_EXIT, 30000, (struct iot_row){.result = 0});
    iot_written_segment(&file, IOT_SEGMENT_ROWS, 0);
    iot_written_half(&file, ROWS, 0, 0, ROOT, 3, &rows);
    return file;
}

static void save_child(const char *folder)
{
    struct iot_written file = iot_written_new(CHILD, ROOT, START + 9010);
    rows.n = 0;
    iot_written_header(&file)->end = IOT_END_EXIT;
    event(IOT_OP_START, 9010, (struct iot_row){.obj = 0, .result = ROOT});
    event(IOT_OP_EXIT, 15000, (struct iot_row){.result = 0});
    iot_written_segment(&file, IOT_SEGMENT_ROWS, 0);
    iot_written_half(&file, 1, 0, 0, CHILD, 1, &rows);
    iot_written_save(&file, folder, "101.iot");
    iot_written_free(&file);
}

static struct iot_block_header *block_at(struct iot_written *file, size_t at)
{
    return (struct iot_block_header *)(void *)(file->bytes + at);
}

static struct iot_half_header *live_half(struct iot_written *file)
{
    return (struct iot_half_header *)(void *)(file->bytes + ROWS * IOT_SEGMENT_BYTES + 64);
}

static struct iot_segment_header *segment(struct iot_written *file, int number)
{
    return (struct iot_segment_header *)(void *)(file->bytes + number * IOT_SEGMENT_BYTES);
}

/* Changes the header of the first block, whose checksum is made right again. */
#define RESEALED(change)                                                                           \
    do {                                                                                           \
        struct iot_block_header *b = block_at(file, FIRST_BLOCK);                                  \
        change;                                                                                    \
        iot_written_seal(file, FIRST_BLOCK);                                                       \
    } while (0)

#define HEADER iot_written_header(file)

/* --- the list: each makes one thing wrong, before the header is sealed --- */

static void whole(struct iot_written *file)
{
    (void)file;
}
static void newer_major(struct iot_written *file)
{
    HEADER->major = IOT_FORMAT_MAJOR + 1;
}
static void major_0(struct iot_written *file)
{
    HEADER->major = 0;
}
static void newer_minor(struct iot_written *file)
{
    HEADER->minor = IOT_FORMAT_MINOR + 1;
}
static void odd_sizes(struct iot_written *file)
{
    HEADER->row_bytes = 128;
}
static void unknown_clock(struct iot_written *file)
{
    HEADER->clock = 3;
}
static void late_start(struct iot_written *file)
{
    HEADER->start.mono_ns = UINT64_C(1) << 63;
}
static void unknown_end(struct iot_written *file)
{
    HEADER->end = 7;
}
static void no_root(struct iot_written *file)
{
    HEADER->root = 0;
}
static void empty(struct iot_written *file)
{
    file->n = 0;
}
static void header_only(struct iot_written *file)
{
    HEADER->next_segment = 1;
    file->n = 192;
}
static void within_header(struct iot_written *file)
{
    file->n = 191;
}
static void cut_short(struct iot_written *file)
{
    file->n = 2 * IOT_SEGMENT_BYTES;
}
static void too_few_segments(struct iot_written *file)
{
    HEADER->next_segment = 2;
}
static void no_segments(struct iot_written *file)
{
    HEADER->next_segment = 0;
}
static void endless_segments(struct iot_written *file)
{
    HEADER->next_segment = UINT32_MAX;
}
static void segment_magic(struct iot_written *file)
{
    segment(file, ROWS)->magic = 1;
}
static void segment_magic_of_blocks(struct iot_written *file)
{
    segment(file, BLOCKS)->magic = 1;
}
static void segment_kind(struct iot_written *file)
{
    segment(file, ROWS)->kind = 9;
}
static void segment_kind_of_newer_minor(struct iot_written *file)
{
    uint32_t added = iot_written_segment(file, IOT_SEGMENT_ROWS, 1);
    segment(file, (int)added)->kind = 9;
    HEADER->minor = IOT_FORMAT_MINOR + 1;
}
static void block_magic(struct iot_written *file)
{
    block_at(file, FIRST_BLOCK)->magic = 5;
}
static void block_magic_0(struct iot_written *file)
{
    block_at(file, FIRST_BLOCK)->magic = 0;
}
static void block_checksum(struct iot_written *file)
{
    file->bytes[FIRST_BLOCK + 100] ^= 1;
}
static void stored_bytes(struct iot_written *file)
{
    block_at(file, FIRST_BLOCK)->stored_bytes = IOT_SEGMENT_BYTES;
}
static void codec(struct iot_written *file)
{
    RESEALED(b->codec = 2);
}
static void counts(struct iot_written *file)
{
    RESEALED(b->n_events = IOT_HALF_ROWS + 1);
}
static void counts_above_raw_bytes(struct iot_written *file)
{
    RESEALED((b->n_definitions = 1000, b->codec = 1));
}
static void raw_bytes(struct iot_written *file)
{
    RESEALED((b->raw_bytes = UINT32_MAX, b->codec = 1));
}
static void raw_is_not_stored(struct iot_written *file)
{
    RESEALED(b->raw_bytes++);
}
static void no_zstd(struct iot_written *file)
{
    RESEALED(b->codec = 1);
}
static void columns(struct iot_written *file)
{
    file->bytes[FIRST_BLOCK + 64]++;
    iot_written_seal(file, FIRST_BLOCK);
}
static void epoch_missing(struct iot_written *file)
{
    live_half(file)->epoch = 4;
}
static void epoch_twice(struct iot_written *file)
{
    struct iot_block_header *b = block_at(file, second_block);
    b->epoch = 1;
    iot_written_seal(file, second_block);
}
static void fact(struct iot_written *file)
{
    const struct iot_fact long_one = {IOT_FACT_HOST, IOT_SEGMENT_BYTES};
    memcpy(file->bytes + file->facts, &long_one, sizeof long_one);
}
static void anchors(struct iot_written *file)
{
    HEADER->clock = IOT_CLOCK_TSC;
    HEADER->last = (struct iot_anchor){START + 1000000000, START + 2};
}
static void no_rate(struct iot_written *file)
{
    HEADER->clock = IOT_CLOCK_TSC;
    block_at(file, FIRST_BLOCK)->anchor.ticks = 0;
    iot_written_seal(file, FIRST_BLOCK);
    block_at(file, second_block)->anchor.ticks = 0;
    iot_written_seal(file, second_block);
}
static void times(struct iot_written *file)
{
    struct iot_row *row = (struct iot_row *)(void *)(live_half(file) + 1);
    row[2].t0 = UINT64_C(1) << 62;
    row[2].t1 = row[2].t0 + 1;
}
static void bytes(struct iot_written *file)
{
    struct iot_row *row = (struct iot_row *)(void *)(live_half(file) + 1);
    for (int k = 2; k < 4; k++) {
        row[k].op = IOT_OP_WRITE;
        row[k].bytes = k == 2 ? INT64_MAX : INT64_MIN;
    }
}
static void unknown_operation(struct iot_written *file)
{
    struct iot_row *row = (struct iot_row *)(void *)(live_half(file) + 1);
    row[2].op = 250;
}

#define CASE(name)                                                                                 \
    {                                                                                              \
        #name, name                                                                                \
    }
static const struct {
    const char *name;
    void (*spoil)(struct iot_written *file);
} cases[] = {
    CASE(whole),
    CASE(newer_major),
    CASE(major_0),
    CASE(newer_minor),
    CASE(odd_sizes),
    CASE(unknown_clock),
    CASE(late_start),
    CASE(unknown_end),
    CASE(no_root),
    CASE(empty),
    CASE(header_only),
    CASE(within_header),
    CASE(cut_short),
    CASE(too_few_segments),
    CASE(no_segments),
    CASE(endless_segments),
    CASE(segment_magic),
    CASE(segment_magic_of_blocks),
    CASE(segment_kind),
    CASE(segment_kind_of_newer_minor),
    CASE(block_magic),
    CASE(block_magic_0),
    CASE(block_checksum),
    CASE(stored_bytes),
    CASE(codec),
    CASE(counts),
    CASE(counts_above_raw_bytes),
    CASE(raw_bytes),
    CASE(raw_is_not_stored),
    CASE(no_zstd),
    CASE(columns),
    CASE(epoch_missing),
    CASE(epoch_twice),
    CASE(fact),
    CASE(anchors),
    CASE(no_rate),
    CASE(times),
    CASE(bytes),
    CASE(unknown_operation),
};

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_bad FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[400];
        struct iot_written file = root();
        snprintf(folder, sizeof folder, "%s/%s", argv[1], cases[i].name);
        mkdir(folder, 0755); /* a failure shows when the files are made */
        size_t n = file.n;
        cases[i].spoil(&file);
        if (file.n >= IOT_HEADER_BYTES || file.n == 192)
            iot_written_seal(&file, 0);
        iot_bytes_save(file.bytes, file.n, folder, "100.iot");
        file.n = file.n > n ? file.n : n;
        iot_written_free(&file);
        save_child(folder);
        iot_bytes_save("", 0, folder, "run");
    }
    return 0;
}
