/* Trace folders that are damaged, cut, foreign or hostile: an error, or a salvage with the loss
 * stated, and never another figure in silence. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/trace.h"
#include "tests/unit/trace_writer.h"

enum { BLOCKS_AT = 2 * IOT_SEGMENT_BYTES };

struct made {
    struct iot_written file;
    size_t block[4]; /* where they are; then where they end */
};

/* A file of 300 events: three blocks of 90, and 30 in a live half. */
static struct made make(void)
{
    struct made m = {.file = iot_written_new(100, 1, 1000000)};
    iot_written_header(&m.file)->root = 1;
    iot_written_fact(&m.file, IOT_FACT_EXE, "/bin/x", 6);
    uint32_t live = iot_written_segment(&m.file, IOT_SEGMENT_ROWS, 0);
    uint32_t blocks = iot_written_segment(&m.file, IOT_SEGMENT_BLOCKS, 0);
    size_t at = 64;
    struct iot_half_rows *r = calloc(1, sizeof *r);
    uint64_t t = 1000000;
    for (uint32_t k = 0; k < 4; k++) {
        r->n = 0;
        char name[16];
        snprintf(name, sizeof name, "/f%u", k);
        iot_rows_string(r, k + 1, name);
        iot_rows_desc(r, k + 1, k + 1, 3, S_IFREG, 0, 1, k + 1, 10);
        for (int i = 0; i < (k < 3 ? 90 : 30); i++, t += 100)
            iot_rows_add(r, (struct iot_row){.op = IOT_OP_READ,
                                             .t0 = t,
                                             .t1 = t + 50,
                                             .obj = k + 1,
                                             .result = i,
                                             .bytes = i});
        m.block[k] = BLOCKS_AT + at;
        if (k < 3)
            at = iot_written_block(
                &m.file, blocks, at,
                (struct iot_block_header){.codec = k == 1 ? IOT_CODEC_STORED : IOT_CODEC_ZSTD,
                                          .tid = 100,
                                          .epoch = k + 1,
                                          .anchor = {t, t}},
                r);
        else
            iot_written_half(&m.file, live, 1, 0, 100, 4, r);
    }
    r->n = 0;
    iot_written_half(&m.file, live, 0, 0, 100, 5, r);
    free(r);
    iot_written_seal(&m.file, 0);
    return m;
}

/* All there is to know of the events, in one number. */
static uint64_t digest(const struct iot_trace *t)
{
    uint64_t sum = t->events.n;
    for (size_t i = 0; i < t->events.n; i++) {
        const char *name = t->files[t->events.file[i]].name;
        uint64_t values[] = {(uint64_t)t->events.t0_ns[i], (uint64_t)t->events.t1_ns[i],
                             (uint64_t)t->events.bytes[i], t->events.op[i],
                             (uint64_t)(name[0] ? name[2] : 0)};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            sum = (sum ^ values[k]) * 1099511628211u;
    }
    return sum;
}

static char *folder;
static uint64_t whole;

static void set_up(void)
{
    char error[512];
    struct made m = make();
    folder = iot_folder_new();
    iot_bytes_save(m.file.bytes, m.file.n, folder, "a.iot");
    iot_written_free(&m.file);
    struct iot_trace *t = iot_trace_read(folder, error);
    cr_assert_eq(t->events.n, 300u);
    cr_assert_eq(t->salvaged_processes, 0u, "%s", t->damage);
    whole = digest(t);
    iot_trace_free(t);
}

static void tear_down(void)
{
    iot_folder_remove(folder);
}

TestSuite(damage, .init = set_up, .fini = tear_down);

/* Reads the folder; the events it has, or -1 after an error whose line must hold `expected`. */
static long events_or_error(const char *expected)
{
    char error[512] = "";
    struct iot_trace *t = iot_trace_read(folder, error);
    if (!t) {
        cr_assert_not_null(strstr(error, expected), "\"%s\" has no \"%s\"", error, expected);
        cr_assert_null(strchr(error, '\n'));
        return -1;
    }
    long n = (long)t->events.n;
    cr_assert_gt(t->salvaged_processes, 0u);
    cr_assert_not_null(strstr(t->damage, expected), "\"%s\" has no \"%s\"", t->damage, expected);
    iot_trace_free(t);
    return n;
}

/* Reads bytes as the only file. With `strict`, a difference that nothing is said of is a failure.
 */
static void survive(const void *bytes, size_t n, int strict, const char *what, size_t where)
{
    char error[512] = "";
    iot_bytes_save(bytes, n, folder, "a.iot");
    struct iot_trace *t = iot_trace_read(folder, error);
    if (!t) {
        cr_assert_neq(error[0], 0, "%s %zu", what, where);
        return;
    }
    if (strict && !t->salvaged_processes)
        cr_assert_eq(digest(t), whole, "%s %zu: other events in silence", what, where);
    iot_trace_free(t);
}

Test(damage, cut_at_every_byte, .timeout = 300)
{
    struct made m = make();
    for (size_t n = 0; n < m.file.n; n++) {
        /* Where all is zero every cut is like the next. */
        size_t near = n % IOT_SEGMENT_BYTES;
        int used = near < 300 || (n > IOT_HEADER_BYTES && n < IOT_HEADER_BYTES + 40) ||
                   (n >= BLOCKS_AT && n < m.block[3] + 80) || near > IOT_SEGMENT_BYTES - 3;
        if (!used && n % 4099)
            continue;
        char error[512] = "";
        iot_bytes_save(m.file.bytes, n, folder, "a.iot");
        struct iot_trace *t = iot_trace_read(folder, error);
        cr_assert(t ? t->salvaged_processes == 1 : error[0], "cut at %zu: in silence", n);
        iot_trace_free(t);
    }
    iot_written_free(&m.file);
}

Test(damage, each_byte_changed, .timeout = 300)
{
    struct made m = make();
    for (size_t i = 0; i < m.file.n; i++) {
        size_t near = i % IOT_SEGMENT_BYTES;
        int header = i < 192, block = i >= BLOCKS_AT && i < m.block[3];
        int half = i > IOT_SEGMENT_BYTES && i < BLOCKS_AT && near < 64 + 64 + 200;
        if (!header && !block && !half && near > 64 && i % 1013)
            continue;
        /* What changes while the process runs, and rows, no checksum can cover. */
        int covered = i < offsetof(struct iot_file_header, end) || block;
        uint8_t kept = m.file.bytes[i];
        for (unsigned k = 0; k < 3; k++) {
            static const uint8_t masks[] = {0x01, 0x80, 0xff};
            m.file.bytes[i] = kept ^ masks[k];
            survive(m.file.bytes, m.file.n, covered, "byte", i);
        }
        m.file.bytes[i] = kept;
    }
    iot_written_free(&m.file);
}

Test(damage, random_bytes_everywhere, .timeout = 300)
{
    struct made m = make();
    uint8_t *bytes = malloc(m.file.n);
    uint64_t x = 7;
    for (int round = 0; round < 500; round++) {
        memcpy(bytes, m.file.bytes, m.file.n);
        for (int k = 0; k < 20; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            size_t at = (x >> 20) % m.file.n;
            if (k % 2) /* rather where something is */
                at = (x >> 60) * IOT_SEGMENT_BYTES % m.file.n + at % 2000;
            bytes[at % m.file.n] = (uint8_t)(x >> 10);
        }
        struct iot_written file = {bytes, m.file.n, 0};
        iot_written_seal(&file, 0); /* else all would end at the header */
        survive(bytes, m.file.n, 0, "round", (size_t)round);
    }
    free(bytes);
    iot_written_free(&m.file);
}

Test(damage, one_damaged_block_costs_its_own_rows_alone)
{
    static const struct {
        size_t at; /* in its header or behind it */
        const char *expected;
    } places[] = {
        {0, "not a block"}, {8, "checksum"}, {36, "beyond its segment"}, {70, "checksum"}};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char expected[100];
            struct made m = make();
            m.file.bytes[m.block[k] + places[i].at + (places[i].at == 36 ? 3 : 0)] ^= 0xff;
            iot_bytes_save(m.file.bytes, m.file.n, folder, "a.iot");
            snprintf(expected, sizeof expected, "a.iot: byte %zu: ", m.block[k]);
            cr_assert_eq(events_or_error(expected), 210);
            cr_assert_eq(events_or_error(places[i].expected), 210);
            iot_written_free(&m.file);
        }
}

Test(damage, a_lost_page_of_zeros_is_noticed)
{
    struct made m = make();
    memset(m.file.bytes + m.block[1], 0, m.block[2] - m.block[1]);
    iot_bytes_save(m.file.bytes, m.file.n, folder, "a.iot");
    cr_assert_eq(events_or_error("not a block"), 210);
    memset(m.file.bytes + m.block[2], 0, m.block[3] - m.block[2]);
    iot_bytes_save(m.file.bytes, m.file.n, folder, "a.iot");
    cr_assert_eq(events_or_error("are missing"), 120);
    iot_written_free(&m.file);
}

Test(damage, a_block_that_is_there_twice_counts_once)
{
    struct made m = make();
    memcpy(m.file.bytes + m.block[3], m.file.bytes + m.block[0], m.block[1] - m.block[0]);
    iot_bytes_save(m.file.bytes, m.file.n, folder, "a.iot");
    cr_assert_eq(events_or_error("twice"), 300);
    iot_written_free(&m.file);
}

Test(damage, a_segment_with_a_damaged_start_still_gives_its_blocks)
{
    struct made m = make();
    m.file.bytes[BLOCKS_AT] ^= 1;
    iot_bytes_save(m.file.bytes, m.file.n, folder, "a.iot");
    cr_assert_eq(events_or_error("byte 262144: "), 300);
    iot_written_free(&m.file);
    m = make();
    m.file.bytes[BLOCKS_AT + 4] = 9; /* its kind */
    iot_bytes_save(m.file.bytes, m.file.n, folder, "a.iot");
    cr_assert_eq(events_or_error("unknown kind"), 30);
    iot_written_header(&m.file)->minor = IOT_FORMAT_MINOR + 1; /* then it is something new */
    iot_written_save(&m.file, folder, "a.iot");
    cr_assert_eq(events_or_error("are missing"), 30);
    iot_written_free(&m.file);
}

Test(damage, more_segments_than_the_header_says)
{
    struct made m = make();
    iot_written_header(&m.file)->next_segment = 2;
    iot_written_save(&m.file, folder, "a.iot");
    cr_assert_eq(events_or_error("byte 128: the file has more segments"), 30);
    iot_written_header(&m.file)->next_segment = UINT32_MAX;
    iot_written_save(&m.file, folder, "a.iot");
    cr_assert_eq(events_or_error("byte 393216: the file ends"), 300);
    iot_written_free(&m.file);
}

Test(damage, a_huge_hole_costs_no_time, .timeout = 10)
{
    struct made m = make();
    iot_written_header(&m.file)->next_segment = UINT32_MAX;
    iot_written_save(&m.file, folder, "a.iot");
    char path[512];
    snprintf(path, sizeof path, "%s/a.iot", folder);
    cr_assert_eq(truncate(path, (off_t)1 << 40), 0);
    char error[512];
    struct iot_trace *t = iot_trace_read(folder, error);
    cr_assert_eq(t->events.n, 300u);
    iot_trace_free(t);
    iot_written_free(&m.file);
}

/* A block that lies, under a checksum that fits. */
static void lie(size_t field, uint32_t value, const char *expected, long events)
{
    struct made m = make();
    memcpy(m.file.bytes + m.block[1] + field, &value, sizeof value);
    iot_written_seal(&m.file, m.block[1]);
    iot_bytes_save(m.file.bytes, m.file.n, folder, "a.iot");
    cr_assert_eq(events_or_error(expected), events);
    iot_written_free(&m.file);
}

Test(damage, sizes_are_not_believed)
{
    lie(offsetof(struct iot_block_header, codec), 2, "unknown codec", 210);
    lie(offsetof(struct iot_block_header, n_events), UINT32_MAX, "impossible sizes", 210);
    lie(offsetof(struct iot_block_header, n_events), 89, "cannot be decoded", 210);
    lie(offsetof(struct iot_block_header, n_events), 91, "cannot be decoded", 210);
    lie(offsetof(struct iot_block_header, n_definitions), UINT32_MAX - 10, "impossible", 210);
    lie(offsetof(struct iot_block_header, n_definitions), 0, "cannot be decoded", 210);
    lie(offsetof(struct iot_block_header, raw_bytes), UINT32_MAX, "impossible sizes", 210);
    lie(offsetof(struct iot_block_header, raw_bytes), 3, "impossible sizes", 210);
    lie(offsetof(struct iot_block_header, codec), 1, "does not decompress", 210);
}

Test(damage, times_that_cannot_be_are_bounded)
{
    struct made m = make();
    struct iot_half_rows *r = calloc(1, sizeof *r);
    static const uint64_t times[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)1 << 60};
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++)
            iot_rows_add(r, (struct iot_row){.op = IOT_OP_READ, .t0 = times[i], .t1 = times[k]});
    iot_written_half(&m.file, 1, 0, 0, 100, 5, r);
    iot_bytes_save(m.file.bytes, m.file.n, folder, "a.iot");
    char error[512];
    struct iot_trace *t = iot_trace_read(folder, error);
    cr_assert_eq(t->events.n, 325u);
    cr_assert_eq(t->salvaged_processes, 1u);
    for (size_t i = 0; i < t->events.n; i++) {
        cr_assert_geq(t->events.t0_ns[i], 0);
        cr_assert_leq(t->events.t0_ns[i], t->events.t1_ns[i]);
        cr_assert_lt(t->events.t1_ns[i], (int64_t)1 << 53);
    }
    iot_trace_free(t);
    free(r);
    iot_written_free(&m.file);
}

Test(damage, facts_that_do_not_end)
{
    struct made m = make();
    struct iot_fact *fact = (void *)(m.file.bytes + IOT_HEADER_BYTES);
    fact->bytes = UINT32_MAX;
    iot_bytes_save(m.file.bytes, m.file.n, folder, "a.iot");
    cr_assert_eq(events_or_error("byte 4096: a fact"), 300);
    iot_written_free(&m.file);
}

static void only(const void *bytes, size_t n, const char *expected)
{
    iot_bytes_save(bytes, n, folder, "a.iot");
    cr_assert_eq(events_or_error(expected), -1);
}

Test(damage, what_is_no_trace_is_one_line)
{
    only("", 0, "a.iot: byte 0: the file is empty; ");
    only("hello, world", 12, "a.iot: byte 0: not a trace file");
    only(IOT_FILE_MAGIC, 8, "a.iot: byte 8: the file ends within its header; ");

    struct made m = make();
    struct iot_file_header *h = iot_written_header(&m.file);
    h->pid++;
    only(m.file.bytes, m.file.n, "a.iot: byte 112: the header's checksum");
    h->major = 0;
    iot_written_seal(&m.file, 0);
    only(m.file.bytes, m.file.n, "a.iot: byte 8: no such format version");
    h->major = IOT_FORMAT_MAJOR;
    h->half_rows = 1000;
    iot_written_seal(&m.file, 0);
    only(m.file.bytes, m.file.n, "a.iot: byte 12: sizes");
    h->half_rows = IOT_HALF_ROWS;
    h->clock = 3;
    iot_written_seal(&m.file, 0);
    only(m.file.bytes, m.file.n, "a.iot: byte 28: an unknown clock");
    iot_written_free(&m.file);
}

Test(damage, a_newer_major_is_refused_by_name)
{
    struct made m = make();
    iot_written_header(&m.file)->major = 2;
    iot_written_header(&m.file)->minor = 7;
    iot_bytes_save(m.file.bytes, m.file.n, folder, "b.iot"); /* beside one that could be read */
    cr_assert_eq(events_or_error("b.iot: byte 8: format version 2.7"), -1);
    cr_assert_eq(events_or_error("reads up to 1.0"), -1);
    iot_written_free(&m.file);
}

Test(damage, a_newer_minor_is_read)
{
    struct made m = make();
    iot_written_header(&m.file)->minor = 9;
    iot_written_save(&m.file, folder, "a.iot");
    char error[512];
    struct iot_trace *t = iot_trace_read(folder, error);
    cr_assert_eq(digest(t), whole);
    iot_trace_free(t);
    iot_written_free(&m.file);
}

Test(damage, a_bad_file_beside_a_good_one_is_counted)
{
    char path[512];
    iot_bytes_save("", 0, folder, "0.iot");
    cr_assert_eq(events_or_error("0.iot: byte 0: the file is empty"), 300);
    snprintf(path, sizeof path, "%s/0.iot", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/1.iot", folder);
    cr_assert_eq(mkfifo(path, 0600), 0); /* must not hold us */
    cr_assert_eq(events_or_error("1.iot: byte 0: not a regular file"), 300);
}

Test(damage, folders_without_a_trace)
{
    char error[512], path[512];
    snprintf(path, sizeof path, "%s/a.iot", folder);
    cr_assert_null(iot_trace_read(path, error));
    cr_assert_not_null(strstr(error, "Not a directory; give the folder"), "%s", error);
    unlink(path);
    cr_assert_eq(events_or_error("no trace in this folder"), -1);
    cr_assert_null(iot_trace_read("/nonexistent/folder", error));
    cr_assert_not_null(strstr(error, "No such file or directory"), "%s", error);
}
