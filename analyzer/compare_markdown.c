/* A comparison as a comment on a pull request. */
#include "analyzer/compare_words.h"
#include "analyzer/report_markdown.h"

/* A comment on GitHub has at most 65536 characters; a character of a name takes up to six. */
enum { NAME_BYTES = 120, SENTENCE_BYTES = 400, ROWS_MAX = 24 };

static const char *const marks[IOT_STATES] = {
    [IOT_REGRESSED] = "❌",    [IOT_MISSING] = "❓",  [IOT_NOT_COMPARABLE] = "❓",
    [IOT_INCONCLUSIVE] = "❔", [IOT_IMPROVED] = "✅", [IOT_UNCHANGED] = "✅"};

static void put_row(const struct iot_compared *m, FILE *out)
{
    enum iot_metric_kind kind = iot_metric_kind(&m->metric);
    bool warns = m->state == IOT_REGRESSED && m->rule->level == IOT_LEVEL_WARN;
    bool readable = m->state != IOT_NOT_COMPARABLE && m->state != IOT_MISSING;

    fprintf(out, "| %s %s | <code>", warns ? "⚠️" : marks[m->state],
            warns ? "worse (warn)" : iot_state_names[m->state]);
    iot_write_markdown(out, m->name, NAME_BYTES);
    fprintf(
        out, "</code> | %s | %s | %s | %s |\n", iot_compare_value(kind, m->median[IOT_BASE]).text,
        iot_compare_value(kind, m->median[IOT_CANDIDATE]).text,
        readable ? iot_compare_change(m).text : "", readable ? iot_compare_percent(m).text : "");
}

static void put_table(const struct iot_comparison *c, FILE *out)
{
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (!iot_compare_tells(&c->metrics[i]))
            continue;
        if (shown == ROWS_MAX) {
            left++;
            continue;
        }
        if (!shown++)
            fputs("\n| | figure | base | candidate | change | |\n|---|---|--:|--:|--:|--:|\n", out);
        put_row(&c->metrics[i], out);
    }
    if (left)
        fprintf(out, "\n%zu more are in the text and in the JSON.\n", left);
}

static void put_why(const struct iot_comparison *c, FILE *out)
{
    char text[IOT_COMPARE_SENTENCE];
    size_t shown = 0;
    for (size_t i = 0; i < c->n && shown < ROWS_MAX; i++) {
        const struct iot_compared *m = &c->metrics[i];
        if (!iot_compare_tells(m))
            continue;
        iot_compare_reason(c, m, text);
        if (!*text && !m->n_why)
            continue;
        fputs(shown++ ? "- " : "\n### Why\n\n- ", out);
        iot_write_markdown(out, m->name, NAME_BYTES);
        fputs(*text ? ": " : "", out);
        iot_write_markdown(out, text, SENTENCE_BYTES);
        fputc('\n', out);
        for (size_t k = 0; k < m->n_why; k++) {
            fputs("  - ", out);
            iot_write_markdown(out, m->why[k], SENTENCE_BYTES);
            fputc('\n', out);
        }
    }
}

void iot_compare_write_markdown(const struct iot_comparison *c, FILE *out)
{
    char text[IOT_COMPARE_SENTENCE];
    size_t a = c->sides[IOT_BASE].n, b = c->sides[IOT_CANDIDATE].n;

    iot_compare_verdict(c, text);
    fputs("## I/O compared\n\n**", out);
    iot_write_markdown(out, text, SENTENCE_BYTES);
    fprintf(out, "** %zu run%s of the base, %zu of the candidate.\n", a, a == 1 ? "" : "s", b);
    put_table(c, out);
    put_why(c, out);
    if (c->count[IOT_UNCHANGED]) {
        fprintf(out, "\n<details><summary>%zu unchanged</summary>\n\n", c->count[IOT_UNCHANGED]);
        for (size_t i = 0, shown = 0; i < c->n && shown < 2 * ROWS_MAX; i++)
            if (c->metrics[i].gated && c->metrics[i].state == IOT_UNCHANGED) {
                fputs(shown++ ? ", " : "", out);
                iot_write_markdown(out, c->metrics[i].name, NAME_BYTES);
            }
        fputs("\n\n</details>\n", out);
    }
    for (size_t i = 0; i < c->fingerprint.n_notes; i++) {
        fputs(i ? "- " : "\n### Not alike\n\n- ", out);
        iot_write_markdown(out, c->fingerprint.notes[i], SENTENCE_BYTES);
        fputc('\n', out);
    }
}
