/* What the program marks, for people. */
#include <string.h>

#include "analyzer/people.h"
#include "analyzer/report_text_parts.h"
#include "analyzer/text.h"

enum { RANGES_SHOWN = 12, NAME_AT = 58, LONG_NAME_AT = 10 };

static void put_name(const struct iot_page *page, const char *name, size_t columns)
{
    iot_write_shortened(page->out, name, strlen(name), columns);
    fputc('\n', page->out);
}

/* One that does not fit behind the figures has a line of its own. */
static void put_range_name(const struct iot_page *page, const char *name)
{
    size_t room = IOT_TEXT_COLUMNS - NAME_AT;
    if (iot_printable_columns(name, strlen(name)) > room) {
        fprintf(page->out, "\n%*s", LONG_NAME_AT, "");
        room = IOT_TEXT_COLUMNS - LONG_NAME_AT;
    } else {
        fputs("  ", page->out);
    }
    put_name(page, name, room);
}

static void put_mark(const struct iot_page *page, const struct iot_named_mark *mark)
{
    fprintf(page->out, "%9s", iot_people_time(mark->first_ns).text);
    if (mark->n > 1)
        fprintf(page->out, " to %s, %s times", iot_people_time(mark->last_ns).text,
                iot_people_count((int64_t)mark->n).text);
    fputs("  ", page->out);
    put_name(page, mark->name, IOT_TEXT_COLUMNS - 40);
}

void iot_page_ranges(const struct iot_page *page)
{
    const struct iot_report *r = page->report;
    if (!r->n_ranges && !r->n_marks)
        return;
    fputc('\n', page->out);
    iot_page_heading(page, "What the program marks");
    if (r->n_ranges)
        fprintf(page->out, "%6s %9s %9s %9s %9s %9s  range\n", "ranges", "time", "median", "P95",
                "service", "exposed");
    for (size_t i = 0; i < r->n_ranges && i < RANGES_SHOWN; i++) {
        const struct iot_range *range = &r->ranges[i];
        fprintf(page->out, "%6s %9s %9s %9s %9s %9s", iot_people_count((int64_t)range->n).text,
                iot_people_time(range->total_ns).text, iot_people_time(range->p50_ns).text,
                iot_people_time(range->p95_ns).text, iot_people_time(range->service_ns).text,
                iot_people_time(range->exposed_ns).text);
        put_range_name(page, range->name);
    }
    if (r->n_ranges > RANGES_SHOWN)
        fprintf(page->out, "(%zu more)\n", r->n_ranges - RANGES_SHOWN);
    for (size_t i = 0; i < r->n_marks && i < RANGES_SHOWN; i++)
        put_mark(page, &r->marks[i]);
    if (r->n_marks > RANGES_SHOWN)
        fprintf(page->out, "(%s)\n",
                iot_people_many((int64_t)(r->n_marks - RANGES_SHOWN), "more mark").text);
}
