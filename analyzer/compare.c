#include "analyzer/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/people.h"

const char *const iot_state_names[IOT_STATES] = {
    [IOT_REGRESSED] = "regressed",
    [IOT_MISSING] = "missing",
    [IOT_NOT_COMPARABLE] = "not comparable",
    [IOT_INCONCLUSIVE] = "inconclusive",
    [IOT_IMPROVED] = "improved",
    [IOT_UNCHANGED] = "unchanged",
};

/* What is tolerated where a rule does not say. */
static const double default_soft = 0.05;
static const double default_floor[] = {[IOT_METRIC_TIME] = 10e6, /* and see tolerate() */
                                       [IOT_METRIC_RATE] = 0,
                                       [IOT_METRIC_COUNT] = 8,
                                       [IOT_METRIC_BYTES] = 65536,
                                       [IOT_METRIC_RATIO] = 0.05};
static const double default_share_of_wall = 0.01;

/* --- values --- */

static bool by_user(const struct iot_compare_rule *rule)
{
    return rule && rule->line && rule->selector == IOT_SELECT_METRIC;
}

static void read_values(const struct iot_comparison *c, struct iot_compared *m, bool *all_zero)
{
    *all_zero = true;
    for (int s = 0; s < IOT_SIDES; s++) {
        m->n[s] = 0;
        for (size_t i = 0; i < c->sides[s].n; i++) {
            double value = iot_metric_value(&m->metric, c->sides[s].runs[i].report);
            if (isnan(value))
                continue;
            *all_zero &= value == 0;
            m->values[s][m->n[s]++] = value;
        }
        m->median[s] = m->n[s] ? iot_sample_median(m->values[s], m->n[s]) : (double)NAN;
    }
}

static bool is_known(const struct iot_compare_side *side, const struct iot_metric *metric)
{
    for (size_t i = 0; i < side->n; i++)
        if (iot_metric_known(metric, side->runs[i].report))
            return true;
    return false;
}

/* What only one side's version knows is gated only where the user asks for it. */
static bool is_too_new(struct iot_comparison *c, const struct iot_compared *m)
{
    struct iot_fingerprint *f = &c->fingerprint;
    bool base = is_known(&c->sides[IOT_BASE], &m->metric);
    if (base == is_known(&c->sides[IOT_CANDIDATE], &m->metric) || by_user(m->rule))
        return false;
    if (m->gated && f->n_notes < IOT_NOTES_MAX)
        snprintf(
            f->notes[f->n_notes++], IOT_NOTE_BYTES,
            "The reports of the %s are of an older version, which does not know %.100s: it is not "
            "gated",
            base ? "candidate" : "base", m->name);
    return true;
}

/* What no run has is worth a line only where the user asks for it. */
static void add(struct iot_comparison *c, struct iot_metric metric)
{
    struct iot_compared *m = &c->metrics[c->n];
    bool all_zero;

    *m = (struct iot_compared){.metric = metric, .p = (double)NAN, .p_adjusted = (double)NAN};
    m->rule = iot_compare_policy_find(&c->policy, &metric);
    m->gated = m->rule && m->rule->level != IOT_LEVEL_OFF;
    read_values(c, m, &all_zero);
    iot_metric_name(&metric, m->name, sizeof m->name);
    if ((all_zero && !(m->gated && by_user(m->rule))) || is_too_new(c, m))
        return;
    c->n++;
}

static void add_files(struct iot_comparison *c)
{
    for (size_t i = 0; i < c->policy.n; i++) {
        const struct iot_metric *metric = &c->policy.rules[i].metric;
        if (c->policy.rules[i].selector != IOT_SELECT_METRIC || metric->object != IOT_METRIC_FILES)
            continue;
        if (iot_compare_policy_find(&c->policy, metric) == &c->policy.rules[i])
            add(c, *metric);
    }
}

static int add_all(struct iot_comparison *c)
{
    size_t most = IOT_METRIC_RUN + iot_metric_n_figures * (IOT_OBJECTS + 1) + c->policy.n;
    c->metrics = calloc(most, sizeof *c->metrics);
    if (!c->metrics)
        return -1;
    for (size_t k = 0; k < IOT_METRIC_RUN; k++)
        add(c, (struct iot_metric){.object = IOT_METRIC_WHOLE, .figure = k});
    for (int o = 0; o <= IOT_METRIC_TOTAL; o++)
        for (size_t f = 0; f < iot_metric_n_figures; f++)
            if (o < IOT_OBJECTS || iot_metric_figures[f].in_total)
                add(c, (struct iot_metric){.object = o, .figure = f});
    add_files(c);
    return 0;
}

/* --- what cannot be judged --- */

static double wall(const struct iot_comparison *c)
{
    double values[IOT_RUNS_MAX];
    const struct iot_compare_side *base = &c->sides[IOT_BASE];
    for (size_t i = 0; i < base->n; i++)
        values[i] = json_number_value(json_object_get(base->runs[i].report, "wall_ns"));
    return iot_sample_median(values, base->n);
}

/* Whether any run of a side has calls on it. */
static bool has_calls(const struct iot_compare_side *side, int object)
{
    static const char *const calls[] = {"data_ops", "metadata_ops", "sync_ops"};
    for (size_t i = 0; i < side->n; i++) {
        const json_t *row =
            json_array_get(json_object_get(side->runs[i].report, "objects"), (size_t)object);
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
            if (json_number_value(json_object_get(row, calls[k])) > 0)
                return true;
    }
    return false;
}

static bool was_cut(const struct iot_comparison *c)
{
    size_t k;
    const json_t *file;
    for (int s = 0; s < IOT_SIDES; s++)
        for (size_t i = 0; i < c->sides[s].n; i++)
            json_array_foreach(json_object_get(c->sides[s].runs[i].report, "files"), k, file)
            {
                if (iot_metric_cut_row(file))
                    return true;
            }
    return false;
}

static bool set(struct iot_compared *m, enum iot_state state, const char *reason)
{
    m->state = state;
    snprintf(m->reason, sizeof m->reason, "%s", reason);
    return true;
}

static bool is_missing(const struct iot_comparison *c, struct iot_compared *m)
{
    int o = m->metric.object;
    if (!m->n[IOT_BASE] && !m->n[IOT_CANDIDATE])
        return set(m, IOT_MISSING, "no run has it");
    if (!m->n[IOT_CANDIDATE])
        return set(m, IOT_MISSING, "the candidate does not have it");
    if (!m->n[IOT_BASE])
        return set(m, IOT_MISSING, "the base does not have it");
    if (o < IOT_OBJECTS && has_calls(&c->sides[IOT_BASE], o) &&
        !has_calls(&c->sides[IOT_CANDIDATE], o)) {
        char reason[96];
        snprintf(reason, sizeof reason, "the candidate has no calls on any %s",
                 iot_object_names[o]);
        return set(m, IOT_MISSING, reason);
    }
    return false;
}

static bool cannot_compare(const struct iot_comparison *c, struct iot_compared *m)
{
    const struct iot_fingerprint *f = &c->fingerprint;
    int o = m->metric.object;
    if (o == IOT_METRIC_FILES && was_cut(c))
        return set(m, IOT_NOT_COMPARABLE, "a report was cut by --top: files are missing in it");
    if (!iot_metric_varies(&m->metric))
        return *f->counts && set(m, IOT_NOT_COMPARABLE, f->counts);
    if (*f->times)
        return set(m, IOT_NOT_COMPARABLE, f->times);
    for (int k = 0; k < IOT_OBJECTS; k++)
        if (*f->objects[k] && (o == k || o >= IOT_METRIC_TOTAL))
            return set(m, IOT_NOT_COMPARABLE, f->objects[k]);
    return false;
}

/* --- what is tolerated --- */

static double tolerate(const struct iot_comparison *c, const struct iot_compared *m)
{
    const struct iot_compare_rule *rule = m->rule;
    double soft = rule ? rule->soft : (double)NAN, floor = rule ? rule->floor : (double)NAN;
    enum iot_metric_kind kind = iot_metric_kind(&m->metric);

    if (rule && !isnan(rule->hard) && isnan(soft) && isnan(floor))
        return HUGE_VAL;
    if (isnan(floor)) {
        /* Of a step, and of one call, 10 ms are much. */
        bool small = m->metric.object == IOT_METRIC_WHOLE
                         ? m->metric.figure != IOT_METRIC_WALL
                         : !strcmp(iot_metric_figures[m->metric.figure].name, "fixed_latency");
        floor = small && kind == IOT_METRIC_TIME ? 0 : default_floor[kind];
        if (kind == IOT_METRIC_TIME && !small)
            floor = fmax(floor, default_share_of_wall * wall(c));
    }
    return fmax((isnan(soft) ? default_soft : soft) * fabs(m->median[IOT_BASE]), floor);
}

static double least(const double *values, size_t n)
{
    double found = values[0];
    for (size_t i = 1; i < n; i++)
        found = fmin(found, values[i]);
    return found;
}

static double most(const double *values, size_t n)
{
    double found = values[0];
    for (size_t i = 1; i < n; i++)
        found = fmax(found, values[i]);
    return found;
}

/* --- states --- */

/* Whatever the base: no run may exceed it. True: that has decided. */
static bool judge_hard(struct iot_compared *m)
{
    double hard = m->rule ? m->rule->hard : (double)NAN;
    const double *values = m->values[IOT_CANDIDATE];
    size_t n = m->n[IOT_CANDIDATE];
    bool alone = isinf(m->tolerated);

    if (isnan(hard))
        return false;
    if (iot_metric_kind(&m->metric) == IOT_METRIC_RATE ? most(values, n) < hard
                                                       : least(values, n) > hard)
        return set(m, IOT_REGRESSED, "beyond its hard limit");
    bool within = iot_metric_kind(&m->metric) == IOT_METRIC_RATE ? least(values, n) >= hard
                                                                 : most(values, n) <= hard;
    if (!within) {
        m->runs_needed = n + 1;
        return set(m, IOT_INCONCLUSIVE, "some runs are beyond the hard limit, and some are not");
    }
    return alone && set(m, IOT_UNCHANGED, "within its hard limit");
}

static void judge_count(struct iot_compared *m)
{
    const double *a = m->values[IOT_BASE], *b = m->values[IOT_CANDIDATE];
    size_t n_a = m->n[IOT_BASE], n_b = m->n[IOT_CANDIDATE];
    double spread = most(a, n_a) - least(a, n_a);

    m->shift = (struct iot_shift){.median = m->median[IOT_CANDIDATE] - m->median[IOT_BASE]};
    if (least(b, n_b) - most(a, n_a) > m->tolerated)
        m->state = IOT_REGRESSED;
    else if (least(a, n_a) - most(b, n_b) > m->tolerated)
        m->state = IOT_IMPROVED;
    else if (fabs(m->shift.median) <= m->tolerated + spread)
        m->state = IOT_UNCHANGED;
    else {
        m->runs_needed = (n_a < n_b ? n_a : n_b) + 1;
        set(m, IOT_INCONCLUSIVE, "its runs differ from each other as much as the sides do");
    }
}

static void need_runs(struct iot_compared *m, size_t n, size_t needed)
{
    m->runs_needed = needed > n ? needed : n + 1;
    m->state = IOT_INCONCLUSIVE;
}

/* The interval shrinks with the root of the runs, until what is tolerated is outside of it. */
static size_t runs_to_part(const struct iot_compared *m, size_t n)
{
    double half = (m->shift.high - m->shift.low) / 2;
    double apart = fabs(fabs(m->shift.median) - m->tolerated);
    double needed = apart > 0 ? ceil((double)n * half / apart * half / apart) : HUGE_VAL;
    return needed > IOT_RUNS_MAX ? IOT_RUNS_MAX + 1 : (size_t)needed;
}

static void judge_time(const struct iot_comparison *c, struct iot_compared *m)
{
    size_t n_a = m->n[IOT_BASE], n_b = m->n[IOT_CANDIDATE], n = n_a < n_b ? n_a : n_b;
    double alpha = c->policy.alpha;
    size_t tests = m->gated ? c->tests : 1;
    bool less_is_worse = iot_metric_kind(&m->metric) == IOT_METRIC_RATE;
    double low = less_is_worse ? -m->shift.high : m->shift.low;
    double high = less_is_worse ? -m->shift.low : m->shift.high;
    bool certain = !m->gated || m->p_adjusted <= alpha;

    if (!m->shift.bounded || iot_mann_whitney_least(n_a, n_b) * (double)tests > alpha) {
        need_runs(m, n, iot_runs_for_tests(tests, alpha));
        snprintf(m->reason, sizeof m->reason, "%s a side cannot tell",
                 iot_people_many((int64_t)n, "run").text);
    } else if (low > m->tolerated && certain) {
        m->state = IOT_REGRESSED;
    } else if (high < -m->tolerated && certain) {
        m->state = IOT_IMPROVED;
    } else if (low >= -m->tolerated && high <= m->tolerated) {
        m->state = IOT_UNCHANGED;
    } else {
        need_runs(m, n, runs_to_part(m, n));
        snprintf(m->reason, sizeof m->reason, "the runs vary too much for what is tolerated");
    }
}

/* --- all of them --- */

/* Shifts of all, and p of the gated ones. */
static int test(struct iot_comparison *c, struct iot_compared *tested[IOT_TESTS_MAX],
                char error[512])
{
    double p[IOT_TESTS_MAX];
    for (size_t i = 0; i < c->n; i++) {
        struct iot_compared *m = &c->metrics[i];
        const double *a = m->values[IOT_BASE], *b = m->values[IOT_CANDIDATE];
        struct iot_mann_whitney result;
        long bound = iot_metric_varies(&m->metric) && m->n[IOT_BASE] && m->n[IOT_CANDIDATE]
                         ? iot_shift_bound(m->n[IOT_BASE], m->n[IOT_CANDIDATE], c->policy.alpha)
                         : 0;
        if (is_missing(c, m) || cannot_compare(c, m)) {
            m->shift.median = m->median[IOT_CANDIDATE] - m->median[IOT_BASE];
            continue;
        }
        m->tolerated = tolerate(c, m);
        if (judge_hard(m) || !iot_metric_varies(&m->metric)) {
            m->shift.median = m->median[IOT_CANDIDATE] - m->median[IOT_BASE];
            if (!*m->reason)
                judge_count(m);
            continue;
        }
        m->state = IOT_STATES; /* until all are tested */
        if (bound < 0 || iot_shift(a, m->n[IOT_BASE], b, m->n[IOT_CANDIDATE], bound, &m->shift))
            goto memory;
        if (!m->gated)
            continue;
        if (c->tests == IOT_TESTS_MAX) {
            snprintf(error, 512,
                     "the policy gates more than %d times (%.200s is the next); each more "
                     "asks for more runs: leave some off",
                     IOT_TESTS_MAX, m->name);
            return -1;
        }
        if (iot_mann_whitney(a, m->n[IOT_BASE], b, m->n[IOT_CANDIDATE], &result))
            goto memory;
        p[c->tests] = m->p = result.p;
        tested[c->tests++] = m;
    }
    iot_holm(p, c->tests);
    for (size_t k = 0; k < c->tests; k++)
        tested[k]->p_adjusted = p[k];
    return 0;
memory:
    snprintf(error, 512, "out of memory");
    return -1;
}

static double weight(const struct iot_compared *m)
{
    return isfinite(m->shift.median) ? fabs(m->shift.median) / fmax(m->tolerated, 1e-9) : 0;
}

static int level(const struct iot_compared *m)
{
    return m->gated ? (int)m->rule->level : 0;
}

static int worse_first(const void *a, const void *b)
{
    const struct iot_compared *x = a, *y = b;
    bool times = iot_metric_varies(&x->metric);
    if (level(x) != level(y) && (!level(x) || !level(y)))
        return level(y) - level(x);
    if (x->state != y->state)
        return (int)x->state - (int)y->state;
    if (level(x) != level(y))
        return level(y) - level(x);
    if (times != iot_metric_varies(&y->metric))
        return times ? -1 : 1;
    if (x->metric.object != y->metric.object && x->state != IOT_REGRESSED)
        return (x->metric.object + 1) % IOT_METRIC_FILES -
               (y->metric.object + 1) % IOT_METRIC_FILES;
    return weight(x) != weight(y) ? (weight(x) < weight(y) ? 1 : -1) : strcmp(x->name, y->name);
}

int iot_compare_judge(struct iot_comparison *c, unsigned allowed, char error[512])
{
    struct iot_compared *tested[IOT_TESTS_MAX];

    iot_compare_fingerprint(c, allowed);
    if (add_all(c)) {
        snprintf(error, 512, "out of memory");
        return -1;
    }
    if (test(c, tested, error))
        return -1;
    for (size_t i = 0; i < c->n; i++) {
        struct iot_compared *m = &c->metrics[i];
        if (m->state == IOT_STATES)
            judge_time(c, m);
        if (!m->gated)
            continue;
        c->gated++;
        c->count[m->state]++;
        c->failed += m->state == IOT_REGRESSED && m->rule->level == IOT_LEVEL_FAIL;
        c->undecided += m->state == IOT_INCONCLUSIVE || m->state == IOT_NOT_COMPARABLE ||
                        m->state == IOT_MISSING;
    }
    qsort(c->metrics, c->n, sizeof *c->metrics, worse_first);
    if (iot_compare_why(c)) {
        snprintf(error, 512, "out of memory");
        return -1;
    }
    return 0;
}
