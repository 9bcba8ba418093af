#include "analyzer/job_report.h"

#include "analyzer/cmd.h"
#include "analyzer/job.h"
#include "analyzer/out_file.h"
#include "analyzer/people.h"
#include "analyzer/report_text.h"

const struct iot_option iot_report_options[] = {
    {"format", 0, "FORMAT",
     "text (the default) and markdown, for people; html, a page with pictures that needs nothing "
     "else; json, the schema iotrace-report/1; ledger, the events of 'iotrace ledger'",
     IOT_OPTION_WORD, offsetof(struct iot_report_how, format),
     (const char *const[]){"text", "json", "markdown", "html", "ledger", NULL}, NULL},
    {"output", 'o', "FILE", "write there; FILE is there whole or not at all", IOT_OPTION_TEXT,
     offsetof(struct iot_report_how, out), NULL, NULL},
    {"rules", 0, "FILE",
     "rules that come before the built-in ones, one a line: OBJECT GLOB [op=read|write] "
     "[site=PLACE]; OBJECT is "
     "input, artifact, state, output or other; a GLOB without a slash is matched with the last "
     "part of a path; '#' starts a comment",
     IOT_OPTION_TEXT, offsetof(struct iot_report_how, rules), NULL, NULL},
    {"top", 0, "N", "rows for the N files that add most; the others are one row for each object",
     IOT_OPTION_COUNT, offsetof(struct iot_report_how, top), NULL, NULL},
    {"events", 0, "N",
     "analyse the newest N events, about, and sum up the others; without it as many as there is "
     "memory "
     "for",
     IOT_OPTION_COUNT, offsetof(struct iot_report_how, events), NULL, NULL},
    {"partial", 0, NULL,
     "instead of a report, its integers, to be merged with others: a file of the schema "
     "iotrace-partial/2; --top N: files that each unit names, 64 if not given",
     IOT_OPTION_FLAG, offsetof(struct iot_report_how, partial), NULL, NULL},
    {0},
};

int iot_job_report_check(const struct iot_report_how *o)
{
    if (o->format != IOT_AS_HTML && o->format != IOT_AS_LEDGER &&
        (!o->partial || o->format == IOT_AS_TEXT))
        return IOT_EXIT_OK;
    iot_error("report: %s; leave out --format, or give one folder",
              o->partial ? "--partial has a format of its own"
                         : "several runs are text, markdown or json");
    return IOT_EXIT_USAGE;
}

struct iot_partial_how iot_job_report_how(const struct iot_report_how *o)
{
    return (struct iot_partial_how){
        o->rules, o->partial && o->top != SIZE_MAX ? o->top : IOT_PARTIAL_FILES, o->events};
}

static void write_job(const struct iot_job *job, FILE *out, const struct iot_report_how *o)
{
    enum { FILES_SHOWN = 20 };
    if (o->format == IOT_AS_JSON)
        iot_job_write_json(job, out, o->top);
    else if (o->format == IOT_AS_MARKDOWN)
        iot_job_write_markdown(job, out, o->top == SIZE_MAX ? FILES_SHOWN : o->top);
    else
        iot_job_write_text(job, out, iot_text_wants_colour(out), o->top);
}

int iot_job_report(const struct iot_partial *partial, const struct iot_report_how *o)
{
    struct iot_job job = {0};
    struct iot_out_file out;
    int status = IOT_EXIT_USAGE;
    if (partial->n_unread)
        iot_error("left out %s: %s", iot_people_many((int64_t)partial->n_unread, "input").text,
                  partial->unread[0]);
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
