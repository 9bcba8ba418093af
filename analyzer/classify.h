/* Which object each file of a run is, for what was read of it and for what was written.
 *
 * Decided, in this order, by the user's rules; what the file is (pipes and sockets between the
 * run's own processes are state, standard output is output); the built-in rules that are sure;
 * how it was used; the files beside it; the built-in rules that are only likely; and last a
 * guess from how it was read. Files of one folder whose names differ in their numbers alone are
 * judged together.
 */
#ifndef IOT_ANALYZER_CLASSIFY_H
#define IOT_ANALYZER_CLASSIFY_H

#include "analyzer/objects.h"
#include "analyzer/rules.h"
#include "analyzer/steps.h"
#include "analyzer/trace.h"

/* What decided; the first is the strongest. */
enum iot_by {
    IOT_BY_USER, /* a rule of the user */
    IOT_BY_KIND, /* what the file is: a pipe, a socket, standard output, a program */
    IOT_BY_SURE, /* a built-in rule, IOT_SURE_RULE */
    IOT_BY_BEHAVIOUR,
    IOT_BY_COMPANY, /* the files beside it */
    IOT_BY_SMALL,   /* IOT_SMALL_RULE */
    IOT_BY_LIKELY,  /* IOT_LIKELY_RULE */
    IOT_BY_GUESS,   /* from how it was read, since nothing else says anything */
    IOT_BY_CARRIED, /* copies of a GPU: the file whose bytes they carry */
    IOT_BY_NOTHING, /* no bytes moved */
};

struct iot_file_class {
    uint8_t object[IOT_DIRECTIONS]; /* enum iot_object, by enum iot_direction */
    uint8_t by[IOT_DIRECTIONS];     /* enum iot_by */
    uint8_t main;                   /* direction whose object its metadata and syncs are of */
    const char *why[IOT_DIRECTIONS];
};

struct iot_classes {
    struct iot_file_class *files; /* by file index; [0] is other */
    struct iot_arena *arena;
};

/* `rules` may be NULL: no rules of the user; `steps` likewise: no steps are known. Returns 0, -1
 * without memory. Free in either case; rules must outlive it. */
int iot_classify(struct iot_classes *classes, const struct iot_trace *trace,
                 const struct iot_rules *rules, const struct iot_steps *steps);
void iot_classes_free(struct iot_classes *classes);

#endif
