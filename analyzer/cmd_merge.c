/* iotrace merge: partial results into one. */
#include "analyzer/cmd.h"
#include "analyzer/job_inputs.h"
#include "analyzer/job_report.h"
#include "analyzer/progress.h"

struct options {
    const char *out;
};

static const struct iot_option options[] = {
    {"output", 'o', "FILE", "write there; FILE is there whole or not at all", IOT_OPTION_TEXT,
     offsetof(struct options, out), NULL, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_merge = {
    .command = "merge",
    .summary = "partial results into one",
    .operands = "PARTIAL...",
    .about = "Adds up partial results, as 'iotrace report --partial' makes them of the traces\n"
             "of a job's ranks. The result is the same, byte for byte, in whatever order and\n"
             "in however many steps they are merged. A PARTIAL may be a trace's folder, too.\n",
    .options = options,
};

static int merge(char *const *paths, int n, const struct options *o)
{
    struct iot_partial partial;
    char error[512] = "merge: out of memory";
    const struct iot_report_how as = {.out = o->out, .top = SIZE_MAX, .partial = true};
    const struct iot_partial_how how = iot_job_report_how(&as);

    iot_progress_start();
    int failed = iot_partial_init(&partial) || iot_job_read(&partial, paths, n, &how, error);
    iot_progress_end();
    if (failed)
        iot_error("%s", error);
    int status = failed ? IOT_EXIT_USAGE : iot_job_report(&partial, &as);
    iot_partial_free(&partial);
    return status;
}

int iot_cmd_merge(int argc, char **argv)
{
    struct options o = {0};
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_merge, argc, argv, &o);
    if (parsed.done)
        return parsed.status;
    if (parsed.n_operands)
        return merge(parsed.operands, parsed.n_operands, &o);
    iot_error("merge: needs partial results; see 'iotrace merge --help'");
    return IOT_EXIT_USAGE;
}
