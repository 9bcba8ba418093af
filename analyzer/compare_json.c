/* A comparison for programs: the schema iotrace-compare/1 (doc/ci.md). */
#include <math.h>

#include "analyzer/compare_words.h"
#include "analyzer/json_out.h"

static const char *const sides[IOT_SIDES] = {"base", "candidate"};
static const char *const kinds[] = {[IOT_METRIC_TIME] = "time",
                                    [IOT_METRIC_RATE] = "rate",
                                    [IOT_METRIC_COUNT] = "count",
                                    [IOT_METRIC_BYTES] = "bytes",
                                    [IOT_METRIC_RATIO] = "ratio"};

/* Counts as integers. */
static void put_number(struct iot_json *json, const char *key, double value)
{
    iot_json_key(json, key);
    if (fabs(value) < 9e15 && value == floor(value))
        iot_json_int(json, (int64_t)value);
    else
        iot_json_double(json, value);
}

static void put_text(struct iot_json *json, const char *key, const char *text)
{
    iot_json_put_string(json, key, *text ? text : NULL);
}

static void put_fingerprint(struct iot_json *json, const struct iot_fingerprint *f)
{
    iot_json_put_object(json, "not_comparable");
    put_text(json, "times", f->times);
    put_text(json, "counts", f->counts);
    for (int o = 0; o < IOT_OBJECTS; o++)
        put_text(json, iot_object_names[o], f->objects[o]);
    iot_json_end_object(json);
    iot_json_put_array(json, "notes");
    for (size_t i = 0; i < f->n_notes; i++)
        iot_json_string(json, f->notes[i]);
    iot_json_end_array(json);
}

static void put_metric(struct iot_json *json, const struct iot_compared *m)
{
    enum iot_metric_kind kind = iot_metric_kind(&m->metric);
    iot_json_begin_object(json);
    iot_json_put_string(json, "metric", m->name);
    iot_json_put_string(json, "kind", kinds[kind]);
    iot_json_put_string(json, "unit", iot_compare_units[kind]);
    iot_json_put_string(json, "level", m->gated ? iot_compare_levels[m->rule->level] : "off");
    if (m->rule && m->rule->line)
        iot_json_put_uint(json, "policy_line", m->rule->line);
    else
        iot_json_put_null(json, "policy_line");
    iot_json_put_string(json, "state", iot_state_names[m->state]);
    put_text(json, "reason", m->reason);
    for (int s = 0; s < IOT_SIDES; s++)
        put_number(json, sides[s], m->median[s]);
    put_number(json, "shift", m->shift.median);
    put_number(json, "low", m->shift.bounded ? m->shift.low : (double)NAN);
    put_number(json, "high", m->shift.bounded ? m->shift.high : (double)NAN);
    put_number(json, "tolerated", m->tolerated);
    iot_json_put_double(json, "p", m->p);
    iot_json_put_double(json, "p_adjusted", m->p_adjusted);
    if (m->state == IOT_INCONCLUSIVE && m->runs_needed <= IOT_RUNS_MAX)
        iot_json_put_uint(json, "runs_needed", m->runs_needed);
    else
        iot_json_put_null(json, "runs_needed");
    iot_json_put_array(json, "why");
    for (size_t i = 0; i < m->n_why; i++)
        iot_json_string(json, m->why[i]);
    iot_json_end_array(json);
    iot_json_end_object(json);
}

void iot_compare_write_json(const struct iot_comparison *c, FILE *out)
{
    struct iot_json json;
    char verdict[IOT_COMPARE_SENTENCE];

    iot_compare_verdict(c, verdict);
    iot_json_init(&json, out, IOT_JSON_PRETTY);
    iot_json_begin_object(&json);
    iot_json_put_string(&json, "schema", "iotrace-compare/1");
    iot_json_put_string(&json, "verdict", verdict);
    iot_json_put_bool(&json, "regressed", c->failed > 0);
    iot_json_put_double(&json, "alpha", c->policy.alpha);
    iot_json_put_uint(&json, "tests", c->tests);
    iot_json_put_uint(&json, "gated", c->gated);
    iot_json_put_uint(&json, "undecided", c->undecided);
    for (int s = 0; s < IOT_SIDES; s++) {
        iot_json_put_array(&json, sides[s]);
        for (size_t i = 0; i < c->sides[s].n; i++)
            iot_json_string(&json, c->sides[s].runs[i].name);
        iot_json_end_array(&json);
    }
    put_fingerprint(&json, &c->fingerprint);
    iot_json_put_array(&json, "metrics");
    for (size_t i = 0; i < c->n; i++)
        put_metric(&json, &c->metrics[i]);
    iot_json_end_array(&json);
    iot_compare_next(c, verdict);
    put_text(&json, "next", verdict);
    iot_json_end_object(&json);
    iot_json_finish(&json);
}
