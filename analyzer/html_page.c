#include "analyzer/html_page.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/report_json.h"
#include "analyzer/view.h"

int iot_memory_open(struct iot_memory *m)
{
    *m = (struct iot_memory){0};
    m->stream = open_memstream(&m->text, &m->n);
    return m->stream ? 0 : -1;
}

int iot_memory_close(struct iot_memory *m)
{
    int failed = ferror(m->stream);
    return fclose(m->stream) || failed ? -1 : 0;
}

static void put_part(FILE *out, const struct iot_html_part *part)
{
    fwrite(part->text, 1, part->n, out);
}

static void put_escaped(FILE *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *as = text[i] == '<'   ? "&lt;"
                         : text[i] == '>' ? "&gt;"
                         : text[i] == '&' ? "&amp;"
                         : text[i] == '"' ? "&quot;"
                                          : NULL;
        if (as)
            fputs(as, out);
        else
            fputc(text[i], out);
    }
}

void iot_html_text(FILE *out, const char *text, size_t n)
{
    fputs("<noscript><pre>", out);
    put_escaped(out, text, n);
    fputs("</pre></noscript>\n", out);
}

/* Within an element of script "<" stands in strings of JSON alone, and nothing else could end the
 * element. */
void iot_html_data(FILE *out, const char *id, const char *json, size_t n)
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

static int write_report(FILE *out, const struct iot_reporting *w)
{
    return iot_report_write_json_line(&w->report, out) ? -1 : 0;
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

static int put(FILE *out, const struct iot_reporting *w, const char *name, const char *suffix,
               int (*write)(FILE *out, const struct iot_reporting *w))
{
    struct iot_memory m;
    char id[40];
    if (iot_memory_open(&m))
        return -1;
    int failed = write(m.stream, w);
    failed = iot_memory_close(&m) || failed;
    snprintf(id, sizeof id, "%s%s", name, suffix);
    if (!failed)
        iot_html_data(out, id, m.text, m.n);
    free(m.text);
    return failed ? -1 : 0;
}

int iot_html_run(FILE *out, const struct iot_reporting *reporting, const char *suffix)
{
    return put(out, reporting, "report", suffix, write_report) ||
                   put(out, reporting, "view", suffix, write_view)
               ? -1
               : 0;
}

void iot_html_begin(FILE *out, const char *title, const char *description,
                    const struct iot_html_part *body, const struct iot_html_part *script)
{
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
            iot_html_style.sha256, script->sha256);
    put_escaped(out, description, strlen(description));
    fprintf(out, "\">\n<title>%s</title>\n<style>", title);
    put_part(out, &iot_html_style);
    fputs("</style>\n</head>\n<body>\n", out);
    put_part(out, body);
}

void iot_html_end(FILE *out, const struct iot_html_part *script)
{
    fputs("<script>", out);
    put_part(out, script);
    fputs("</script>\n</body>\n</html>\n", out);
}
