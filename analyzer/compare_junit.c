/* A comparison as JUnit XML: a case for each gated metric. */
#include "analyzer/compare_words.h"
#include "analyzer/escape.h"

static const struct iot_escape xml[] = {{'<', "&lt;"},   {'>', "&gt;"},    {'&', "&amp;"},
                                        {'"', "&quot;"}, {'\'', "&apos;"}, {0}};

static void put(FILE *out, const char *text)
{
    iot_write_escaped(out, text, xml, "\\");
}

/* Of no regression but a state that fails under --strict: an error, no failure. */
static const char *element(const struct iot_comparison *c, const struct iot_compared *m)
{
    if (iot_compare_fails(c, m))
        return m->state == IOT_REGRESSED ? "failure" : "error";
    if (m->state == IOT_REGRESSED)
        return "system-out";
    return m->state == IOT_UNCHANGED || m->state == IOT_IMPROVED ? NULL : "skipped";
}

static void put_body(const struct iot_comparison *c, const struct iot_compared *m, FILE *out)
{
    enum iot_metric_kind kind = iot_metric_kind(&m->metric);
    char text[IOT_COMPARE_SENTENCE];
    fprintf(out, "%s: %s -&gt; %s (%s %s)\n", iot_state_names[m->state],
            iot_compare_value(kind, m->median[IOT_BASE]).text,
            iot_compare_value(kind, m->median[IOT_CANDIDATE]).text, iot_compare_change(m).text,
            iot_compare_percent(m).text);
    iot_compare_reason(c, m, text);
    put(out, text);
    fputc('\n', out);
    for (size_t i = 0; i < m->n_why; i++) {
        put(out, m->why[i]);
        fputc('\n', out);
    }
}

static void put_case(const struct iot_comparison *c, const struct iot_compared *m, FILE *out)
{
    const char *name = element(c, m);
    bool plain = name && name[1] == 'y'; /* of system-out, which has no message */
    fputs("    <testcase classname=\"iotrace.compare\" name=\"", out);
    put(out, m->name);
    if (!name) {
        fputs("\"/>\n", out);
        return;
    }
    fprintf(out, "\">\n      <%s", name);
    if (!plain) {
        fprintf(out, " message=\"%s", iot_state_names[m->state]);
        fputs(*m->reason ? ": " : "", out);
        put(out, m->reason);
        fputc('"', out);
    }
    fputc('>', out);
    put_body(c, m, out);
    fprintf(out, "</%s>\n    </testcase>\n", name);
}

void iot_compare_write_junit(const struct iot_comparison *c, FILE *out)
{
    size_t failures = c->failed, errors = c->strict ? c->undecided : 0;
    size_t skipped = c->strict ? 0 : c->undecided;
    char verdict[IOT_COMPARE_SENTENCE];

    iot_compare_verdict(c, verdict);
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites>\n  <testsuite name=\"iotrace compare\" tests=\"%zu\" failures=\"%zu\" "
            "errors=\"%zu\" skipped=\"%zu\">\n",
            c->gated, failures, errors, skipped);
    for (size_t i = 0; i < c->n; i++)
        if (c->metrics[i].gated)
            put_case(c, &c->metrics[i], out);
    fputs("    <system-out>", out);
    put(out, verdict);
    fputs("</system-out>\n  </testsuite>\n</testsuites>\n", out);
}
