/* Everything about one file of a run: why it has its object, and how and when it was used.
 * Integers of nanoseconds and bytes. */
#ifndef IOT_ANALYZER_EXPLAIN_H
#define IOT_ANALYZER_EXPLAIN_H

#include <stdio.h>

#include "analyzer/call_sites.h"
#include "analyzer/classify.h"
#include "analyzer/model.h"
#include "analyzer/order.h"
#include "analyzer/siblings.h"
#include "analyzer/step_use.h"
#include "analyzer/use.h"

enum { IOT_EXPLAIN_PARTS = 10, IOT_EXPLAIN_SIZES = 64, IOT_EXPLAIN_SITES = 5 };

/* What explaining any file of a run needs. */
struct iot_explainer {
    const struct iot_trace *trace;
    const struct iot_model *model;
    const struct iot_classes *classes;
    struct iot_uses uses;
    struct iot_groups groups;
    struct iot_step_use step_use;
};

/* Data calls of one direction. Of sendfile and its kind only the source has a call. */
struct iot_explained_way {
    int64_t calls, bytes;
    int64_t empty; /* calls that moved nothing: the end of the file, or an error */
    int64_t small; /* as the report counts them */
    int64_t sizes[IOT_EXPLAIN_SIZES]; /* calls of 2^k to 2^(k+1) - 1 bytes */
    int64_t orders[IOT_ORDERS];       /* calls that moved something, by enum iot_order */
};

struct iot_explained_lane {
    uint32_t lane;
    int64_t calls; /* of every kind */
    int64_t bytes, service_ns, exposed_ns, waited_ns;
};

struct iot_explained {
    const struct iot_explainer *explainer;
    uint32_t file;
    struct iot_explained_way ways[IOT_DIRECTIONS];
    int64_t metadata_ops, sync_ops, opens, failed_opens;
    uint32_t opening_processes; /* those in which an open succeeded */
    int64_t service_ns, exposed_ns, waited_ns;
    int64_t mapped_bytes, fault_ns; /* estimates, as the report has them */
    int64_t service_in[IOT_EXPLAIN_PARTS], exposed_in[IOT_EXPLAIN_PARTS]; /* tenths of the run */
    int64_t outlived_service_ns, outlived_exposed_ns;                     /* after the run's end */
    struct iot_explained_lane *lanes; /* by exposed, service, calls */
    size_t n_lanes;
    struct iot_call_site *sites; /* the dearest five, if stacks were recorded */
    size_t n_sites;
    uint32_t *renames; /* names it had before, or got: file indices */
    size_t n_renames;
};

/* `steps` may be NULL. Both return 0, -1 without memory; free in either case. What the explainer is
 * made of must outlive it, and it what it explains. */
int iot_explainer_init(struct iot_explainer *explainer, const struct iot_trace *trace,
                       const struct iot_model *model, const struct iot_classes *classes,
                       const struct iot_steps *steps);
void iot_explainer_free(struct iot_explainer *explainer);
int iot_explain(struct iot_explained *explained, const struct iot_explainer *explainer,
                uint32_t file);
void iot_explained_free(struct iot_explained *explained);

/* Words for enum iot_by: where the object comes from. */
const char *iot_by_words(unsigned by);

/* "warm", "cold", "mixed" or "unknown", as the report says it. */
const char *iot_explain_cache_scope(const struct iot_explained *explained);

/* What people read, in 80 columns; and one object of JSON each in an array, schema
 * iotrace-explain/1. Write errors stay in ferror(out). */
void iot_explain_write_text(const struct iot_explained *explained, FILE *out);
/* Of several that have one name (copies of a GPU, by the file whose bytes they are): a line each,
 * and all of them together. */
void iot_explain_write_sum(const struct iot_explained *explained, size_t n, FILE *out);
void iot_explain_write_json(const struct iot_explained *explained, size_t n, FILE *out);

#endif
