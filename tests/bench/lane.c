#include "tests/bench/lane.h"

#include <string.h>

static uint64_t random_state = 88172645463325252;

void iot_below_seed(uint64_t seed)
{
    random_state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t iot_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

void iot_lane_flush(struct iot_lane_writer *w)
{
    if (!w->rows->n)
        return;
    struct iot_block_header h = {.codec = IOT_CODEC_ZSTD,
                                 .lane = w->lane,
                                 .tid = w->tid,
                                 .slot = w->lane,
                                 .epoch = ++w->epoch,
                                 .anchor = {w->now, w->now}};
    iot_written_append(w->file, &w->place, h, w->rows);
    w->rows->n = 0;
}

static void room(struct iot_lane_writer *w, uint32_t rows)
{
    if (w->rows->n + rows > IOT_HALF_ROWS)
        iot_lane_flush(w);
}

void iot_lane_call(struct iot_lane_writer *w, uint64_t at, uint64_t took, struct iot_row row)
{
    room(w, 1);
    row.t0 = at > w->now ? at : w->now;
    row.t1 = w->now = row.t0 + took;
    iot_rows_add(w->rows, row);
    w->events++;
}

uint32_t iot_lane_define(struct iot_lane_writer *w, const char *name, int fd, uint32_t mode,
                         uint64_t dev, uint64_t inode, int64_t size)
{
    room(w, 2 + iot_text_rows(strlen(name)));
    iot_rows_string(w->rows, ++w->strings, name);
    iot_rows_desc(w->rows, ++w->descs, w->strings, fd, mode, 0, dev, inode, size);
    return w->descs;
}

void iot_lane_move(struct iot_lane_writer *w, uint64_t at, uint64_t took, unsigned op,
                   uint32_t desc, int64_t bytes, int64_t offset)
{
    iot_lane_call(w, at, took,
                  (struct iot_row){.op = (uint16_t)op,
                                   .obj = desc,
                                   .result = bytes,
                                   .bytes = bytes,
                                   .offset = offset,
                                   .addr = 0x7f0000000000 + iot_below(16) * 65536});
}
