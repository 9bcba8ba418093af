#include "analyzer/report_html.h"

#include <stdlib.h>

#include "analyzer/html_page.h"
#include "analyzer/report_text.h"
#include "analyzer/verdict.h"

/* What is left where no script runs. */
static int put_text(FILE *out, const struct iot_report *r)
{
    const struct iot_text_style style = {0};
    struct iot_memory m;
    if (iot_memory_open(&m))
        return -1;
    iot_report_write_text(r, m.stream, &style);
    int failed = iot_memory_close(&m);
    if (!failed)
        iot_html_text(out, m.text, m.n);
    free(m.text);
    return failed;
}

static int write_page(FILE *out, const struct iot_reporting *w)
{
    char verdict[IOT_VERDICT_BYTES];
    iot_verdict(&w->report, verdict);
    iot_html_begin(out, "iotrace report", verdict, &iot_html_body, &iot_html_script);
    if (put_text(out, &w->report) || iot_html_run(out, w, ""))
        return -1;
    iot_html_end(out, &iot_html_script);
    return 0;
}

char *iot_report_html(const struct iot_reporting *reporting, size_t *n)
{
    struct iot_memory m;
    if (iot_memory_open(&m))
        return NULL;
    int failed = write_page(m.stream, reporting);
    if (iot_memory_close(&m) || failed) {
        free(m.text);
        return NULL;
    }
    *n = m.n;
    return m.text;
}
