#include "analyzer/compare_words.h"

#include <math.h>

const char *const iot_compare_units[] = {[IOT_METRIC_TIME] = "ns",
                                         [IOT_METRIC_RATE] = "GB/s",
                                         [IOT_METRIC_COUNT] = "",
                                         [IOT_METRIC_BYTES] = "B",
                                         [IOT_METRIC_RATIO] = ""};

/* --- figures --- */

int64_t iot_compare_integer(double value)
{
    const double most = 9e18; /* what a damaged report adds up to may be more */
    return (int64_t)(value > most ? most : value < -most ? -most : value + 0.5);
}

struct iot_words iot_compare_value(enum iot_metric_kind kind, double value)
{
    struct iot_words words = {"-"};
    if (isnan(value))
        return words;
    switch (kind) {
    case IOT_METRIC_TIME:
        if (value != 0 && value < 1e5) {
            snprintf(words.text, sizeof words.text, "%.3g us", value / 1e3);
            return words;
        }
        return iot_people_time(iot_compare_integer(value));
    case IOT_METRIC_RATE:
        snprintf(words.text, sizeof words.text, "%.3g GB/s", value);
        return words;
    case IOT_METRIC_RATIO:
        snprintf(words.text, sizeof words.text, "%.3gx", value);
        return words;
    case IOT_METRIC_COUNT:
        return iot_people_count(iot_compare_integer(value));
    default:
        return iot_people_bytes(iot_compare_integer(value));
    }
}

static struct iot_words signed_value(enum iot_metric_kind kind, double value)
{
    struct iot_words words, plain = iot_compare_value(kind, fabs(value));
    snprintf(words.text, sizeof words.text, "%s%.20s",
             value > 0   ? "+"
             : value < 0 ? "-"
                         : "",
             plain.text);
    return words;
}

struct iot_words iot_compare_change(const struct iot_compared *m)
{
    return signed_value(iot_metric_kind(&m->metric), m->shift.median);
}

struct iot_words iot_compare_percent(const struct iot_compared *m)
{
    struct iot_words words = {""};
    double base = m->median[IOT_BASE], percent = 100 * m->shift.median / base;
    if (isnan(m->shift.median))
        return words;
    if (base == 0)
        snprintf(words.text, sizeof words.text, "%s", m->shift.median > 0 ? "new" : "");
    else if (percent >= 1e6)
        snprintf(words.text, sizeof words.text, ">x9999");
    else if (percent >= 1000)
        snprintf(words.text, sizeof words.text, "x%.*f", percent < 10000, 1 + percent / 100);
    else
        snprintf(words.text, sizeof words.text, "%+.*f %%", fabs(percent) < 9.95 ? 1 : 0, percent);
    return words;
}

/* --- sentences --- */

bool iot_compare_tells(const struct iot_compared *m)
{
    return m->gated && m->state != IOT_UNCHANGED;
}

bool iot_compare_beside(const struct iot_compared *m)
{
    return !m->gated && m->metric.object != IOT_METRIC_TOTAL &&
           (m->state == IOT_REGRESSED || m->state == IOT_IMPROVED);
}

bool iot_compare_fails(const struct iot_comparison *c, const struct iot_compared *m)
{
    if (!m->gated)
        return false;
    if (m->state == IOT_REGRESSED)
        return m->rule->level == IOT_LEVEL_FAIL;
    return c->strict && (m->state == IOT_INCONCLUSIVE || m->state == IOT_NOT_COMPARABLE ||
                         m->state == IOT_MISSING);
}

/* Behind n bytes of text. The names of the first few; they are sorted. */
static size_t put_regressed(const struct iot_comparison *c, char *text, size_t n)
{
    enum { NAMED = 3 };
    for (size_t i = 0, k = 0; i < c->n && k < NAMED; i++)
        if (c->metrics[i].gated && c->metrics[i].state == IOT_REGRESSED)
            n += (size_t)snprintf(text + n, IOT_COMPARE_SENTENCE - n, "%s%.80s", k++ ? ", " : "",
                                  c->metrics[i].name);
    return n + (size_t)snprintf(text + n, IOT_COMPARE_SENTENCE - n,
                                "%s (%zu of %zu gated figures).",
                                c->count[IOT_REGRESSED] > NAMED ? " and others" : "",
                                c->count[IOT_REGRESSED], c->gated);
}

void iot_compare_verdict(const struct iot_comparison *c, char text[IOT_COMPARE_SENTENCE])
{
    size_t worse = c->count[IOT_REGRESSED];
    const char *were = c->undecided == 1 ? "is" : "are";
    size_t n;

    if (worse)
        n = put_regressed(c, text,
                          (size_t)snprintf(text, IOT_COMPARE_SENTENCE,
                                           "Regressed%s: ", c->failed ? "" : " (warnings only)"));
    else if (c->gated && c->undecided == c->gated)
        n = (size_t)snprintf(text, IOT_COMPARE_SENTENCE,
                             "Nothing is decided: this is no proof that nothing regressed.");
    else if (c->undecided)
        n = (size_t)snprintf(text, IOT_COMPARE_SENTENCE,
                             "No regression found in %zu of %zu gated figures.",
                             c->gated - c->undecided, c->gated);
    else
        n = (size_t)snprintf(
            text, IOT_COMPARE_SENTENCE,
            "No regression: each of %zu gated figures is within what is tolerated.", c->gated);
    if (c->undecided)
        snprintf(text + n, IOT_COMPARE_SENTENCE - n, " %zu %s undecided.", c->undecided, were);
}

/* The most runs a side that would decide an inconclusive figure; 0: none asks for any. *noisy:
 * there is one that not even IOT_RUNS_MAX decide. */
static size_t runs_needed(const struct iot_comparison *c, bool *noisy)
{
    size_t most = 0;
    *noisy = false;
    for (size_t i = 0; i < c->n; i++) {
        const struct iot_compared *m = &c->metrics[i];
        if (!m->gated || m->state != IOT_INCONCLUSIVE)
            continue;
        if (m->runs_needed > IOT_RUNS_MAX)
            *noisy = true;
        else if (m->runs_needed > most)
            most = m->runs_needed;
    }
    return most;
}

void iot_compare_next(const struct iot_comparison *c, char text[IOT_COMPARE_SENTENCE])
{
    bool noisy;
    size_t n = 0, needed = runs_needed(c, &noisy);
    text[0] = '\0';
    if (c->count[IOT_REGRESSED])
        n += (size_t)snprintf(text, IOT_COMPARE_SENTENCE,
                              "If that is meant, renew the baseline, or allow it in the policy. ");
    if (needed)
        n += (size_t)snprintf(text + n, IOT_COMPARE_SENTENCE - n,
                              "What is inconclusive needs %s%zu runs a side: iotrace run --repeat "
                              "%zu. ",
                              noisy ? "at least " : "", needed, needed);
    if (noisy)
        n += (size_t)snprintf(text + n, IOT_COMPARE_SENTENCE - n,
                              "What not even %d runs would decide needs a quieter machine, or a "
                              "policy that tolerates more. ",
                              IOT_RUNS_MAX);
    if (c->count[IOT_MISSING])
        n += (size_t)snprintf(text + n, IOT_COMPARE_SENTENCE - n,
                              "What is missing was not measured on one side. ");
    if (c->count[IOT_NOT_COMPARABLE])
        n += (size_t)snprintf(text + n, IOT_COMPARE_SENTENCE - n,
                              "For what is not comparable, make both sides alike. ");
    if (n)
        text[n - 1] = '\0';
}

static size_t put_runs(const struct iot_compared *m, char *text, size_t n)
{
    if (m->runs_needed > IOT_RUNS_MAX)
        return (size_t)snprintf(text, n, "; not even %d a side would decide", IOT_RUNS_MAX);
    return (size_t)snprintf(text, n, "; about %zu a side would decide", m->runs_needed);
}

void iot_compare_reason(const struct iot_comparison *c, const struct iot_compared *m,
                        char text[IOT_COMPARE_SENTENCE])
{
    enum iot_metric_kind kind = iot_metric_kind(&m->metric);
    size_t n = (size_t)snprintf(text, IOT_COMPARE_SENTENCE, "%s", m->reason);
    if (m->state == IOT_INCONCLUSIVE)
        n += put_runs(m, text + n, IOT_COMPARE_SENTENCE - n);
    if (m->state == IOT_MISSING || m->state == IOT_NOT_COMPARABLE || !m->shift.bounded)
        return;
    n += (size_t)snprintf(text + n, IOT_COMPARE_SENTENCE - n, "%s%g %% interval %s to %s",
                          n ? "; " : "", 100 - 100 * c->policy.alpha,
                          signed_value(kind, m->shift.low).text,
                          signed_value(kind, m->shift.high).text);
    if (isfinite(m->tolerated))
        n += (size_t)snprintf(text + n, IOT_COMPARE_SENTENCE - n, ", tolerated %s",
                              iot_compare_value(kind, m->tolerated).text);
    if (!isnan(m->p_adjusted))
        snprintf(text + n, IOT_COMPARE_SENTENCE - n, ", p = %.2g", m->p_adjusted);
}
