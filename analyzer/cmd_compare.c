/* iotrace compare: is one set of runs worse than another? */
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/compare_html.h"
#include "analyzer/compare_words.h"
#include "analyzer/out_file.h"
#include "analyzer/progress.h"

static const char *const formats[] = {"text",   "json",        "markdown", "junit",
                                      "github", "openmetrics", "csv",      "html", NULL};
static void (*const writers[])(const struct iot_comparison *, FILE *) = {
    iot_compare_write_text,  iot_compare_write_json,   iot_compare_write_markdown,
    iot_compare_write_junit, iot_compare_write_github, iot_compare_write_openmetrics,
    iot_compare_write_csv,
};
enum { HTML = sizeof writers / sizeof *writers };

struct options {
    const char *policy, *rules, *out;
    size_t format;
    unsigned allowed;
    bool strict;
};

static const struct iot_option options[] = {
    {"policy", 0, "FILE", "what may change, and by how much: see POLICY in the manual page",
     IOT_OPTION_TEXT, offsetof(struct options, policy), NULL, NULL},
    {"format", 0, "FORMAT",
     "text (the default), json, markdown (for a pull request), junit, github (annotations), "
     "openmetrics, csv (every value of every run), or html (a page; two runs side by side)",
     IOT_OPTION_WORD, offsetof(struct options, format), formats, NULL},
    {"output", 'o', "FILE", "write there; FILE is there whole or not at all", IOT_OPTION_TEXT,
     offsetof(struct options, out), NULL, NULL},
    {"strict", 0, NULL, "status 3 if a gated figure is inconclusive, not comparable or missing",
     IOT_OPTION_FLAG, offsetof(struct options, strict), NULL, NULL},
    {"allow", 0, "cpu|kernel|filesystems|cache",
     "compare times though this is not the same on both sides", IOT_OPTION_WORDS,
     offsetof(struct options, allowed), iot_fingerprint_parts, NULL},
    {"rules", 0, "FILE", "rules of objects for traces, as of 'iotrace report'", IOT_OPTION_TEXT,
     offsetof(struct options, rules), NULL, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_compare = {
    .command = "compare",
    .summary = "is one set of runs worse than another? For CI",
    .operands = "BASE... --to CANDIDATE...",
    .about = "Says whether the runs of the candidate are worse than those of the base. Each\n"
             "of them is a trace, a report ('iotrace report --format json'), or a folder of\n"
             "several. Counts can be compared with one run a side, times from six on.\n",
    .notes = "Status 0: no regression was found; 1: one was; 2: a fault; 3: see --strict.\n",
    .options = options,
};

static int usage(const char *what)
{
    iot_error("compare: %s; see 'iotrace compare --help'", what);
    return IOT_EXIT_USAGE;
}

static int add_side(struct iot_comparison *c, enum iot_side side, const struct iot_parsed *parsed,
                    const char *rules, char error[512])
{
    for (int i = 0; i < parsed->n_operands; i++) {
        iot_progress("reading runs", (size_t)i, (size_t)parsed->n_operands);
        if (iot_compare_add(c, side, parsed->operands[i], rules, error))
            return -1;
    }
    return 0;
}

static int make(struct iot_comparison *c, const struct options *o,
                const struct iot_parsed parsed[IOT_SIDES], char error[512])
{
    if (iot_compare_policy_init(&c->policy)) {
        strcpy(error, "out of memory");
        return -1;
    }
    c->strict = o->strict;
    return (o->policy && iot_compare_policy_read(&c->policy, o->policy, error)) ||
                   add_side(c, IOT_BASE, &parsed[IOT_BASE], o->rules, error) ||
                   add_side(c, IOT_CANDIDATE, &parsed[IOT_CANDIDATE], o->rules, error) ||
                   iot_compare_check(c, error) || iot_compare_judge(c, o->allowed, error)
               ? -1
               : 0;
}

static int status_of(const struct iot_comparison *c)
{
    if (c->failed)
        return IOT_EXIT_REGRESSION;
    return c->strict && c->undecided ? IOT_EXIT_INCONCLUSIVE : IOT_EXIT_OK;
}

static int compare(const struct options *o, const struct iot_parsed parsed[IOT_SIDES])
{
    struct iot_comparison *c = calloc(1, sizeof *c);
    struct iot_out_file out;
    char error[512], *page = NULL;
    int status = IOT_EXIT_USAGE;
    size_t n = 0;

    if (!c)
        return usage("out of memory");
    iot_progress_start();
    int failed = make(c, o, parsed, error);
    if (!failed && o->format == HTML)
        failed = !(page = iot_compare_html(c, o->rules, &n, error));
    iot_progress_end();
    if (failed) {
        iot_error("%s", error);
    } else if (!(status = iot_out_file_open(&out, o->out))) {
        if (page)
            fwrite(page, 1, n, out.stream);
        else
            writers[o->format](c, out.stream);
        status = iot_out_file_close(&out);
        status = status ? status : status_of(c);
    }
    free(page);
    iot_compare_free(c);
    free(c);
    return status;
}

/* "--to" parts the sides, and options may stand on either: each is a line of arguments. */
int iot_cmd_compare(int argc, char **argv)
{
    struct options o = {0};
    struct iot_parsed parsed[IOT_SIDES] = {{0}};
    int to = 1;
    while (to < argc && strcmp(argv[to], "--to"))
        to++;
    parsed[IOT_BASE] = iot_options_parse(&iot_synopsis_compare, to, argv, &o);
    if (parsed[IOT_BASE].done)
        return parsed[IOT_BASE].status;
    if (to < argc) {
        argv[to] = argv[0];
        parsed[IOT_CANDIDATE] = iot_options_parse(&iot_synopsis_compare, argc - to, argv + to, &o);
        if (parsed[IOT_CANDIDATE].done)
            return parsed[IOT_CANDIDATE].status;
    }
    if (!parsed[IOT_BASE].n_operands)
        return usage("needs the runs of the base, then --to and those of the candidate");
    if (!parsed[IOT_CANDIDATE].n_operands)
        return usage("needs --to and the runs of the candidate after those of the base");
    return compare(&o, parsed);
}
