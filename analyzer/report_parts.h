/* How the parts of report.c work together. */
#ifndef IOT_ANALYZER_REPORT_PARTS_H
#define IOT_ANALYZER_REPORT_PARTS_H

#include "analyzer/report.h"

/* Rows while they are being made. */
struct iot_rows {
    struct iot_report *report;
    const struct iot_classes *classes;
    uint32_t *of_file[IOT_DIRECTIONS]; /* row by file index; IOT_NO_INDEX none yet */
    uint32_t *of_event;                /* row by event; IOT_NO_INDEX: no I/O */
    uint32_t *synced;                  /* rows of file systems that were synced as a whole */
    size_t n_synced, room;
    /* Rows of copies of GPUs: those with one name and one object are one. */
    struct iot_gpu_row {
        uint32_t row;
        uint32_t carried, others; /* names that carry bytes of a file, and that do not */
        uint8_t memory, out;
    } *gpu;
    size_t n_gpu;
    /* Events of each row, lane after lane: row r has events[first[r]] .. events[first[r + 1] - 1].
     */
    uint32_t *events;
    size_t *first;
};

/* The figures of every file with its object, in report->files, in no order. Returns 0, -1 without
 * memory; free in either case. */
int iot_rows_sum(struct iot_rows *rows);
void iot_rows_free(struct iot_rows *rows);

/* Adds an event that has a row to figures. */
void iot_rows_count(const struct iot_rows *rows, size_t event, struct iot_figures *figures);
/* Until the rows are ordered: the row of the other end of sendfile and its kind, IOT_NO_INDEX: it
 * has none; and what moved, added to that end's figures. */
uint32_t iot_rows_target(const struct iot_rows *rows, size_t event);
void iot_rows_count_target(const struct iot_rows *rows, size_t event, struct iot_figures *figures);

/* Orders the rows, cuts them, and adds up the objects and the total. */
int iot_rows_order(struct iot_rows *rows, size_t top);
/* What was encoded and decoded, by row and by phase: after the phases, before the rows' order. */
int iot_rows_coding(struct iot_rows *rows);
/* How much was read again, by row: before their order. */
int iot_rows_reads(struct iot_rows *rows);
/* What the page cache held, by row: before their order. */
void iot_rows_cache(struct iot_rows *rows);
/* report->phases, when all this is there; also before their order. */
int iot_rows_phases(struct iot_rows *rows, const struct iot_steps *steps);
/* rows->events, after their order. */
int iot_rows_group(struct iot_rows *rows);
/* Latency and bandwidth of each row and object. */
int iot_rows_fit(struct iot_rows *rows);
/* How long artifacts took to be ready. */
int iot_rows_ready(struct iot_rows *rows);
/* Percentiles of each row and object. */
int iot_rows_latency(struct iot_rows *rows);
/* What replays say of the objects and the most exposed files. */
int iot_rows_recoverable(struct iot_rows *rows);
/* What a replay without the selected events wins, of what these figures are of. */
int64_t iot_rows_won(const struct iot_report *report, const struct iot_figures *figures,
                     const uint8_t *selected);

/* The object and the path of report->sites. */
int iot_report_site_files(struct iot_report *report);

/* report->advice, last of all: it looks at the queues, too. */
int iot_report_advise(struct iot_report *report);

/* report->run. */
int iot_report_run(struct iot_report *report);
int iot_report_ranks(struct iot_report *report);
int iot_report_untraced(struct iot_report *report);
int iot_report_uncalled(struct iot_report *report);
int iot_report_not_seen(struct iot_report *report);
int iot_report_unseen_gpu(struct iot_report *report);
/* One more sentence of what is not seen. 0, or -1 without memory. */
int iot_report_say(struct iot_report *r, const char *sentence);
/* report->evidence, when all else is there. */
int iot_report_evidence(struct iot_report *report);

/* Mount points of a mountinfo text. */
struct iot_mount {
    const char *point, *type;
    size_t n_point;
};
struct iot_mounts {
    struct iot_mount *mounts;
    size_t n;
};
int iot_mounts_read(struct iot_mounts *mounts, const char *mountinfo, struct iot_arena *arena);
/* The one that holds an absolute path; NULL if none is known. */
const struct iot_mount *iot_mounts_find(const struct iot_mounts *mounts, const char *path);

#endif
