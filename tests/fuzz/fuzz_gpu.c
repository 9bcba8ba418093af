/* The whole way from a trace to a report, where GPUs did what none does: streams of one number
 * twice, launches of nothing, events that wait for themselves, work before its launch, copies of
 * any size. The input is what each stream is, then a list of events, ten bytes each, for two
 * processes of two threads and four streams. What a report must conserve is checked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/gpu.h"
#include "format/mark.h"
#include "format/ops.h"
#include "tests/fuzz/check_report.h"
#include "tests/unit/trace_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROCESSES = 2, THREADS = 2, STREAMS = 4, LANES = THREADS + STREAMS, FIRST_PID = 100 };

struct event {
    uint8_t lane, op, before, took, correlation, event, kind, size;
    int8_t stream, other;
};

static struct iot_half_rows halves[PROCESSES][LANES];
static uint64_t now[PROCESSES][LANES];

static const uint16_t calls[] = {
    IOT_OP_GPU_LAUNCH,     IOT_OP_GPU_SYNC, IOT_OP_GPU_EVENT_RECORD,
    IOT_OP_GPU_EVENT_WAIT, IOT_OP_GPU_CALL, IOT_OP_READ,
    IOT_OP_WRITE,          IOT_OP_MARK,     IOT_OP_BUFFER,
    IOT_OP_LOAD,
};
static const uint16_t works[] = {
    IOT_OP_GPU_MEMCPY,     IOT_OP_GPU_KERNEL, IOT_OP_GPU_MEMSET, IOT_OP_GPU_COLLECTIVE,
    IOT_OP_GPU_EVENT_WAIT, IOT_OP_GPU_STREAM, IOT_OP_READ,
};

/* Of two contexts, in which the same numbers are. */
static int64_t stream_of(int number)
{
    return number < 0 ? (int64_t)number : (number & 7) + (number >> 3 & 1) * IOT_STREAMS_OF_CONTEXT;
}

static void define(unsigned p, const uint8_t *kinds)
{
    iot_rows_string(&halves[p][0], 1, "/data/a.bin");
    iot_rows_string(&halves[p][0], 2, "ncclDevKernel_AllReduce");
    iot_rows_desc(&halves[p][0], 1, 1, 3, S_IFREG, 0, 1, 2, 100);
    iot_rows_add(&halves[p][0],
                 (struct iot_row){.op = IOT_OP_START, .t0 = 1000, .t1 = 1000, .obj = UINT32_MAX});
    for (unsigned s = 0; s < STREAMS; s++)
        iot_rows_add(&halves[p][THREADS + s], (struct iot_row){.op = IOT_OP_GPU_STREAM,
                                                               .t0 = 1000,
                                                               .t1 = 1000,
                                                               .result = kinds[s] >> 6 & 1,
                                                               .offset = stream_of(kinds[s] & 15) -
                                                                         (kinds[s] >> 7) * STREAMS,
                                                               .obj2 = kinds[s] >> 4 & 3,
                                                               .addr = 1});
}

static int64_t size_of(uint8_t size)
{
    return size < 128   ? size
           : size < 192 ? (int64_t)(UINT64_C(1) << (size & 63))
                        : INT64_MIN >> (size & 63);
}

static uint64_t said_of(const struct event *e, uint16_t op)
{
    static const uint8_t syncs[] = {0, IOT_SYNC_EVENT, IOT_SYNC_STREAM, IOT_SYNC_CONTEXT,
                                    IOT_SYNC_LEGACY};
    switch (op) {
    case IOT_OP_GPU_SYNC:
        return syncs[e->kind % sizeof syncs] | (uint64_t)e->event << 8;
    case IOT_OP_GPU_EVENT_RECORD:
    case IOT_OP_GPU_EVENT_WAIT:
        return (uint64_t)(e->kind & 31) |
               (op == IOT_OP_GPU_EVENT_WAIT ? (uint64_t)e->event << 8 : 0);
    case IOT_OP_GPU_MEMCPY:
        return (uint64_t)(e->kind & 3) | (uint64_t)(e->kind >> 2 & 3) << 8 |
               (uint64_t)(e->kind >> 4 & 1) << 16;
    default:
        return (uint64_t)(e->kind & 7) * 64;
    }
}

static void add(const struct event *e)
{
    unsigned p = e->lane % PROCESSES, l = e->lane / PROCESSES % LANES;
    struct iot_half_rows *rows = &halves[p][l];
    uint16_t op = l < THREADS ? calls[e->op % (sizeof calls / sizeof *calls)]
                              : works[e->op % (sizeof works / sizeof *works)];
    struct iot_row row = {.op = op,
                          .offset = e->correlation,
                          .addr = said_of(e, op),
                          .bytes = size_of(e->size),
                          .obj2 = (uint32_t)(stream_of(e->other) + 1),
                          .result = stream_of(e->stream),
                          .obj = op == IOT_OP_GPU_COLLECTIVE ? 2 : 1};
    if (op == IOT_OP_GPU_MEMCPY)
        row.result = e->stream & 15;
    if (op == IOT_OP_MARK)
        row.result = IOT_MARK_STEP;
    if (rows->n == IOT_HALF_ROWS)
        return;
    fuzz_times(&row, &now[p][l], e->lane & 64, e->before, e->took);
    iot_rows_add(rows, row);
}

static void save(unsigned p)
{
    char name[] = "0.iot";
    struct iot_written file = iot_written_new(FIRST_PID + p, p ? FIRST_PID : 1, 0);
    iot_written_header(&file)->root = !p;
    for (uint32_t l = 0; l < LANES; l++)
        iot_written_half(&file, iot_written_segment(&file, IOT_SEGMENT_ROWS, l), 0, l,
                         l < THREADS ? 200 + l : 0, 1, &halves[p][l]);
    name[0] = (char)('0' + p);
    iot_written_save(&file, fuzz_folder(), name);
    iot_written_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < PROCESSES * STREAMS)
        return -1;
    for (unsigned p = 0; p < PROCESSES; p++) {
        for (unsigned l = 0; l < LANES; l++) {
            halves[p][l].n = 0;
            now[p][l] = 1000 + 10 * l;
        }
        define(p, data + p * STREAMS);
    }
    for (size_t at = PROCESSES * STREAMS; at + sizeof(struct event) <= size;
         at += sizeof(struct event)) {
        struct event e;
        memcpy(&e, data + at, sizeof e);
        add(&e);
    }
    for (unsigned p = 0; p < PROCESSES; p++)
        save(p);
    fuzz_report();
    return 0;
}
