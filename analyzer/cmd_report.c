/* iotrace report: the ledger of a run. */
#include <stdlib.h>

#include "analyzer/cmd.h"
#include "analyzer/job_inputs.h"
#include "analyzer/job_report.h"
#include "analyzer/out_file.h"
#include "analyzer/progress.h"
#include "analyzer/report_html.h"
#include "analyzer/report_json.h"
#include "analyzer/report_ledger.h"
#include "analyzer/report_markdown.h"
#include "analyzer/report_text.h"
#include "analyzer/reporting.h"

const struct iot_synopsis iot_synopsis_report = {
    .command = "report",
    .summary = "which I/O makes a run longer, and by how much",
    .operands = "DIR...",
    .about = "Says which I/O, of which object, makes a run longer. DIR is the folder of its\n"
             "trace. Several, the folder of a job with those of its ranks, or partial results\n"
             "are one report: of a job, in text, markdown or json (iotrace-job/1).\n",
    .options = iot_report_options,
};

static void write(const struct iot_report *r, const char *folder, FILE *out,
                  const struct iot_report_how *o)
{
    enum { FILES_SHOWN = 20 };
    bool all_files = o->top != SIZE_MAX;
    struct iot_text_style style = {.colour = iot_text_wants_colour(out),
                                   .all_files = all_files,
                                   .folder = folder,
                                   .rules = o->rules};

    switch (o->format) {
    case IOT_AS_JSON:
        iot_report_write_json(r, out);
        break;
    case IOT_AS_MARKDOWN:
        iot_report_write_markdown(r, out, all_files ? SIZE_MAX : FILES_SHOWN);
        break;
    case IOT_AS_LEDGER:
        iot_report_write_ledger(r, out);
        break;
    default:
        iot_report_write_text(r, out, &style);
    }
}

static int write_report(const struct iot_reporting *reporting, const char *folder,
                        const struct iot_report_how *o)
{
    struct iot_out_file out;
    size_t n = 0;
    char *page = o->format == IOT_AS_HTML ? iot_report_html(reporting, &n) : NULL;
    if (o->format == IOT_AS_HTML && !page) {
        iot_error("report: out of memory for the page");
        return IOT_EXIT_USAGE;
    }
    int status = iot_out_file_open(&out, o->out);
    if (!status) {
        if (page)
            fwrite(page, 1, n, out.stream);
        else
            write(&reporting->report, folder, out.stream, o);
        status = iot_out_file_close(&out);
    }
    free(page);
    return status;
}

static int report(const char *folder, const struct iot_report_how *o)
{
    struct iot_reporting reporting;
    char error[512];
    int status = IOT_EXIT_USAGE;

    iot_progress_start();
    size_t top = o->format == IOT_AS_HTML && o->top == SIZE_MAX ? IOT_HTML_FILES : o->top;
    const struct iot_reporting_how how = {o->rules, top, o->events};
    int failed = iot_reporting_make(&reporting, folder, &how, error);
    iot_progress_end();
    if (failed)
        iot_error("%s", error);
    else if (!o->events)
        iot_tell_part("report", reporting.trace);
    if (!failed)
        status = write_report(&reporting, folder, o);
    iot_reporting_free(&reporting);
    return status;
}

/* --- several --- */

static int report_job(char *const *paths, int n, const struct iot_report_how *o)
{
    struct iot_partial partial;
    char error[512] = "report: out of memory";
    const struct iot_partial_how how = iot_job_report_how(o);
    int status = iot_job_report_check(o);
    if (status)
        return status;
    iot_progress_start();
    int failed = iot_partial_init(&partial) || iot_job_read(&partial, paths, n, &how, error);
    iot_progress_end();
    if (failed)
        iot_error("%s", error);
    status = failed ? IOT_EXIT_USAGE : iot_job_report(&partial, o);
    iot_partial_free(&partial);
    return status;
}

int iot_cmd_report(int argc, char **argv)
{
    struct iot_report_how o = {.top = SIZE_MAX};
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
