/* The sentences of the report. */
#include "analyzer/report_gpu.h"
#include "analyzer/report_words.h"
#include "analyzer/verdict.h"
#include "analyzer/view.h"

static void put_if(struct iot_json *json, const char *key, const struct iot_report *r,
                   bool (*words)(const struct iot_report *, char[IOT_SENTENCE_BYTES]))
{
    char text[IOT_SENTENCE_BYTES];
    iot_json_put_string(json, key, words(r, text) ? text : NULL);
}

static void put_lines(struct iot_json *json, const char *key, const struct iot_report *r,
                      bool (*words)(const struct iot_report *, size_t, char[IOT_SENTENCE_BYTES]))
{
    char text[IOT_SENTENCE_BYTES];
    iot_json_put_array(json, key);
    for (size_t i = 0; words(r, i, text); i++)
        iot_json_string(json, text);
    iot_json_end_array(json);
}

static void put_advice(struct iot_json *json, const struct iot_report *r)
{
    char text[IOT_SENTENCE_BYTES];
    iot_json_put_array(json, "advice");
    for (size_t i = 0; i < r->advice->n; i++) {
        iot_words_advice(&r->advice->advice[i], text);
        iot_json_string(json, text);
    }
    if (!r->advice->n)
        iot_json_string(json, IOT_WORDS_NO_ADVICE);
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (iot_words_leave(r, o, text))
            iot_json_string(json, text);
    iot_json_end_array(json);
}

static void put_steps(struct iot_json *json, const struct iot_report *r)
{
    const struct iot_phase *steady = iot_words_steady(r);
    char text[IOT_SENTENCE_BYTES];
    iot_json_put_array(json, "steps");
    if (steady) {
        iot_words_steps(r, steady, text);
        iot_json_string(json, text);
    }
    for (int o = 0; o < IOT_OBJECTS && steady; o++)
        if (iot_words_per_step(steady, o, text))
            iot_json_string(json, text);
    iot_json_end_array(json);
}

/* T(lambda) where it is asked for. */
static void put_faster(struct iot_json *json, const struct iot_report *r)
{
    static const double lambdas[] = {1, 0.5, 0.25, 0};
    iot_json_put_array(json, "faster");
    for (size_t k = 0; k < sizeof lambdas / sizeof *lambdas; k++) {
        iot_json_begin_array(json);
        iot_json_double(json, lambdas[k]);
        iot_json_int(json, iot_curve_at(r->model, lambdas[k]));
        iot_json_end_array(json);
    }
    iot_json_end_array(json);
}

void iot_view_put_words(struct iot_json *json, const struct iot_report *r)
{
    char text[IOT_SENTENCE_BYTES];
    iot_json_put_object(json, "words");
    iot_verdict_on_io(r, text);
    iot_json_put_string(json, "verdict", text);
    iot_json_put_string(json, "busy", iot_verdict_on_load(r, text) ? text : NULL);
    iot_words_composition(r, text);
    iot_json_put_string(json, "composition", text);
    put_if(json, "serialization", r, iot_words_serialization);
    put_if(json, "faults", r, iot_words_faults);
    put_steps(json, r);
    put_lines(json, "gpus", r, iot_words_gpu);
    put_lines(json, "waits", r, iot_words_waited);
    put_lines(json, "queues", r, iot_words_queue);
    put_if(json, "pipes", r, iot_words_pipes);
    put_advice(json, r);
    put_faster(json, r);
    iot_json_end_object(json);
}
