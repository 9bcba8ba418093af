#include "analyzer/report_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/people.h"
#include "analyzer/report_gpu.h"
#include "analyzer/report_text_parts.h"
#include "analyzer/report_words.h"
#include "analyzer/text.h"
#include "analyzer/verdict.h"

/* What adds less than this share of all exposed time is not listed unasked. */
enum { FILES_SHOWN = 10, LISTED_FROM_PER_MILLE = 5, WHY_COLUMNS = 28 };

bool iot_text_wants_colour(FILE *out)
{
    const char *forbidden = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(out)) && !(forbidden && *forbidden) && term && strcmp(term, "dumb");
}

static void bold(const struct iot_page *page, bool on)
{
    if (page->style->colour)
        fputs(on ? "\033[1m" : "\033[0m", page->out);
}

void iot_page_wrapped(const struct iot_page *page, const char *text, size_t indent)
{
    iot_write_wrapped(page->out, text, 0, indent, IOT_TEXT_COLUMNS);
}

void iot_page_heading(const struct iot_page *page, const char *text)
{
    bold(page, true);
    fputs(text, page->out);
    bold(page, false);
    fputc('\n', page->out);
}

static void put_verdict(const struct iot_page *page)
{
    char text[IOT_VERDICT_BYTES];
    iot_verdict(page->report, text);
    bold(page, true);
    iot_page_wrapped(page, text, 0);
    bold(page, false);
}

static void put_composition(const struct iot_page *page)
{
    char text[IOT_SENTENCE_BYTES];
    iot_words_composition(page->report, text);
    iot_page_wrapped(page, text, 0);
}

/* --- the ledger --- */

static void put_row(FILE *out, const char *name, const struct iot_figures *f)
{
    char rate[24] = "-";
    int64_t calls = f->data_ops + f->metadata_ops + f->sync_ops;
    double gbps = f->service_ns ? (double)f->bytes / (double)f->service_ns : 0;
    if (gbps >= 0.001)
        snprintf(rate, sizeof rate, "%.*f", gbps < 1 ? 3 : gbps < 100 ? 2 : 0, gbps);
    else if (gbps > 0)
        strcpy(rate, "<0.001");
    fprintf(out, "%-8s %9s %9s %9s %9s %9s %11s %8s\n", name, iot_people_bytes(f->bytes).text,
            iot_people_count(calls).text, iot_people_time(f->service_ns).text,
            iot_people_time(f->exposed_ns).text,
            iot_people_time(f->service_ns - f->exposed_ns).text,
            iot_people_time(f->recoverable_ns).text, rate);
}

void iot_page_ledger(const struct iot_page *page, const struct iot_report_object *objects,
                     const struct iot_figures *total)
{
    char heading[IOT_TEXT_COLUMNS + 1];
    snprintf(heading, sizeof heading, "%-8s %9s %9s %9s %9s %9s %11s %8s", "object", "bytes",
             "calls", "service", "exposed", "hidden", "recoverable", "GB/s");
    iot_page_heading(page, heading);
    for (int o = 0; o < IOT_OBJECTS; o++)
        put_row(page->out, iot_object_names[o], &objects[o].figures);
    put_row(page->out, "total", total);
}

static void put_serialization(const struct iot_page *page)
{
    char text[IOT_SENTENCE_BYTES];
    if (!iot_words_serialization(page->report, text))
        return;
    fputc('\n', page->out);
    iot_page_wrapped(page, text, 0);
}

static void put_faults(const struct iot_page *page)
{
    char text[IOT_SENTENCE_BYTES];
    if (!iot_words_faults(page->report, text))
        return;
    fputc('\n', page->out);
    iot_page_wrapped(page, text, 0);
}

/* --- files --- */

static size_t files_shown(const struct iot_page *page)
{
    const struct iot_report *r = page->report;
    size_t n = 0;
    if (page->style->all_files)
        return r->n_files;
    while (n < r->n_files && n < FILES_SHOWN &&
           r->files[n].figures.exposed_ns > r->total.exposed_ns / 1000 * LISTED_FROM_PER_MILLE)
        n++;
    return n;
}

static void put_file(const struct iot_page *page, const struct iot_report_file *f, size_t why)
{
    const size_t fixed = 9 + 1 + 8 + 1; /* exposed and object */
    size_t room = IOT_TEXT_COLUMNS - fixed - (why ? why + 2 : 0);
    const char *path = iot_words_from_here(page->report, f->path);

    fprintf(page->out, "%9s %-8s ", iot_people_time(f->figures.exposed_ns).text,
            iot_object_names[f->object]);
    size_t taken = iot_write_shortened(page->out, path, strlen(path), room);
    if (*f->why) {
        fprintf(page->out, "%*s", (int)(room - taken + 2), "");
        iot_write_shortened(page->out, f->why, strlen(f->why), why);
    }
    fputc('\n', page->out);
}

/* What `--top` cut, under its own heading: it may well add more than the files above it. */
static void put_rest(const struct iot_page *page, size_t from)
{
    const struct iot_report *r = page->report;
    for (size_t i = from; i < r->n_files; i++) {
        const struct iot_report_file *f = &r->files[i];
        if (i == from)
            iot_page_heading(page, "  exposed object   the other files, added up");
        fprintf(page->out, "%9s %-8s %s\n",
                iot_people_time(f->figures.exposed_ns).text, iot_object_names[f->object],
                iot_people_many((int64_t)f->rest, "more file").text);
    }
}

static void put_files(const struct iot_page *page)
{
    const struct iot_report *r = page->report;
    size_t n = files_shown(page), rest = r->n_files, why = 0;
    while (rest && r->files[rest - 1].rest)
        rest--;
    n = n < rest ? n : rest;
    if (!n && rest == r->n_files)
        return;
    for (size_t i = 0; i < n; i++) {
        size_t columns = iot_printable_columns(r->files[i].why, strlen(r->files[i].why));
        why = columns > why ? columns : why;
    }
    why = why > WHY_COLUMNS ? WHY_COLUMNS : why && why < 8 ? 8 : why;
    fputc('\n', page->out);
    iot_page_heading(page, "  exposed object   file, and why it is that object");
    for (size_t i = 0; i < n; i++)
        put_file(page, &r->files[i], why);
    if (rest < r->n_files) {
        put_rest(page, rest);
    } else if (n < r->n_files) {
        int64_t left = r->total.exposed_ns;
        for (size_t i = 0; i < n; i++)
            left -= r->files[i].figures.exposed_ns;
        fprintf(page->out, "%9s          in %s; --top N lists N files\n",
                iot_people_time(left).text,
                iot_people_many((int64_t)(r->n_files - n), "more file").text);
    }
}

void iot_page_point(const struct iot_page *page, const char *text)
{
    char line[IOT_SENTENCE_BYTES + 4];
    snprintf(line, sizeof line, "- %s", text);
    iot_page_wrapped(page, line, 2);
}

static void put_lines(const struct iot_page *page, const char *heading,
                      bool (*line)(const struct iot_report *, size_t, char[IOT_SENTENCE_BYTES]))
{
    char text[IOT_SENTENCE_BYTES];
    for (size_t i = 0; line(page->report, i, text); i++) {
        if (i == 0) {
            fputc('\n', page->out);
            iot_page_heading(page, heading);
        }
        iot_page_point(page, text);
    }
}

/* --- who waited for whom, and in which queues --- */

static void put_waits(const struct iot_page *page)
{
    char text[IOT_SENTENCE_BYTES];
    put_lines(page, "Who waited for whom", iot_words_waited);
    put_lines(page, "Queues", iot_words_queue);
    if (iot_words_pipes(page->report, text))
        iot_page_wrapped(page, text, 0);
}

/* --- what the figures do not say --- */

static void put_sentences(const struct iot_page *page, const char *const *sentences, size_t n)
{
    char text[IOT_SENTENCE_BYTES];
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%s.", sentences[i]);
        iot_page_point(page, text);
    }
}

static void put_limits(const struct iot_page *page)
{
    const struct iot_report *r = page->report;

    fputc('\n', page->out);
    iot_page_heading(page, "Not seen");
    put_sentences(page, r->run.not_seen, r->run.n_not_seen);

    fputc('\n', page->out);
    iot_page_heading(page, "Not proved");
    put_sentences(page, r->evidence, r->n_evidence);
}

void iot_report_write_text(const struct iot_report *report, FILE *out,
                           const struct iot_text_style *style)
{
    const struct iot_page page = {out, report, style};

    put_verdict(&page);
    if (!style->brief)
        put_composition(&page);
    fputc('\n', out);
    iot_page_ledger(&page, report->objects, &report->total);
    if (style->brief) {
        put_faults(&page); /* without it, what is mapped looks as if nothing were loaded */
        return;
    }
    put_serialization(&page);
    put_faults(&page);
    iot_page_steps(&page);
    iot_page_ranges(&page);
    put_lines(&page, "GPUs", iot_words_gpu);
    put_files(&page);
    put_lines(&page, "Where calls are made", iot_words_site);
    put_waits(&page);
    iot_page_advice(&page);
    put_limits(&page);
    iot_page_next(&page);
}
