/* Steps and advice for people. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/advice.h"
#include "analyzer/people.h"
#include "analyzer/phases.h"
#include "analyzer/report_text_parts.h"
#include "analyzer/text.h"

/* --- steps --- */

static void put_source(const struct iot_page *page, const struct iot_phase *steady)
{
    const struct iot_report *r = page->report;
    const struct iot_steps *s = r->phases->steps;
    const struct iot_events *e = &r->trace->events;
    const char *path = iot_page_from_here(r, r->trace->files[e->file[s->anchor]].name);
    char text[4096];
    int n = snprintf(text, sizeof text, "%s steps", iot_people_count((int64_t)s->n).text);

    if (s->source == IOT_STEPS_MARKS)
        n += snprintf(text + n, sizeof text - (size_t)n, ", as the program marks them");
    else
        n += snprintf(text + n, sizeof text - (size_t)n, ", found by the period of %s%s%.3000s",
                      iot_op_info(e->op[s->anchor])->name, *path ? " on " : "", path);
    if (s->n > 1)
        n += snprintf(text + n, sizeof text - (size_t)n, ": a median of %s each (P95 %s)",
                      iot_people_time(steady->length.p50_ns).text,
                      iot_people_time(steady->length.p95_ns).text);
    snprintf(text + n, sizeof text - (size_t)n, ", %s of it exposed I/O (P95 %s).",
             iot_people_time(steady->exposed.p50_ns).text,
             iot_people_time(steady->exposed.p95_ns).text);
    iot_page_wrapped(page, text, 0);
}

static void put_phases(const struct iot_page *page)
{
    const struct iot_phases *phases = page->report->phases;
    fprintf(page->out, "%-10s %9s %6s %9s %9s %9s %9s\n", "phase", "time", "steps", "bytes",
            "service", "exposed", "hidden");
    for (size_t p = 0; p < phases->n; p++) {
        const struct iot_phase *phase = &phases->phases[p];
        int64_t bytes = 0, service = 0, exposed = 0;
        for (int o = 0; o < IOT_OBJECTS; o++) {
            bytes += phase->objects[o].figures.bytes;
            service += phase->objects[o].figures.service_ns;
            exposed += phase->objects[o].figures.exposed_ns;
        }
        fprintf(page->out, "%-10s %9s %6s %9s %9s %9s %9s\n", phase->name,
                iot_people_time(phase->end_ns - phase->start_ns).text,
                phase->steps ? iot_people_count((int64_t)phase->steps).text : "-",
                iot_people_bytes(bytes).text, iot_people_time(service).text,
                iot_people_time(exposed).text, iot_people_time(service - exposed).text);
    }
}

static void put_per_step(const struct iot_page *page, const struct iot_phase *steady)
{
    for (int o = 0; o < IOT_OBJECTS; o++) {
        const struct iot_figures *f = &steady->objects[o].figures;
        double calls = (double)(f->data_ops + f->metadata_ops + f->sync_ops);
        int64_t n = (int64_t)steady->steps;
        if (f->service_ns < steady->end_ns / 1000)
            continue;
        fprintf(page->out, "On average: %s %.3g calls, %s, %s service, %s exposed\n",
                iot_object_names[o], calls / (double)n, iot_people_bytes(f->bytes / n).text,
                iot_people_time(f->service_ns / n).text, iot_people_time(f->exposed_ns / n).text);
    }
}

void iot_page_steps(const struct iot_page *page)
{
    const struct iot_phases *phases = page->report->phases;
    const struct iot_phase *steady = NULL;
    for (size_t p = 0; p < phases->n; p++)
        if (phases->phases[p].steps)
            steady = &phases->phases[p];
    if (!steady)
        return;
    fputc('\n', page->out);
    iot_page_heading(page, "Steps");
    put_source(page, steady);
    put_phases(page);
    put_per_step(page, steady);
}

/* --- ranges and marks --- */

enum { RANGES_SHOWN = 12 };

static void put_name(const struct iot_page *page, const char *name, size_t columns)
{
    iot_write_shortened(page->out, name, strlen(name), columns);
    fputc('\n', page->out);
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
        fprintf(page->out, "%6s %9s %9s %9s %9s %9s  ", iot_people_count((int64_t)range->n).text,
                iot_people_time(range->total_ns).text, iot_people_time(range->p50_ns).text,
                iot_people_time(range->p95_ns).text, iot_people_time(range->service_ns).text,
                iot_people_time(range->exposed_ns).text);
        put_name(page, range->name, IOT_TEXT_COLUMNS - 58);
    }
    if (r->n_ranges > RANGES_SHOWN)
        fprintf(page->out, "(%zu more)\n", r->n_ranges - RANGES_SHOWN);
    for (size_t i = 0; i < r->n_marks && i < RANGES_SHOWN; i++)
        put_mark(page, &r->marks[i]);
    if (r->n_marks > RANGES_SHOWN)
        fprintf(page->out, "(%zu more marks)\n", r->n_marks - RANGES_SHOWN);
}

/* --- what to do --- */

/* Service worth a word, all but unexposed. */
static int is_hidden(const struct iot_report *r, const struct iot_figures *f)
{
    int64_t least = r->model->wall_ns / 100;
    return f->service_ns > least && f->exposed_ns < least && f->recoverable_ns < least;
}

void iot_page_advice(const struct iot_page *page)
{
    const struct iot_report *r = page->report;
    char text[640];
    fputc('\n', page->out);
    iot_page_heading(page, "What to do");
    for (size_t i = 0; i < r->advice->n; i++) {
        const struct iot_advice *a = &r->advice->advice[i];
        if (a->object < 0)
            snprintf(text, sizeof text, "- %s: %s.", a->finding, a->action);
        else
            snprintf(text, sizeof text, "- Up to %s: %s; %s.", iot_people_time(a->gain_ns).text,
                     a->finding, a->action);
        iot_page_wrapped(page, text, 2);
    }
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (is_hidden(r, &r->objects[o].figures)) {
            snprintf(text, sizeof text, "- Leave %s: its %s of I/O are hidden behind other work.",
                     iot_object_names[o], iot_people_time(r->objects[o].figures.service_ns).text);
            iot_page_wrapped(page, text, 2);
        }
    if (!r->advice->n)
        iot_page_wrapped(page, "- Nothing that a replay knows of wins 1 % of the run.", 2);
}
