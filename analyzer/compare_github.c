/* A comparison as annotations of a GitHub Actions job: one line each. */
#include "analyzer/compare_words.h"
#include "analyzer/escape.h"

/* Lines are commands there: what ends one, or a property of one, is written otherwise. */
static const struct iot_escape message[] = {{'%', "%25"}, {0}};
static const struct iot_escape property[] = {{'%', "%25"}, {':', "%3A"}, {',', "%2C"}, {0}};

static const char *command(const struct iot_comparison *c, const struct iot_compared *m)
{
    if (iot_compare_fails(c, m))
        return "error";
    return m->state == IOT_REGRESSED || m->state == IOT_MISSING || m->state == IOT_NOT_COMPARABLE
               ? "warning"
               : "notice";
}

static void put_metric(const struct iot_comparison *c, const struct iot_compared *m, FILE *out)
{
    enum iot_metric_kind kind = iot_metric_kind(&m->metric);
    char text[IOT_COMPARE_SENTENCE];

    fprintf(out, "::%s title=iotrace%%3A ", command(c, m));
    iot_write_escaped(out, m->name, property, "\\");
    fprintf(out, " %s::%s -> %s", iot_state_names[m->state],
            iot_compare_value(kind, m->median[IOT_BASE]).text,
            iot_compare_value(kind, m->median[IOT_CANDIDATE]).text);
    iot_compare_reason(c, m, text);
    fputs(*text ? "; " : "", out);
    iot_write_escaped(out, text, message, "\\");
    for (size_t i = 0; i < m->n_why; i++) {
        fputs("%0A", out);
        iot_write_escaped(out, m->why[i], message, "\\");
    }
    fputc('\n', out);
}

void iot_compare_write_github(const struct iot_comparison *c, FILE *out)
{
    char verdict[IOT_COMPARE_SENTENCE];
    iot_compare_verdict(c, verdict);
    fprintf(out, "::%s title=iotrace compare::",
            c->failed                                 ? "error"
            : c->count[IOT_REGRESSED] || c->undecided ? "warning"
                                                      : "notice");
    iot_write_escaped(out, verdict, message, "\\");
    iot_compare_next(c, verdict);
    fputs(*verdict ? "%0A" : "", out);
    iot_write_escaped(out, verdict, message, "\\");
    fputc('\n', out);
    for (size_t i = 0; i < c->n; i++)
        if (iot_compare_tells(&c->metrics[i]))
            put_metric(c, &c->metrics[i], out);
}
