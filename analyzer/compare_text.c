/* A comparison for a terminal: 80 columns. */
#include <string.h>

#include "analyzer/compare_words.h"
#include "analyzer/people.h"
#include "analyzer/text.h"

enum { COLUMNS = 80, NAME = 28, INDENT = 4, BESIDE_MAX = 10 };

static void put_words(FILE *out, const char *text)
{
    fprintf(out, "%*s", INDENT, "");
    iot_write_wrapped(out, text, INDENT, INDENT, COLUMNS);
}

static void put_name(FILE *out, const char *name)
{
    size_t n = iot_write_shortened(out, name, strlen(name), NAME);
    fprintf(out, "%*s", (int)(NAME - n), "");
}

static void put_row(FILE *out, const char *state, const struct iot_compared *m)
{
    enum iot_metric_kind kind = iot_metric_kind(&m->metric);
    fprintf(out, "%-14s ", state);
    put_name(out, m->name);
    fprintf(out, " %9s %9s", iot_compare_value(kind, m->median[IOT_BASE]).text,
            iot_compare_value(kind, m->median[IOT_CANDIDATE]).text);
    /* What cannot be compared has no change to be read off. */
    if (m->state == IOT_NOT_COMPARABLE || m->state == IOT_MISSING)
        fputc('\n', out);
    else
        fprintf(out, " %8s\n", iot_compare_percent(m).text);
}

/* One file may be why of many figures in a row. */
static bool same_why(const struct iot_compared *a, const struct iot_compared *b)
{
    if (!a->n_why || a->n_why != b->n_why)
        return false;
    for (size_t i = 0; i < a->n_why; i++)
        if (strcmp(a->why[i], b->why[i]))
            return false;
    return true;
}

static void put_reason(const struct iot_comparison *c, const struct iot_compared *m, FILE *out)
{
    char text[IOT_COMPARE_SENTENCE];
    iot_compare_reason(c, m, text);
    if (*text)
        put_words(out, text);
    if (m > c->metrics && same_why(m - 1, m)) {
        put_words(out, "- as above");
        return;
    }
    for (size_t i = 0; i < m->n_why; i++) {
        snprintf(text, sizeof text, "- %s", m->why[i]);
        fprintf(out, "%*s", INDENT, "");
        iot_write_wrapped(out, text, INDENT, INDENT + 2, COLUMNS);
    }
}

static bool same_reason(const struct iot_compared *a, const struct iot_compared *b)
{
    return a->state == b->state && !a->n_why && !b->n_why && !a->shift.bounded &&
           !b->shift.bounded && a->runs_needed == b->runs_needed && !strcmp(a->reason, b->reason);
}

static void put_changes(const struct iot_comparison *c, FILE *out)
{
    bool any = false;
    for (size_t i = 0; i < c->n; i++) {
        const struct iot_compared *m = &c->metrics[i];
        if (!iot_compare_tells(m))
            continue;
        if (!any)
            fprintf(out, "\n%-14s %-*s %9s %9s %8s\n", "", NAME, "metric", "base", "candidate",
                    "change");
        any = true;
        put_row(out,
                m->state == IOT_REGRESSED && m->rule->level == IOT_LEVEL_WARN
                    ? "worse (warn)"
                    : iot_state_names[m->state],
                m);
        /* One reason for all rows that share it, under the last of them. */
        if (i + 1 < c->n && iot_compare_tells(m + 1) && same_reason(m, m + 1))
            continue;
        put_reason(c, m, out);
    }
}

static void put_unchanged(const struct iot_comparison *c, FILE *out)
{
    char text[4096];
    size_t n = 0;
    if (!c->count[IOT_UNCHANGED])
        return;
    n = (size_t)snprintf(text, sizeof text, "unchanged (%zu):", c->count[IOT_UNCHANGED]);
    for (size_t i = 0; i < c->n && n < sizeof text; i++)
        if (c->metrics[i].gated && c->metrics[i].state == IOT_UNCHANGED)
            n += (size_t)snprintf(text + n, sizeof text - n, " %s", c->metrics[i].name);
    fputc('\n', out);
    iot_write_wrapped(out, text, 0, INDENT, COLUMNS);
}

static void put_beside(const struct iot_comparison *c, FILE *out)
{
    size_t shown = 0;
    for (size_t i = 0; i < c->n && shown < BESIDE_MAX; i++) {
        if (!iot_compare_beside(&c->metrics[i]))
            continue;
        if (!shown++)
            fputs("\nNot gated, but different:\n", out);
        put_row(out, c->metrics[i].state == IOT_REGRESSED ? "worse" : "better", &c->metrics[i]);
    }
}

void iot_compare_write_text(const struct iot_comparison *c, FILE *out)
{
    char text[IOT_COMPARE_SENTENCE];
    size_t a = c->sides[IOT_BASE].n, b = c->sides[IOT_CANDIDATE].n;

    iot_compare_verdict(c, text);
    iot_write_wrapped(out, text, 0, 0, COLUMNS);
    fprintf(out, "%s of the base, %zu of the candidate.\n", iot_people_many((int64_t)a, "run").text,
            b);
    iot_compare_next(c, text);
    if (*text)
        iot_write_wrapped(out, text, 0, 0, COLUMNS);
    put_changes(c, out);
    put_unchanged(c, out);
    put_beside(c, out);
    for (size_t i = 0; i < c->fingerprint.n_notes; i++) {
        if (!i)
            fputs("\nNot alike:\n", out);
        snprintf(text, sizeof text, "- %s", c->fingerprint.notes[i]);
        iot_write_wrapped(out, text, 0, 2, COLUMNS);
    }
}
