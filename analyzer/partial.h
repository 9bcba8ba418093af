/* The result of one unit (a process tree on one host) or of many, small, and such that adding two
 * is associative and commutative to the bit: schema iotrace-partial/2, doc/choices.md, "Many
 * ranks".
 *
 * Integers only, none below 0; a sum above IOT_SUM_MAX stays at it. Units stay rows
 * of their own. Files are summed up by path and object; of a unit only those are named that add
 * most, the others are one row an object with the largest value that none of them exceeds (the
 * cut-off).
 */
#ifndef IOT_ANALYZER_PARTIAL_H
#define IOT_ANALYZER_PARTIAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/histogram.h"
#include "analyzer/identity.h"
#include "analyzer/latency.h"
#include "analyzer/objects.h"
#include "analyzer/partial_rows.h"
#include "analyzer/sum.h"
#include "analyzer/table.h"
#include "analyzer/waits_words.h"

struct iot_report;

#define IOT_PARTIAL_SCHEMA "iotrace-partial/2"

/* Of a unit, so many files are named by each of exposed time, service time and bytes. */
enum { IOT_PARTIAL_FILES = 64 };

enum iot_sum_column {
#define IOT_COLUMN(group, how, name, of) IOT_COLUMN_##name,
#include "analyzer/partial_columns.def"
#undef IOT_COLUMN
    IOT_COLUMNS
};

struct iot_sums {
    int64_t at[IOT_COLUMNS];
};

enum iot_unit_number {
#define IOT_NUMBER(name) IOT_UNIT_##name,
#include "analyzer/partial_unit.def"
#undef IOT_NUMBER
    IOT_UNIT_NUMBERS
};
extern const char *const iot_unit_number_names[IOT_UNIT_NUMBERS];

/* From its first open until an artifact's bytes were read, decoded and placed. Of a unit the
 * longest of those files that it names, and by path. */
enum { IOT_UNIT_READY = 16 };
struct iot_unit_ready {
    const char *path;
    int64_t storage_ns, decode_ns, placement_ns;
};
int64_t iot_unit_ready_ns(const struct iot_unit_ready *ready); /* all three */

/* When the steps began, since the unit did: the first eight, and four of each power of two. */
enum { IOT_UNIT_STARTS = 8 + 4 * 27 };
/* The number of the nth of these, from 0 as n is. */
int64_t iot_unit_start_step(size_t n);

/* T(lambda) at lambda = 1, 7/8, .. 0. */
enum { IOT_UNIT_CURVE = 9, IOT_UNIT_WAITS = 5 };

/* Its timed data calls of one object and class of sizes (below), and the middle of their times, to
 * the bucket: by which hosts are compared. */
struct iot_unit_calls {
    uint8_t object, class_;
    int64_t calls, median_ns;
};

struct iot_unit {
    struct iot_identity identity; /* of its root process, or of the one rank in it */
    const char *host, *boot_id, *command, *damage; /* "" not known, none */
    int64_t *ranks;                                /* others in it, if it holds several; sorted */
    size_t n_ranks;
    int64_t numbers[IOT_UNIT_NUMBERS];
    int64_t curve[IOT_UNIT_CURVE];
    struct iot_sums objects[IOT_OBJECTS];
    struct iot_waited waits[IOT_UNIT_WAITS]; /* batch is not kept */
    size_t n_waits;
    struct iot_unit_calls *calls; /* by object, then class */
    size_t n_calls;
    struct iot_unit_ready *ready;
    int64_t *starts_ns; /* by iot_unit_start_step */
    size_t n_ready, n_starts;
};

/* Timed data calls by size (class 0: nothing moved; c: 2^(c - 1) bytes and more, below 2^c) and by
 * their service. */
enum { IOT_CALL_CLASSES = 64 };
struct iot_calls {
    struct iot_call_class {
        int64_t bytes;
        struct iot_histogram times;
    } classes[IOT_CALL_CLASSES];
};

struct iot_partial_file {
    const char *path;
    const char *why; /* the least of what its units say */
    uint8_t object;
    struct iot_sums sums;
    struct iot_histogram times; /* of its timed data calls */
};

struct iot_partial {
    struct iot_arena *arena;
    struct iot_unit *units;
    size_t n_units, room_units;
    struct iot_partial_file *files;
    size_t n_files, room_files;
    struct iot_table table; /* files by path and object */
    struct iot_sums rest[IOT_OBJECTS];
    struct iot_calls calls[IOT_OBJECTS];
    struct iot_named_rows named[IOT_ROW_KINDS];
    const char **unread; /* inputs that could not be read: what is wrong with each, in a line */
    size_t n_unread, room_unread;
};

/* An empty one. Returns 0, -1 without memory; free in either case. */
int iot_partial_init(struct iot_partial *partial);
void iot_partial_free(struct iot_partial *partial);

/* How the unit of a folder is made. */
struct iot_partial_how {
    const char *rules; /* a file; NULL: none */
    size_t top;        /* files that it names by each measure */
    size_t events;     /* as iot_reporting_how has it */
};

/* What became of something that was to be added. */
enum iot_added {
    IOT_ADDED,
    IOT_UNREAD,    /* it cannot be read or is damaged: the partial is as it was */
    IOT_ADD_FAILED /* without memory: the partial is of no use */
};

/* Adds the unit of a trace folder. Unless it is IOT_ADDED, with one line in `error`. */
enum iot_added iot_partial_add_folder(struct iot_partial *partial, const char *folder,
                                      const struct iot_partial_how *how, char error[512]);

/* The same of a report with all its files. Returns 0, -1 without memory. */
int iot_partial_add_report(struct iot_partial *partial, const struct iot_report *report,
                           size_t top);

/* Adds what a file holds; all of it, or nothing. Unless it is IOT_ADDED, with one line in `error`
 * (file, byte offset, what to do). */
enum iot_added iot_partial_add_file(struct iot_partial *partial, const char *path, char error[512]);
/* The same from memory. */
enum iot_added iot_partial_add_memory(struct iot_partial *partial, const char *name,
                                      const void *bytes, size_t n, char error[512]);
/* Names what could not be read. Returns 0, -1 without memory. */
int iot_partial_unread(struct iot_partial *partial, const char *line);

/* Units and files into their one order. Returns 0, -1 without memory. */
int iot_partial_order(struct iot_partial *partial);
/* As JSON, one line; after iot_partial_order the same bytes however it came together. */
int iot_partial_write(const struct iot_partial *partial, FILE *out);

/* --- for what makes and reads them --- */

enum iot_column_group { IOT_COLUMN_BOTH, IOT_COLUMN_UNIT, IOT_COLUMN_FILE };
/* Whether a row of that group (UNIT or FILE) has the column. */
int iot_column_is_in(enum iot_sum_column column, enum iot_column_group group);
extern const char *const iot_column_names[IOT_COLUMNS];

/* Numbers are between 0 and IOT_SUM_MAX. */
void iot_sums_add(struct iot_sums *to, const struct iot_sums *from);

/* NULL without memory. Texts are to live as long as the partial. */
struct iot_unit *iot_partial_unit(struct iot_partial *partial);
/* Adds to the file's row. Returns 0, -1 without memory; texts and times are copied. */
int iot_partial_file(struct iot_partial *partial, const struct iot_partial_file *file);
/* Adds all of another one, whose units' texts are to live as long. Returns 0, -1 without memory. */
int iot_partial_join(struct iot_partial *to, const struct iot_partial *from);
int iot_calls_join(struct iot_calls *to, const struct iot_calls *from);
void iot_calls_free(struct iot_calls *calls);
/* The rows with names of a report: partial_named.c. Returns 0, -1 without memory. */
int iot_partial_add_named(struct iot_partial *partial, const struct iot_report *report);
/* Its artifacts, and when its steps began: partial_moments.c. named: which of the report's files
 * are. Returns 0, -1 without memory. */
int iot_partial_set_moments(struct iot_partial *partial, struct iot_unit *unit,
                            const struct iot_report *report, const uint8_t *named);
/* Which class calls of so many bytes have. */
unsigned iot_call_class_of(int64_t bytes);

#endif
