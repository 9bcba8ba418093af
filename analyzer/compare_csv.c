/* All values that a comparison looked at, one a line. */
#include <math.h>
#include <string.h>

#include "analyzer/compare_words.h"
#include "analyzer/escape.h"

static const struct iot_escape quotes[] = {{'"', "\"\""}, {0}};
static const char *const sides[IOT_SIDES] = {"base", "candidate"};

/* A spreadsheet would take a text that begins like a formula for one. */
static void put_text(FILE *out, const char *text)
{
    fputs(*text && strchr("=+-@", *text) ? "\"'" : "\"", out);
    iot_write_escaped(out, text, quotes, "\\");
    fputc('"', out);
}

void iot_compare_write_csv(const struct iot_comparison *c, FILE *out)
{
    fputs("metric,unit,side,run,name,value\n", out);
    for (size_t i = 0; i < c->n; i++) {
        const struct iot_compared *m = &c->metrics[i];
        for (int s = 0; s < IOT_SIDES; s++)
            for (size_t k = 0; k < c->sides[s].n; k++) {
                const struct iot_compare_run *run = &c->sides[s].runs[k];
                double value = iot_metric_value(&m->metric, run->report);
                put_text(out, m->name);
                fprintf(out, ",%s,%s,%zu,", iot_compare_units[iot_metric_kind(&m->metric)],
                        sides[s], k + 1);
                put_text(out, run->name);
                if (isnan(value))
                    fputs(",\n", out);
                else
                    fprintf(out, ",%.17g\n", value);
            }
    }
}
