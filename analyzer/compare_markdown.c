/* A comparison as a comment on a pull request: whatever it holds, it fits into one. */
#include <stdlib.h>

#include "analyzer/compare_words.h"
#include "analyzer/people.h"
#include "analyzer/report_markdown.h"

/* A comment on GitHub has at most 65536 characters; a character of a name takes up to six. */
enum { NAME_BYTES = 120, SENTENCE_BYTES = 400, ROWS_MAX = 24, PAGE_BYTES = 60000 };

/* What fits is written piece by piece. */
struct page {
    const struct iot_comparison *c;
    FILE *out, *piece; /* the one under way, in memory */
    char *text;
    size_t n, left, dropped; /* bytes; pieces */
};

static FILE *begin(struct page *page)
{
    page->text = NULL;
    page->piece = open_memstream(&page->text, &page->n);
    return page->piece ? page->piece : page->out;
}

static void end(struct page *page)
{
    if (!page->piece)
        return; /* without memory it is there already */
    fclose(page->piece);
    bool fits = page->n <= page->left;
    if (fits) {
        fwrite(page->text, 1, page->n, page->out);
        page->left -= page->n;
    }
    page->dropped += !fits;
    free(page->text);
}

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

static void put_table(struct page *page)
{
    const struct iot_comparison *c = page->c;
    size_t shown = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (!iot_compare_tells(&c->metrics[i]))
            continue;
        if (shown == ROWS_MAX) {
            page->dropped++;
            continue;
        }
        FILE *out = begin(page);
        if (!shown++)
            fputs("\n| | figure | base | candidate | change | |\n|---|---|--:|--:|--:|--:|\n", out);
        put_row(&c->metrics[i], out);
        end(page);
    }
}

static void put_reason(const struct iot_compared *m, const char *reason, FILE *out)
{
    iot_write_markdown(out, m->name, NAME_BYTES);
    fputs(*reason ? ": " : "", out);
    iot_write_markdown(out, reason, SENTENCE_BYTES);
    fputc('\n', out);
    for (size_t k = 0; k < m->n_why; k++) {
        fputs("  - ", out);
        iot_write_markdown(out, m->why[k], SENTENCE_BYTES);
        fputc('\n', out);
    }
}

static void put_why(struct page *page)
{
    char text[IOT_COMPARE_SENTENCE];
    size_t shown = 0;
    for (size_t i = 0; i < page->c->n && shown < ROWS_MAX; i++) {
        const struct iot_compared *m = &page->c->metrics[i];
        if (!iot_compare_tells(m))
            continue;
        iot_compare_reason(page->c, m, text);
        if (!*text && !m->n_why)
            continue;
        FILE *out = begin(page);
        fputs(shown++ ? "- " : "\n### Why\n\n- ", out);
        put_reason(m, text, out);
        end(page);
    }
}

static void put_unchanged(struct page *page)
{
    const struct iot_comparison *c = page->c;
    if (!c->count[IOT_UNCHANGED])
        return;
    FILE *out = begin(page);
    fprintf(out, "\n<details><summary>%zu unchanged</summary>\n\n", c->count[IOT_UNCHANGED]);
    for (size_t i = 0, shown = 0; i < c->n && shown < 2 * ROWS_MAX; i++)
        if (c->metrics[i].gated && c->metrics[i].state == IOT_UNCHANGED) {
            fputs(shown++ ? ", " : "", out);
            iot_write_markdown(out, c->metrics[i].name, NAME_BYTES);
        }
    fputs("\n\n</details>\n", out);
    end(page);
}

static void put_notes(struct page *page)
{
    for (size_t i = 0; i < page->c->fingerprint.n_notes; i++) {
        FILE *out = begin(page);
        fputs(i ? "- " : "\n### Not alike\n\n- ", out);
        iot_write_markdown(out, page->c->fingerprint.notes[i], SENTENCE_BYTES);
        fputc('\n', out);
        end(page);
    }
}

void iot_compare_write_markdown(const struct iot_comparison *c, FILE *out)
{
    struct page page = {.c = c, .out = out, .left = PAGE_BYTES};
    char text[IOT_COMPARE_SENTENCE];
    size_t a = c->sides[IOT_BASE].n, b = c->sides[IOT_CANDIDATE].n;

    iot_compare_verdict(c, text);
    fputs("## I/O compared\n\n**", out);
    iot_write_markdown(out, text, SENTENCE_BYTES);
    fprintf(out, "** %s of the base, %zu of the candidate.",
            iot_people_many((int64_t)a, "run").text, b);
    iot_compare_next(c, text);
    fputs(*text ? " " : "", out);
    iot_write_markdown(out, text, SENTENCE_BYTES);
    fputc('\n', out);
    put_table(&page);
    put_why(&page);
    put_unchanged(&page);
    put_notes(&page);
    if (page.dropped)
        fprintf(out, "\n%zu more lines are in the text and in the JSON.\n", page.dropped);
}
