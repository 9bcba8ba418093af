/* What a comparison may find before it is a regression: a policy, one rule a line.
 *
 *     SELECTOR [soft N%] [floor VALUE] [hard VALUE] fail|warn|off
 *     alpha N%
 *
 * SELECTOR is a metric ("wall", "artifact.exposed", file:"GLOB".service), "*.FIGURE" for every
 * object, or "@time", "@rate", "@count", "@bytes", "@ratio" for what is gated without being named.
 * `soft` is how much more than the base is tolerated, as a share of it, and `floor` as a value: a
 * change must be beyond both. `hard` is what no run may exceed, whatever the base. '#' starts a
 * comment.
 */
#ifndef IOT_ANALYZER_COMPARE_POLICY_H
#define IOT_ANALYZER_COMPARE_POLICY_H

#include <stddef.h>

#include "analyzer/arena.h"
#include "analyzer/compare_metrics.h"

/* No policy has more, in bytes. */
#define IOT_POLICY_MAX (1u << 20)

enum iot_compare_level { IOT_LEVEL_OFF, IOT_LEVEL_WARN, IOT_LEVEL_FAIL };
extern const char *const iot_compare_levels[];

/* The more specific ones come later. */
enum iot_selector { IOT_SELECT_KIND, IOT_SELECT_FIGURE, IOT_SELECT_METRIC };

struct iot_compare_rule {
    enum iot_selector selector;
    enum iot_metric_kind kind; /* of what it selects */
    struct iot_metric metric;
    enum iot_compare_level level;
    double soft, floor, hard; /* a share; in the metric's unit; NAN: not given */
    size_t line;              /* in the policy; 0: built in */
};

struct iot_compare_policy {
    struct iot_compare_rule *rules;
    size_t n, room;
    double alpha; /* of all tests together, two-sided */
    struct iot_arena *arena;
};

/* Adds the rules of a text, called `name` in errors. Returns 0, or -1 with one line in `error`.
 * Free in either case. */
int iot_compare_policy_parse(struct iot_compare_policy *policy, const char *name, const char *text,
                             size_t n, char error[512]);
/* The same with a file. */
int iot_compare_policy_read(struct iot_compare_policy *policy, const char *path, char error[512]);

/* Begins with what holds without a file. Returns 0, -1 without memory. Free in either case. */
int iot_compare_policy_init(struct iot_compare_policy *policy);
void iot_compare_policy_free(struct iot_compare_policy *policy);

/* The rule for a metric: the most specific one of the file, of these the last; else a built-in one;
 * NULL: it is not gated. */
const struct iot_compare_rule *iot_compare_policy_find(const struct iot_compare_policy *policy,
                                                       const struct iot_metric *metric);

#endif
