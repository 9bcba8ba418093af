/* The runs of a comparison: reports as JSON, or traces, which are reported first. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/compare.h"
#include "analyzer/job_inputs.h"
#include "analyzer/memstream.h"
#include "analyzer/report_json.h"
#include "analyzer/reporting.h"

/* Of a trace, so many files have a row; a report that is read has as many as it was made with. */
enum { FILES_MAX = 20000 };

/* A report of FILES_MAX files has a fifth of it. */
static const size_t report_max = 256u << 20;

static int fail(char error[512], const char *path, const char *what, const char *detail)
{
    snprintf(error, 512, "%.300s: %.60s%.120s", path, what, detail);
    return -1;
}

/* --- one report --- */

/* A byte of a path that is no UTF-8 is \udcNN in a report: it becomes \xNN as text, since the JSON
 * reader takes no half of a pair. Returns the new length. */
static size_t make_readable(char *text, size_t n)
{
    size_t to = 0;
    for (size_t i = 0; i < n;) {
        bool pair =
            to >= 6 && !strncasecmp(text + to - 6, "\\ud", 3) && strchr("89abAB", text[to - 3]);
        if (text[i] != '\\' || i + 1 >= n) {
            text[to++] = text[i++];
        } else if (i + 6 <= n && !strncasecmp(text + i, "\\udc", 4) && !pair) {
            char hex[2] = {text[i + 4], text[i + 5]};
            memcpy(text + to, "\\\\x", 3);
            memcpy(text + to + 3, hex, 2);
            to += 5;
            i += 6;
        } else {
            text[to++] = text[i++];
            text[to++] = text[i++];
        }
    }
    return to;
}

static bool is_whole(const json_t *report)
{
    const json_t *wall = json_object_get(report, "wall_ns");
    return json_is_integer(wall) && json_integer_value(wall) >= 0 &&
           json_is_object(json_object_get(report, "run")) &&
           json_is_object(json_object_get(report, "total")) &&
           json_array_size(json_object_get(report, "objects")) == IOT_OBJECTS &&
           json_is_array(json_object_get(report, "files"));
}

int iot_compare_add_text(struct iot_comparison *c, enum iot_side which, const char *path,
                         char *text, size_t n, char error[512])
{
    struct iot_compare_side *side = &c->sides[which];
    json_error_t wrong;
    char detail[160];

    if (side->n == IOT_RUNS_MAX)
        return fail(error, path, "one run too many: a side has at most 64", "");
    json_t *report = json_loadb(text, make_readable(text, n), JSON_REJECT_DUPLICATES, &wrong);
    const char *schema = json_string_value(json_object_get(report, "schema"));
    if (!report)
        snprintf(detail, sizeof detail, "line %d: %.100s", wrong.line, wrong.text);
    if (!report)
        return fail(error, path, "is no JSON: ", detail);
    if (!schema || strcmp(schema, IOT_REPORT_SCHEMA) || !is_whole(report)) {
        fail(error, path, "is no whole report of the schema " IOT_REPORT_SCHEMA,
             "; make one with 'iotrace report --format json'");
        json_decref(report);
        return -1;
    }
    struct iot_compare_run *run = &side->runs[side->n];
    *run = (struct iot_compare_run){.name = strdup(path), .report = report};
    side->n += run->name != NULL;
    if (!run->name)
        json_decref(report);
    return run->name ? 0 : fail(error, path, "out of memory", "");
}

static int add_file(struct iot_comparison *c, enum iot_side side, const char *path, char error[512])
{
    struct stat st;
    FILE *in = fopen(path, "re");
    int status = -1;

    if (!in || fstat(fileno(in), &st)) {
        fail(error, path, "cannot be read: ", strerror(errno));
    } else if (!S_ISREG(st.st_mode) || (size_t)st.st_size > report_max) {
        fail(error, path, "is no file, or one too large to be a report", "");
    } else {
        size_t room = (size_t)st.st_size + 1, n = 0;
        char *text = malloc(room);
        if (text)
            n = fread(text, 1, room, in);
        if (!text || ferror(in) || n == room)
            fail(error, path, "cannot be read: ", text ? "it changes" : "out of memory");
        else
            status = iot_compare_add_text(c, side, path, text, n, error);
        free(text);
    }
    if (in)
        fclose(in);
    return status;
}

static int add_trace(struct iot_comparison *c, enum iot_side side, const char *path,
                     const char *rules, char error[512])
{
    struct iot_reporting reporting;
    struct iot_memstream m;
    int status = -1;

    const struct iot_reporting_how how = {.rules = rules, .top = FILES_MAX};
    if (!iot_reporting_make(&reporting, path, &how, error)) {
        bool opened = !iot_memstream_open(&m);
        bool written = opened && !iot_report_write_json(&reporting.report, m.stream);
        if (opened)
            written &= !iot_memstream_close(&m);
        status = written ? iot_compare_add_text(c, side, path, m.text, m.n, error)
                         : fail(error, path, "out of memory", "");
        free(m.text);
    }
    iot_reporting_free(&reporting);
    return status;
}

/* --- folders --- */

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n > k && !strcmp(name + n - k, end);
}

static int is_report(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".json");
}

static int is_part(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".iot") || !strcmp(entry->d_name, "run");
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void free_names(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

static bool is_trace(const char *path)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, is_part, alphasort);
    free_names(names, n);
    return n > 0;
}

/* The reports in it, or else the traces in it. */
static int add_folder(struct iot_comparison *c, enum iot_side side, const char *path,
                      const char *rules, char error[512])
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, is_report, alphasort), status = 0;
    bool reports = n > 0;
    size_t before = c->sides[side].n;

    if (!reports) {
        free_names(names, n);
        names = NULL;
        n = scandir(path, &names, is_visible, alphasort);
    }
    for (int i = 0; i < n && !status; i++) {
        char *inner;
        if (asprintf(&inner, "%s/%s", path, names[i]->d_name) < 0) {
            status = fail(error, path, "out of memory", "");
            break;
        }
        if (reports)
            status = add_file(c, side, inner, error);
        else if (is_trace(inner))
            status = add_trace(c, side, inner, rules, error);
        free(inner);
    }
    free_names(names, n);
    if (!status && c->sides[side].n == before)
        return fail(error, path, "holds no trace and no report (*.json)",
                    "; is it the right folder?");
    return status;
}

int iot_compare_add(struct iot_comparison *c, enum iot_side side, const char *path,
                    const char *rules, char error[512])
{
    struct stat st;
    if (stat(path, &st))
        return fail(error, path, "cannot be read: ", strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return add_file(c, side, path, error);
    if (iot_job_is_job(path))
        return fail(error, path, "holds the ranks of a job, not the runs of one program",
                    "; compare one rank's folders, rank-0 of both");
    return is_trace(path) ? add_trace(c, side, path, rules, error)
                          : add_folder(c, side, path, rules, error);
}

/* --- all of them --- */

static const json_t *of_run(const struct iot_compare_run *run, const char *key)
{
    return json_object_get(json_object_get(run->report, "run"), key);
}

static bool is_same_run(const struct iot_compare_run *a, const struct iot_compare_run *b)
{
    return json_equal(of_run(a, "host"), of_run(b, "host")) &&
           json_equal(of_run(a, "start_realtime_ns"), of_run(b, "start_realtime_ns")) &&
           json_equal(json_object_get(a->report, "wall_ns"), json_object_get(b->report, "wall_ns"));
}

static const char *program(const struct iot_compare_run *run)
{
    const char *path = json_string_value(json_array_get(of_run(run, "command"), 0));
    return path ? basename(path) : "";
}

static const struct iot_compare_run *nth(const struct iot_comparison *c, size_t i)
{
    size_t n = c->sides[IOT_BASE].n;
    return i < n ? &c->sides[IOT_BASE].runs[i] : &c->sides[IOT_CANDIDATE].runs[i - n];
}

int iot_compare_check(const struct iot_comparison *c, char error[512])
{
    static const char *const words[] = {"base", "candidate"};
    size_t n = c->sides[IOT_BASE].n + c->sides[IOT_CANDIDATE].n;

    for (int s = 0; s < IOT_SIDES; s++) {
        const struct iot_compare_side *side = &c->sides[s];
        for (size_t i = 1; i < side->n; i++)
            if (strcmp(program(&side->runs[0]), program(&side->runs[i]))) {
                snprintf(error, 512,
                         "%.150s: is a run of %.60s, and %.150s one of %.60s: the %s mixes "
                         "programs",
                         side->runs[i].name, program(&side->runs[i]), side->runs[0].name,
                         program(&side->runs[0]), words[s]);
                return -1;
            }
        if (!side->n) {
            snprintf(error, 512, "the %s has no runs", words[s]);
            return -1;
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (is_same_run(nth(c, i), nth(c, k))) {
                snprintf(error, 512, "%.200s: is the same run as %.200s; give each run once",
                         nth(c, i)->name, nth(c, k)->name);
                return -1;
            }
    return 0;
}

void iot_compare_free(struct iot_comparison *c)
{
    for (int s = 0; s < IOT_SIDES; s++)
        for (size_t i = 0; i < c->sides[s].n; i++) {
            free(c->sides[s].runs[i].name);
            json_decref(c->sides[s].runs[i].report);
        }
    free(c->metrics);
    iot_compare_policy_free(&c->policy);
}
