/* Writes the golden files of this format version into a folder. Those of a version that is out
 * are never made again: this is how they came about, and how those of the next version will.
 *
 *     make_golden FOLDER
 *
 * The run: a root with two threads and the TSC, which vforks a child that execs, and then execs
 * itself. Every part of the format is in it once: facts, both codecs, live halves, epochs taken
 * over by another thread, descriptors of every kind, names that are hard to print. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/ops.h"
#include "tests/unit/trace_writer.h"

#define EVENT(...) iot_rows_add(r, (struct iot_row){__VA_ARGS__})

/* 2.5 ticks a ns from here on. */
enum { TICKS = 5000000, START = 2000000 };

static uint64_t at(uint64_t ns)
{
    return TICKS + ns * 5 / 2;
}

static void facts(struct iot_written *file, const char *exe, const char *command, size_t bytes)
{
    iot_written_fact(file, IOT_FACT_EXE, exe, strlen(exe));
    iot_written_fact(file, IOT_FACT_COMMAND, command, bytes);
    iot_written_fact(file, IOT_FACT_CWD, "/data", 5);
    iot_written_fact(file, IOT_FACT_HOST, "golden", 6);
    iot_written_fact(file, IOT_FACT_KERNEL, "6.1.0 x86_64", 12);
    iot_written_fact(file, IOT_FACT_CPU, "a processor", 11);
    iot_written_ops(file);
}

static void first_thread(struct iot_written *file, struct iot_half_rows *r)
{
    uint32_t blocks = iot_written_segment(file, IOT_SEGMENT_BLOCKS, 0);
    struct iot_block_header h = {.codec = IOT_CODEC_ZSTD, .tid = 500, .epoch = 1};

    r->n = 0;
    EVENT(.op = IOT_OP_START, .t0 = at(0), .t1 = at(0), .obj = UINT32_MAX, .result = 1);
    iot_rows_string(r, 1, "/data/./sets/../model.bin");
    iot_rows_desc(r, 1, 1, 3, S_IFREG | 0644, 0, 2049, 1001, 1 << 20);
    r->rows[r->n - 1].err = 751; /* three quarters of it in the page cache */
    EVENT(.op = IOT_OP_OPENAT, .t0 = at(1000), .t1 = at(1800), .obj = 1, .obj2 = 1, .result = 3);
    for (int i = 0; i < 50; i++)
        EVENT(.op = IOT_OP_PREAD, .t0 = at(2000 + 300 * (unsigned)i),
              .t1 = at(2200 + 300 * (unsigned)i), .obj = 1, .result = 4096, .bytes = 4096,
              .offset = 4096 * (i % 40), .addr = 0x7f0000001000 + (unsigned)i * 4096);
    iot_rows_string(r, 2, "/data/missing");
    EVENT(.op = IOT_OP_OPEN, .t0 = at(20000), .t1 = at(20400), .obj2 = 2, .result = -1, .err = 2);
    EVENT(.op = IOT_OP_STAT, .t0 = at(20500), .t1 = at(20700), .obj = 2, .result = -1, .err = 2);
    h.anchor = (struct iot_anchor){at(12000000), START + 12000000};
    size_t next = iot_written_block(file, blocks, 64, h, r);

    r->n = 0;
    iot_rows_string(r, 3, "pipe:[777]");
    iot_rows_desc(r, 2, 3, 4, S_IFIFO | 0600, 0, 13, 777, 65536);
    iot_rows_desc(r, 3, 3, 5, S_IFIFO | 0600, 0, 13, 777, 65536);
    EVENT(.op = IOT_OP_PIPE2, .t0 = at(30000), .t1 = at(30500), .obj = 2, .obj2 = 3);
    iot_rows_string(r, 4, "/dev/pts/0");
    iot_rows_desc(r, 4, 4, 1, S_IFCHR | 0620, IOT_DESC_ADOPTED, 24, 3, 0);
    EVENT(.op = IOT_OP_EXIT_FLUSH, .t0 = at(31000), .t1 = at(31400), .obj = 4, .bytes = 12);
    iot_rows_string(r, 5, "/data/odd\n\033[31mname\xff.log");
    iot_rows_desc(r, 5, 5, 6, S_IFREG | 0600, 0, 2049, 1002, 0);
    EVENT(.op = IOT_OP_FOPEN, .t0 = at(32000), .t1 = at(32500), .obj = 5, .obj2 = 5);
    EVENT(.op = IOT_OP_FPRINTF, .t0 = at(33000), .t1 = at(33100), .obj = 5, .result = 20,
          .bytes = 4096);
    EVENT(.op = IOT_OP_FSYNC, .t0 = at(34000), .t1 = at(39000), .obj = 5);
    EVENT(.op = IOT_OP_THREAD_CREATE, .t0 = at(40000), .t1 = at(41000), .obj = 1);
    EVENT(.op = IOT_OP_JOIN, .t0 = at(42000), .t1 = at(90000), .obj = 1);
    h.codec = IOT_CODEC_STORED;
    h.epoch = 2;
    h.anchor = (struct iot_anchor){at(13000000) + 7, START + 13000000};
    iot_written_block(file, blocks, next, h, r);
}

/* What was live when the process execed: a child of vfork, and the exec itself. */
static void last_rows(struct iot_written *file, struct iot_half_rows *r)
{
    uint32_t live = iot_written_segment(file, IOT_SEGMENT_ROWS, 0);
    r->n = 0;
    EVENT(.op = IOT_OP_START, .t0 = at(100000), .t1 = at(100000), .result = 500, .offset = 510,
          .obj2 = 1);
    EVENT(.op = IOT_OP_CLOSE, .t0 = at(100100), .t1 = at(100200), .obj = 2);
    iot_rows_string(r, 6, "/usr/bin/true");
    EVENT(.op = IOT_OP_EXEC, .t0 = at(100300), .t1 = at(100300), .obj = 6);
    EVENT(.op = IOT_OP_VFORK, .t0 = at(99000), .t1 = at(101000), .result = 510);
    EVENT(.op = IOT_OP_WAITPID, .t0 = at(102000), .t1 = at(140000), .result = 510, .offset = 256);
    EVENT(.op = IOT_OP_POLL, .t0 = at(141000), .t1 = at(141500), .obj = 2, .result = 1,
          .offset = -1);
    iot_rows_string(r, 7, "/data/model.bin.tmp");
    iot_rows_string(r, 10, "/data");
    iot_rows_desc(r, 8, 10, 9, S_IFDIR | 0755, 0, 2049, 1000, 4096);
    iot_rows_string(r, 8,
                    "\1"
                    "8/./model.bin"); /* relative to descriptor 8 */
    EVENT(.op = IOT_OP_RENAME, .t0 = at(142000), .t1 = at(142500), .obj = 7, .obj2 = 8);
    iot_rows_string(r, 9, "socket:[888]");
    iot_rows_desc(r, 6, 9, 7, S_IFSOCK | 0777, IOT_DESC_PEER, 8, 888, 889);
    iot_rows_desc(r, 7, 0, 8, S_IFREG | 0644, IOT_DESC_DUP, 2049, 1001, 1);
    EVENT(.op = IOT_OP_SENDFILE, .t0 = at(143000), .t1 = at(143900), .obj = 7, .obj2 = 6,
          .result = 500, .bytes = 500);
    iot_rows_string(r, 11, "step");
    EVENT(.op = IOT_OP_MARK, .t0 = at(143950), .t1 = at(143950), .obj = 11, .result = 1);
    EVENT(.op = 250, .t0 = at(144000), .t1 = at(144100)); /* of a later version */
    EVENT(.op = IOT_OP_EXEC, .t0 = at(145000), .t1 = at(145000), .obj = 6);
    EVENT(.op = 0, .t0 = at(146000)); /* never completed */
    iot_written_half(file, live, 0, 0, 500, 3, r);
    r->n = 0;
    EVENT(.op = IOT_OP_READ, .t0 = 1, .t1 = 2); /* a half whose block is there */
    iot_written_half(file, live, 1, 0, 500, 2, r);
}

static void second_thread(struct iot_written *file, struct iot_half_rows *r)
{
    uint32_t live = iot_written_segment(file, IOT_SEGMENT_ROWS, 1);
    r->n = 0;
    EVENT(.op = IOT_OP_THREAD_START, .t0 = at(41500), .t1 = at(41500), .result = 501);
    EVENT(.op = IOT_OP_WRITE, .t0 = at(43000), .t1 = at(43600), .obj = 3, .result = 5, .bytes = 5);
    EVENT(.op = IOT_OP_FREAD, .t0 = at(50000), .t1 = at(60000), .obj = 1, .result = 1,
          .bytes = 65536); /* around the next, and recorded after it */
    struct iot_row around = r->rows[--r->n];
    EVENT(.op = IOT_OP_READ, .t0 = at(50000), .t1 = at(59000), .obj = 1, .result = 65536,
          .bytes = 65536);
    iot_rows_add(r, around);
    EVENT(.op = IOT_OP_THREAD_EXIT, .t0 = at(89000), .t1 = at(89000));
    iot_written_half(file, live, 0, 1, 501, 1, r);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_golden FOLDER\n");
        return 2;
    }
    struct iot_half_rows *r = calloc(1, sizeof *r);
    static const char command[] = "trainer\0--model\0model.bin";

    struct iot_written first = iot_written_new(500, 1, START);
    struct iot_file_header *h = iot_written_header(&first);
    h->clock = IOT_CLOCK_TSC;
    h->root = 1;
    h->end = IOT_END_EXEC;
    h->start = (struct iot_anchor){TICKS, START};
    h->last = (struct iot_anchor){at(30000000), START + 30000000};
    h->lanes = 2;
    facts(&first, "/usr/bin/trainer", command, sizeof command);
    first_thread(&first, r);
    second_thread(&first, r);
    last_rows(&first, r);
    iot_written_save(&first, argv[1], "500-1e8480.iot");
    iot_written_free(&first);

    /* What the root became: the TSC again, and killed before it had a second anchor. */
    struct iot_written second = iot_written_new(500, 1, START);
    h = iot_written_header(&second);
    h->clock = IOT_CLOCK_TSC;
    h->start = h->last = (struct iot_anchor){at(200000), START + 200000};
    facts(&second, "/usr/bin/true", "true", 5);
    r->n = 0;
    EVENT(.op = IOT_OP_START, .t0 = at(200100), .t1 = at(200100), .obj = UINT32_MAX, .result = 1);
    iot_rows_string(r, 1, "/mnt/model.bin");
    iot_rows_desc(r, 1, 1, 3, S_IFREG | 0644, IOT_DESC_ADOPTED, 2049, 1001, 1 << 20);
    EVENT(.op = IOT_OP_LSEEK, .t0 = at(201000), .t1 = at(201100), .obj = 1, .result = 512,
          .offset = 512);
    EVENT(.op = IOT_OP_READ, .t0 = at(202000), .t1 = at(203001), .obj = 1, .result = 100,
          .bytes = 100);
    iot_written_half(&second, iot_written_segment(&second, IOT_SEGMENT_ROWS, 0), 0, 0, 500, 1, r);
    iot_written_save(&second, argv[1], "500-2191c0.iot");
    iot_written_free(&second);

    /* What the child became, with the monotonic clock. */
    struct iot_written child = iot_written_new(510, 500, START + 110000);
    h = iot_written_header(&child);
    h->end = IOT_END_EXIT;
    h->dropped_events = 3;
    facts(&child, "/usr/bin/true", "true", 5);
    r->n = 0;
    EVENT(.op = IOT_OP_EXIT, .t0 = START + 130000, .t1 = START + 130000, .result = 1);
    uint32_t blocks = iot_written_segment(&child, IOT_SEGMENT_BLOCKS, 0);
    iot_written_block(&child, blocks, 64,
                      (struct iot_block_header){
                          .tid = 510, .epoch = 1, .anchor = {START + 130100, START + 130100}},
                      r);
    iot_written_save(&child, argv[1], "510-1fe630.iot");
    iot_written_free(&child);
    free(r);
    return 0;
}
