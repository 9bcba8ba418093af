/* iotrace report: the ledger of a run. */
#include <stdlib.h>

#include "analyzer/cmd.h"
#include "analyzer/job.h"
#include "analyzer/job_inputs.h"
#include "analyzer/out_file.h"
#include "analyzer/progress.h"
#include "analyzer/report_html.h"
#include "analyzer/report_json.h"
#include "analyzer/report_ledger.h"
#include "analyzer/report_markdown.h"
#include "analyzer/report_text.h"
#include "analyzer/reporting.h"

enum { TEXT, JSON, MARKDOWN, HTML, LEDGER };

struct options {
    const char *out, *rules;
    size_t top; /* SIZE_MAX: not given */
    size_t events, format;
    bool partial;
};

static const struct iot_option options[] = {
    {"format", 0, "FORMAT",
     "text (the default) and markdown, for people; html, a page with pictures that needs nothing "
     "else; json, the schema iotrace-report/1; ledger, the events of 'iotrace ledger'",
     IOT_OPTION_WORD, offsetof(struct options, format),
     (const char *const[]){"text", "json", "markdown", "html", "ledger", NULL}, NULL},
    {"output", 'o', "FILE", "write there; FILE is there whole or not at all", IOT_OPTION_TEXT,
     offsetof(struct options, out), NULL, NULL},
    {"rules", 0, "FILE",
     "rules that come before the built-in ones, one a line: OBJECT GLOB [op=read|write] "
     "[site=PLACE]; OBJECT is "
     "input, artifact, state, output or other; a GLOB without a slash is matched with the last "
     "part of a path; '#' starts a comment",
     IOT_OPTION_TEXT, offsetof(struct options, rules), NULL, NULL},
    {"top", 0, "N", "rows for the N files that add most; the others are one row for each object",
     IOT_OPTION_COUNT, offsetof(struct options, top), NULL, NULL},
    {"events", 0, "N",
     "analyse the newest N events, about, and sum up the others; without it as many as there is "
     "memory "
     "for",
     IOT_OPTION_COUNT, offsetof(struct options, events), NULL, NULL},
    {"partial", 0, NULL,
     "instead of a report, its integers, to be merged with others: a file of the schema "
     "iotrace-partial/1; --top N: files that each unit names, 64 if not given",
     IOT_OPTION_FLAG, offsetof(struct options, partial), NULL, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_report = {
    .command = "report",
    .summary = "which I/O makes a run longer, and by how much",
    .operands = "DIR...",
    .about = "Says which I/O, of which object, makes a run longer. DIR is the folder of its\n"
             "trace. Several, the folder of a job with those of its ranks, or partial results\n"
             "are one report: of a job, in text, markdown or json (iotrace-job/1).\n",
    .options = options,
};

static void write(const struct iot_report *r, FILE *out, const struct options *o)
{
    enum { FILES_SHOWN = 20 };
    bool all_files = o->top != SIZE_MAX;
    struct iot_text_style style = {.colour = iot_text_wants_colour(out), .all_files = all_files};

    switch (o->format) {
    case JSON:
        iot_report_write_json(r, out);
        break;
    case MARKDOWN:
        iot_report_write_markdown(r, out, all_files ? SIZE_MAX : FILES_SHOWN);
        break;
    case LEDGER:
        iot_report_write_ledger(r, out);
        break;
    default:
        iot_report_write_text(r, out, &style);
    }
}

static int write_report(const struct iot_reporting *reporting, const struct options *o)
{
    struct iot_out_file out;
    size_t n = 0;
    char *page = o->format == HTML ? iot_report_html(reporting, &n) : NULL;
    if (o->format == HTML && !page) {
        iot_error("report: out of memory for the page");
        return IOT_EXIT_USAGE;
    }
    int status = iot_out_file_open(&out, o->out);
    if (!status) {
        if (page)
            fwrite(page, 1, n, out.stream);
        else
            write(&reporting->report, out.stream, o);
        status = iot_out_file_close(&out);
    }
    free(page);
    return status;
}

static int report(const char *folder, const struct options *o)
{
    struct iot_reporting reporting;
    char error[512];
    int status = IOT_EXIT_USAGE;

    iot_progress_start();
    size_t top = o->format == HTML && o->top == SIZE_MAX ? IOT_HTML_FILES : o->top;
    const struct iot_reporting_how how = {o->rules, top, o->events};
    int failed = iot_reporting_make(&reporting, folder, &how, error);
    iot_progress_end();
    if (failed)
        iot_error("%s", error);
    else if (!o->events)
        iot_tell_part("report", reporting.trace);
    if (!failed)
        status = write_report(&reporting, o);
    iot_reporting_free(&reporting);
    return status;
}

/* --- several --- */

static void write_job(const struct iot_job *job, FILE *out, const struct options *o)
{
    enum { FILES_SHOWN = 20 };
    if (o->format == JSON)
        iot_job_write_json(job, out, o->top);
    else if (o->format == MARKDOWN)
        iot_job_write_markdown(job, out, o->top == SIZE_MAX ? FILES_SHOWN : o->top);
    else
        iot_job_write_text(job, out, iot_text_wants_colour(out), o->top);
}

static int write_partial(const struct iot_partial *partial, const struct options *o)
{
    struct iot_job job = {0};
    struct iot_out_file out;
    int status = IOT_EXIT_USAGE;
    if (!o->partial && iot_job_make(&job, partial))
        iot_error("report: out of memory for %zu units", partial->n_units);
    else if (!(status = iot_out_file_open(&out, o->out))) {
        if (o->partial)
            iot_partial_write(partial, out.stream);
        else
            write_job(&job, out.stream, o);
        status = iot_out_file_close(&out);
    }
    iot_job_free(&job);
    return status;
}

static int report_job(char *const *paths, int n, const struct options *o)
{
    struct iot_partial partial;
    char error[512] = "report: out of memory";
    const struct iot_partial_how how = {
        o->rules, o->partial && o->top != SIZE_MAX ? o->top : IOT_PARTIAL_FILES, o->events};
    int status = IOT_EXIT_USAGE;

    if (o->format == HTML || o->format == LEDGER || (o->partial && o->format != TEXT)) {
        iot_error("report: %s; leave out --format, or give one folder",
                  o->partial ? "--partial has a format of its own"
                             : "several runs are text, markdown or json");
        return IOT_EXIT_USAGE;
    }
    iot_progress_start();
    int failed = iot_partial_init(&partial) || iot_job_read(&partial, paths, n, &how, error);
    iot_progress_end();
    if (failed)
        iot_error("%s", error);
    else
        status = write_partial(&partial, o);
    iot_partial_free(&partial);
    return status;
}

int iot_cmd_report(int argc, char **argv)
{
    struct options o = {.top = SIZE_MAX};
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_report, argc, argv, &o);
    if (parsed.done)
        return parsed.status;
    if (!parsed.n_operands) {
        iot_error("report: needs the folder of a trace; see 'iotrace report --help'");
        return IOT_EXIT_USAGE;
    }
    if (parsed.n_operands > 1 || o.partial || iot_job_is_job(parsed.operands[0]))
        return report_job(parsed.operands, parsed.n_operands, &o);
    return report(parsed.operands[0], &o);
}
