/* A job's report for people: text in 80 columns, and Markdown. */
#include <string.h>

#include "analyzer/job.h"
#include "analyzer/people.h"
#include "analyzer/report_markdown.h"
#include "analyzer/report_text_parts.h"
#include "analyzer/text.h"

enum { TEXT_FILES = 10, PATH_COLUMNS = 44, MARKDOWN_BYTES = 600, NAME_BYTES = 120 };

static const struct {
    const char *heading;
    size_t at;
} sections[] = {
    {"Ranks", offsetof(struct iot_job, ranks)},
    {"Steps", offsetof(struct iot_job, sections[IOT_JOB_STEPS])},
    {"Until artifacts were ready", offsetof(struct iot_job, sections[IOT_JOB_READY])},
    {"GPUs", offsetof(struct iot_job, sections[IOT_JOB_GPUS])},
    {"What the program marks", offsetof(struct iot_job, sections[IOT_JOB_MARKED])},
    {"Where calls are made", offsetof(struct iot_job, sections[IOT_JOB_SITES])},
    {"Who waited for whom", offsetof(struct iot_job, sections[IOT_JOB_WAITS])},
    {"Queues", offsetof(struct iot_job, sections[IOT_JOB_QUEUES])},
    {"Read by several units", offsetof(struct iot_job, shared_words)},
    {"Slow hosts", offsetof(struct iot_job, slow)},
    {"What to do", offsetof(struct iot_job, sections[IOT_JOB_ADVICE])},
    {"What to know of these figures", offsetof(struct iot_job, notes)},
    {"Not seen", offsetof(struct iot_job, sections[IOT_JOB_NOT_SEEN])},
    {"Not proved", offsetof(struct iot_job, sections[IOT_JOB_EVIDENCE])},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static const struct iot_job_lines *lines_of(const struct iot_job *job, size_t section)
{
    return (const struct iot_job_lines *)((const char *)job + sections[section].at);
}

/* The cut-offs of the units that do not name it. */
static const char *at_most(int64_t error, char text[48])
{
    *text = '\0';
    if (error)
        snprintf(text, 48, " +%s", iot_people_time(error).text);
    return text;
}

/* What is not listed: files that units name, and those that they do not, once for each unit. */
struct rest {
    size_t files;
    int64_t exposed_ns, unnamed, unnamed_exposed_ns;
};

static struct rest rest_of(const struct iot_job *job, size_t shown)
{
    struct rest rest = {job->n_files - shown, 0, 0, 0};
    for (size_t i = shown; i < job->n_files; i++)
        rest.exposed_ns = iot_sum(rest.exposed_ns, job->files[i].figures.exposed_ns);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        const int64_t *at = job->partial->rest[o].at;
        rest.unnamed = iot_sum(rest.unnamed, at[IOT_COLUMN_files]);
        rest.unnamed_exposed_ns = iot_sum(rest.unnamed_exposed_ns, at[IOT_COLUMN_exposed_ns]);
    }
    return rest;
}

static void put_rest(const struct iot_page *page, const struct rest *rest)
{
    if (rest->files)
        fprintf(page->out, "%9s                 in %s; --top N lists N files\n",
                iot_people_time(rest->exposed_ns).text,
                iot_people_many((int64_t)rest->files, "more file").text);
    if (rest->unnamed)
        fprintf(page->out, "%9s                 in %s that units do not name\n",
                iot_people_time(rest->unnamed_exposed_ns).text,
                iot_people_many(rest->unnamed, rest->files ? "other file" : "more file").text);
}

static void put_files(const struct iot_page *page, const struct iot_job *job, size_t top)
{
    size_t shown = top < job->n_files ? top : job->n_files;
    const struct rest rest = rest_of(job, shown);
    if (!job->n_files && !rest.unnamed)
        return;
    fputc('\n', page->out);
    iot_page_heading(page,
                     "  exposed object   units  file (+: what units that do not name it may add)");
    for (size_t i = 0; i < shown; i++) {
        const struct iot_job_file *f = &job->files[i];
        char more[48];
        fprintf(page->out, "%9s %-8s %5s  ", iot_people_time(f->figures.exposed_ns).text,
                iot_object_names[f->file->object],
                iot_people_count(f->file->sums.at[IOT_COLUMN_units]).text);
        iot_write_shortened(page->out, f->file->path, strlen(f->file->path), PATH_COLUMNS);
        fprintf(page->out, "%s\n", at_most(f->error_exposed_ns, more));
    }
    put_rest(page, &rest);
}

void iot_job_write_text(const struct iot_job *job, FILE *out, bool colour, size_t top)
{
    const struct iot_text_style style = {.colour = colour};
    const struct iot_page page = {out, NULL, &style};
    char text[IOT_LABEL_BYTES * 4 + 2];

    iot_job_verdict(job, text);
    strcat(text, ".");
    iot_page_wrapped(&page, text, 0);
    fputc('\n', out);
    iot_page_ledger(&page, job->objects, &job->total);
    put_files(&page, job, top == SIZE_MAX ? TEXT_FILES : top);
    for (size_t s = 0; s < SECTIONS; s++) {
        const struct iot_job_lines *lines = lines_of(job, s);
        if (!lines->n)
            continue;
        fputc('\n', out);
        iot_page_heading(&page, sections[s].heading);
        for (size_t k = 0; k < lines->n; k++)
            iot_page_point(&page, lines->lines[k]);
    }
}

void iot_job_write_markdown(const struct iot_job *job, FILE *out, size_t top)
{
    char text[IOT_LABEL_BYTES * 4];
    size_t shown = top < job->n_files ? top : job->n_files;

    iot_job_verdict(job, text);
    fputs("# I/O of a job\n\n**", out);
    iot_write_markdown(out, text, MARKDOWN_BYTES);
    fputs("**\n\n", out);
    iot_markdown_ledger(out, job->objects, &job->total);
    if (shown)
        fputs("\n## Files\n\n| exposed | at most more | service | bytes | object | units | file |\n"
              "|--:|--:|--:|--:|---|--:|---|\n",
              out);
    for (size_t i = 0; i < shown; i++) {
        const struct iot_job_file *f = &job->files[i];
        fprintf(out, "| %s | %s | %s | %s | %s | %s | <code>",
                iot_people_time(f->figures.exposed_ns).text,
                iot_people_time(f->error_exposed_ns).text,
                iot_people_time(f->figures.service_ns).text,
                iot_people_bytes(f->figures.bytes).text, iot_object_names[f->file->object],
                iot_people_count(f->file->sums.at[IOT_COLUMN_units]).text);
        iot_write_markdown(out, f->file->path, NAME_BYTES);
        fputs("</code> |\n", out);
    }
    const struct rest rest = rest_of(job, shown);
    if (rest.files)
        fprintf(out, "\n%s, exposed %s; `--top N` lists N files.\n",
                iot_people_many((int64_t)rest.files, "more file").text,
                iot_people_time(rest.exposed_ns).text);
    if (rest.unnamed)
        fprintf(out, "\n%s that units do not name, exposed %s.\n",
                iot_people_many(rest.unnamed, rest.files ? "other file" : "more file").text,
                iot_people_time(rest.unnamed_exposed_ns).text);
    for (size_t s = 0; s < SECTIONS; s++) {
        const struct iot_job_lines *lines = lines_of(job, s);
        if (lines->n)
            fprintf(out, "\n## %s\n\n", sections[s].heading);
        for (size_t k = 0; k < lines->n; k++) {
            fputs("- ", out);
            iot_write_markdown(out, lines->lines[k], MARKDOWN_BYTES);
            fputc('\n', out);
        }
    }
}
