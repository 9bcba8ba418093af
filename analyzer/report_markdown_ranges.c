/* What the program marks, as Markdown. */
#include "analyzer/people.h"
#include "analyzer/report_markdown.h"

enum { ROWS_SHOWN = 20, NAME_BYTES = 100 };

static void put_ranges(const struct iot_report *r, FILE *out)
{
    fputs("| ranges | time | median | P95 | service | exposed | range |\n"
          "|--:|--:|--:|--:|--:|--:|---|\n",
          out);
    for (size_t i = 0; i < r->n_ranges && i < ROWS_SHOWN; i++) {
        const struct iot_range *range = &r->ranges[i];
        fprintf(out, "| %s | %s | %s | %s | %s | %s | ", iot_people_count((int64_t)range->n).text,
                iot_people_time(range->total_ns).text, iot_people_time(range->p50_ns).text,
                iot_people_time(range->p95_ns).text, iot_people_time(range->service_ns).text,
                iot_people_time(range->exposed_ns).text);
        iot_write_markdown(out, range->name, NAME_BYTES);
        fputs(" |\n", out);
    }
    if (r->n_ranges > ROWS_SHOWN)
        fprintf(out, "| %zu more | | | | | | |\n", r->n_ranges - ROWS_SHOWN);
}

static void put_mark(const struct iot_named_mark *mark, FILE *out)
{
    fprintf(out, "- %s", iot_people_time(mark->first_ns).text);
    if (mark->n > 1)
        fprintf(out, " to %s, %s times", iot_people_time(mark->last_ns).text,
                iot_people_count((int64_t)mark->n).text);
    fputs(": ", out);
    iot_write_markdown(out, mark->name, NAME_BYTES);
    fputc('\n', out);
}

void iot_report_markdown_ranges(const struct iot_report *r, FILE *out)
{
    if (!r->n_ranges && !r->n_marks)
        return;
    fputs("\n## What the program marks\n\n", out);
    if (r->n_ranges)
        put_ranges(r, out);
    if (r->n_ranges && r->n_marks)
        fputc('\n', out);
    for (size_t i = 0; i < r->n_marks && i < ROWS_SHOWN; i++)
        put_mark(&r->marks[i], out);
    if (r->n_marks > ROWS_SHOWN)
        fprintf(out, "- %s\n",
                iot_people_many((int64_t)(r->n_marks - ROWS_SHOWN), "more mark").text);
}
