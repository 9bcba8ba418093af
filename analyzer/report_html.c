#include "analyzer/report_html.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/html/parts.h"
#include "analyzer/report_json.h"
#include "analyzer/report_text.h"
#include "analyzer/verdict.h"
#include "analyzer/view.h"

/* A text while it is written. */
struct memory {
    FILE *stream;
    char *text;
    size_t n;
};

static int memory_open(struct memory *m)
{
    *m = (struct memory){0};
    m->stream = open_memstream(&m->text, &m->n);
    return m->stream ? 0 : -1;
}

/* 0, or -1 if it is not complete. `text` is to be freed in either case. */
static int memory_close(struct memory *m)
{
    int failed = ferror(m->stream);
    return fclose(m->stream) || failed ? -1 : 0;
}

static void put_part(FILE *out, const struct iot_html_part *part)
{
    fwrite(part->text, 1, part->n, out);
}

/* Text from anywhere as text of the page. */
static void put_escaped(FILE *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *as = text[i] == '<'   ? "&lt;"
                         : text[i] == '>' ? "&gt;"
                         : text[i] == '&' ? "&amp;"
                                          : NULL;
        if (as)
            fputs(as, out);
        else
            fputc(text[i], out);
    }
}

/* JSON within an element of script: there "<" stands in strings alone, and nothing else could end the
 * element. */
static void put_data(FILE *out, const char *id, const char *json, size_t n)
{
    fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
    for (size_t i = 0; i < n; i++) {
        if (json[i] == '<')
            fputs("\\u003c", out);
        else
            fputc(json[i], out);
    }
    fputs("</script>\n", out);
}

static int put_report(FILE *out, const struct iot_report *r)
{
    struct memory m;
    if (memory_open(&m))
        return -1;
    int failed = iot_report_write_json_line(r, m.stream);
    failed = memory_close(&m) || failed;
    if (!failed)
        put_data(out, "report", m.text, m.n);
    free(m.text);
    return failed ? -1 : 0;
}

static int write_view(FILE *out, const struct iot_reporting *w)
{
    struct iot_view_lanes lanes = {
        calloc(w->trace->n_lanes + 1, sizeof *lanes.path_ns),
        calloc(w->trace->n_lanes + 1, 1),
    };
    struct iot_json json;
    iot_json_init(&json, out, IOT_JSON_COMPACT);
    iot_json_begin_object(&json);
    iot_view_put_words(&json, &w->report);
    iot_json_put_string(&json, "cwd", w->trace->processes[0].cwd);
    iot_json_put_int(&json, "lane_columns", IOT_VIEW_COLUMNS);
    int failed = !lanes.path_ns || !lanes.named || iot_view_put_path(&json, w, &lanes) ||
                 iot_view_put_lanes(&json, w, &lanes) || iot_view_put_rates(&json, w) ||
                 iot_view_put_calls(&json, w) || iot_view_put_queues(&json, w);
    free(lanes.path_ns);
    free(lanes.named);
    if (failed)
        return -1;
    iot_json_end_object(&json);
    return iot_json_finish(&json);
}

static int put_view(FILE *out, const struct iot_reporting *w)
{
    struct memory m;
    if (memory_open(&m))
        return -1;
    int failed = write_view(m.stream, w);
    failed = memory_close(&m) || failed;
    if (!failed)
        put_data(out, "view", m.text, m.n);
    free(m.text);
    return failed ? -1 : 0;
}

/* What is left where no script runs. */
static int put_text(FILE *out, const struct iot_report *r)
{
    const struct iot_text_style style = {0};
    struct memory m;
    if (memory_open(&m))
        return -1;
    iot_report_write_text(r, m.stream, &style);
    int failed = memory_close(&m);
    if (!failed) {
        fputs("<noscript><pre>", out);
        put_escaped(out, m.text, m.n);
        fputs("</pre></noscript>\n", out);
    }
    free(m.text);
    return failed ? -1 : 0;
}

static void put_head(FILE *out, const struct iot_report *r)
{
    char verdict[IOT_VERDICT_BYTES];
    iot_verdict(r, verdict);
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action "
            "'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<meta name=\"generator\" content=\"iotrace\">\n<meta name=\"description\" "
            "content=\"",
            iot_html_style.sha256, iot_html_script.sha256);
    put_escaped(out, verdict, strlen(verdict));
    fputs("\">\n<title>iotrace report</title>\n<style>", out);
    put_part(out, &iot_html_style);
    fputs("</style>\n</head>\n<body>\n", out);
}

static int write_page(FILE *out, const struct iot_reporting *w)
{
    put_head(out, &w->report);
    put_part(out, &iot_html_body);
    if (put_text(out, &w->report) || put_report(out, &w->report) || put_view(out, w))
        return -1;
    fputs("<script>", out);
    put_part(out, &iot_html_script);
    fputs("</script>\n</body>\n</html>\n", out);
    return 0;
}

char *iot_report_html(const struct iot_reporting *reporting, size_t *n)
{
    struct memory m;
    if (memory_open(&m))
        return NULL;
    int failed = write_page(m.stream, reporting);
    if (memory_close(&m) || failed) {
        free(m.text);
        return NULL;
    }
    *n = m.n;
    return m.text;
}
