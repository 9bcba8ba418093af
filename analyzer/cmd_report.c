/* iotrace report: the ledger of a run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/out_file.h"
#include "analyzer/progress.h"
#include "analyzer/report_json.h"
#include "analyzer/report_ledger.h"
#include "analyzer/report_markdown.h"
#include "analyzer/report_text.h"
#include "analyzer/reporting.h"

static const char help[] =
    "Usage: iotrace report DIR [--format FORMAT] [-o FILE] [--rules FILE] [--top N]\n"
    "\n"
    "Says which I/O, of which object, makes a run longer. DIR is the folder of its\n"
    "trace.\n"
    "\n"
    "  --format FORMAT     text (the default) and markdown, for people; json, the\n"
    "                      schema iotrace-report/1; ledger, the events of\n"
    "                      'iotrace ledger'\n"
    "  -o FILE             write there; FILE is there whole or not at all\n"
    "  --rules FILE        rules that come before the built-in ones, one a line:\n"
    "                      OBJECT GLOB [op=read|write]; OBJECT is input, artifact,\n"
    "                      state, output or other; a GLOB without a slash is matched\n"
    "                      with the last part of a path; '#' starts a comment\n"
    "  --top N             rows for the N files that add most; the others are one row\n"
    "                      for each object\n"
    "  -h, --help          this text\n";

struct options {
    const char *out, *rules;
    size_t top; /* SIZE_MAX: not given */
    const struct format *format;
};

struct format {
    const char *name;
    void (*write)(const struct iot_report *report, FILE *out, const struct options *options);
};

static void write_text(const struct iot_report *report, FILE *out, const struct options *options)
{
    struct iot_text_style style = {.colour = iot_text_wants_colour(out),
                                   .all_files = options->top != SIZE_MAX};
    iot_report_write_text(report, out, &style);
}

static void write_json(const struct iot_report *report, FILE *out, const struct options *options)
{
    (void)options;
    iot_report_write_json(report, out);
}

static void write_markdown(const struct iot_report *report, FILE *out,
                           const struct options *options)
{
    enum { FILES_SHOWN = 20 };
    iot_report_write_markdown(report, out, options->top != SIZE_MAX ? SIZE_MAX : FILES_SHOWN);
}

static void write_ledger(const struct iot_report *report, FILE *out, const struct options *options)
{
    (void)options;
    iot_report_write_ledger(report, out);
}

static const struct format formats[] = {
    {"text", write_text},
    {"json", write_json},
    {"markdown", write_markdown},
    {"ledger", write_ledger},
};

/* NULL: there is none of that name. */
static const struct format *find_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

static int read_count(const char *text, size_t *count)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno || end == text || *end || *text == '-') {
        iot_error("report: --top is a number of files, not '%s'", text);
        return IOT_EXIT_USAGE;
    }
    *count = n;
    return IOT_EXIT_OK;
}

static int write_report(const struct iot_report *report, const struct options *options)
{
    struct iot_out_file out;
    int status = iot_out_file_open(&out, options->out);
    if (status)
        return status;
    options->format->write(report, out.stream, options);
    return iot_out_file_close(&out);
}

static int report(const char *folder, const struct options *options)
{
    struct iot_reporting reporting;
    char error[512];
    int status = IOT_EXIT_USAGE;

    iot_progress_start();
    int failed = iot_reporting_make(&reporting, folder, options->rules, options->top, error);
    iot_progress_end();
    if (failed)
        iot_error("%s", error);
    else
        status = write_report(&reporting.report, options);
    iot_reporting_free(&reporting);
    return status;
}

int iot_cmd_report(int argc, char **argv)
{
    enum { FORMAT = IOT_LONG_OPTION, RULES, TOP, HELP };
    static const struct option long_options[] = {
        {"format", required_argument, NULL, FORMAT}, {"output", required_argument, NULL, 'o'},
        {"rules", required_argument, NULL, RULES},   {"top", required_argument, NULL, TOP},
        {"help", no_argument, NULL, HELP},           {NULL, 0, NULL, 0},
    };
    struct options options = {.top = SIZE_MAX, .format = &formats[0]};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1) {
        switch (option) {
        case FORMAT:
            if (!(options.format = find_format(optarg))) {
                iot_error("report: --format is text, json, markdown or ledger, not '%s'", optarg);
                return IOT_EXIT_USAGE;
            }
            break;
        case 'o':
            options.out = optarg;
            break;
        case RULES:
            options.rules = optarg;
            break;
        case TOP:
            if (read_count(optarg, &options.top))
                return IOT_EXIT_USAGE;
            break;
        case 'h':
        case HELP:
            fputs(help, stdout);
            return iot_finish_stdout();
        default:
            return iot_option_error(option, argv);
        }
    }
    if (argc - optind == 1)
        return report(argv[optind], &options);
    if (optind == argc)
        iot_error("report: needs the folder of a trace; see 'iotrace report --help'");
    else
        iot_error("report: takes one folder, got %d; several runs in one report are not supported",
                  argc - optind);
    return IOT_EXIT_USAGE;
}
