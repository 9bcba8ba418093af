/* iotrace explain: why a file has its object, and how and when it was used. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/explain.h"
#include "analyzer/explain_families.h"
#include "analyzer/steps.h"
#include "analyzer/find_file.h"

enum { FILES_MAX = 16, SHOWN = 3 };

struct options {
    const char *folder, *path, *rules;
    size_t format;
};

static const struct iot_option options[] = {
    {"format", 0, "text|json", "for people (the default), or the schema iotrace-explain/1",
     IOT_OPTION_WORD, offsetof(struct options, format), iot_text_or_json, NULL},
    {"rules", 0, "FILE", "rules that come before the built-in ones, as for 'report'",
     IOT_OPTION_TEXT, offsetof(struct options, rules), NULL, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_explain = {
    .command = "explain",
    .summary = "why a file is the object it is, and how it was used",
    .operands = "DIR PATH",
    .about = "Says why a file of the run in DIR is the object it is, how it was read and\n"
             "written, and where its exposed time lies. PATH is its path, the end of it if no\n"
             "other file's path ends so, or a glob. More than 16 files are summed, a row for\n"
             "those whose names differ in numbers alone. A name of several rows, such as\n"
             "gpu0:HtoD, is all of them.\n",
    .options = options,
};

/* Copies of a GPU in one direction are several, by the file whose bytes they are. */
static bool are_one_name(const struct iot_trace *t, const uint32_t *files, size_t n)
{
    for (size_t k = 1; k < n; k++)
        if (strcmp(t->files[files[k]].name, t->files[files[0]].name) != 0)
            return false;
    return n > 1;
}

/* 0, or the exit status. `files` has room for all. */
static int find(const struct iot_trace *t, const struct options *o, uint32_t *files, size_t *n)
{
    char names[2048];
    *n = iot_files_find(t, o->path, files, t->n_files);
    if (!*n) {
        if (iot_files_near(t, o->path, names, sizeof names))
            iot_error("explain: no file '%s' in this run; near it are %s", o->path, names);
        else
            iot_error(
                "explain: no file '%s' in this run; 'iotrace report --top 99999 %s' lists them",
                o->path, o->folder);
        return IOT_EXIT_USAGE;
    }
    if (*n > 1 && !strpbrk(o->path, "*?[") && !are_one_name(t, files, *n)) {
        size_t shown = *n < SHOWN ? *n : SHOWN;
        iot_files_names(t, files, shown, names, sizeof names);
        iot_error("explain: '%s' is %zu files, %s%s; say more of the path", o->path, *n, names,
                  shown < *n ? ", ..." : "");
        return IOT_EXIT_USAGE;
    }
    return 0;
}

static int write_families(const struct iot_explainer *explainer, const struct options *o,
                          const uint32_t *files, size_t n)
{
    struct iot_explained_families all;
    int failed = iot_explain_families(&all, explainer, o->path, files, n);
    if (!failed && o->format == IOT_FORMAT_JSON)
        iot_explain_families_json(&all, stdout);
    else if (!failed)
        iot_explain_families_text(&all, stdout);
    iot_explained_families_free(&all);
    return failed;
}

static int write_all(const struct iot_explainer *explainer, const struct options *o,
                     const uint32_t *files, size_t n)
{
    struct iot_explained explained[FILES_MAX] = {0};
    int failed = 0;
    for (size_t k = 0; k < n && !failed; k++)
        failed = iot_explain(&explained[k], explainer, files[k]);
    if (!failed && o->format == IOT_FORMAT_JSON)
        iot_explain_write_json(explained, n, stdout);
    if (!failed && o->format == IOT_FORMAT_TEXT && are_one_name(explainer->trace, files, n)) {
        iot_explain_write_sum(explained, n, stdout);
        putchar('\n');
    }
    for (size_t k = 0; k < n && !failed && o->format == IOT_FORMAT_TEXT; k++) {
        if (k)
            putchar('\n');
        iot_explain_write_text(&explained[k], stdout);
    }
    for (size_t k = 0; k < n; k++)
        iot_explained_free(&explained[k]);
    return failed;
}

static int explain_trace(struct iot_trace *t, const struct options *o,
                         const struct iot_rules *rules)
{
    struct iot_classes classes = {0};
    struct iot_explainer explainer = {0};
    struct iot_steps steps = {0};
    uint32_t *files = malloc((t->n_files + 1) * sizeof *files);
    size_t n;
    if (!files) {
        iot_error("explain: out of memory for a run of %zu files", t->n_files);
        return IOT_EXIT_USAGE;
    }
    int status = find(t, o, files, &n);
    if (status) {
        free(files);
        return status;
    }

    iot_tell_part("explain", t);
    struct iot_model *model = iot_seen_narrow(t) ? NULL : iot_model_build(t);
    int failed = !model || iot_steps_find(&steps, t, model) ||
                 iot_classify(&classes, t, rules, &steps) ||
                 iot_explainer_init(&explainer, t, model, &classes, &steps) ||
                 (n > FILES_MAX ? write_families : write_all)(&explainer, o, files, n);
    if (failed)
        iot_error("%s: out of memory for a run of %zu events", o->folder, t->events.n);
    iot_explainer_free(&explainer);
    iot_classes_free(&classes);
    iot_steps_free(&steps);
    if (model)
        iot_model_free(model);
    free(files);
    return failed ? IOT_EXIT_USAGE : iot_finish_stdout();
}

static int explain(const struct options *o)
{
    struct iot_rules rules = {0};
    struct iot_trace *trace = NULL;
    char error[512];
    int status = IOT_EXIT_USAGE;

    if ((o->rules && iot_rules_read(&rules, o->rules, error)) ||
        !(trace = iot_trace_read(o->folder, error)))
        iot_error("%s", error);
    else
        status = explain_trace(trace, o, o->rules ? &rules : NULL);
    if (trace)
        iot_trace_free(trace);
    iot_rules_free(&rules);
    return status;
}

int iot_cmd_explain(int argc, char **argv)
{
    struct options o = {0};
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_explain, argc, argv, &o);
    if (parsed.done)
        return parsed.status;
    if (parsed.n_operands > 2) {
        iot_error("explain: needs one path, got %d: quote a pattern, as 'DIR/*'; see 'iotrace "
                  "explain --help'",
                  parsed.n_operands - 1);
        return IOT_EXIT_USAGE;
    }
    if (parsed.n_operands != 2) {
        iot_error("explain: needs the folder of a trace and a path; see 'iotrace explain --help'");
        return IOT_EXIT_USAGE;
    }
    o.folder = parsed.operands[0];
    o.path = parsed.operands[1];
    return explain(&o);
}
