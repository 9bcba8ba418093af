/* iotrace export: a run for other people's tools. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/cmd.h"
#include "analyzer/export_partition.h"
#include "analyzer/job_inputs.h"
#include "analyzer/out_file.h"
#include "analyzer/progress.h"

struct options {
    size_t format, table; /* SIZE_MAX: not given */
    const char *out, *rules;
    bool partition;
};

enum { PERFETTO, CHROME, SQLITE, PARQUET, CSV, STACKS, OPENMETRICS };

static const char *const formats[] = {"perfetto", "chrome", "sqlite",      "parquet",
                                      "csv",      "stacks", "openmetrics", NULL};
static const char *const tables[] = {"events", "files", "lanes", "processes",
                                     "stacks", "steps", "units", NULL};

static const struct iot_option options[] = {
    {"format", 0, "FORMAT",
     "perfetto (its own protobuf, for ui.perfetto.dev), chrome (Trace Event JSON), sqlite, "
     "parquet, "
     "csv, stacks (collapsed, weighted by exposed ns, for flame graphs) or openmetrics",
     IOT_OPTION_WORD, offsetof(struct options, format), formats, NULL},
    {"output", 'o', "FILE",
     "write there; FILE is there whole or not at all. Of parquet and csv without --table it is a "
     "folder, with a file a table",
     IOT_OPTION_TEXT, offsetof(struct options, out), NULL, NULL},
    {"table", 0, "TABLE",
     "this table alone, of parquet and csv: events, files, lanes, processes, stacks, steps or "
     "units",
     IOT_OPTION_WORD, offsetof(struct options, table), tables, NULL},
    {"partition", 0, NULL,
     "of parquet: add the runs to a folder that engines of SQL read as one, by table, job and "
     "rank; "
     "what is there stays",
     IOT_OPTION_FLAG, offsetof(struct options, partition), NULL, NULL},
    {"rules", 0, "FILE", "rules of objects, as of 'iotrace report'", IOT_OPTION_TEXT,
     offsetof(struct options, rules), NULL, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_export = {
    .command = "export",
    .summary = "the run for viewers of timelines, databases and monitors",
    .operands = "DIR...",
    .about = "Writes the run in DIR, with what the report computes, in a format that others\n"
             "read. Several, or the folder of a job with those of its ranks: --partition.\n",
    .options = options,
};

/* How a format is written: as a whole or a table at a time; a database by itself. */
static const struct {
    bool is_binary; /* a terminal cannot show it */
    int (*whole)(const struct iot_exported *x, FILE *out);
    int (*table)(const struct iot_exported *x, const struct iot_export_table *table, FILE *out);
} about[] = {
    [PERFETTO] = {.is_binary = true, .whole = iot_export_perfetto},
    [CHROME] = {.whole = iot_export_chrome},
    [SQLITE] = {.is_binary = true},
    [PARQUET] = {.is_binary = true, .table = iot_export_parquet},
    [CSV] = {.table = iot_export_csv},
    [STACKS] = {.whole = iot_export_stacks},
    [OPENMETRICS] = {.whole = iot_export_openmetrics},
};

static int refuse(const char *what)
{
    iot_error("export: %s; see 'iotrace export --help'", what);
    return IOT_EXIT_USAGE;
}

/* What cannot be, before the trace is read. */
static int check(const struct options *o)
{
    if (o->format == SIZE_MAX)
        return refuse("which --format?");
    bool has_tables = about[o->format].table;
    if (o->table != SIZE_MAX && !has_tables)
        return refuse("--table is for parquet and csv");
    if (o->partition && (o->format != PARQUET || o->table != SIZE_MAX))
        return refuse("--partition is for --format parquet, and for all tables");
    if (!o->out && o->partition)
        return refuse("--partition needs a folder: -o FOLDER");
    if (!o->out && (o->format == SQLITE || (has_tables && o->table == SIZE_MAX)))
        return refuse(o->format == SQLITE ? "sqlite needs a file: -o FILE"
                                          : "several tables need a folder: -o FOLDER, or --table");
    if (!o->out && about[o->format].is_binary && isatty(STDOUT_FILENO))
        return refuse("a terminal cannot show that: -o FILE, or a pipe");
    return IOT_EXIT_OK;
}

static int out_of_memory(void)
{
    iot_error("export: out of memory");
    return IOT_EXIT_USAGE;
}

/* One file; `table` NULL: the format has no tables. */
static int write_file(const struct iot_exported *x, const struct options *o, const char *path,
                      const struct iot_export_table *table)
{
    struct iot_out_file out;
    int status = iot_out_file_open(&out, path);
    if (status)
        return status;
    int failed = table ? about[o->format].table(x, table, out.stream)
                       : about[o->format].whole(x, out.stream);
    if (failed && !ferror(out.stream)) {
        iot_out_file_drop(&out);
        return out_of_memory();
    }
    return iot_out_file_close(&out);
}

static char *path_of(const struct options *o, const struct iot_export_table *t)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s.%s", o->out, t->name, formats[o->format]) < 0 ? NULL : path;
}

/* A folder of this export's making, in which only some tables are. */
static void remove_folder(const struct options *o)
{
    for (const struct iot_export_table *t = iot_export_tables; t->name; t++) {
        char *path = path_of(o, t);
        if (path)
            unlink(path);
        free(path);
    }
    rmdir(o->out);
}

static int write_folder(const struct iot_exported *x, const struct options *o)
{
    int is_ours = !mkdir(o->out, 0777), status = IOT_EXIT_OK;
    if (!is_ours && errno != EEXIST) {
        iot_error("%s: cannot be made: %s", o->out, strerror(errno));
        return IOT_EXIT_USAGE;
    }
    for (const struct iot_export_table *t = iot_export_tables; t->name && !status; t++) {
        char *path = path_of(o, t);
        status = path ? write_file(x, o, path, t) : out_of_memory();
        free(path);
    }
    if (status && is_ours)
        remove_folder(o);
    return status;
}

static int write_database(const struct iot_exported *x, const char *path)
{
    struct iot_out_file out;
    char error[512];
    int status = iot_out_file_open(&out, path);
    if (status)
        return status;
    if (!out.part) {
        iot_out_file_drop(&out);
        return refuse("a database needs a regular file");
    }
    if (iot_export_sqlite(x, out.part, error)) {
        iot_out_file_drop(&out);
        iot_error("%s: %s", path, error);
        return IOT_EXIT_USAGE;
    }
    return iot_out_file_close(&out);
}

static int write_alone(const struct iot_exported *x, const struct options *o)
{
    if (o->format == SQLITE)
        return write_database(x, o->out);
    if (o->table != SIZE_MAX)
        return write_file(x, o, o->out, &iot_export_tables[o->table]);
    if (about[o->format].table)
        return write_folder(x, o);
    return write_file(x, o, o->out, NULL);
}

/* `to`: where the run is added; NULL: it is all there is to write. *unread: it was not even read.
 */
static int export(const char *folder, const struct options *o, struct iot_partition *to,
                  bool *unread)
{
    struct iot_reporting reporting;
    struct iot_exported x = {0};
    char error[512];
    int status = IOT_EXIT_USAGE;

    const struct iot_reporting_how how = {.rules = o->rules, .top = SIZE_MAX};
    int failed = iot_reporting_make(&reporting, folder, &how, error);
    if (!o->out) /* it would lie between the lines */
        iot_progress_end();
    *unread = failed;
    if (failed)
        iot_error("%s", error);
    else {
        iot_tell_part("export", reporting.trace);
        if (iot_exported_make(&x, &reporting))
            status = out_of_memory();
        else
            status = to ? iot_partition_add(to, &x) : write_alone(&x, o);
    }
    iot_exported_free(&x);
    iot_reporting_free(&reporting);
    return status;
}

/* A run that cannot be read is said, and the others are written; where one cannot be written, what
 * was goes. */
static int export_job(char *const *paths, int n, const struct options *o)
{
    struct iot_job_items items;
    struct iot_partition to;
    int status = iot_job_list(&items, paths, n) ? out_of_memory() : IOT_EXIT_OK, worst = status;
    if (!status && !(status = iot_partition_open(&to, o->out))) {
        for (size_t k = 0; k < items.n && !status; k++) {
            bool unread;
            status = export(items.items[k].path, o, &to, &unread);
            worst = status ? status : worst;
            status = unread ? IOT_EXIT_OK : status;
        }
        iot_partition_close(&to, !status);
    }
    iot_job_items_free(&items);
    return status ? status : worst;
}

static bool is_job_folder(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode) && iot_job_is_job(path);
}

int iot_cmd_export(int argc, char **argv)
{
    struct options o = {.format = SIZE_MAX, .table = SIZE_MAX};
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_export, argc, argv, &o);
    bool unread;
    if (parsed.done)
        return parsed.status;
    if (!parsed.n_operands)
        return refuse("which folder?");
    int status = check(&o);
    if (status)
        return status;
    if (!o.partition && (parsed.n_operands > 1 || is_job_folder(parsed.operands[0])))
        return refuse("of several runs only with --format parquet --partition");
    iot_progress_start();
    status = o.partition ? export_job(parsed.operands, parsed.n_operands, &o)
                         : export(parsed.operands[0], &o, NULL, &unread);
    iot_progress_end();
    return status;
}
