#include "analyzer/compare_html.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/compare_words.h"
#include "analyzer/html_page.h"
#include "analyzer/report_html.h"

static int64_t wall_of(const struct iot_compare_run *run)
{
    return json_integer_value(json_object_get(run->report, "wall_ns"));
}

static int by_wall(const void *a, const void *b)
{
    const struct iot_compare_run *const *x = a, *const *y = b;
    int64_t m = wall_of(*x), n = wall_of(*y);
    return m != n ? (m < n ? -1 : 1) : *x < *y ? -1 : 1;
}

/* The lower middle one. */
static const struct iot_compare_run *middle(const struct iot_compare_side *side)
{
    const struct iot_compare_run *runs[IOT_RUNS_MAX];
    for (size_t i = 0; i < side->n; i++)
        runs[i] = &side->runs[i];
    qsort(runs, side->n, sizeof *runs, by_wall);
    return runs[(side->n - 1) / 2];
}

/* A report alone, with as many rows of files as a page has. */
static int put_report(FILE *out, const struct iot_compare_run *run, const char *suffix)
{
    json_t *report = json_copy(run->report), *files = json_array(), *file;
    char id[40], *text = NULL;
    size_t i;
    json_array_foreach(json_object_get(run->report, "files"), i, file) if (i < IOT_HTML_FILES)
        json_array_append(files, file);
    if (report && files && !json_object_set_new(report, "files", files))
        text = json_dumps(report, JSON_COMPACT);
    json_decref(report);
    if (!text)
        return -1;
    snprintf(id, sizeof id, "report%s", suffix);
    iot_html_data(out, id, text, strlen(text));
    free(text);
    return 0;
}

static int put_run(FILE *out, const struct iot_compare_run *run, const char *rules,
                   const char *suffix, char error[512])
{
    const struct iot_reporting_how how = {.rules = rules, .top = IOT_HTML_FILES};
    struct iot_reporting reporting;
    struct stat st;
    int failed;
    if (stat(run->name, &st) || !S_ISDIR(st.st_mode)) {
        failed = put_report(out, run, suffix);
    } else {
        failed = iot_reporting_make(&reporting, run->name, &how, error);
        if (!failed && (failed = iot_html_run(out, &reporting, suffix)))
            strcpy(error, "out of memory for the page");
        iot_reporting_free(&reporting);
        return failed;
    }
    if (failed)
        strcpy(error, "out of memory for the page");
    return failed;
}

/* What `write` writes, as data or as text of the page. */
static int put(FILE *out, const struct iot_comparison *c, int data,
               void (*write)(const struct iot_comparison *, FILE *))
{
    struct iot_memory m;
    if (iot_memory_open(&m))
        return -1;
    write(c, m.stream);
    int failed = iot_memory_close(&m);
    if (!failed && data)
        iot_html_data(out, "comparison", m.text, m.n);
    else if (!failed)
        iot_html_text(out, m.text, m.n);
    free(m.text);
    return failed;
}

static int write_page(FILE *out, const struct iot_comparison *c, const char *rules, char error[512])
{
    static const char *const suffixes[IOT_SIDES] = {"-base", "-candidate"};
    char verdict[IOT_COMPARE_SENTENCE];
    iot_compare_verdict(c, verdict);
    iot_html_begin(out, "iotrace compare", verdict, &iot_html_compare_body,
                   &iot_html_compare_script);
    if (put(out, c, 0, iot_compare_write_text) || put(out, c, 1, iot_compare_write_json)) {
        strcpy(error, "out of memory for the page");
        return -1;
    }
    for (int s = 0; s < IOT_SIDES; s++)
        if (put_run(out, middle(&c->sides[s]), rules, suffixes[s], error))
            return -1;
    iot_html_end(out, &iot_html_compare_script);
    return 0;
}

char *iot_compare_html(const struct iot_comparison *c, const char *rules, size_t *n,
                       char error[512])
{
    struct iot_memory m;
    strcpy(error, "out of memory for the page");
    if (iot_memory_open(&m))
        return NULL;
    int failed = write_page(m.stream, c, rules, error);
    if (iot_memory_close(&m) || failed) {
        free(m.text);
        return NULL;
    }
    *n = m.n;
    return m.text;
}
