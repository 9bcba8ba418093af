/* iot_trace_read on a hostile file. A trace file is mostly holes, so the input is what to write
 * where: chunks of
 *
 *     u8 segment, u8 flags (1: a block starts here, make its checksum right; not in the segment of
 *     the header), u16 offset / 8, u16 bytes, then the bytes
 *
 * onto a file of a header and three empty segments. A first byte with bit 0 set leaves the header's
 * checksum as it is. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/trace.h"
#include "tests/unit/trace_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEGMENTS = 4, BLOCKS_MAX = 64 };

struct chunk {
    uint8_t segment, flags;
    uint16_t offset, bytes;
};

static char *folder;

static void remove_folder(void)
{
    iot_folder_remove(folder);
}

/* What a reader of the model relies on. */
static void check(const struct iot_trace *t)
{
    const struct iot_events *e = &t->events;
    if (!t->n_processes || !t->processes[0].root || !t->n_files || *t->files[0].name)
        abort();
    size_t events = 0, lanes = 0;
    for (size_t i = 0; i < t->n_processes; i++) {
        if (t->processes[i].first_lane != lanes || !t->processes[i].n_lanes)
            abort();
        lanes += t->processes[i].n_lanes;
    }
    if (lanes != t->n_lanes)
        abort();
    for (size_t k = 0; k < t->n_lanes; k++) {
        const struct iot_lane *lane = &t->lanes[k];
        if (lane->process >= t->n_processes || lane->first_event > e->n ||
            lane->n_events > e->n - lane->first_event)
            abort();
        events += lane->n_events;
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
            if (e->t0_ns[i] < 0 || e->t1_ns[i] < e->t0_ns[i] || e->file[i] >= t->n_files ||
                e->file2[i] >= t->n_files || !iot_op_info(e->op[i])->class_ ||
                (i > lane->first_event && e->t0_ns[i] < e->t0_ns[i - 1]))
                abort();
    }
    if (events != e->n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[512] = "";
    size_t blocks[BLOCKS_MAX], n_blocks = 0;

    if (!size)
        return -1;
    if (!folder) {
        folder = iot_folder_new();
        atexit(remove_folder);
    }
    struct iot_written file = iot_written_new(100, 1, 1000000);
    iot_written_header(&file)->root = 1;
    for (int i = 1; i < SEGMENTS; i++)
        iot_written_segment(&file, i == 1 ? IOT_SEGMENT_ROWS : IOT_SEGMENT_BLOCKS, 0);
    int seal = !(data[0] & 1);
    for (size_t at = 1; at + sizeof(struct chunk) <= size;) {
        struct chunk c;
        memcpy(&c, data + at, sizeof c);
        at += sizeof c;
        size_t to = (size_t)(c.segment % SEGMENTS) * IOT_SEGMENT_BYTES +
                    (size_t)c.offset * 8 % IOT_SEGMENT_BYTES;
        size_t n = c.bytes < size - at ? c.bytes : size - at;
        n = n < file.n - to ? n : file.n - to;
        memcpy(file.bytes + to, data + at, n);
        at += n;
        if (c.flags & 1 && to >= IOT_SEGMENT_BYTES && n_blocks < BLOCKS_MAX)
            blocks[n_blocks++] = to;
    }
    for (size_t i = 0; i < n_blocks; i++) {
        struct iot_block_header h;
        if (blocks[i] + sizeof h > file.n)
            continue;
        memcpy(&h, file.bytes + blocks[i], sizeof h);
        if (h.stored_bytes <= file.n - blocks[i] - sizeof h)
            iot_written_seal(&file, blocks[i]);
    }
    if (seal)
        iot_written_seal(&file, 0);
    iot_bytes_save(file.bytes, file.n, folder, "a.iot");
    iot_written_free(&file);

    struct iot_trace *t = iot_trace_read(folder, error);
    if (!t && !*error)
        abort();
    if (t)
        check(t);
    if (t && t->events.n > 1) {
        struct iot_trace *newest = iot_trace_read_newest(folder, t->events.n / 2, error);
        if (newest)
            check(newest);
        iot_trace_free(newest);
    }
    iot_trace_free(t);
    return 0;
}
