/* What the pictures of a report are drawn from: time series of a fixed number of columns, the
 * critical path in at most some thousand segments, whatever the number of events. Made here, so
 * that nothing that draws computes figures of its own.
 *
 * Each function writes one member of an object of JSON, with its key. Where something is null or
 * missing it is said so in view.h alone: the schema is no promise to other programs. All return 0,
 * or -1 without memory, and then the JSON is not complete.
 */
#ifndef IOT_ANALYZER_VIEW_H
#define IOT_ANALYZER_VIEW_H

#include "analyzer/json_out.h"
#include "analyzer/reporting.h"
#include "analyzer/time_columns.h"

enum {
    IOT_VIEW_COLUMNS = 2000, /* of lanes */
    IOT_VIEW_RATES = 400,    /* of what is summed over lanes */
    IOT_VIEW_LANES = 40,     /* the others are one row together */
    IOT_VIEW_PARTS =
        2000, /* of the path: what is shorter than one of so many parts may be merged, */
    IOT_VIEW_SEGMENTS = 3 * IOT_VIEW_PARTS, /* where there would be more than so many segments */
    IOT_VIEW_QUEUES = 12,
    IOT_VIEW_FILES = 100, /* with call sizes of their own */
};

/* What `lanes` and `path` share: lanes that are named, and how long the path is in each. */
struct iot_view_lanes {
    int64_t *path_ns; /* by lane */
    uint8_t *named;   /* by lane: it is spoken of */
};

/* "path": columns of the same length, an entry a segment, in order of time; each ends where the
 * next one starts, the last at the run's end. "kind": a digit each, of "kinds"; "object": a digit,
 * "-" none; "lane"; "file": row of the report's files, -1 none; "op": of "ops", -1 none; "calls",
 * "exposed_ns"; "pieces": stretches merged in it. "mixed": [segment, ns by kind...] for those of
 * several kinds. "overs": [segment, lane that let it go on, its op, its file, op waited in, its
 * file, waited ns]. */
int iot_view_put_path(struct iot_json *json, const struct iot_reporting *reporting,
                      struct iot_view_lanes *lanes);

/* "lanes": rows; by column a letter of "states" for what it did most beside I/O; how much of it was
 * I/O, in 35ths, in base 36; and the object of most of that: its number, as a digit. "names": by
 * lane. */
int iot_view_put_lanes(struct iot_json *json, const struct iot_reporting *reporting,
                       struct iot_view_lanes *lanes);

/* "rates": by object the bytes, calls and exposed time in each column, and after the run's end.
 * They add up to the report's. */
int iot_view_put_rates(struct iot_json *json, const struct iot_reporting *reporting);

/* "latency": by object, [lowest ns, calls] of the timed data calls, four buckets to a power of two,
 * and what the page cache held. "sizes": rows of files with [k, reads, writes] of 2^k to 2^(k+1)-1
 * bytes. */
int iot_view_put_calls(struct iot_json *json, const struct iot_reporting *reporting);

/* "queues": of the first of the report's, the mean and the greatest length in each column. */
int iot_view_put_queues(struct iot_json *json, const struct iot_reporting *reporting);

/* "words": the sentences of the text report. */
void iot_view_put_words(struct iot_json *json, const struct iot_report *report);

#endif
