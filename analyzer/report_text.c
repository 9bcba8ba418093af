#include "analyzer/report_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/people.h"
#include "analyzer/text.h"
#include "analyzer/verdict.h"

/* What adds less than this share of all exposed time is not listed unasked. */
enum { FILES_SHOWN = 10, LISTED_FROM_PER_MILLE = 5, WHY_COLUMNS = 28 };

bool iot_text_wants_colour(FILE *out)
{
    const char *forbidden = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(out)) && !(forbidden && *forbidden) && term && strcmp(term, "dumb");
}

struct page {
    FILE *out;
    const struct iot_report *report;
    const struct iot_text_style *style;
};

static void bold(const struct page *page, bool on)
{
    if (page->style->colour)
        fputs(on ? "\033[1m" : "\033[0m", page->out);
}

static void put_wrapped(FILE *out, const char *text, size_t indent)
{
    iot_write_wrapped(out, text, 0, indent, IOT_TEXT_COLUMNS);
}

static void put_heading(const struct page *page, const char *text)
{
    bold(page, true);
    fputs(text, page->out);
    bold(page, false);
    fputc('\n', page->out);
}

static void put_verdict(const struct page *page)
{
    char text[256];
    iot_verdict(page->report, text);
    bold(page, true);
    put_wrapped(page->out, text, 0);
    bold(page, false);
}

/* --- what the wall time is made of --- */

static void put_composition(const struct page *page)
{
    const struct iot_model *model = page->report->model;
    const struct iot_path_parts *p = &model->path;
    const struct {
        const char *name;
        int64_t ns;
    } parts[] = {
        {"is computing", p->compute_ns},
        {"is I/O", p->io_ns},
        {"is GPU work", p->gpu_ns},
        {"is sleep", p->sleep_ns},
        {"is waking up", p->wake_ns},
        {"is waiting for others", p->external_ns},
        {"is unexplained waiting", p->unexplained_ns},
    };
    struct iot_words half = iot_people_time(iot_curve_at(model, 0.5));
    struct iot_words none = iot_people_time(model->wall_ns - p->io_ns);
    char text[640];
    size_t n = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].ns)
            continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s (%s)", n ? ", " : "Of its time, ",
                              iot_people_time(parts[i].ns).text, parts[i].name,
                              iot_people_share(parts[i].ns, model->wall_ns).text);
    }
    if (n)
        n += (size_t)snprintf(text + n, sizeof text - n, ". ");
    if (p->io_ns)
        snprintf(text + n, sizeof text - n,
                 "With I/O twice as fast it would take %s, without any %s.", half.text, none.text);
    if (n)
        put_wrapped(page->out, text, 0);
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

static void put_ledger(const struct page *page)
{
    char heading[IOT_TEXT_COLUMNS + 1];
    snprintf(heading, sizeof heading, "%-8s %9s %9s %9s %9s %9s %11s %8s", "object", "bytes",
             "calls", "service", "exposed", "hidden", "recoverable", "GB/s");
    put_heading(page, heading);
    for (int o = 0; o < IOT_OBJECTS; o++)
        put_row(page->out, iot_object_names[o], &page->report->objects[o].figures);
    put_row(page->out, "total", &page->report->total);
}

/* --- files --- */

/* Below the folder the run started in, the path from there. */
static const char *from_here(const struct iot_report *r, const char *path)
{
    const char *cwd = r->trace->processes[0].cwd;
    size_t n = strlen(cwd);
    return n > 1 && !strncmp(path, cwd, n) && path[n] == '/' && path[n + 1] ? path + n + 1 : path;
}

static size_t files_shown(const struct page *page)
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

static void put_file(const struct page *page, const struct iot_report_file *f, size_t why)
{
    const size_t fixed = 9 + 1 + 8 + 1; /* exposed and object */
    size_t room = IOT_TEXT_COLUMNS - fixed - (why ? why + 2 : 0);
    const char *path = f->rest ? f->path : from_here(page->report, f->path);

    fprintf(page->out, "%9s %-8s ", iot_people_time(f->figures.exposed_ns).text,
            iot_object_names[f->object]);
    size_t taken = iot_write_shortened(page->out, path, strlen(path), room);
    if (*f->why) {
        fprintf(page->out, "%*s", (int)(room - taken + 2), "");
        iot_write_shortened(page->out, f->why, strlen(f->why), why);
    }
    fputc('\n', page->out);
}

static void put_files(const struct page *page)
{
    const struct iot_report *r = page->report;
    size_t n = files_shown(page), why = 0;
    if (!n)
        return;
    for (size_t i = 0; i < n; i++) {
        size_t columns = iot_printable_columns(r->files[i].why, strlen(r->files[i].why));
        why = columns > why ? columns : why;
    }
    why = why > WHY_COLUMNS ? WHY_COLUMNS : why && why < 8 ? 8 : why;
    fputc('\n', page->out);
    put_heading(page, "  exposed object   file, and why it is that object");
    for (size_t i = 0; i < n; i++)
        put_file(page, &r->files[i], why);
    if (n < r->n_files) {
        int64_t left = r->total.exposed_ns;
        for (size_t i = 0; i < n; i++)
            left -= r->files[i].figures.exposed_ns;
        fprintf(page->out, "%9s in %zu more files; --top N lists N of them\n",
                iot_people_time(left).text, r->n_files - n);
    }
}

/* --- what the figures do not say --- */

static void put_point(const struct page *page, const char *text)
{
    char line[512];
    snprintf(line, sizeof line, "- %s.", text);
    put_wrapped(page->out, line, 2);
}

static void put_limits(const struct page *page)
{
    const struct iot_report *r = page->report;
    const struct iot_model *model = r->model;
    char text[256];

    fputc('\n', page->out);
    put_heading(page, "Not seen");
    for (size_t i = 0; i < r->run.n_not_seen; i++)
        put_point(page, r->run.not_seen[i]);

    fputc('\n', page->out);
    put_heading(page, "Not proved");
    put_point(page,
              "Whether files came from the page cache is not known: another run may find them "
              "cold, or warm");
    put_point(page, "Replays keep the order and the contention of this run: what is recoverable is "
                    "an estimate, and does not add up over objects");
    if (r->run.runqueue_ns > (uint64_t)model->wall_ns / 100) {
        snprintf(
            text, sizeof text,
            "Processes were ready and waited %s for a CPU: on a machine of its own the run may "
            "look different",
            iot_people_time((int64_t)r->run.runqueue_ns).text);
        put_point(page, text);
    }
    if (model->exposed_error_ns) {
        snprintf(text, sizeof text, "Which calls are exposed is uncertain by at most %s",
                 iot_people_time(model->exposed_error_ns).text);
        put_point(page, text);
    }
}

void iot_report_write_text(const struct iot_report *report, FILE *out,
                           const struct iot_text_style *style)
{
    const struct page page = {out, report, style};

    put_verdict(&page);
    if (!style->brief)
        put_composition(&page);
    fputc('\n', out);
    put_ledger(&page);
    if (style->brief)
        return;
    put_files(&page);
    put_limits(&page);
}
