/* A comparison as OpenMetrics text, for a time series of verdicts. */
#include <math.h>

#include "analyzer/compare_words.h"
#include "analyzer/escape.h"

static const char *const sides[IOT_SIDES] = {"base", "candidate"};

static void put_labels(const struct iot_compared *m, const char *family, FILE *out)
{
    fprintf(out, "iotrace_compare_%s{metric=\"", family);
    iot_write_escaped(out, m->name, iot_escapes_label, "\\\\");
    fprintf(out, "\",unit=\"%s\"", iot_compare_units[iot_metric_kind(&m->metric)]);
}

static void put_family(FILE *out, const char *name, const char *help)
{
    fprintf(out, "# TYPE iotrace_compare_%s gauge\n# HELP iotrace_compare_%s %s\n", name, name,
            help);
}

void iot_compare_write_openmetrics(const struct iot_comparison *c, FILE *out)
{
    put_family(out, "median", "The median of a side's runs.");
    for (size_t i = 0; i < c->n; i++)
        for (int s = 0; s < IOT_SIDES; s++)
            if (!isnan(c->metrics[i].median[s])) {
                put_labels(&c->metrics[i], "median", out);
                fprintf(out, ",side=\"%s\"} %.17g\n", sides[s], c->metrics[i].median[s]);
            }
    put_family(out, "shift", "By how much the candidate exceeds the base.");
    for (size_t i = 0; i < c->n; i++)
        if (isfinite(c->metrics[i].shift.median)) {
            put_labels(&c->metrics[i], "shift", out);
            fprintf(out, "} %.17g\n", c->metrics[i].shift.median);
        }
    put_family(out, "state", "1 for the state of a gated metric, 0 for all others.");
    for (size_t i = 0; i < c->n; i++)
        for (int state = 0; c->metrics[i].gated && state < IOT_STATES; state++) {
            put_labels(&c->metrics[i], "state", out);
            fprintf(out, ",state=\"%s\"} %d\n", iot_state_names[state],
                    (int)c->metrics[i].state == state);
        }
    put_family(out, "regressed", "How many gated metrics fail.");
    fprintf(out, "iotrace_compare_regressed %zu\n", c->failed);
    put_family(out, "undecided",
               "How many gated metrics are inconclusive, not comparable or missing.");
    fprintf(out, "iotrace_compare_undecided %zu\n# EOF\n", c->undecided);
}
