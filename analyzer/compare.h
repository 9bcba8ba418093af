/* Two sets of runs, and whether the second one is worse: a verdict that is silent about nothing and
 * cries wolf at most once in a hundred times.
 *
 * Counts are nearly exact: one run a side will do, and where the runs of a side differ, both sides'
 * values must be apart. Times need several runs: a rank test, corrected for the number of times
 * that are gated, says whether there is a shift, and the interval of the shift whether it is large
 * enough to matter. A side that says nothing about a metric never means "no regression".
 */
#ifndef IOT_ANALYZER_COMPARE_H
#define IOT_ANALYZER_COMPARE_H

#include <stdio.h>

#include "analyzer/compare_policy.h"
#include "analyzer/compare_stats.h"
#include "analyzer/objects.h"

enum iot_side { IOT_BASE, IOT_CANDIDATE, IOT_SIDES };

struct iot_compare_run {
    char *name; /* the folder or file it was read from */
    json_t *report;
};

struct iot_compare_side {
    struct iot_compare_run runs[IOT_RUNS_MAX];
    size_t n;
};

enum iot_state {
    IOT_REGRESSED,
    IOT_MISSING,        /* one side has no value */
    IOT_NOT_COMPARABLE, /* the two sides were not made alike */
    IOT_INCONCLUSIVE,   /* more runs would tell */
    IOT_IMPROVED,
    IOT_UNCHANGED, /* whatever the change is, it is within what is tolerated */
    IOT_STATES
};
extern const char *const iot_state_names[IOT_STATES];

enum { IOT_NOTE_BYTES = 320, IOT_WHY_LINES = 5, IOT_NOTES_MAX = 24, IOT_METRIC_NAME = 300 };

struct iot_compared {
    struct iot_metric metric;
    char name[IOT_METRIC_NAME];
    const struct iot_compare_rule *rule; /* NULL: not gated, described only */
    bool gated;
    double values[IOT_SIDES][IOT_RUNS_MAX]; /* of the runs that have one, in their order */
    size_t n[IOT_SIDES];
    double median[IOT_SIDES]; /* NAN without values */
    struct iot_shift shift;
    double tolerated;     /* by how much it may be worse, in its unit */
    double p, p_adjusted; /* of gated times; else NAN */
    enum iot_state state;
    char reason[IOT_NOTE_BYTES]; /* of the state, in words; "": it needs none */
    size_t runs_needed;          /* if inconclusive: a side; above IOT_RUNS_MAX: too many */
    char why[IOT_WHY_LINES][IOT_NOTE_BYTES]; /* if regressed: what explains it, most first */
    size_t n_why;
};

/* What the sides do not have in common. */
struct iot_fingerprint {
    char times[IOT_NOTE_BYTES];  /* why times cannot be compared; "": they can */
    char counts[IOT_NOTE_BYTES]; /* the same of counts */
    /* The same of the times of one object, and so of the run's. */
    char objects[IOT_OBJECTS][IOT_NOTE_BYTES];
    char notes[IOT_NOTES_MAX][IOT_NOTE_BYTES]; /* what differs and does not matter that much */
    size_t n_notes;
};

struct iot_comparison {
    struct iot_compare_side sides[IOT_SIDES];
    struct iot_compare_policy policy;
    struct iot_fingerprint fingerprint;
    struct iot_compared *metrics; /* gated ones first, the worst first */
    size_t n;
    size_t tests;             /* gated times */
    size_t gated;             /* metrics */
    size_t count[IOT_STATES]; /* of the gated */
    size_t failed;            /* regressed, and the rule says fail */
    size_t undecided;         /* missing, not comparable or inconclusive, of the gated */
    bool strict;              /* what is undecided fails, too */
};

/* Parts of a fingerprint that may differ: bits of `allowed`. */
enum iot_fingerprint_part {
    IOT_PART_CPU,
    IOT_PART_KERNEL,
    IOT_PART_FILESYSTEMS,
    IOT_PART_CACHE,
    IOT_PARTS
};
extern const char *const iot_fingerprint_parts[]; /* NULL-terminated */

/* Adds what `path` holds to a side: a trace, a report as JSON, or a folder of such. Reports of
 * traces have the user's rules of objects, which may be NULL. Returns 0, or -1 with one line in
 * `error`. */
int iot_compare_add(struct iot_comparison *c, enum iot_side side, const char *path,
                    const char *rules, char error[512]);

/* The same of a report's text, which it changes; `name` is what it was read from. */
int iot_compare_add_text(struct iot_comparison *c, enum iot_side side, const char *name, char *text,
                         size_t n, char error[512]);

/* Refuses runs that are there twice, sides without runs, and sides of different programs. */
int iot_compare_check(const struct iot_comparison *c, char error[512]);

/* Judges all metrics. Returns 0, or -1 with one line in `error`. */
int iot_compare_judge(struct iot_comparison *c, unsigned allowed, char error[512]);

void iot_compare_free(struct iot_comparison *c);

/* Parts of it. */
void iot_compare_fingerprint(struct iot_comparison *c, unsigned allowed);
/* Of what regressed. Returns 0, -1 without memory. */
int iot_compare_why(struct iot_comparison *c);
/* One line of why, if there are call sites. */
void iot_compare_add_site(const struct iot_comparison *c, struct iot_compared *m);

#endif
