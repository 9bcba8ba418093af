/* A lane of a trace being made up, row by row and block by block. */
#ifndef IOT_TESTS_LANE_H
#define IOT_TESTS_LANE_H

#include "tests/unit/trace_writer.h"

/* Zero it, and give it what is not kept here: file, rows, lane, tid. */
struct iot_lane_writer {
    struct iot_written *file;
    struct iot_half_rows *rows;
    struct iot_written_place place;
    uint32_t lane, tid, epoch;
    uint32_t strings, descs; /* last numbers given, of the process */
    uint64_t now;            /* no call begins before */
    long events;
};

/* The same numbers in every run: one after another of a row that `seed` chooses. */
void iot_below_seed(uint64_t seed);
uint64_t iot_below(uint64_t n);

/* A call, at its moment or as soon as the lane is free. */
void iot_lane_call(struct iot_lane_writer *w, uint64_t at, uint64_t took, struct iot_row row);

/* Names a descriptor; returns its number. The string's is w->strings. */
uint32_t iot_lane_define(struct iot_lane_writer *w, const char *name, int fd, uint32_t mode,
                         uint64_t dev, uint64_t inode, int64_t size);

/* A call that moves bytes. */
void iot_lane_move(struct iot_lane_writer *w, uint64_t at, uint64_t took, unsigned op,
                   uint32_t desc, int64_t bytes, int64_t offset);

/* Writes what rows are left. */
void iot_lane_flush(struct iot_lane_writer *w);

#endif
