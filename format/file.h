/* The container: one file a process image, made of segments of one size.
 *
 * FORMAT.md is the document; this is the same in C. All integers are little-endian.
 * Segment 0 holds the header page and the facts about the process. Every other
 * segment is either a thread's live rows or a run of encoded blocks.
 */
#ifndef IOT_FORMAT_FILE_H
#define IOT_FORMAT_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Rule: MAJOR changes when an old reader would read wrong figures, MINOR when it
 * would only miss something new. A reader refuses a higher MAJOR. */
enum { IOT_FORMAT_MAJOR = 1, IOT_FORMAT_MINOR = 0 };

#define IOT_FILE_MAGIC "iotrace\n"
#define IOT_FILE_SUFFIX ".iot"
#define IOT_RUN_MARKER "run" /* an empty file: this folder holds a run */
#define IOT_RANK_FOLDER                                                                            \
    "rank-" /* with the rank's number: the run of a rank, in the folder of its job */

enum {
    IOT_SEGMENT_BYTES = 128 * 1024,
    IOT_HEADER_BYTES = 4096, /* the header page; facts follow it in segment 0 */
    IOT_HALF_ROWS = 1020,    /* rows in each half of a live segment */
};

enum iot_clock { IOT_CLOCK_MONOTONIC = 1, IOT_CLOCK_TSC = 2 };

/* How a process image ended. OPEN is also what a killed one leaves behind. */
enum iot_end { IOT_END_OPEN = 0, IOT_END_EXIT = 1, IOT_END_EXEC = 2 };

/* The same moment on the trace's clock and on CLOCK_MONOTONIC. */
struct iot_anchor {
    uint64_t ticks, mono_ns;
};

/* What the kernel counted for the process: /proc/self/io, /proc/self/schedstat. */
struct iot_usage {
    uint64_t storage_read_bytes, storage_write_bytes, runqueue_ns;
};

/* What it had moved by calls, whoever made them: rchar and wchar of /proc/self/io. */
struct iot_called {
    uint64_t read_bytes, write_bytes;
};

struct iot_file_header {
    /* Fixed when the file is made, and covered by `checksum`. */
    char magic[8];
    uint16_t major, minor;
    uint32_t header_bytes, segment_bytes, row_bytes, half_rows;
    uint32_t clock; /* enum iot_clock */
    uint32_t pid, ppid;
    uint32_t parent_lane;   /* lane of the parent that forked us; UINT32_MAX: not known */
    uint32_t root;          /* 1: the first process of the run */
    struct iot_anchor start;
    uint64_t start_realtime_ns;
    struct iot_usage usage_start;
    uint8_t boot_id[16];
    uint64_t checksum; /* XXH64, seed 0, of everything above */

    /* Changes while the process runs. */
    _Alignas(64) uint32_t next_segment; /* segments handed out so far, 0 included */
    uint32_t segment_limit;             /* none from here on */
    uint32_t lanes;                     /* lane numbers given */
    uint32_t end;                       /* enum iot_end */
    uint64_t dropped_events;            /* calls that could not be recorded */
    struct iot_anchor last;             /* of the latest flush, exec or exit */
    struct iot_usage usage_end;
    struct iot_called called_start, called_end; /* 0 for both: not known */
    uint64_t own_read_bytes;                    /* by the recorder, since called_start */
    uint64_t older_events;   /* made room for newer ones: a trace that keeps the newest */
    uint64_t older_until_ns; /* CLOCK_MONOTONIC: what ended before may be among them; 0: none */
};
/* What a file has at least; fields behind that are zero where it ends before them. */
#define IOT_HEADER_LEAST offsetof(struct iot_file_header, called_start)
_Static_assert(sizeof(struct iot_file_header) <= IOT_HEADER_BYTES, "header fits its page");

/* Facts: a list in segment 0 behind the header page, each 8-byte aligned, ended by
 * tag 0. */
struct iot_fact {
    uint32_t tag, bytes; /* the value follows */
};
enum iot_fact_tag {
    IOT_FACT_END = 0,
    IOT_FACT_EXE = 1,     /* path of the executable */
    IOT_FACT_COMMAND = 2, /* argv, each ended by NUL; may be cut */
    IOT_FACT_CWD = 3,
    IOT_FACT_HOST = 4,
    IOT_FACT_KERNEL = 5, /* release and machine */
    IOT_FACT_CPU = 6,
    IOT_FACT_OPS = 7,    /* the operation table: "number name class moves subject\n" */
    IOT_FACT_MOUNTS = 8, /* /proc/self/mountinfo of the root process; may be cut */
    IOT_FACT_SOURCE = 9, /* the file that this one was made of, by `iotrace import` */
    IOT_FACT_IDENTITY = 10, /* "key=value\n": job, rank, local_rank, world_size, source */
};

/* NAMES: blocks of definitions that stand, or stood, in other blocks, too. */
enum { IOT_SEGMENT_ROWS = 1, IOT_SEGMENT_BLOCKS = 2, IOT_SEGMENT_NAMES = 3 };
#define IOT_SEGMENT_MAGIC UINT32_C(0x53544f49) /* "IOTS" */
#define IOT_BLOCK_MAGIC UINT32_C(0x42544f49)   /* "IOTB" */

struct iot_segment_header {
    uint32_t magic, kind;
    uint32_t slot; /* the thread buffer it belongs to */
    uint32_t reserved[13];
};
_Static_assert(sizeof(struct iot_segment_header) == 64, "");

/* One half of a live segment: rows not yet encoded. */
struct iot_half_header {
    uint32_t lane, tid;
    uint32_t epoch; /* counts the fillings of this slot's halves; see iot_block_header */
    uint32_t head;  /* rows reserved; may be above IOT_HALF_ROWS */
    struct iot_anchor anchor; /* taken now and then; its ticks are written last, and 0 before */
    uint32_t reserved[8];
};
_Static_assert(sizeof(struct iot_half_header) == 64, "");

/* Both halves follow the segment's header: half k starts k * IOT_HALF_BYTES behind it. */
enum { IOT_HALF_BYTES = 64 + IOT_HALF_ROWS * 64 };
_Static_assert(64 + 2 * IOT_HALF_BYTES <= IOT_SEGMENT_BYTES, "two halves fit a segment");

/* An encoded half. If a block with a live half's slot and epoch exists, the half's rows
 * are in it already. The payload follows, then padding to 8 bytes. */
struct iot_block_header {
    uint32_t magic; /* written last */
    uint32_t codec; /* 0 stored, 1 zstd */
    uint32_t lane, tid, slot, epoch;
    uint32_t n_events, n_definitions;
    uint32_t raw_bytes, stored_bytes;
    struct iot_anchor anchor;
    uint64_t checksum; /* XXH64, seed 0, of this header with the payload's XXH64 in this field */
};
_Static_assert(sizeof(struct iot_block_header) == 64, "");

enum { IOT_CODEC_STORED = 0, IOT_CODEC_ZSTD = 1 };

#endif
